# SPDX-License-Identifier: BSD-2-Clause
# core.bash: crash a program and have its core, whatever this machine does with cores. Sourced.
#
# core_pattern is one for the whole machine. A pattern that leaves the core in the working directory is left alone;
# another one is changed only when we may, and put back on the way out, also when interrupted. The file is the lock as well, as
# in tests/run: shared by who needs cores, taken alone by who changes it.

core_pattern_file=/proc/sys/kernel/core_pattern
core_pattern_before=

core_restore() {
	if [ -n "$core_pattern_before" ]; then
		printf '%s\n' "$core_pattern_before" >"$core_pattern_file"
		core_pattern_before=
	fi
}

core_lock() { # --shared | --exclusive: held until this shell ends; tests/run holds it for what it runs
	[ -z "${EPITAPH_TESTS_LOCKED:-}" ] || return 0
	[ -n "${core_lock_fd:-}" ] || exec {core_lock_fd}<"$core_pattern_file"
	flock "$1" -w 600 "$core_lock_fd" || { echo "another run holds $core_pattern_file" >&2; return 1; }
}

# Makes cores of processes started from here land in their working directory. Status 1, and why, when it can't be had.
core_prepare() {
	local pattern
	core_lock --shared || return 1
	pattern=$(cat "$core_pattern_file")
	case $pattern in
	'|'* | */* | '')
		if [ ! -w "$core_pattern_file" ]; then
			echo "this machine sends cores elsewhere ($core_pattern_file: $pattern); as root, or after" >&2
			echo "  echo core | sudo tee $core_pattern_file" >&2
			echo "this can be shown" >&2
			return 1
		fi
		core_lock --exclusive || return 1
		pattern=$(cat "$core_pattern_file") # nobody else changes it now
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
	for file in "$1"/*; do # ELF, and its type is ET_CORE
		[[ -f $file && $(od -An -v -tx1 -N18 "$file" | tr -d ' \n') == 7f454c46????????????????????????0400 ]] &&
			{ echo "$file"; return 0; }
	done
	echo "no core in $1" >&2
	return 1
}
