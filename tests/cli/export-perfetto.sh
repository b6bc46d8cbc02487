# SPDX-License-Identifier: BSD-2-Clause
# export -f perfetto: protoc reads it with numbers that were written down apart from ours; it has replay's calls, as the other
# formats have them, in at most 30 bytes each, and nothing that Perfetto would drop.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/exports.bash"
need_protoc

# The same calls as replay's.
calls_of() { # CORE
	gives 0 "$EPITAPH" replay --format=tsv "$1"
	mv out tsv
	gives 0 "$EPITAPH" export -o calls.pftrace "$1"
	decoded calls.pftrace >decoded
	agrees perfetto tsv decoded
}

traced story story
crash core.story "$PWD/story"
calls_of core.story
asks decoded 'assert abs(trace.realtime / 1e9 - time.time()) < 600
function = first("main")
assert function.args["file"].endswith("story.c") and int(function.args["line"]) > 1 and function.args["module"] == "story"
assert first("thrower").args["ended"] == "left without a return, by an exception or longjmp"
assert first("fall").end is None and first("last").end is None
assert [e["name"] for t, e in instants() if e["categories"] == ["point"]].count("longjmp") == 1'

# The end is where the mark is, or later; nothing is later in the file. Of a snapshot it is exact, and there is no mark.
end_marks() { # CORE PYTHON: what holds of the marks
	gives 0 "$EPITAPH" export -o ends.pftrace "$1"
	decoded ends.pftrace >decoded
	asks decoded "marks = [(t, e['name']) for t, e in instants() if e['categories'] == ['end']]
assert $2, marks"
}
end_marks core.story 're.fullmatch("the earliest end, up to [0-9.]+ [mun]?s before the real one", marks[0][1]) and len(marks) == 1
assert marks[0][0] >= max(s.begin for s in slices())'
touch -d 2001-01-01 core.story
end_marks core.story '[name for t, name in marks] == ["the earliest end, the real one may be later"]'
EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=$PWD/shot.%n crash core.exact "$PWD/story"
end_marks shot.1 'marks == []'

EPITAPH_TIMESTAMP_EVERY=64 crash core.sparse "$PWD/story"
calls_of core.sparse
asks decoded 'assert any(s.categories == ["approximate"] for s in slices())'

odd_program odd
crash core.odd "$PWD/odd" 200
calls_of core.odd
crash core.deep "$PWD/odd" 10000
calls_of core.deep
asks decoded 'assert max(s.depth for s in slices()) == 500 and first("[deeper than 500 frames]").categories == ["deep"]'

# What a call takes; names, the same number of calls and the same time as in the file for chrome, where events of one time are
# told apart by a few ns.
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
for every in 1 auto; do
	EPITAPH_TIMESTAMP_EVERY=$every EPITAPH_SCHED=off crash core.many "$PWD/many"
	calls_of core.many
	calls=$(awk -F '\t' '/^#/ { for (i = 1; i <= NF; i++) if ($i ~ /event$/) event = i } $event == "B"' tsv | wc -l) size=$(stat -c %s calls.pftrace)
	[ "$calls" -eq 15004 ] || say "there are $calls calls"
	[ "$size" -le $((calls * 30)) ] || say "every=$every: $size bytes, for $calls calls"
	gives 0 "$EPITAPH" export -f chrome -o calls.json core.many
	asks decoded 'theirs = json.load(open("calls.json"))["traceEvents"]
ours, chrome = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(lambda: [0, 0])
for one in slices():
    ours[one.name][0] += 1
    ours[one.name][1] += one.end - one.begin if one.end is not None else 0
for one in theirs:
    if one["ph"] in "XB":
        chrome[one["name"]][0] += 1
        chrome[one["name"]][1] += round(one.get("dur", 0) * 1000)
assert set(ours) == set(chrome) == {"main", "outer", "branch", "twig", "leaf"}, (ours, chrome)
for name, (count, ns) in ours.items():
    assert count == chrome[name][0], name
    assert abs(ns - chrome[name][1]) <= 4 * 15004, (name, ns, chrome[name])'
done
# What tracing cost: of the thread, as many records as it made.
asks decoded 'rates = counter("tracing: records a second")
assert rates and all(1e3 < rate < 1e10 for _, rate in rates)
shares = counter("tracing: % of the time in reads of the clock")
assert shares and all(0 < share < 100 for _, share in shares)
made = sum(rate * (end - begin) / 1e9 for (begin, rate), (end, _) in zip(rates, rates[1:]))
assert len(rates) == 1 or 0.9 < made / 30000 < 1.1, made'

