#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Somebody cuts off the file of EPITAPH_FILE while threads record in it: the program goes on, so does the trace, in private
# memory that a core has; one line says so. Its own SIGBUS goes to its own handler, installed later.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export EPITAPH_RING=64K EPITAPH_MEMORY=4M

traced lasting dynamic
traced lasting static -static
traced lasting shared -epitaph-runtime=shared

tell_core() { # PROGRAM: where it died, when it should not have
	gdb -nx -batch -ex 'p $_siginfo._sifields._sigfault' -ex 'x/2i $pc' -ex 'thread apply all bt' "$1" core 2>&1 | tail -n 40
}

for program in dynamic static shared; do
	for size in 0 8192 300000; do
		[ $program = dynamic ] || [ $size = 0 ] || continue
		rm -f core core.* fifo arena* out
		mkfifo fifo
		EPITAPH_FILE=$PWD/arena ./$program goon <fifo >out 2>err &
		pid=$!
		exec 7>fifo
		until [ -s out ]; do sleep 0.01; done
		truncate -s $size arena
		sleep 0.1
		exec 7>&-
		status=0
		wait $pid 2>/dev/null || status=$?
		what="$program, cut to $size"
		[ $status -eq 134 ] || { say "$what: status $status"; cat err; tell_core ./$program; continue; }
		[ "$(grep -c 'cut it off' err)" = 1 ] && [ "$(wc -l <err)" = 1 ] || say "$what: $(cat err)"
		core=$(find . -maxdepth 1 -name 'core*' | head -n 1)
		"$EPITAPH" info --json "$core" >info.json || [ $? -eq 1 ]
		python3 - "$what" <<'PY' || failures=$((failures + 1))
import json, sys
info = json.load(open("info.json"))
lost = info["lost"]
wrong = [k for k in ("blocks_foreign", "blocks_duplicate", "blocks_backward", "threads_corrupt", "modules_corrupt") if lost[k]]
# At most the block that each thread was in is lost, without a header of its own.
if wrong or lost["file_lost"] != 1 or lost["blocks_torn"] > 4 or not info["command_line"] or not info["modules"]:
    sys.exit("%s: %r, %r" % (sys.argv[1], lost, info["command_line"]))
PY
		"$EPITAPH" replay --format=tsv "$core" >tsv 2>/dev/null || [ $? -eq 1 ]
		[ "$(awk -F'\t' '$1 == "B" && $8 == "in_parent"' tsv | wc -l)" -ge 192 ] || say "$what: main's calls since then are missing"
		[ "$(awk -F'\t' '$1 == "B" && $8 == "in_child"' tsv | wc -l)" -ge 1000 ] || say "$what: the threads' calls are missing"
	done
done
exit $((failures > 0))
