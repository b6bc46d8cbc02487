# SPDX-License-Identifier: BSD-2-Clause
# export -f viztracer: what VizTracer's viewer reads, checked against a schema written from its format's description, and
# against the calls of tests/programs/story.c, which are written by hand.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

# The source has a byte that is no UTF-8; another one is gone when the export is made.
{ cat "$TOP/tests/programs/story.c"; printf '/* caf\351 */\n'; } >story.c
"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls story.c -o story
crash core.story "$PWD/story"

check() { # FILE CODE: python, with the file as `trace`
	python3 - "$@" <<'END' || say "$1: not as it must be"
import json, sys
def once(pairs):
    keys = [k for k, _ in pairs]
    assert len(keys) == len(set(keys)), "a key twice"
    return dict(pairs)
trace = json.load(open(sys.argv[1], encoding="utf-8"), object_pairs_hook=once)
number = (int, float)
def is_a(value, kind):
    assert isinstance(value, kind) and not isinstance(value, bool), (value, kind)

# Trace Event Format: an object with traceEvents; of each event ph, pid, tid; ts and dur in microseconds.
assert set(trace) == {"traceEvents", "viztracer_metadata", "displayTimeUnit", "file_info"}, set(trace)
assert trace["displayTimeUnit"] in ("ns", "ms")
is_a(trace["viztracer_metadata"]["version"], str)
assert isinstance(trace["viztracer_metadata"]["overflow"], bool)
for event in trace["traceEvents"]:
    assert event["ph"] in "XBMi", event
    is_a(event["pid"], int), is_a(event["tid"], int), is_a(event["name"], str)
    if event["ph"] == "M":
        assert event["name"] in ("process_name", "thread_name")
        is_a(event["args"]["name"], str)
        continue
    is_a(event["ts"], number)
    assert event["ts"] >= 0
    assert ("dur" in event) == (event["ph"] == "X"), event
    assert event.get("dur", 0) >= 0
# VizTracer: file_info.files has [text, number of lines] by path; functions has [path, line] by the name of the event.
files, functions = trace["file_info"]["files"], trace["file_info"]["functions"]
for path, (text, lines) in files.items():
    is_a(text, str), is_a(lines, int)
    assert lines == text.count("\n"), path
for name, (path, line) in functions.items():
    is_a(line, int)
    assert name.endswith(f" ({path}:{line})"), name
    if path in files:
        function = name[:-len(f" ({path}:{line})")]
        # gcc's line tables begin a function at its opening brace.
        assert function in "".join(files[path][0].splitlines()[line - 2:line]), (name, line)
# An X comes when the call ends, as VizTracer itself writes it; viewers sort. No two of a thread begin at one time.
calls = sorted((e for e in trace["traceEvents"] if e["ph"] in "XB"), key=lambda e: e["ts"])
assert len({(e["tid"], e["ts"]) for e in calls}) == len(calls)
exec(sys.argv[2])
END
}

gives 0 "$EPITAPH" export -f viztracer --sources=. -o story.json core.story
[ ! -s out ] || say 'export -o printed on stdout'
check story.json '
short = [(e["ph"], e["name"].split(" ")[0]) for e in calls]
want = "B main X first X leaf X second X leaf X leaf X jumps X thrower X slow X leaf X recursive X recursive X recursive B last B fall"
assert [x for pair in short for x in pair] == want.split(), short
assert {e["name"] for e in calls} == set(functions)
assert len(files) == 1 and "\ufffd" in list(files.values())[0][0]
by = {n: e for e, (_, n) in zip(calls, short)}
assert by["fall"]["args"]["unfinished"] == "did not return"
assert "left without a return" in by["thrower"]["args"]["ended"]
assert by["slow"]["dur"] >= 20000
# Each lies inside of the one that called it.
def inside(a, b):
    return b["ts"] <= a["ts"] and a["ts"] + a["dur"] <= b["ts"] + b["dur"] + 1e-6
first = [e for e, (_, n) in zip(calls, short) if n == "leaf"][0]
assert inside(first, by["first"]) and not inside(first, by["second"])
assert all(e["args"]["module"] == "story" for e in calls)
names = {e["name"]: e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"}
assert names["process_name"].endswith("/story") and names["thread_name"] == "story", names
'
# To stdout the same bytes; no text of a source that nobody asked for.
gives 0 "$EPITAPH" export -f viztracer --sources=. core.story
cmp -s out story.json || say 'stdout and -o differ'
gives 0 "$EPITAPH" export -f viztracer core.story
check out 'assert not files and functions'
mv story.c story.moved
gives 0 "$EPITAPH" export -f viztracer --sources=. core.story
check out 'assert not files and len(functions) == 10, functions'
# What is named is somebody else's word: no text from outside of the directory, by a link or by dots, and none of .git or .env.
mkdir -p tree/.git outside
cp story.moved outside/story.c
cp story.moved tree/.git/story.c
ln -s ../outside/story.c tree/story.c
for where in tree tree/.git tree/../outside outside; do
	gives 0 "$EPITAPH" export -f viztracer --sources=tree --path-map="$PWD=$PWD/$where" core.story
	check out 'assert not files, list(files)'
	has err 'source files whose text is in it: 0'
done
gives 0 "$EPITAPH" export -f viztracer --sources=outside --sources=. --path-map="$PWD=$PWD/tree" core.story
check out 'assert [f[-13:] for f in files] == ["/tree/story.c"], list(files)'
has err 'source files whose text is in it: 1'
has err "  $PWD/tree/story.c"
gives 0 "$EPITAPH" export -f viztracer --last=2 core.story
check out 'assert [e["name"].split(" ")[0] for e in calls] == ["main", "last", "fall"]'

# Sparse time stamps: what is not exact says so.
EPITAPH_TIMESTAMP_EVERY=64 crash core.sparse "$PWD/story"
gives 0 "$EPITAPH" export -f viztracer core.sparse
check out '
assert len(calls) == 15
assert any("approximate" in (e["args"].get("begin"), e["args"].get("end")) for e in calls)
'
# Threads have tracks of their own.
traced deaths deaths
crash core.two "$PWD/deaths" null thread
gives 0 "$EPITAPH" export -f viztracer core.two
check out '
tracks = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
assert sorted(tracks.values()) == ["deaths", "second"], tracks
assert {tracks[e["tid"]] for e in calls if e["name"].startswith("die_null")} == {"second"}
'
# A file appears whole or not at all.
mkdir there
gives 64 "$EPITAPH" export -f viztracer -o there core.story
gives 3 "$EPITAPH" export -f viztracer -o no/such/folder core.story
has err no/such/folder
gives 3 "$EPITAPH" export -f viztracer -o /dev/full core.story
has err /dev/full
echo old >kept.json
gives 2 "$EPITAPH" export -f viztracer -o kept.json --function='no_such_*' core.story
[ "$(cat kept.json)" = old ] || say 'a file was replaced by nothing'
gives 64 "$EPITAPH" export -f flowers core.story
has err viztracer
gives 64 "$EPITAPH" export core.story
exit $((failures != 0))
