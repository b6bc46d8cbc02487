# SPDX-License-Identifier: BSD-2-Clause
# export: exceptions, and stacks that a thread leaves and comes back to, in every format: what is thrown and caught is told
# where there is room, and calls of two stacks never nest in each other.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/exports.bash"
need_npm ajv speedscope

# ---- two fibers that take turns ----

cat >fibers.c <<'END'
#include <stdlib.h>
#include <ucontext.h>
static ucontext_t back, one, two;
static volatile int sink;
static char stacks[2][65536];
#define KEPT __attribute__((noinline, noclone)) static void
KEPT leaf(void) { for (int i = 0; i < 100; i++) sink++; } /* speedscope shows no call that took no time */
KEPT inner_one(void) { leaf(); swapcontext(&one, &two); leaf(); swapcontext(&one, &two); leaf(); sink++; }
KEPT inner_two(void) { leaf(); swapcontext(&two, &one); leaf(); swapcontext(&two, &one); sink++; }
KEPT main_one(void) { inner_one(); sink++; }
KEPT main_two(void) { inner_two(); sink++; }
static void make(ucontext_t *of, char *stack, void (*run)(void))
{
	getcontext(of);
	of->uc_stack.ss_sp = stack;
	of->uc_stack.ss_size = sizeof(*stacks);
	of->uc_link = &back;
	makecontext(of, run, 0);
}
KEPT turns(void)
{
	make(&one, stacks[0], main_one);
	make(&two, stacks[1], main_two);
	swapcontext(&back, &one);
	sink++;
}
int main(void) { turns(); leaf(); abort(); }
END
"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls -fno-inline fibers.c -o fibers
EPITAPH_TIMESTAMP_EVERY=1 crash core.fibers "$PWD/fibers"

gives 0 "$EPITAPH" export -f collapsed --weight=calls core.fibers
sed 's/^fibers ([0-9]*);//' out | grep -v make | sort >got
sort >want <<'END'
main 1
main;leaf 1
main;turns 1
main_one 1
main_one;inner_one 1
main_one;inner_one;leaf 3
main_two 1
main_two;inner_two 1
main_two;inner_two;leaf 2
END
diff want got >difference || say "collapsed: $(cat difference)"

gives 0 "$EPITAPH" export -o fibers.jsonl core.fibers
fits jsonl fibers.jsonl
[ "$(grep -c '"point":"stack"' fibers.jsonl)" -eq 6 ] || say 'jsonl: 6 switches'
for open in main main_two inner_two; do
	grep -q "\"function\":\"$open\".*did-not-return" fibers.jsonl || say "jsonl: $open returned"
done
[ "$(grep -c did-not-return fibers.jsonl)" -eq 3 ] || say 'jsonl: more is open'

# A viewer's nesting: each turn has the calls of its own stack, and no other.
gives 0 "$EPITAPH" export -o fibers.speedscope.json core.fibers
fits speedscope fibers.speedscope.json
import fibers.speedscope.json imported
nests() { # who is seen inside of whom
	awk -F '\t' '$1 == "call" { at[$2] = $3; sub(/ \{".*/, "", at[$2]); if ($2 > 0) print at[$2 - 1], at[$2] }' "$1" |
		grep -v make | sort -u
}
sort >want <<'END'
inner_one leaf
inner_two leaf
main leaf
main turns
main_one inner_one
main_two inner_two
END
nests imported >got
diff want got >difference || say "speedscope: $(cat difference)"
gives 0 "$EPITAPH" export -f chrome -o fibers.json core.fibers
fits chrome fibers.json
import fibers.json imported
nests imported >got
diff want got >difference || say "chrome: $(cat difference)"
[ "$(grep -c '"name":"another stack"' fibers.json)" -eq 6 ] || say 'chrome: 6 switches'
grep -q '"name":"inner_two".*"suspended":' fibers.json || say 'chrome: inner_two was suspended'
gives 0 "$EPITAPH" export -f dot --min-percent=0 core.fibers
[ "$(grep -c -- ' -> ' out)" -ge 6 ] || say 'dot: edges'
grep -q 'label="leaf.*\\n6 calls' out || say 'dot: 6 calls of leaf, however often it went on'

# ---- an exception ----

cat >throws.cc <<'END'
#include <stdexcept>
#include <stdlib.h>
static volatile int sink;
#define KEPT __attribute__((noinline, noclone)) static void
KEPT thrower(int n)
{
	if (n > 0)
		thrower(n - 1);
	else
		throw std::runtime_error("what");
	sink = sink + 1;
}
KEPT catcher()
{
	try {
		thrower(2);
	} catch (const std::exception &) {
		sink = 1;
	}
	sink = sink + 1;
}
int main()
{
	catcher();
	abort();
}
END
"$BIN/epitaph-c++" -g -O1 -fno-optimize-sibling-calls throws.cc -o throws
EPITAPH_TIMESTAMP_EVERY=1 crash core.throws "$PWD/throws"
gives 0 "$EPITAPH" replay --format=tsv core.throws
mv out tsv
gives 0 "$EPITAPH" export -o throws.jsonl core.throws
fits jsonl throws.jsonl
agrees jsonl tsv throws.jsonl
grep -q '"type":"point".*"point":"throw","text":"std::runtime_error"' throws.jsonl || say 'jsonl: what was thrown?'
grep -q '"type":"point".*"function":"catcher()".*"point":"catch"' throws.jsonl || say 'jsonl: who caught it?'
[ "$(grep -c '"function":"thrower(int)".*"flags":\["abandoned","unwound"\]' throws.jsonl)" -eq 3 ] || say 'jsonl: unwound'
gives 0 "$EPITAPH" export -f chrome -o throws.json core.throws
fits chrome throws.json
agrees chrome tsv throws.json
grep -q '"name":"throw std::runtime_error","cat":"point"' throws.json || say 'chrome: what was thrown?'
[ "$(grep -c '"ended":"left without a return, by an exception or longjmp"' throws.json)" -eq 3 ] || say 'chrome: unwound'
all_fit
exit $((failures != 0))
