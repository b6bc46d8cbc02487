# SPDX-License-Identifier: BSD-2-Clause
# info: what is in a core, by what readelf and the program itself say; for people and for programs the same.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
traced deaths deaths
crash core.dead env EPITAPH_RING=128K EPITAPH_TIMESTAMP_EVERY=8 "$PWD/deaths" null thread

gives 0 "$EPITAPH" info core.dead
has out "program    $PWD/deaths"
has out "command    $PWD/deaths null thread"
has out "rings up to 128 KiB"
has out "one in 8"
has out 'magic at the start of a segment'
has out 'ppm'
grep -qE 'lost +nothing' out || say 'nothing was lost'
grep -qE '^[0-9]+ +second .* whole' out || say 'the second thread is not listed as whole'
hasnt out 'libc.so'
gives 0 "$EPITAPH" info --modules core.dead
has out "$(readelf -n deaths | awk '/Build ID/ { print $3 }')"
has out 'libc.so.6'

gives 0 "$EPITAPH" info --json core.dead
python3 - out "$PWD/deaths" "$(readelf -n deaths | awk '/Build ID/ { print $3 }')" <<'END' || say 'the JSON is wrong'
import json, sys
info = json.load(open(sys.argv[1], encoding="utf-8"))
assert info["version"] == 1
assert info["executable"] == sys.argv[2]
assert info["command_line"].split()[1:] == ["null", "thread"]
assert {t["name"] for t in info["threads"]} == {"deaths", "second"}, info["threads"]
for thread in info["threads"]:
    assert thread["whole"] and thread["blocks"] == 1 and thread["every"] == [8], thread
    assert thread["last_event_ns"] <= 0 <= thread["history_ns"]
program = [m for m in info["modules"] if m["path"] == sys.argv[2]]
assert len(program) == 1 and program[0]["build_id"] == sys.argv[3], program
assert program[0]["start"] < program[0]["end"]
assert not any(info["lost"].values()), info["lost"]
assert 0 < info["start_realtime_ns"] < info["last_realtime_ns"]
END

# A snapshot of it has the same to say, but for how it was found.
gives 0 "$EPITAPH" extract -o snapshot core.dead
"$EPITAPH" info core.dead | grep -v '^arena' >one
"$EPITAPH" info snapshot | grep -v '^arena' >other
diff one other || say 'the snapshot says something else'

# A ring that was used up, and a program that started paused.
crash core.over env EPITAPH_RING=8K "$PWD/deaths" overflow
gives 0 "$EPITAPH" info core.over
grep -qE '^[0-9]+ +deaths +live +2 ' out || { say 'two blocks of the overflow are left'; cat out; }
hasnt out whole
crash core.off env EPITAPH=off "$PWD/deaths" null
"$EPITAPH" info core.off >out 2>err || true
has out paused
exit $((failures != 0))
