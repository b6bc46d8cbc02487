# SPDX-License-Identifier: BSD-2-Clause
# core.bash: crash a program and have its core, whatever this machine does with cores. Sourced.
#
# core_pattern is one for the whole machine. A pattern that leaves the core in the working directory is left alone;
# another one is changed only when we may, under a lock that other users of this file take too, and put back on the way
# out, also when interrupted.

core_pattern_file=/proc/sys/kernel/core_pattern
core_lock=${TMPDIR:-/tmp}/epitaph-core-pattern.lock
core_pattern_before=

core_restore() {
	if [ -n "$core_pattern_before" ]; then
		printf '%s\n' "$core_pattern_before" >"$core_pattern_file"
		core_pattern_before=
	fi
}

# Makes cores of processes started from here land in their working directory. Status 1, and why, when it can't be had.
core_prepare() {
	local pattern
	exec {core_lock_fd}>>"$core_lock"
	flock -w 600 "$core_lock_fd" || { echo "another run holds $core_lock" >&2; return 1; }
	pattern=$(cat "$core_pattern_file")
	case $pattern in
	'|'* | */* | '')
		if [ ! -w "$core_pattern_file" ]; then
			echo "this machine sends cores elsewhere ($core_pattern_file: $pattern); as root, or after" >&2
			echo "  echo core | sudo tee $core_pattern_file" >&2
			echo "this can be shown" >&2
			return 1
		fi
		trap core_restore EXIT
		trap 'exit 130' INT TERM
		core_pattern_before=$pattern
		echo core >"$core_pattern_file"
		;;
	esac
	ulimit -c unlimited 2>/dev/null || { echo "the limit for cores is $(ulimit -Hc) (ulimit -Hc)" >&2; return 1; }
}

# core_of DIR: the core in a directory that held none.
core_of() {
	local file
	for file in "$1"/*; do
		[ "$(file -b --mime-type "$file" 2>/dev/null)" = application/x-coredump ] && { echo "$file"; return 0; }
	done
	echo "no core in $1" >&2
	return 1
}
