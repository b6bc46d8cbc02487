# SPDX-License-Identifier: BSD-2-Clause
# The calls of tests/programs/story.c, whose tree is written by hand here, come back as they were; every option chooses what
# it says; programs get the same in columns.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
traced story story
EPITAPH_TIMESTAMP_EVERY=1 crash core.story "$PWD/story"

# tree ARGUMENTS...: only the calls, without times.
tree() {
	"$EPITAPH" replay "$@" core.story 2>err | sed -n 's/^ *~\{0,1\}-[0-9.]* *\(~\{0,1\}[0-9.]* [num]\{0,1\}s \)\{0,1\} *//p'
}

same() { # WHAT ARGUMENTS...: tree of them is what stands on stdin
	local what=$1
	shift
	cat >want
	tree "$@" >got
	diff -u want got >difference || { say "$what:"; sed 's/^/	/' difference; }
}

same 'all of it' <<'END'
main() { /* did not return */
first() {
leaf();
} /* first */
second() {
leaf();
leaf();
} /* second */
jumps() {
thrower() {
-- thrower jumps (longjmp)
} /* thrower: left by an exception or longjmp */
} /* jumps */
slow() {
leaf();
} /* slow */
recursive() {
recursive() {
recursive();
} /* recursive */
} /* recursive */
last() { /* did not return */
fall() { /* did not return */
END

# The indent is the depth.
gives 0 "$EPITAPH" replay core.story
grep -qE '^ *-[0-9]+\.[0-9]{9} {1,16}main\(\) \{' out || { say 'main is at the left'; cat out; }
awk '/ first\(\) / { first = index($0, "first") } / second\(\) / { second = index($0, "second") } / main\(\) / { main = index($0, "main") }
	END { exit !(first == second && first == main + 2) }' out || say 'first and second are one level inside of main'

same '--last' --last=2 <<'END'
main() { /* did not return */
last() { /* did not return */
fall() { /* did not return */
END
same '--last with callers' --last=4 <<'END'
main() { /* did not return */
recursive() {
recursive() {
recursive();
} /* recursive */
} /* recursive */
last() { /* did not return */
fall() { /* did not return */
END
same '--depth' --depth=2 <<'END'
main() { /* did not return */
first();
second();
jumps();
slow();
recursive();
last() { /* did not return */
END
same '--function' --function='*cur*' <<'END'
recursive() {
recursive() {
recursive();
} /* recursive */
} /* recursive */
END
same '--min-duration' --min-duration=15ms <<'END'
main() { /* did not return */
slow();
last() { /* did not return */
fall() { /* did not return */
END
# slow ended after its 20 ms, and all else was over before them or began after.
same '--until' --until=-15ms <<'END'
main() { /* did not return */
first() {
leaf();
} /* first */
second() {
leaf();
leaf();
} /* second */
jumps() {
thrower() {
-- thrower jumps (longjmp)
} /* thrower: left by an exception or longjmp */
} /* jumps */
slow() {
leaf();
} /* slow */
END
same '--since' --since=-10ms <<'END'
main() { /* did not return */
slow();
recursive() {
recursive() {
recursive();
} /* recursive */
} /* recursive */
last() { /* did not return */
fall() { /* did not return */
END
tree --last=10ms >got
grep -q '^recursive' got && ! grep -q '^second' got || say '--last=10ms is the end'
gives 2 "$EPITAPH" replay --thread=nobody core.story
gives 2 "$EPITAPH" replay --function='no_such_*' core.story
for commands in 'replay --format=tsv' 'stats --csv'; do
	# shellcheck disable=SC2086
	gives 0 "$EPITAPH" $commands --function=leaf --function=nothing --function='seco*' core.story
	grep -q leaf out && grep -q second out && ! grep -q slow out || say "$commands: several --function"
done
gives 0 "$EPITAPH" replay -t nobody -t 'sto*' core.story
tid=$("$EPITAPH" replay --format=tsv core.story | awk -F '\t' '!/^#/ { print $5; exit }')
for thread in "$tid" '#1' 'sto*'; do
	tree --thread="$thread" >got
	diff want got >/dev/null && say 'a tree of the whole thread is longer'
	[ "$(wc -l <got)" -eq 23 ] || say "--thread=$thread has $(wc -l <got) lines"
done

# For programs: the columns are named; every begin has its end or says that it did not return; order and depths are right.
gives 0 "$EPITAPH" replay --format=tsv core.story
python3 - out <<'END' || say 'the tab-separated lines are wrong'
import sys
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
assert lines[0].startswith("# event\t"), lines[0]
head = lines[0][2:].split("\t")
rows = [dict(zip(head, line.split("\t"), strict=True)) for line in lines if not line.startswith("#")]
said = [(r["event"], r["function"], int(r["depth"]), r["flags"]) for r in rows]
tree = """0main 1first 2leaf -2leaf -1first 1second 2leaf -2leaf 2leaf -2leaf -1second 1jumps 2thrower -2thrower -1jumps
1slow 2leaf -2leaf -1slow 1recursive 2recursive 3recursive -3recursive -2recursive -1recursive 1last 2fall""".split()
want = [("E", w[2:], int(w[1])) if w[0] == "-" else ("B", w[1:], int(w[0])) for w in tree]
assert [s[:3] for s in said if s[0] != "P"] == want, said
assert [s for s in said if s[0] == "P"] == [("P", "thrower", 3, "longjmp")], said
open_ones = [s[1] for s in said if "did-not-return" in s[3]]
assert open_ones == ["main", "last", "fall"], open_ones
assert [s[1] for s in said if "abandoned,unwound" in s[3]] == ["thrower"]
times = [int(r["time_ns"]) for r in rows]
assert times == sorted(times)
assert all(int(r["earliest_ns"]) <= int(r["time_ns"]) for r in rows)
slow = [int(r["time_ns"]) for r in rows if r["function"] == "slow"]
assert 20_000_000 <= slow[1] - slow[0] < 20_000_000_000, slow
assert all(r["module"] == "story" and r["thread"] == "story" for r in rows)
END

# Two threads: apart, each under its own head; merged, each line with its thread, in order of time.
traced deaths deaths
crash core.two "$PWD/deaths" null thread
gives 0 "$EPITAPH" replay core.two
[ "$(grep -c '^thread [0-9]* ' out)" -eq 2 ] || say 'two threads have two heads'
awk '/^thread .* second/ { second = 1 } / join_it\(\)/ && second { exit 1 }' out || say "main's calls stand below second's head"
gives 0 "$EPITAPH" replay --merged core.two
hasnt out 'blocks, the last'
grep -qE '^ *[~>]?-[0-9.]+ +[0-9]+ deaths .* join_it\(\)' out || { say 'a merged line names its thread'; cat out; }
grep -qE '^ *[~>]?-[0-9.]+ +[0-9]+ second .* die_null\(\)' out || { say 'a merged line names its thread'; cat out; }
tr -d '~>' <out | awk '/^ *-[0-9]/ { t = -$1; if (seen++ && t > before + 1e-9) exit 1; before = t }' || { say 'merged lines are in order of time'; cat out; }
gives 0 "$EPITAPH" replay --thread=second core.two
hasnt out 'main()'
has out 'die_null()'
gives 0 "$EPITAPH" replay --format=tsv core.two
awk -F '\t' '/^#/ { next } $2 + 0 < before { exit 1 } { before = $2 + 0 }' out || say 'tab-separated lines are in order of time'

# Colours are for terminals, or on demand.
"$EPITAPH" replay --color=always core.story | grep -q $'\033\[' || say 'no colours with --color=always'
"$EPITAPH" replay --color=never core.story | grep -q $'\033' && say 'colours with --color=never'
"$EPITAPH" replay core.story | grep -q $'\033' && say 'colours in a pipe'

# Another build of the program is not used for its names, unless forced; without it, addresses are left.
mkdir other && "$BIN/epitaph-cc" -O0 "$TOP/tests/programs/story.c" -o other/story -Wl,--build-id=0x0123456789
gives 0 "$EPITAPH" replay --executable="$PWD/story" core.story
mv story story.away
gives 1 "$EPITAPH" replay core.story
has err 'story'
grep -q 'story+0x' out || say 'an unknown function is module+offset'
hasnt out 'first()'
gives 1 "$EPITAPH" replay --executable=other/story core.story
has err 'build-id'
grep -q 'story+0x' out || say 'another build named the functions'
"$EPITAPH" replay --executable=other/story --force core.story >out 2>err || true
hasnt out 'story+0x'
mkdir -p "debug/.build-id/$(readelf -n story.away | awk '/Build ID/ { print substr($3, 1, 2) }')"
objcopy --only-keep-debug story.away "debug/.build-id/$(readelf -n story.away | awk '/Build ID/ { print substr($3, 1, 2) "/" substr($3, 3) }').debug"
gives 0 "$EPITAPH" replay --debug-path=debug core.story
has out 'first()'
exit $((failures != 0))
