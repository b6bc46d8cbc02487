# SPDX-License-Identifier: BSD-2-Clause
# export -f html: who ran where, who waited and who ended that; what the program said; what was switched off.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"
source "$TOP/tests/cli/lib/html.bash"
need_browser
need_scheduling

page() { # SCENARIO...
	"$EPITAPH" export -o page.html core || [ $? -eq 1 ]
	"$EPITAPH" export -o calls.jsonl core || [ $? -eq 1 ]
	in_browser page.html calls.jsonl "$@" || fail "$* $(tail -n 12 unlike)"
}

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/waits.c" -o waits
EPITAPH_SCHED=${sources[0]} EPITAPH_TIMESTAMP_EVERY=1 crash 134 ./waits recorded nap lock ping3 settle abort
page "wakes:${sources[0]}" arcs

# Who else had the CPUs, where the whole machine was recorded.
if has_source ftrace; then
	cp "$(command -v sh)" stranger
	(ulimit -t 30 && exec ./stranger -c 'while :; do :; done') &
	stranger=$!
	until grep -qx stranger "/proc/$stranger/comm"; do sleep 0.01; done
	EPITAPH_SCHED=ftrace EPITAPH_SCHED_SCOPE=machine EPITAPH_TIMESTAMP_EVERY=1 awake crash 134 ./waits recorded nap ping3 settle settle settle settle abort
	kill "$stranger"
	page "strangers:stranger:$stranger"
fi

export EPITAPH_SCHED=off
"$BIN/epitaph-cc" -g -O1 -pthread -I"$TOP" "$TOP/tests/programs/remarks.c" -o remarks
crash 134 ./remarks
page 'notes:a list of 2:request'

"$BIN/epitaph-cc" -g -O1 -pthread "$TOP/tests/programs/switched_open.c" -o switched_open
crash 134 ./switched_open
page switched
