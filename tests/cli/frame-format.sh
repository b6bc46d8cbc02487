#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 600
# Every source is as clang-format has it, has its licence line, and keeps to the house's sizes; the check finds what doesn't.
# nothing crashes
set -euo pipefail
"$TOP/ci/format"

mkdir -p copy/{runtime,coredump,decoder,funcount,gdb-ext,cli,tests,ci} && cp "$TOP/.clang-format" copy/
good='/* SPDX-License-Identifier: BSD-2-Clause */'
found() { # WORDS: the check fails with these
	! "$TOP/ci/format" copy >out
	grep -q "$1" out
	rm copy/cli/x.c
}
{ echo "$good"; echo 'int x;'; } >copy/cli/x.c && "$TOP/ci/format" copy
{ echo "$good"; echo 'int   x;'; } >copy/cli/x.c && found 'cli/x.c: not as clang-format'
echo 'int x;' >copy/cli/x.c && found 'cli/x.c: no licence line'
{ echo "$good"; for i in $(seq 900); do echo "int x$i;"; done; } >copy/cli/x.c && found 'cli/x.c: 901 lines'
{ echo "$good"; printf 'int f(void)\n{\n'; for i in $(seq 110); do printf '\tg();\n'; done; echo '}'; } >copy/cli/x.c && found 'a function of'
{ echo "$good"; echo '/* one line \ and the next */'; } >copy/cli/x.c && found 'a backslash in the middle'
