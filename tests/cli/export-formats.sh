# SPDX-License-Identifier: BSD-2-Clause
# timeout: 600
# export -f: every format has the calls that replay has, as far as it has room for them; it is what its schema says; and
# names, depths and gaps that trip writers up don't.
# sanitized only
# leaks
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/exports.bash"
need_npm ajv speedscope

# graph FILE OUTPUT: nodes and edges, as Graphviz reads them.
graph() {
	{
		gvpr 'N { printf("N\t%s\t%s\t%s\t%s\t%s\n", $.name, $.tooltip, $.calls, $.self_ns, $.total_ns); }' "$1"
		gvpr 'E { printf("E\t%s\t%s\t%s\t%s\n", $.tail.name, $.head.name, $.calls, $.total_ns); }' "$1"
	} >"$2" || say "gvpr does not read $1"
}

# all_formats CORE: made, valid, and the same calls as replay's.
all_formats() {
	local core=$1
	gives 0 "$EPITAPH" replay --format=tsv "$core"
	mv out tsv
	gives 0 "$EPITAPH" export -f viztracer --sources="$TOP/tests/programs" --sources=/usr/include -o viztracer.json "$core"
	fits viztracer viztracer.json
	agrees viztracer tsv viztracer.json
	gives 0 "$EPITAPH" export -f chrome -o chrome.json "$core"
	fits chrome chrome.json
	agrees chrome tsv chrome.json
	gives 0 "$EPITAPH" export -o calls.jsonl "$core"
	fits jsonl calls.jsonl
	agrees jsonl tsv calls.jsonl
	gives 0 "$EPITAPH" export -o calls.folded "$core"
	agrees collapsed tsv calls.folded
	gives 0 "$EPITAPH" export -o calls.collapsed --weight=calls "$core"
	agrees collapsed tsv calls.collapsed calls
	gives 0 "$EPITAPH" export -o one.speedscope.json "$core"
	fits speedscope one.speedscope.json
	agrees speedscope tsv one.speedscope.json
	gives 0 "$EPITAPH" export -o calls.gv --min-percent=0 "$core"
	graph calls.gv graph
	agrees dot tsv graph
}

traced story story
crash core.story "$PWD/story"
all_formats core.story
# What they say beyond the numbers.
grep -q '"name":"thrower".*"ended":"left without a return, by' chrome.json || say 'chrome: thrower was left'
grep -q '"name":"longjmp","cat":"point"' chrome.json || say 'chrome: no longjmp'
grep -q '"type":"point".*"function":"thrower".*"point":"longjmp"' calls.jsonl || say 'jsonl: no longjmp'
grep -q '"function":"fall".*"end_ns":null.*did-not-return' calls.jsonl || say 'jsonl: fall returned'
grep -q '"name":"story (.*did not return: main > last > fall"' one.speedscope.json || say 'speedscope: what is open?'
grep -q 'label="last.*1 did not return' calls.gv || say 'dot: last returned'
# The time of day of zero, from the header and from info.
header=$(sed -n '1s/.*"zero_realtime_ns":\([0-9]*\),"last_ns":\([0-9]*\).*/\1 \2/p' calls.jsonl)
now=$(date +%s%N)
read -r zero last <<<"$header"
[ $((now - zero - last)) -ge 0 ] && [ $((now - zero - last)) -lt 600000000000 ] || say "jsonl: zero is $zero"

# Times within intervals.
EPITAPH_TIMESTAMP_EVERY=64 crash core.sparse "$PWD/story"
all_formats core.sparse
grep -q '"begin":"approximate","begin_earliest_us":' chrome.json || say 'chrome: no interval'
grep -q '"begin_earliest_ns":' calls.jsonl || say 'jsonl: no interval'
grep -q 'some times are approximate' one.speedscope.json || say 'speedscope: no word of it'
grep -q 'total ~' calls.gv || say 'dot: no ~'

# Names; two threads of one name.
odd_program odd
crash core.odd "$PWD/odd" 200
all_formats core.odd
for name in 'semi\x3bcolon\x3b' 'quo"te\back</script><script>x' 'by\xff\xfetes\x09tab\x1b[2J' 'blank and\x0anewline 7' 'box::operator()(int, int) const'; do
	[ "$(grep -cF ";odd();$name " calls.collapsed)" -eq 3 ] || grep -qF ";$name " calls.collapsed ||
		say "collapsed has no $name"
