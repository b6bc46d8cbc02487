# SPDX-License-Identifier: BSD-2-Clause
# machine.bash: what tests change for the whole machine, above all kernel.core_pattern, which says where a core goes. Sourced.
#
# root's first run keeps what was set and sets what tests expect; the last one to end puts it back. A run that was killed leaves
# what it kept, so whatever a test had set by then harms nobody: the next run begins from what was kept, and puts that back.

machine_sys=/proc/sys
machine_settings=(kernel/core_pattern kernel/core_pipe_limit kernel/core_uses_pid kernel/core_sort_vma
	kernel/core_file_note_size_limit fs/suid_dumpable vm/max_map_count)
machine_pattern=$machine_sys/kernel/core_pattern machine_turn=$machine_sys/kernel/core_uses_pid # tests/run's locks
# Only root sets these, so only root's runs need it; both go with a boot.
machine_kept=/run/epitaph-tests.settings
# Its lock: shared by all of root's runs that go on, taken alone by who sets up and who puts back.
machine_lock=$machine_sys/kernel/core_pipe_limit
machine_fd=

machine_keep() {
	local name value
	for name in "${machine_settings[@]}"; do
		value=$(cat "$machine_sys/$name" 2>/dev/null) || continue # this kernel has none
		case $name=$value in
		kernel/core_pattern=*/ep[bc].??????/*) # a killed test's or benchmark's, of before anything was kept
			echo "kernel.core_pattern is what a killed test left ($value): from now on it is core" >&2
			value=core
			;;
		esac
		printf '%s %s\n' "$name" "$value"
	done >"$machine_kept.new" && mv "$machine_kept.new" "$machine_kept"
}

machine_put_back() {
	local name value
	while read -r name value; do
		[ "$(cat "$machine_sys/$name")" = "$value" ] || printf '%s\n' "$value" >"$machine_sys/$name"
	done <"$machine_kept"
}

# With $machine_lock alone: no run of root's goes on, but perhaps a test that outlived its own, which holds what tests/run locks.
machine_set_up() {
	local turn cores
	[ -e $machine_kept ] || machine_keep || return 1
	exec {turn}<$machine_turn {cores}<$machine_pattern
	[ "$(cat $machine_pattern)" = core ] || { flock -w 300 "$turn" && flock -w 300 "$cores"; } ||
		{ echo "a test whose run was killed still holds $machine_pattern" >&2; return 1; }
	machine_put_back
	echo core >$machine_pattern
	exec {turn}<&- {cores}<&-
}

# Cores of what this shell starts land in its working directory as core or core.PID, until machine_leave. Status 1, and why, when
# that can't be had. What is started should not inherit $machine_fd.
machine_enter() {
	local pattern
	[ -z "${EPITAPH_TESTS_LOCKED:-}" ] && [ -z "$machine_fd" ] || return 0 # a run that this one is a part of did
	if [ ! -w $machine_pattern ]; then
		pattern=$(cat $machine_pattern)
		case $pattern in
		'|'* | */* | '')
			echo "this machine sends cores elsewhere (kernel.core_pattern: $pattern); do this as root, or first" >&2
			echo "  echo core | sudo tee $machine_pattern" >&2
			return 1
			;;
		esac
		return 0
	fi
	exec {machine_fd}<$machine_lock
	until
		if flock -w 1 "$machine_fd"; then machine_set_up || return 1; fi
		flock --shared "$machine_fd"
		[ -e $machine_kept ] # else the last one to end put all back meanwhile
	do :; done
}

machine_leave() {
	[ -n "$machine_fd" ] || return 0
	if flock --nonblock "$machine_fd"; then
		machine_put_back
		rm -f $machine_kept
	fi
	exec {machine_fd}<&-
	machine_fd=
}
