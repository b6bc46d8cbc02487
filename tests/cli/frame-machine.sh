#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What tests change for the whole machine is put back by the last run to end, whichever that is, and after a run that was killed by
# the next one. On files of our own instead of /proc/sys.
# nothing crashes
set -euo pipefail
unset EPITAPH_TESTS_LOCKED

mkdir -p sys/{kernel,fs,vm}
for name in core_pattern core_pipe_limit core_uses_pid; do : >sys/kernel/$name; done
sed "s|^machine_sys=.*|machine_sys=$PWD/sys|; s|^machine_kept=.*|machine_kept=$PWD/kept|" "$TOP/tests/machine.bash" >machine.bash
grep -q "=$PWD/sys$" machine.bash && grep -q "=$PWD/kept$" machine.bash

handler='|/usr/share/crashes/handler -p%p  -s%s'
is() { # PATTERN LIMIT WHEN
	[ "$(cat sys/kernel/core_pattern) $(cat sys/kernel/core_pipe_limit)" = "$1 $2" ] || { echo "$3: not $1 $2:"; cat sys/kernel/*; exit 1; }
}
begins_with() { printf '%s\n' "$1" >sys/kernel/core_pattern; echo "$2" >sys/kernel/core_pipe_limit; }
run() { # NAME [WORDS]: goes on until there is a file NAME.ends
	bash -c '. ./machine.bash; machine_enter || exit 1; eval "${2:-}"; : >"$1.goes"; until [ -e "$1.ends" ]; do sleep 0.02; done
		machine_leave' - "$@" &
	pid=$!
	until [ -e "$1.goes" ]; do kill -0 $pid || { echo "$1 ended"; exit 1; }; sleep 0.02; done
}
ends() { : >"$1.ends"; wait "$2"; rm "$1.goes" "$1.ends"; }

begins_with "$handler" 4
run one
is core 4 "one run"
ends one $pid
is "$handler" 4 "after one run"
[ ! -e kept ]

for first_to_end in a b; do
	run a; a=$pid
	run b; b=$pid
	last=$([ $first_to_end = a ] && echo b || echo a)
	ends $first_to_end ${!first_to_end}
	is core 4 "while $last goes on"
	ends $last ${!last}
	is "$handler" 4 "after $last"
done

run killed 'echo "@/tmp/epc.a0B1c2/socket" >sys/kernel/core_pattern; echo 64 >sys/kernel/core_pipe_limit'
is @/tmp/epc.a0B1c2/socket 64 "a test"
kill -9 $pid; wait $pid 2>/dev/null || true
rm killed.goes
run next
is core 4 "after a kill"
ends next $pid
is "$handler" 4 "what was before the killed run"

# Killed before anything kept what was there, by an older version's run.
begins_with "|/var/tmp/epc.a0B1c2/epitaph catch /var/tmp/epc.a0B1c2/store %p" 0
run next 2>said
ends next $pid
is core 0 "a killed test's pattern"
grep -q 'a killed test left' said

# Who may not change it is told what to do.
ordinary=() away=$PWD
if [ "$(id -u)" -eq 0 ]; then
	ordinary=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	away=$(mktemp -d)
	trap 'rm -rf "$away"' EXIT
	cp -r sys "$away"
	chmod -R a+rX "$away"
fi
text=$(sed "s|^machine_sys=.*|machine_sys=$away/sys|" machine.bash)
chmod a-w "$away/sys/kernel/core_pattern"
"${ordinary[@]}" bash -c "$text"$'\nmachine_enter && machine_leave'
chmod u+w "$away/sys/kernel/core_pattern"
echo "$handler" >"$away/sys/kernel/core_pattern"
chmod a-w "$away/sys/kernel/core_pattern"
! "${ordinary[@]}" bash -c "$text"$'\nmachine_enter' 2>said
grep -q 'echo core | sudo tee' said
