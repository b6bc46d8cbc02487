# SPDX-License-Identifier: BSD-2-Clause
# gdb.bash: traced programs for the tests of gdb-ext/, and what a core really holds, told by nothing of ours.

ulimit -c unlimited
failures=0

say() { # WORDS: one more failure
	failures=$((failures + 1))
	echo "$*"
}

# A program built as any user would without the wrapper. FLAGS are for compiling and linking.
traced() { # OUTPUT [FLAGS...]
	local output=$1
	shift
	gcc -g -O1 -pg -mfentry -minstrument-return=call "$@" -c "$TOP/tests/programs/waiters.c" -o "$output.o" &&
		gcc "$@" "$output.o" "$LIB/libepitaph.a" -Wl,-z,now -lpthread -o "$output"
}

crash() { # PROGRAM MODE CORE: runs it, leaves its core as CORE
	rm -f core core.[0-9]*
	(cd . && exec "$1" "$2") >/dev/null 2>&1 || true
	mv core* "$3" 2>/dev/null || { echo "no core of $1"; exit 1; }
}

# What all gdbs here have: not the C library's own debug information, which took two thirds of the time of each.
gdb_quick=(-nx -batch -iex 'set debuginfod enabled off' -iex 'set debug-file-directory /nonexistent')

# gdb as a user has it, but for his own settings; what it prints on stderr goes to gdb.err.
in_gdb() { # ARGUMENTS... (-ex 'epitaph info' CORE …)
	gdb "${gdb_quick[@]}" -iex 'set auto-load safe-path /' -x "$BUILD/gdb-ext/epitaph.py" "$@" 2>gdb.err
}

starts() { # PROGRAM: runs it in the background until it is ready; its pid is in $process
	mkfifo ready.$$
	"$1" wait >ready.$$ &
	process=$!
	read -r _ <ready.$$
	rm ready.$$
}

# The memory that a core's program headers say it holds at [ADDRESS, ADDRESS + SIZE), on stdout.
core_bytes() { # CORE ADDRESS SIZE
	python3 - "$@" <<'EOF'
import struct, sys
data = open(sys.argv[1], "rb").read()
start, size = int(sys.argv[2], 0), int(sys.argv[3], 0)
table, = struct.unpack_from("<Q", data, 32)
count, = struct.unpack_from("<H", data, 56)
out = bytearray(size)
for at in range(table, table + 56 * count, 56):
    kind, _, offset, address, _, saved, _, _ = struct.unpack_from("<IIQQQQQQ", data, at)
    low, high = max(start, address), min(start + size, address + saved)
    if kind == 1 and low < high:
        part = data[offset + low - address:offset + high - address]
        out[low - start:low - start + len(part)] = part
sys.stdout.buffer.write(out)
EOF
}

# "ADDRESS COMMITTED OFFSET": the segment whose first bytes are the arena's magic, and how much of it is in use (format.h:
# ep_arena.committed is the eight bytes at 128); where it lies in the file.
arena_of() { # CORE
	python3 - "$1" <<'EOF'
import struct, sys
data = open(sys.argv[1], "rb").read()
table, = struct.unpack_from("<Q", data, 32)
count, = struct.unpack_from("<H", data, 56)
for at in range(table, table + 56 * count, 56):
    kind, _, offset, address, _, saved, _, _ = struct.unpack_from("<IIQQQQQQ", data, at)
    if kind == 1 and saved and data[offset:offset + 8] == b"EPITARNA":
        print("0x%x" % address, struct.unpack_from("<Q", data, offset + 128)[0], offset)
EOF
}

same_arena() { # CORE SNAPSHOT: byte for byte, and not empty
	local arena
	arena=$(arena_of "$1" | cut -d ' ' -f 1,2)
	[ -n "$arena" ] || { echo "no arena in $1"; return 1; }
	# shellcheck disable=SC2086
	core_bytes "$1" $arena >arena.1
	# shellcheck disable=SC2086
	core_bytes "$2" $arena >arena.2
	[ "$(tr -d '\0' <arena.1 | wc -c)" -gt 4096 ] || { echo "the arena of $1 is empty"; return 1; }
	cmp arena.1 arena.2
}

gdb_frames() { # PROGRAM CORE
	gdb "${gdb_quick[@]}" -iex 'set auto-load safe-path /' -ex 'echo all of them:\n' -ex 'thread apply all bt' "$1" "$2" 2>/dev/null |
		sed -n '/^all of them/,$p' | grep '^#'
}

eu_frames() { # PROGRAM CORE
	eu-stack --core="$2" --executable="$1" 2>/dev/null | grep -E '^(TID|#)'
}

same_frames() { # PROGRAM CORE SNAPSHOT: what gdb and eu-stack unwind, of four threads
	local tool
	for tool in gdb_frames eu_frames; do
		$tool "$1" "$2" >frames.1
		$tool "$1" "$3" >frames.2
		[ "$(grep -Ec '^#[0-9]+ +[^ ]+ (in )?work( |$)' frames.1)" -eq 3 ] || { echo "$tool of $2 finds no three waiters"; return 1; }
		diff frames.1 frames.2 || return 1
	done
}
