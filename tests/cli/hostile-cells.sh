# SPDX-License-Identifier: BSD-2-Clause
# Names that a spreadsheet would run (=cmd|…, @SUM, +1, -1) are text in every table that we write: of functions, of threads (called as
# the program is), of files.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
cat >cells.c <<'END'
#include <stdlib.h>
volatile int sink;
#define KEPT __attribute__((noinline))
KEPT void equals(void) { sink++; }
KEPT void plus(void) { sink++; }
KEPT void minus(void) { sink++; }
KEPT void at(void) { sink++; }
int main(void)
{
	equals(), plus(), minus(), at();
	abort();
}
END
gcc -D_GNU_SOURCE -O1 -g -pg -mfentry -minstrument-return=call -c cells.c
objcopy --redefine-sym equals="=cmd|'/c calc'!A1" --redefine-sym plus=+1+2 --redefine-sym minus='-2+3' \
	--redefine-sym at='@SUM(1)' cells.o
gcc cells.o "$LIB/libepitaph.a" -Wl,-z,now -lpthread -o '=cells'
crash core "$PWD/=cells"
(ulimit -c 0; EPITAPH_MODE=count EPITAPH_OUTPUT=some.counts exec "$PWD/=cells") >/dev/null 2>&1 || true

text_only() { # DIALECT NAMES: no cell of `out` is a formula, and so many cells have names that would be
	python3 - "$@" <<'END' || say "$1"
import csv, re, sys
rows = list(csv.reader(open("out"), dialect=sys.argv[1]))
cells = [cell for row in rows for cell in row]
run = [c for c in cells if re.match(r"[=+\-@\t\r]", c) and not re.fullmatch(r"-(\d+(\.\d+)?)?", c)]
names = {c for c in cells if re.match(r"'[=+@-]", c)}
if run or len(names) < int(sys.argv[2]):
    sys.exit("cells that are run: %s; names: %s" % (run[:5], sorted(names)))
END
}
gives 0 "$EPITAPH" stats --csv --by-thread core
text_only excel 5
gives 0 "$EPITAPH" replay --format=tsv core
text_only excel-tab 5
gives 0 "$EPITAPH" count report --csv some.counts
text_only excel 4
gives 0 "$EPITAPH" count diff --csv some.counts some.counts
text_only excel 0
exit $((failures != 0))
