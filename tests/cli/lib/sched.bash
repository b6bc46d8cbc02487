# SPDX-License-Identifier: BSD-2-Clause
# sched.bash: what tests of scheduling events need: a source of them, and this test's own instances among everybody's.
source "$TOP/tests/cli/lib/core.bash"

tracing=/sys/kernel/tracing

# Mounts tracefs where nobody has.
has_tracefs() {
	[ -d $tracing/instances ] && [ -w $tracing/instances ] && return 0
	[ "$(id -u)" -eq 0 ] && mount -t tracefs nodev $tracing 2>/dev/null
}

# Says and leaves with a skip where tracefs cannot be.
need_tracefs() {
	has_tracefs || { echo "no tracefs, or not root"; exit 77; }
}

# The kernel lets this user have the switches of his own threads, asked without us: x86-64's call 298, of the software counter 9,
# which counts nothing, with exclude_kernel and context_switch.
has_perf() {
	python3 - <<'END'
import ctypes, struct, sys
attr = struct.pack("<IIQQQQQ", 1, 112, 9, 0, 0, 0, 1 << 5 | 1 << 26).ljust(112, b"\0")
sys.exit(ctypes.CDLL(None).syscall(298, attr, 0, -1, -1, 0) < 0)
END
}

# Leaves in `sources` those that this user may have: root both, others perf. Where there is none, a skip.
need_scheduling() {
	sources=()
	! has_tracefs || sources+=(ftrace)
	! has_perf || sources+=(perf)
	[ ${#sources[@]} -gt 0 ] || { echo "neither tracefs nor perf events for this user"; exit 77; }
}
has_source() { [[ " ${sources[*]} " == *" $1 "* ]]; } # NAME

# Before a command: as an ordinary user, as whom the test may run already.
nobody=()
[ "$(id -u)" -ne 0 ] || nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# has_instance PID: a folder of that process's is there.
has_instance() { compgen -G "$tracing/instances/epitaph.$1.*" >/dev/null; }

# awake COMMAND...: no CPU idles meanwhile. A kernel may leave out of its trace the switches from an idle thread (seen: 6.18, a
# guest, up to all of them on one of two CPUs, in an instance that nobody filtered); who counts switches to a thread needs them.
awake() {
	local status=0 cpu spinners=()
	for cpu in $(python3 -c 'import os; print(*os.sched_getaffinity(0))'); do
		(ulimit -c 0 -t 60 && exec taskset -c "$cpu" chrt -i 0 bash -c 'while :; do :; done') &
		spinners+=($!)
	done
	"$@" || status=$?
	kill "${spinners[@]}"
	wait "${spinners[@]}" 2>/dev/null || true
	return $status
}