# What the runtime thought of it, and the functions that went off for it: as info has them.
cat >busy.c <<'END'
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) static void leaf(int i) { __asm__ volatile("" : : "r"(i)); }
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 2)
		for (int i = 0; i < 1000; i++)
			leaf(i);
	abort();
}
END
"$BIN/epitaph-cc" -g -O1 busy.c -o busy
EPITAPH_BUDGET=5% EPITAPH_SCHED=off crash core.busy "$PWD/busy"
gives 0 "$EPITAPH" info core.busy
mv out info
gives 0 "$EPITAPH" export -f perfetto --last=100 core.busy
decoded out >decoded
asks decoded 'said = re.search(r"overhead ([0-9.]+) % of the CPU time without tracing, ([0-9.]+) % of late", open("info").read())
(_, whole), = counter("tracing: estimated overhead, %")
late = sum(value for _, value in counter("tracing: estimated overhead of late, %"))
assert whole > 1 and abs(whole - float(said[1])) < 0.06 and abs(late - float(said[2])) < 0.06, (whole, late)
off = re.search(r"(?m)^off +([0-9]+) functions", open("info").read())
moves = [count for _, count in counter("tracing: functions switched off")]
assert max(moves) == 1 and moves[-1] == (int(off[1]) if off else 0), (moves, off)'

# What the program says, and what it did not wait for.
cat >spans.cc <<'END'
#include <epitaph.h>
#include <stdlib.h>
__attribute__((noinline)) static void work(int i) { __asm__ volatile("" : : "r"(i)); }
int main()
{
	epitaph_mark_begin("outer \"1\"");
	work(1);
	epitaph_mark_begin("crossing");
	epitaph_note("half of %d\n\001", 84);
	epitaph_mark_end("outer \"1\"");
	work(2);
	epitaph_mark_end("crossing");
	epitaph_mark_begin("open");
	abort();
}
END
"$BIN/epitaph-c++" -g -O1 spans.cc -o spans
EPITAPH_TIMESTAMP_EVERY=1 crash core.spans "$PWD/spans"
gives 0 "$EPITAPH" export -f perfetto core.spans
decoded out >decoded
asks decoded 'spans = [s for s in slices() if s.categories == ["span"]]
assert [s.name for s in spans] == ["outer \"1\"", "crossing", "open"], spans
outer, crossing, opened = spans
assert outer.begin < crossing.begin < outer.end < crossing.end < opened.begin and opened.end is None
assert len({uuid for uuid, all in trace.slices.items() for s in all if s in spans}) == 3
(when, note), = [i for i in instants() if i[1]["categories"] == ["note"]]
assert note["name"].startswith("half of 84") and outer.begin < when < outer.end, note
assert [s.name.split("(")[0] for s in slices() if not s.categories] == ["main", "work", "work"]'

# Stacks that come and go, jumps, history that was overwritten: begins and ends that fit each other, in the order of time.
"$BIN/epitaph-cc" -g "$TOP/tests/programs/fibers.c" -o fibers
"$BIN/epitaph-c++" -g -O1 "$TOP/tests/programs/jumps.cc" -o jumps -lpthread
for program in fibers jumps; do
	crash core.$program "$PWD/$program"
	gives 0 "$EPITAPH" export -f perfetto --last=3000 -o calls.pftrace core.$program
	decoded calls.pftrace >decoded
	asks decoded 'assert len([s for s in slices() if s.categories in ([], ["approximate"])]) >= 3000'
	[ $program = jumps ] || asks decoded 'left = [s for s in slices() if "suspended" in s.args]
back = [s for s in slices() if "resumed" in s.args]
assert left and back and {s.name for s in back} <= {s.name for s in left}'
done
EPITAPH_RING=16K EPITAPH_TIMESTAMP_EVERY=1 crash core.wrap "$PWD/many"
gives 0 "$EPITAPH" export -f perfetto -o calls.pftrace core.wrap
decoded calls.pftrace >decoded
asks decoded 'assert {s.name for s in slices() if s.args.get("began") == "before the history: begin unknown"} >= {"outer", "branch"}
assert first("outer").begin <= first("branch").begin < first("branch").end <= first("outer").end'
gives 0 "$EPITAPH" export -f perfetto --function=twig core.wrap
decoded out >decoded
asks decoded 'assert {s.name for s in slices()} == {"twig"}'
exit $((failures != 0))
