# SPDX-License-Identifier: BSD-2-Clause
# sched.bash: what tests of scheduling events need: tracefs, and this test's own instances among everybody's.
source "$TOP/tests/cli/lib/core.bash"

tracing=/sys/kernel/tracing

# Mounts tracefs where nobody has; says and leaves with a skip where that cannot be.
need_tracefs() {
	[ -d $tracing/instances ] && [ -w $tracing/instances ] && return 0
	if [ "$(id -u)" -ne 0 ] || ! mount -t tracefs nodev $tracing 2>/dev/null; then
		echo "skip: no tracefs, or not root"
		exit 77
	fi
}

# has_instance PID: a folder of that process's is there.
has_instance() { compgen -G "$tracing/instances/epitaph.$1.*" >/dev/null; }

# soon COMMAND...: within ten seconds it holds.
soon() {
	local i
	for ((i = 0; i < 200; i++)); do
		"$@" && return 0
		sleep 0.05
	done
	return 1
}
