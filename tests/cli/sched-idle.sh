#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A process that waits nearly all the time has its waits recorded, long before its calls fill a block; by any user who may; and what
# that may cost is a setting.
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"
need_scheduling

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/idles.c" -o idles
"$BIN/epitaph-cc" -O1 -pthread -static "$TOP/tests/programs/idles.c" -o idles-static
pid=
trap '[ -z "$pid" ] || kill -KILL $pid 2>/dev/null || true' EXIT

begin() { # COMMAND...: with a pipe of ours as its input
	[ -e feed ] || mkfifo feed
	"$@" <feed >out 2>err &
	pid=$!
	exec 7>feed
}
end() {
	kill -KILL $pid
	wait $pid 2>/dev/null || true
	exec 7>&-
	pid=
}
# of_sched EXPRESSION: what `info` says of the scheduling events (s) makes it true.
of_sched() {
	"$EPITAPH" info --json $pid >info.json 2>/dev/null || [ $? -eq 1 ] || return 1
	python3 -c 'import json, sys; s = json.load(open("info.json"))["scheduling"]; sys.exit(not ('"$1"'))'
}
waits_in() { # FUNCTION: who waited there is known
	"$EPITAPH" stats --waits $pid >waits 2>/dev/null || [ $? -eq 1 ] || return 1
	grep -q "$1" waits
}

for program in ./idles ./idles-static; do
	begin $program threads
	soon of_sched 's["state"] == "on" and s["threads"] >= 3' || fail "$program threads: $(cat info.json)"
	soon waits_in idles_locked && soon waits_in idles_rest || fail "$program threads: $(cat waits)"
	end
done

# A server of one thread that has waited once is known to wait. (What it is sent first may be there before it looks.)
begin ./idles server
for answers in 1 2; do
	printf x >&7
	soon eval "[ \$(wc -c <out) -eq $answers ]" || fail "no answer"
done
soon of_sched 's["state"] == "on"' || fail "server: $(cat info.json)"
printf x >&7
soon waits_in 'idles_await' || fail "server: $(cat waits)"
end

# One that only computes has nothing recorded of it before it is grown up, and no more than that then: asked by its threads.
begin ./idles computes
soon of_sched 's["state"] in ("on", "refused")' || fail "computes: $(cat info.json)"
end

# So for a user without rights, where the kernel lets him; else the report of it says why.
elsewhere=$(mktemp -d)
chmod 755 "$elsewhere"
cp idles "$elsewhere/"
begin "${nobody[@]}" "$elsewhere/idles" threads
if "${nobody[@]}" true && has_source perf && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	soon of_sched 's["state"] == "on" and s["source"] == "perf"' || fail "as nobody: $(cat info.json)"
else
	soon of_sched 's["state"] == "refused" and s["perf_errno"] != 0' || fail "as nobody: $(cat info.json)"
fi
end
rm -rf "$elsewhere"

# Who asks for waits that are not there is told why.
begin env EPITAPH_SCHED=off ./idles threads
why_not() {
	! "$EPITAPH" stats --waits $pid >waits 2>&1 &&
		grep -q 'who waited is not known (EPITAPH_SCHED); not recorded (EPITAPH_SCHED=off)' waits
}
soon why_not || fail "$(cat waits)"
end

# With next to nothing to spend they end, and what is said names both settings.
"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/waits.c" -o waits-storm
begin env EPITAPH_BUDGET=0.1% EPITAPH_IDLE_BUDGET=none ./waits-storm ping60000 hold
soon of_sched 's["state"] == "costly"' || fail "$(cat info.json)"
"$EPITAPH" info $pid >info || [ $? -eq 1 ]
grep -q 'its switches are too many for EPITAPH_BUDGET and EPITAPH_IDLE_BUDGET (EPITAPH_SCHED=auto: nevertheless)' info || fail "$(cat info)"
end
# All of a processor: they stay.
begin env EPITAPH_BUDGET=0.1% EPITAPH_IDLE_BUDGET=100% ./waits-storm ping60000 hold
soon eval '[ "$(cat /proc/$pid/wchan 2>/dev/null)" != 0 ] && of_sched "s[\"state\"] == \"on\" and s[\"switches\"] > 1000"' || fail "$(cat info.json)"
end
