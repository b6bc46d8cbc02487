# SPDX-License-Identifier: BSD-2-Clause
# lib.bash: programs that nobody here wrote, from the distribution's source
# packages, for scripts that source this with "name" set. Each works in a folder
# of its own below $BUILD/real and stops at the first thing that is wrong.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bin=$(realpath -m "${BUILD:-$top/build}")/bin
out=$(realpath -m "${BUILD:-$top/build}")/real/$name
source "$top/tests/demo/core.bash"
# What our own makefile tells its sub-makes is not for upstream's.
unset MAKEFLAGS MAKELEVEL MFLAGS EPITAPH
mkdir -p "$out"
cd "$out"

say() {
	printf 'real: %s: %s\n' "$name" "$*"
}

fail() {
	printf 'real: %s: FAILED: %s\n' "$name" "$*" >&2
	exit 1
}

# quiet LOG COMMAND...: runs it into the log, of which a failure shows the end.
quiet() {
	local log=$1 status=0 begun=$SECONDS
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	if [ "$status" -ne 0 ]; then
		tail -n 30 "$log"
		fail "$* ended with $status (all of it: $PWD/$log)"
	fi
	say "$((SECONDS - begun)) s: ${log%.log}"
}

# Sources as upstream released them, once.
fetch() { # PACKAGE
	say "source package $1"
	"$top/ci/fetch-source" "$1" "$out"
}

# fresh FOLDER: what was built there with another runtime, or by another wrapper, goes; make would not see it.
fresh() {
	local sum
	sum=$(cat "$bin"/epitaph-cc "$bin"/../lib/libepitaph.{a,so} | cksum)
	[ "$(cat "$1.runtime" 2>/dev/null)" = "$sum" ] || rm -rf "$1"
	echo "$sum" >"$1.runtime"
}

# instrumented PROGRAM: how many of its functions have hooks.
instrumented() {
	objdump -d --no-show-raw-insn "$1" |
		awk '/^[0-9a-f]+ <.*>:$/ { f = $2 }
			/call.*(__fentry__|__cyg_profile_func_enter)/ { if (!(f in s)) n++; s[f] }
			END { print n + 0 }'
}

# crash SIGNAL SECONDS PROGRAM WORDS...: kills it in the middle of its work. The
# report has gdb's backtrace, calls decode, and of the functions that run long
# those are in the trace that gdb sees. "libraries", if set, is a folder of shared
# libraries for it alone: file and gdb would take them as well.
crash() {
	local signal=$1 seconds=$2 core truth counts
	shift 2
	core_prepare
	rm -rf crash && mkdir crash
	cd crash
	die core "$signal" "$seconds" "$@"
	decoded "$1" "$core"
	EPITAPH_MIN_DURATION=200us die truth "$signal" $((2 * seconds)) "$@"
	EPITAPH_MODE=count die counts "$signal" $((2 * seconds)) "$@"
	long_calls "$1" "$core" "$truth" "$counts"
	cd ..
	rm -rf crash
}

# die NAME SIGNAL SECONDS PROGRAM WORDS...: sets the variable of that name to the core's path.
die() {
	local into=$1 signal=$2 seconds=$3 child status=0
	shift 3
	mkdir "$into"
	(cd "$into" && exec env ${libraries:+LD_LIBRARY_PATH="$libraries"} "$@") \
		>"$into/stdout.txt" 2>"$into/stderr.txt" &
	child=$!
	sleep "$seconds"
	kill -"$signal" "$(busiest "$child")" || fail "it ended before $seconds s"
	wait "$child" || status=$?
	[ "$status" -eq $((128 + $(kill -l "$signal"))) ] ||
		fail "it ended with $status"
	printf -v "$into" %s "$(core_of "$into")"
	[ -n "${!into}" ] || fail "no core"
}

# busiest PID: its thread that ran longest, which is who gets a signal sent to it. Threads come and go.
busiest() {
	cat /proc/"$1"/task/*/stat 2>/dev/null |
		awk '{ tid = $1; sub(/.*\) /, ""); if ($12 + $13 >= most) { most = $12 + $13; busy = tid } } END { print busy }' || true
}

# decoded PROGRAM CORE
decoded() {
	local status=0 events threads
	"$bin/epitaph" report --all --full-names "$2" >report.txt || status=$?
	[ "$status" -le 1 ] || fail "report ends with $status"
	"$top/tests/demo/agree" "$1" "$2" report.txt |
		sed "s/^demo:/real: $name:/" || fail "the report is not gdb's"
	"$bin/epitaph" replay --format=tsv "$2" >replay.tsv || [ $? -eq 1 ]
	events=$(grep -vc '^#' replay.tsv)
	threads=$(grep -v '^#' replay.tsv | cut -f5 | sort -u | wc -l)
	[ "$events" -gt 1000 ] || fail "only $events events decoded"
	! grep -q '^lost  *[1-9]' report.txt || fail "records were lost"
	say "$events events of $threads threads from a core of" \
		"$(($(stat -c %b "$2") / 2048)) MiB"
}

# long_calls PROGRAM CORE TRUTH COUNTS
long_calls() {
	local told
	told=$("$top/tests/real/long_calls.py" "$bin/epitaph" "$@") || fail "$told"
	say "$told"
}