done
[ "$(grep -c '^w\\x3bx "\\xff\\ y ([0-9]*);thread(void\*) 1$' calls.collapsed)" -eq 2 ] || say 'threads of one name are two'
gives 0 "$EPITAPH" export -f collapsed --weight=calls --merge-threads core.odd
grep -q '^w\\x3bx "\\xff\\ y;thread(void\*) 2$' out || say '--merge-threads: threads of one name are one'
dot -Tsvg calls.gv >graph.svg || say 'dot does not draw it'
[ "$(grep -c 'class="node"' graph.svg)" -eq "$(grep -c '^N' graph)" ] || say 'the drawing has other nodes'
has graph.svg 'quo&quot;te\back'
has graph.svg 'semi;colon;'
# A small share is left out, and that is said.
gives 0 "$EPITAPH" export -f dot --min-percent=20 core.odd
graph out few
left=$(($(grep -c '^N' graph) - $(grep -c '^N' few)))
[ "$left" -gt 3 ] || say 'dot: nothing was left out'
has out "below 20 %, left out: $left functions"
gives 0 "$EPITAPH" export -f dot --min-percent=20% core.odd

# Deep recursion.
crash core.deep "$PWD/odd" 10000
all_formats core.deep
has calls.folded '[deeper than 1000 frames]'

# Parts of a trace.
gives 0 "$EPITAPH" export -f jsonl --thread='w;x*' core.odd
mv out part.jsonl
fits jsonl part.jsonl
[ "$(grep -c '"function":"thread(void\*)"' part.jsonl)" -eq 2 ] || say '--thread'
gives 0 "$EPITAPH" export -f chrome --function='box::*' core.odd
mv out part.json
fits chrome part.json
[ "$(grep -c '"name":"box::' part.json)" -eq 4 ] && ! grep -q '"name":"main"' part.json || say '--function'
gives 0 "$EPITAPH" export -f dot --min-percent=0 --function='[bm][oa][xi]*' core.odd
grep -q 'style=dashed' out || say 'dot: an edge past calls that are not there'

# History that was overwritten: calls that only their returns tell of, outside of what they called.
cat >wrap.c <<'END'
#include <stdlib.h>
static volatile int sink;
#define KEPT __attribute__((noinline, noclone)) static void
KEPT leaf(void) { sink++; }
KEPT twig(void) { leaf(); sink++; }
KEPT spin(int n) { for (int i = 0; i < n; i++) twig(); sink++; }
KEPT inner(void) { spin(20000); sink++; }
KEPT outer(void) { inner(); leaf(); sink++; }
int main(void) { outer(); spin(20); abort(); }
END
"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls wrap.c -o wrap
EPITAPH_RING=16K EPITAPH_TIMESTAMP_EVERY=1 crash core.wrap "$PWD/wrap"
gives 0 "$EPITAPH" export -f collapsed --weight=calls core.wrap
older='[began before the history]'
grep -qE '^wrap \([0-9]+\);\[began before the history\];outer 1$' out || say 'collapsed: no outer'
has out "$older;outer;inner;spin 1"
has out "$older;outer;inner;spin;twig;leaf "
has out "$older;spin;twig;leaf 20"
gives 0 "$EPITAPH" export -o wrap.speedscope.json core.wrap
fits speedscope wrap.speedscope.json
import wrap.speedscope.json imported
awk -F '\t' '$1 == "call" && $2 < 3 { print $2, $3 }' imported | head -n 3 >got
printf '%s [began before the history]\n' '0 outer' '1 inner' '2 spin' | diff - got >difference || say "$(cat difference)"
has imported 'older calls are unknown'
gives 0 "$EPITAPH" export -f chrome -o wrap.json core.wrap
fits chrome wrap.json
grep -q '"name":"outer".*"began":"before the history' wrap.json || say 'chrome: outer began'
gives 0 "$EPITAPH" export -o wrap.jsonl core.wrap
fits jsonl wrap.jsonl
grep -q '"function":"inner".*"begin_ns":null.*began-before' wrap.jsonl || say 'jsonl: inner began'
gives 0 "$EPITAPH" export -f dot core.wrap
has out 'began before the history'

# A pause is a gap, and its time is nobody's own.
traced pauses pauses
EPITAPH_TIMESTAMP_EVERY=1 crash core.pauses "$PWD/pauses"
gives 0 "$EPITAPH" export -o pauses.jsonl core.pauses
fits jsonl pauses.jsonl
[ "$(grep -c '"type":"gap".*"why":"tracing was paused"' pauses.jsonl)" -ge 1 ] || say 'jsonl: no pause'
missing=$(awk -F '"begin_ns":|,"end_ns":|,"lost"' '/"type":"gap"/ { n += $3 - $2 } END { print n }' pauses.jsonl)
gives 0 "$EPITAPH" export -f collapsed core.pauses
grep -qE "^pauses \([0-9]+\);main;\[tracing was paused\] $missing\$" out || { say 'collapsed: no pause'; cat out; }
gives 0 "$EPITAPH" export -o pauses.speedscope.json core.pauses
fits speedscope pauses.speedscope.json
import pauses.speedscope.json imported
got=$(awk -F '\t' '$3 == "[tracing was paused]" { n += $4 } END { print n }' imported)
[ "$got" = "$missing" ] || say "speedscope: $got ns were paused, not $missing"
gives 0 "$EPITAPH" export -f chrome core.pauses
grep -q '"ph":"i".*"name":"history is missing","cat":"gap","args":{"why":"tracing was paused"' out || say 'chrome: no pause'
all_fit
exit $((failures != 0))
