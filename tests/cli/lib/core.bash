# SPDX-License-Identifier: BSD-2-Clause
# core.bash: a program's core, for tests that source this.

# crash STATUS COMMAND...: runs it in the current folder, which must leave a
# core and end with STATUS (as a shell gives it); the core is then "core".
crash() {
	local wanted=$1 status=0 found
	shift
	rm -f core core.*
	(ulimit -c unlimited && exec "$@") >stdout 2>stderr || status=$?
	if [ "$status" -ne "$wanted" ]; then
		echo "$* ended with $status, not $wanted"
		cat stdout stderr
		exit 1
	fi
	for found in core core.*; do
		[ -f "$found" ] || continue
		[ "$found" = core ] || mv "$found" core
		return 0
	done
	echo "no core: kernel.core_pattern is $(cat /proc/sys/kernel/core_pattern)"
	exit 1
}

# info FILTER: a Python expression on `info`, the dictionary of epitaph info
# --json of the file "core"; prints what it yields. $EPITAPH is not exported:
# to a traced program it would be a setting.
info() {
	"$EPITAPH" info --json "${2:-core}" >info.json || [ $? -eq 1 ]
	python3 -c '
import json, sys
info = json.load(open("info.json"))
threads = {t["name"]: t for t in info["threads"]}
print(eval(sys.argv[1]))' "$1"
}

fail() {
	echo "$@"
	exit 1
}

# soon COMMAND...: within ten seconds it holds.
soon() {
	local i
	for ((i = 0; i < 200; i++)); do
		"$@" && return 0
		sleep 0.05
	done
	return 1
}
