#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A funtrace.raw, written here by its format's description, is a SOURCE of every command: names from the files on disk however
# the map has them, several samples, files cut anywhere.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >prog.c <<'END'
volatile int n;
__attribute__((noinline)) void leaf(void) { n++; }
__attribute__((noinline)) void middle(void) { leaf(); n++; }
__attribute__((noinline)) void catches(void) { middle(); n++; }
int main(void) { catches(); return 0; }
END
gcc -g -O1 -fno-optimize-sibling-calls -pie -fPIE prog.c -o prog
gcc -g -O1 -fno-optimize-sibling-calls -no-pie prog.c -o fixed

cat >write.py <<'END'
# write.py PROGRAM STYLE OUT: one or more samples in the style of a map: funtrace, kernel, gdb.
import struct, subprocess, sys
program, style, out = sys.argv[1:4]
def chunk(magic, data):
    assert len(magic) == 8
    return magic + struct.pack("<Q", len(data)) + data
symbols = {}
for line in subprocess.check_output(["nm", program], text=True).splitlines():
    words = line.split()
    if len(words) == 3 and words[1] in "tT":
        symbols[words[2]] = int(words[0], 16)
segments = []
kind = None
for line in subprocess.check_output(["readelf", "-lW", program], text=True).splitlines():
    words = line.split()
    if line.startswith("Elf file type"):
        kind = words[4]
    if words[:1] == ["LOAD"]:
        segments.append([int(w, 16) for w in words[1:6]] + ["E" in "".join(words[6:-1])])
bias = 0 if kind == "EXEC" else 0x555555000000
import os
path = os.path.realpath(program)
maps = ""
for offset, vaddr, _, filesz, memsz, executable in segments:
    start, end = bias + vaddr, bias + vaddr + memsz
    low, high = start & ~0xfff, (end + 0xfff) & ~0xfff
    if style == "funtrace" and executable:
        maps += "%x-%x r-xp %x 0:0 0 %s\n" % (start, end, vaddr, path)
    elif style == "kernel":
        maps += "%x-%x r-xp %08x 08:01 77                 %s\n" % (low, high, offset & ~0xfff, path)
    elif style == "gdb":
        maps += "%10x-%10x r-xp %08x 0:0 0 %s\n" % (low, high, offset & ~0xfff, path)
RETURN, INTO = 1 << 63, 1 << 62
CATCH = RETURN | INTO
T = 10**12
def at(name, offset=0):
    return bias + symbols[name] + offset
# 2.5 GHz: a call of 1000 ns takes 2500.
main = [(at("main", 4), T), (at("catches"), T + 100), (at("middle"), T + 200), (at("leaf"), T + 300),
        (at("leaf", 1) | RETURN, T + 2800), (at("middle", 1) | RETURN, T + 5200)]
catching = [(at("catches"), T), (at("middle"), T + 100), (at("leaf"), T + 200), (at("catches", 3) | CATCH, T + 300),
            (at("leaf"), T + 400), (at("leaf") | RETURN, T + 500), (at("catches") | RETURN, T + 600)]
xray = [(at("catches"), T), (at("middle"), T + 100), (at("leaf"), T + 200), (at("middle", 3) | INTO, T + 300),
        (at("catches", 3) | INTO, T + 400), (at("main", 5) | INTO, T + 500)]
# As trace_pipe has them, with the TSC for a clock; the first is from before the calls.
switch = "     main-77      [010] d..2. %d: sched_switch: prev_comm=main prev_pid=77 prev_prio=120 prev_state=S ==> next_comm=a: b next_pid=78 next_prio=120\n"
events = (switch % (T - 2500) + switch % (T + 2500) + switch % (T + 5000)).encode()
def sample(*threads):
    data = chunk(b"PROCMAPS", maps.encode()) + chunk(b"FUNTRACE", struct.pack("<Q", 2500000000))
    data += chunk(b"CMD LINE", (path + " one two").encode())
    for tid, name, entries in threads:
        data += chunk(b"THREADID", struct.pack("<QQ16s", 77, tid, name))
        data += chunk(b"TRACEBUF", b"".join(struct.pack("<QQ", *e) for e in entries))
    return data + chunk(b"FTRACETX", events) + chunk(b"ENDTRACE", b"")
