# SPDX-License-Identifier: BSD-2-Clause
# hostile.bash: a small core to be damaged, and what the readers of it need, for tests that source this.

source "$TOP/tests/cli/lib/gdb.bash"

# Debug files of the C library that are all but empty: to inflate the system's took 60 of 75 ms of each report.
empty_debug_files() { # DIRECTORY PROGRAM
	local file id
	ldd "$2" | grep -oE '/[^ ]+' | while read -r file; do
		file=$(realpath "$file")
		id=$(readelf -n "$file" | sed -n 's/.*Build ID: //p')
		mkdir -p "$1/.build-id/${id:0:2}"
		objcopy --only-keep-debug "$file" "$1/.build-id/${id:0:2}/${id:2}.debug"
	done
}

# core.whole, of the program waiters
small_core() {
	traced waiters
	empty_debug_files debug ./waiters
	ulimit -s 256 # threads take their stacks' size from it
	export EPITAPH_RING=64K EPITAPH_MEMORY=2M
	crash ./waiters abort core.whole
}
