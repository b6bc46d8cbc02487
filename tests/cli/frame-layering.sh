#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The folders include each other as docs/design.md says, and the check that says so finds each kind of breach.
set -euo pipefail
"$TOP/ci/layering"

breach() { # FILE LINE: the check names the file
	rm -rf copy && mkdir copy
	(cd "$TOP" && find runtime coredump decoder funcount gdb-ext cli tests -name '*.[ch]' -print0 | tar cf - --null -T -) | tar xf - -C copy
	mkdir -p "copy/${1%/*}" && echo "$2" >>"copy/$1"
	if "$TOP/ci/layering" copy >out; then
		echo "not found: $1 with $2"
		exit 1
	fi
	grep -q "^$1:" out
}
breach runtime/settings.c '#include "coredump/error.h"'
breach runtime/new.c '#include <libelf.h>'
breach coredump/error.c '#include "decoder/json.h"'
breach decoder/json.c '#  include "cli/wrapper/words.h"'
breach cli/new.c '#include "tests/unit/main.h"'
breach cli/wrapper/words.c '#include "coredump/source.h"'
breach funcount/filter/list.c '#include "coredump/source.h"'
breach coredump/error.c '#include <decoder/json.h>'