wrapped = main[3:] + main[:3]
open(out, "wb").write(sample((77, b"first", main[:1])) + sample((77, b"main", main), (78, b"wrapped", wrapped),
    (79, b"catching", catching), (80, b"xray", xray)))
END

for program in prog fixed; do
	for style in funtrace kernel gdb; do
		python3 write.py $program $style a.raw
		# No build-ids: that is said, and the result is not called whole.
		gives 1 "$EPITAPH" replay a.raw
		has err 'sample 1, the last of 2'
		has err 'no build-id to check'
		for thread in main wrapped; do
			"$EPITAPH" replay --thread=$thread a.raw 2>err | grep -E '^ ' >got || true
			grep -E '(99[5-9] ns|1\.00[0-5] us) +leaf\(\)' got >/dev/null || say "$program, $style, $thread: leaf takes 1000 ns"
			grep -E '(1\.99[5-9]|2\.00[0-5]) us +\} /\* middle' got >/dev/null || say "$program, $style, $thread: middle takes 2000 ns"
			grep -E 'catches\(\) \{ /\* did not return \*/' got >/dev/null || say "$program, $style, $thread: catches stays open"
			[ "$(grep -c 'did not return' got)" -eq 2 ] || say "$program, $style, $thread: main and catches are open"
		done
		"$EPITAPH" replay --thread=catching a.raw >out 2>err || true
		grep -E '^ +-?[0-9.]+ .*\} /\* catches \*/' out >/dev/null || { say "$program, $style: catches returns"; cat out; }
		[ "$(grep -c 'leaf' out)" -ge 2 ] || say "$program, $style: leaf is called again after the catch"
		"$EPITAPH" replay --thread=xray a.raw >out 2>err || true
		hasnt out 'did not return'
		grep -E 'leaf\(\);' out >/dev/null && grep -E '\} /\* middle \*/' out >/dev/null && grep -E '\} /\* catches \*/' out >/dev/null ||
			{ say "$program, $style: xray's returns end their calls"; cat out; }
	done
done

# A handler in a function's cold part is that function's.
cat >cold.cc <<'END'
#define NI __attribute__((noinline))
extern "C" {
volatile int n;
NI void after() { n++; }
NI void thrower() { if (n == 0) throw 1; }
NI int catcher() { n = 0; try { thrower(); n++; } catch (int) { after(); } return n; }
}
int main() { return catcher(); }
END
g++ -O2 -g cold.cc -o cold
cat >cold.py <<'END'
import struct, subprocess, os
symbols = {w[2]: int(w[0], 16) for w in (l.split() for l in subprocess.check_output(["nm", "cold"], text=True).splitlines()) if len(w) == 3}
assert symbols["catcher.cold"] < symbols["catcher"]
bias, T = 0x555555000000, 10**12
def chunk(magic, data):
    return magic + struct.pack("<Q", len(data)) + data
entries = [("catcher", 0, T), ("thrower", 0, T + 1000), ("catcher.cold", 3 << 62, T + 2000), ("after", 0, T + 3000),
           ("after", 1 << 63, T + 4000), ("catcher", 1 << 63, T + 5000)]
maps = "%x-%x r-xp 0 0:0 0 %s\n" % (bias, bias + 0x4000, os.path.realpath("cold"))
open("cold.raw", "wb").write(chunk(b"PROCMAPS", maps.encode()) + chunk(b"FUNTRACE", struct.pack("<Q", 10**9)) +
    chunk(b"THREADID", struct.pack("<QQ16s", 1, 1, b"c")) +
    chunk(b"TRACEBUF", b"".join(struct.pack("<QQ", bias + symbols[s] + 1 | f, t) for s, f, t in entries)) + chunk(b"ENDTRACE", b""))
END
python3 cold.py
gives 1 "$EPITAPH" replay --format=tsv cold.raw
has out after
"$EPITAPH" export -f viztracer cold.raw >cold.json 2>err || [ $? -eq 1 ]
python3 - <<'END' || say 'thrower is left where it is caught'
import json
events = {e["name"].split()[0].split("(")[0]: e for e in json.load(open("cold.json"))["traceEvents"] if e["ph"] == "X"}
assert set(events) == {"catcher", "thrower", "after"}, events
thrower, after = events["thrower"], events["after"]
assert "left without a return" in thrower["args"]["ended"], thrower
assert thrower["ts"] + thrower["dur"] <= after["ts"], (thrower, after)
assert abs(thrower["dur"] - 1) < 0.02, thrower
END

