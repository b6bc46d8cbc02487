# SPDX-License-Identifier: BSD-2-Clause
# export -f html: the page in a browser without a screen has jsonl's calls, points and spans, can be moved about in, searched and
# clicked, and asks nobody for anything.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/exports.bash"
source "$TOP/tests/cli/lib/html.bash"
need_browser

page() { # CORE OPTIONS... -- SCENARIO...
	local core=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	gives 0 "$EPITAPH" export -o page.html "${options[@]}" "$core"
	gives 0 "$EPITAPH" export -o calls.jsonl "$core"
	in_browser page.html calls.jsonl "${@:2}" ||
		{ say "the page of $core:"; tail -n 12 unlike | sed 's/^/	/'; }
}

cat >many.c <<'END'
#include <stdlib.h>
static volatile int sink;
#define KEPT __attribute__((noinline, noclone)) static void
KEPT leaf(void) { sink++; }
KEPT twig(void) { leaf(); leaf(); sink++; }
KEPT branch(int n) { for (int i = 0; i < n; i++) twig(); sink++; }
KEPT outer(int n) { branch(n); sink++; }
int main(void) { outer(4980); branch(20); abort(); }
END
"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls many.c -o many
EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=off crash core.many "$PWD/many"
COLUMNS=80 "$EPITAPH" report core.many >page.many || say 'no page'
"$EPITAPH" report --all core.many >report.many || say 'no report'
page core.many --sources="$PWD" -- moves "clicks:outer:$PWD/many.c" searches:branch selects:twig links death:SIGABRT:report.many:page.many \
	asks_nobody sharp:1:1.25:2 keyboard narrow dressed

# Times within intervals, exceptions, and other stacks.
traced story story
EPITAPH_TIMESTAMP_EVERY=64 crash core.story "$PWD/story"
page core.story --

# Stacks that a thread goes on with in turn.
"$BIN/epitaph-cc" -g -O1 -DEVENTS=2000 "$TOP/tests/programs/fibers.c" -o fibers
EPITAPH_TIMESTAMP_EVERY=1 crash core.fibers "$PWD/fibers" linked
page core.fibers -- fibers

# What the program says is text, whatever it is.
odd_program odd
crash core.odd "$PWD/odd" 200
page core.odd --
"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls -c many.c -o turned.o
objcopy --redefine-sym leaf=$'le\u202eaf' --redefine-sym twig=$'tw\u2028ig' \
	--redefine-sym 'branch=</script><script>window.x=1</script>' turned.o
"$BIN/epitaph-cc" turned.o -o turned
EPITAPH_SCHED=off crash core.turned "$PWD/turned"
page core.turned -- 'odd_names:le\xe2\x80\xaeaf:tw\xe2\x80\xa8ig:</script><script>window.x=1</script>'

# An old history is gone.
EPITAPH_RING=16K EPITAPH_SCHED=off crash core.lost "$PWD/many"
page core.lost -- lost

# It was silent before it died, and only the file's time tells for how long; or nothing does.
cat >silent.c <<'END'
#include <stdlib.h>
#include <unistd.h>
static volatile int sink;
__attribute__((noinline)) static void leaf(void) { sink++; }
int main(void) { for (int i = 0; i < 2000; i++) leaf(); usleep(300000); abort(); }
END
"$BIN/epitaph-cc" -g -O1 silent.c -o silent
EPITAPH_SCHED=off crash core.silent "$PWD/silent"
page core.silent -- dies_later:300000000
touch -d 2001-01-01 core.silent
page core.silent -- dies_later:for_ever

# Nothing is selected: nothing is written.
gives 2 "$EPITAPH" export -f html --function=nobody core.many
[ ! -s out ] || say 'a page of nothing'
exit $((failures != 0))
