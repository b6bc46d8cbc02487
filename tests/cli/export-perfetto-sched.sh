# SPDX-License-Identifier: BSD-2-Clause
# export -f perfetto: two threads that answer each other: ftrace's switches and wakings as the kernel would have them, and an
# arrow for each waking, from the thread that woke to where the other one runs again.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/exports.bash"
source "$TOP/tests/cli/lib/sched.bash"
need_protoc
need_scheduling

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/waits.c" -o waits
read_it() { # SOURCE
	EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=$1 awake crash 134 ./waits recorded ping100 nap settle abort
	"$EPITAPH" export -f perfetto -o calls.pftrace core || [ $? -eq 1 ]
	decoded calls.pftrace >decoded
}

cat >look.py <<'END'
tids = {uuid: tid for tid, _, uuid in trace.threads()}
names = {tid: name for tid, name, _ in trace.threads()}
assert sorted(names.values()) == ["answerer", "waits"], names
switches, wakings, here = [], set(), {}
for bundle in trace.bundles:
    cpu, last = number(bundle, "cpu"), -1
    for event in bundle["event"]:
        time, = map(int, event["timestamp"])
        assert time >= last
        last = time
        switch, waking = one(event, "sched_switch"), one(event, "sched_waking")
        if switch:
            switches.append((time, cpu, number(switch, "prev_pid"), number(switch, "prev_state"), number(switch, "next_pid")))
            assert number(event, "pid") == number(switch, "prev_pid")
            if number(switch, "next_pid") in names:
                assert one(switch, "next_comm") == names[number(switch, "next_pid")], switch
        elif waking:
            wakings.add((time, number(event, "pid"), number(waking, "pid")))
ours = [s for s in switches if s[2] in names or s[4] in names]
assert len(ours) >= 20, len(ours)
# Running, asleep, or dead: the other one has returned.
assert {s[3] for s in ours if s[2] in names} <= {0, 1, 2, 16, 32}, {s[3] for s in ours}
# A nap of 40 ms is a sleep of its thread.
nap, = [s for s in slices() if s.name == "waits_nap"]
main, = [tid for tid in names if names[tid] == "waits"]
left = [t for t, _, prev, state, _ in switches if prev == main and state == 1 and nap.begin <= t <= nap.end]
back = [t for t, _, _, _, following in switches if following == main and nap.begin <= t <= nap.end]
assert left and back and back[-1] - left[0] > 39_000_000, (nap.begin, nap.end, left, back)
END
arrows='
assert len(trace.flows) >= 20, len(trace.flows)
for flow in trace.flows.values():
    (began, waker, source, first_ends), (ran, woken, target, second_ends) = flow
    waker, woken = tids[waker], tids[woken]
    assert not first_ends and second_ends and waker != woken and began <= ran, flow
    assert source["name"] == f"wakes {woken} {names[woken]}" and target["name"] == f"woken by {waker} {names[waker]}", flow
    assert (began, waker, woken) in wakings, flow
    assert any((t, following) == (ran, woken) for t, _, _, _, following in switches), flow
'
if has_source ftrace; then
	read_it ftrace
	asks decoded "$(cat look.py)$arrows"
fi
# perf knows no wakings, and one of the two threads of a switch.
if has_source perf; then
	read_it perf
	asks decoded "$(cat look.py)
assert not trace.flows and not wakings
assert all(0 in (prev, following) for _, _, prev, _, following in switches)"
fi
exit $((failures != 0))