# Also where the nearest entry below is that of another open function; by the symbols of the file that ran, wherever it is.
cat >outer.cc <<'END'
#define NI __attribute__((noinline))
extern "C" {
volatile int n;
int catcher();
NI __attribute__((cold)) int outer() { return catcher() + n; }
NI void after() { n++; }
NI void thrower() { if (n == 0) throw 1; }
NI int catcher() { n = 0; try { thrower(); n++; } catch (int) { after(); } return n; }
}
int main() { return outer(); }
END
g++ -O2 -g -fno-toplevel-reorder outer.cc -o cold
sed -i -e 's/^assert .*/assert symbols["outer"] < symbols["catcher.cold"] < symbols["catcher"]/' \
	-e 's/^entries = \[/&("outer", 0, T - 1000), /' -e 's/T + 5000)\]/T + 5000), ("outer", 1 << 63, T + 6000)]/' cold.py
python3 cold.py
mkdir -p "else$PWD"
cp cold "else$PWD/"
cold() { # OPTIONS: who was left without a return, in the order of their begins, to out
	"$EPITAPH" export -f viztracer "$@" cold.raw >cold.json 2>err || [ $? -eq 1 ]
	python3 -c '
import json
events = [e for e in json.load(open("cold.json"))["traceEvents"] if e["ph"] == "X"]
for e in sorted(events, key=lambda e: e["ts"]):
    print(e["name"].split()[0].split("(")[0], int("ended" in e["args"]))' >out
}
printf '%s\n' 'outer 0' 'catcher 0' 'thrower 1' 'after 0' >want
cold
cmp -s want out || { say 'who is left by a catch in a cold part'; cat out; }
# The same where XRay logs the returns, by the function that goes on: in its cold part, too.
cp cold.raw plain.raw
sed -e 's/("after", 1 << 63, T + 4000)/("catcher.cold", 1 << 62, T + 4000)/' -e 's/("catcher", 1 << 63, T + 5000)/("outer", 1 << 62, T + 5000)/' \
	-e 's/("outer", 1 << 63, T + 6000)/("main", 1 << 62, T + 6000)/' cold.py >xray.py
python3 xray.py
cold
cmp -s want out || { say 'what returns by XRay after a catch in a cold part'; cat out; }
gives 0 "$EPITAPH" info --json cold.raw
grep -Eq '"returns_unknown": ?0' out || say 'a return of XRay is left out'
mkdir -p away && mv cold away/
cold --sysroot="$PWD/else"
cmp -s want out || { say 'the same, by a file below another root'; cat out; }
mv away/cold . && mv plain.raw cold.raw
mv cold elsewhere
cold --sysroot="$PWD/else"
cmp -s want out || { say 'who is left by a catch in a cold part, by a file below another root'; cat out; }

# Every command takes it.
gives 0 "$EPITAPH" info a.raw
has out "program    $PWD/fixed"
has out "command    $PWD/fixed one two"
has out 'sample 1 of 2'
has out '3 events of the kernel as text'
grep -E '^78 +wrapped ' out >/dev/null || say 'info lists the threads'
grep -q EPITAPH_ out && say 'info names settings that such a file knows nothing of'
LC_ALL=C sed 's/ \([0-9]*: sched_switch\)/x\1/' a.raw >bad.raw
gives 1 "$EPITAPH" info bad.raw
has out '0 events of the kernel as text'
has err '3 lines of FTRACETX are left out'
gives 0 "$EPITAPH" info --json a.raw
python3 - <<'END' || say 'the JSON of info'
import json
info = json.load(open("out"))
assert info["funtrace"] == {"samples": 2, "sample": 1, "entries": 25, "entries_refused": 0, "returns_unknown": 0,
                            "scheduling_bytes": info["funtrace"]["scheduling_bytes"], "scheduling_events": 3,
                            "scheduling_refused": 0}, info["funtrace"]
