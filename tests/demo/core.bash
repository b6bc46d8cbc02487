# SPDX-License-Identifier: BSD-2-Clause
# core.bash: crash a program and have its core, whatever this machine does with cores. Sourced.
source "$(dirname "${BASH_SOURCE[0]}")/../machine.bash"

# Makes cores of processes started from here land in their working directory. Status 1, and why, when it can't be had.
core_prepare() {
	if [ -z "$machine_fd" ]; then
		machine_enter || return 1
		# What the caller does on its way out stays his where there is nothing to put back.
		[ -z "$machine_fd" ] || trap machine_leave EXIT
		[ -z "$machine_fd" ] || trap 'exit 130' INT TERM
	fi
	# As tests/run does: no test changes the pattern until this shell ends.
	if [ -z "${EPITAPH_TESTS_LOCKED:-}${core_lock_fd:-}" ]; then
		exec {core_lock_fd}<"$machine_pattern"
		flock --shared -w 600 "$core_lock_fd" || { echo "another run holds $machine_pattern" >&2; return 1; }
	fi
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
