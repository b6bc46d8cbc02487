#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The folders include each other as docs/design.md says, and the check that says so finds each kind of breach.
set -euo pipefail
"$TOP/ci/layering"

# docs/design.md has the layers as the check has them.
python3 - "$TOP" <<'END'
import re, sys
code = re.search(r"^LAYERS = \{.*?^\}", open(sys.argv[1] + "/ci/layering").read(), re.S | re.M)[0]
scope = {}
exec(code, scope)
page = " ".join(open(sys.argv[1] + "/docs/design.md").read().split())
for top, layers in scope["LAYERS"].items():
    words = f"{top}/ " + " < ".join(f"{top}/" if layer == "." else layer for layer in layers.split())
    assert words in page, words
END

# The map in docs/hacking.md has each folder, and no other.
sed -n '/^## The map/,/^The Makefile/s/^    \( *[a-z0-9_-]*\/\) .*/\1/p' "$TOP/docs/hacking.md" |
	awk '/^[^ ]/ { top = $1; next } { print top $1 }' | sort >map
(cd "$TOP" && find runtime coredump decoder funcount cli -mindepth 2 -type f) |
	sed -nE 's|^([a-z]+/[a-z0-9_]+/).*|\1|p' | sort -u | diff map -

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
breach runtime/settings/settings.c '#include "coredump/util/error.h"'
breach runtime/new.c '#include <libelf.h>'
breach coredump/util/error.c '#include "decoder/util/json.h"'
breach decoder/util/json.c '#  include "cli/wrapper/words.h"'
breach cli/new.c '#include "tests/unit/main.h"'
breach cli/wrapper/words.c '#include "coredump/memory/source.h"'
breach funcount/filter/list.c '#include "coredump/memory/source.h"'
breach coredump/util/error.c '#include <decoder/util/json.h>'
breach decoder/trace/clock.c '#include "decoder/report/model.h"'
breach coredump/memory/source.c '#include "coredump/extract/extract.h"'

breach runtime/settings/settings.c 'struct ep_trace {'

# Three nouns of a folder in a ring.
rm -rf copy && mkdir -p copy/decoder/util
for pair in one:two two:three three:one; do
	echo "#include \"decoder/util/${pair#*:}.h\"" >"copy/decoder/util/${pair%:*}.h"
done
! "$TOP/ci/layering" copy >out
grep -qx 'decoder/util: a ring of 3: one three two' out