assert info["funtrace"]["scheduling_bytes"] > 400
assert [t["tid"] for t in info["threads"]] == [77, 78, 79, 80]
assert info["modules"][0]["bias"] == 0
END
gives 0 "$EPITAPH" info --sample=0 a.raw
hasnt err sample
grep -E '^77 +first ' out >/dev/null || say 'sample 0 has a thread first'
gives 2 "$EPITAPH" info --sample=2 a.raw
has err 'only 0 to 1'
gives 64 "$EPITAPH" info --sample=-1 a.raw
gives 64 "$EPITAPH" replay --sample=0 prog
gives 1 "$EPITAPH" report a.raw
has out 'a funtrace.raw tells neither how it ended'
has out 'leaf()'
hasnt out 'no stacks:'
gives 1 "$EPITAPH" export -f viztracer a.raw
python3 -c 'import json; assert len([e for e in json.load(open("out"))["traceEvents"] if e["ph"] in "XB"]) == 4 + 4 + 4 + 3'
# Times as the file has them: TSC cycles at 2.5 GHz from 10^12 on, in microseconds.
for format in viztracer chrome; do
	gives 1 "$EPITAPH" export -f $format a.raw
	mv out since
	gives 1 "$EPITAPH" export -f $format --raw-timestamps a.raw
	python3 - <<-'PY' || say "$format: the kernel's events"
	import json
	for name, times in ("since", (0.000001, 0.000002)), ("out", (400.000001, 400.000002)):
	    lines = [l for l in json.load(open(name))["systemTraceEvents"].split("\n") if l and l[0] != "#"]
	    assert len(lines) == 2 and all(l.startswith("     main-77      [010] d..2. ") for l in lines), lines
	    assert all(l.endswith(" ==> next_comm=a: b next_pid=78 next_prio=120") for l in lines), lines
	    assert all(abs(float(l.split()[3][:-1]) - t) < 2e-8 for l, t in zip(lines, times)), lines
	PY
	python3 - <<-'PY' || say "$format: --raw-timestamps"
	import json
	since, raw = ([e for e in json.load(open(f))["traceEvents"] if e["ph"] in "XBi"] for f in ("since", "out"))
	assert min(e["ts"] for e in since) < 0.01 and len(since) == len(raw) > 14
	assert all(abs(b["ts"] - a["ts"] - 10**12 / 2500) < 0.002 and b.get("dur") == a.get("dur") for a, b in zip(since, raw)), raw
	PY
done
# A clock of no sense: times end where their range does.
python3 -c 'import struct; open("slow.raw", "wb").write(open("a.raw", "rb").read().replace(struct.pack("<Q", 2500000000), struct.pack("<Q", 1)))'
gives 1 "$EPITAPH" export -f chrome --raw-timestamps slow.raw
gives 64 "$EPITAPH" export -f jsonl --raw-timestamps a.raw
has err 'for --format=viztracer and --format=chrome only'
# A snapshot made of it is a core that has the same to say.
gives 0 "$EPITAPH" extract -o snapshot a.raw
"$EPITAPH" replay a.raw 2>err >one || true
# A snapshot does not know that the process went on.
"$EPITAPH" replay snapshot 2>err | sed 's/; times count back from .*//' >other || true
diff one other || say 'the snapshot says something else'

# Below another root, and not there at all.
mkdir -p "root$PWD" && mv fixed "root$PWD/"
gives 1 "$EPITAPH" replay a.raw
hasnt out 'leaf()'
gives 1 "$EPITAPH" replay --sysroot="$PWD/root" a.raw
has out 'leaf()'
gives 1 "$EPITAPH" replay --executable="root$PWD/fixed" a.raw
has out 'leaf()'
mv "root$PWD/fixed" .
# A program that was built again since.
touch -d '+1 day' fixed
"$EPITAPH" replay a.raw >out 2>err || true
has err 'was changed after'

# Cut anywhere: an error that says why, or what is left and what is missing, and nothing that was not there.
size=$(stat -c %s a.raw)
for ((cut = 0; cut < size; cut += 61)); do
	head -c $cut a.raw >cut.raw
	status=0
	"$EPITAPH" replay cut.raw >out 2>err || status=$?
	case $status in
	1)
		[ -s err ] || say "cut at $cut: nothing is said"
		! grep -E '^ .*[a-z]\(' out | grep -vE ' (main|catches|middle|leaf)\(' || say "cut at $cut: what is this?"
		;;
	[23]) [ -s err ] && [ ! -s out ] || say "cut at $cut: no reason" ;; # 2: cut before a sample's first entry
	*) say "cut at $cut: status $status" ;;
	esac
done
exit $((failures != 0))
