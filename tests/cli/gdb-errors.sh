#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What gdb's epitaph commands cannot do they say in one line, with the file and what to do next; and they leave nothing behind.
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"

refuses() { # WORDS GDB-ARGUMENTS...: one line of ours that holds WORDS (a pattern), status not 0, no new file
	local words=$1 before
	shift
	before=$(ls -A | grep -v '^gone')
	if in_gdb "$@" >out; then say "no failure: $*"; fi
	[ "$(grep -c '^epitaph' gdb.err)" -eq 1 ] || say "not one line for $*: $(cat gdb.err)"
	grep -Eq "^epitaph.*$words" gdb.err || say "for $* not '$words' but: $(cat gdb.err)"
	grep -q Traceback gdb.err && say "a traceback: $(cat gdb.err)"
	[ "$(ls -A | grep -v '^gone')" = "$before" ] || say "new files by $*: $(ls -A)"
}

touch gdb.err out
traced waiters
# Names that look like the end of what `info target` prints, with blanks, quotes and a new line.
dir="it's a \`dir', file
type"
mkdir "$dir"
core="$dir/core of 'x', file type elf64-x86-64."
crash ./waiters abort "$core"

in_gdb -ex 'epitaph save' -ex 'epitaph save' -ex 'epitaph save "with  blanks.%p"' -ex 'epitaph save esc\ aped' \
	-ex "epitaph save 'it\"s'" -ex 'epitaph save -- -f' -c "$core" >out || say "names: $(cat gdb.err)"
pid=$(eu-readelf -n "$core" 2>/dev/null | sed -n 's/^ *uid: .* pid: \([0-9]*\),.*/\1/p')
for name in "epitaph.$pid.1.core" "epitaph.$pid.2.core" 'with  blanks.%p' 'esc aped' 'it"s' -f; do
	same_arena "$core" "./$name" || say "no snapshot '$name': $(ls -A)"
	rm -f "./$name"
done

# Several at once take names of their own.
ats=(1 2 3)
for at in "${ats[@]}"; do
	gdb "${gdb_quick[@]}" -x "$BUILD/gdb-ext/epitaph.py" -ex 'epitaph save' -c "$core" >/dev/null 2>&1 &
done
wait
for at in "${ats[@]}"; do
	same_arena "$core" "./epitaph.$pid.$at.core" || say "three at once: $(ls)"
	rm -f "./epitaph.$pid.$at.core"
done

# Loading says nothing, may be repeated, and leaves nothing in the user's Python.
in_gdb -ex "source $BUILD/gdb-ext/epitaph.py" -ex 'python print("epitaph" in str(dir()), "_load" in dir())' -ex 'help epitaph save' >out
[ "$(head -n 1 out)" = 'False False' ] || say "loaded twice: $(cat out)"
[ -s gdb.err ] && say "loading complains: $(cat gdb.err)"
[ ! -e "$BUILD/gdb-ext/__pycache__" ] || say "loading writes"

# The source does as well as what was built of it, and says what to do where nothing was built.
in_gdb -ex "source $TOP/gdb-ext/epitaph.py" -ex 'help epitaph save' >out 2>gdb.err || say "the source: $(cat gdb.err)"
mkdir -p unbuilt/gdb-ext && cp "$TOP"/gdb-ext/*.py unbuilt/gdb-ext/
timeout 60 gdb -nx -batch -ex 'source unbuilt/gdb-ext/epitaph.py' >out 2>&1 || true
grep -q 'run make, then source build/gdb-ext/epitaph.py' out && [ "$(wc -l <out)" = 1 ] || say "not built: $(cat out)"

echo precious >here
in_gdb -ex 'epitaph save here' -c "$core" >out || say "an existing file: $(cat gdb.err)"
same_arena "$core" here || say "an existing file was not replaced"
rm here
ln "$core" 'same core'
refuses 'same core: this is the core itself' -ex 'epitaph save "same core"' -c "$core"
refuses '/dev/null: not a regular file' -ex 'epitaph save /dev/null' -c "$core"
refuses 'no/such/x: cannot be written: No such file' -ex 'epitaph save no/such/x' -c "$core"
refuses 'one FILE, not 2: .*quotes' -ex 'epitaph save a b' -c "$core"
refuses 'no option -z' -ex 'epitaph save -z' -c "$core"
refuses 'FILE is empty' -ex 'epitaph save ""' -c "$core"
refuses '`nonsense` is no subcommand' -ex 'epitaph nonsense' -c "$core"
refuses 'core-file FILE.*attach PID' -ex 'epitaph info'
# A process on another machine: the least of gdb's remote protocol, one stopped thread.
cat >stub.py <<'EOF'
import sys
answers = {b"?": b"S05", b"qC": b"QC1", b"qfThreadInfo": b"m1", b"qsThreadInfo": b"l", b"qAttached": b"1", b"g": b"0" * 1072}
packet = b""
while byte := sys.stdin.buffer.read(1):
    packet = b"" if byte == b"$" else packet + byte
    if byte == b"#":
        sys.stdin.buffer.read(2)
        answer = answers.get(packet[:-1].split(b":")[0], b"OK" if packet[:1] in (b"H", b"D") else b"")
        sys.stdout.buffer.write(b"+$" + answer + b"#%02x" % (sum(answer) % 256))
        sys.stdout.buffer.flush()
EOF
refuses 'not on this machine \(target remote\): use `epitaph extract` there' \
	-ex 'set architecture i386:x86-64' -ex 'target remote | python3 stub.py' -ex 'epitaph save x'
refuses 'no room' -ex "python import os; exec('def f(*a): raise OSError(28, \"no room\")'); os.link = os.rename = f" -ex 'epitaph save x' -c "$core"

# Interrupted at the last moment: gdb says so, nothing is left.
before=$(ls -A)
in_gdb -ex "python import os; exec('def f(*a): raise KeyboardInterrupt'); os.link = os.rename = f" -ex 'epitaph save x' -c "$core" >out || true
[ "$(ls -A)" = "$before" ] || say "an interrupted save leaves: $(ls -A)"

# A program that was never traced; one whose core holds no memory; a core that is gone.
gcc -g "$TOP/tests/programs/waiters.c" -lpthread -o plain
crash ./plain abort plain.core
refuses 'plain.core: no trace in it.*epitaph-cc' -ex 'epitaph save x' -c plain.core
refuses 'plain.core: ' -ex 'epitaph info' -c plain.core
crash ./waiters unsaved unsaved.core
refuses 'unsaved.core: .*(not saved in the core|no trace in it).*coredump_filter' -ex 'epitaph save x' -c unsaved.core
refuses 'unsaved.core: .*(not saved in the core|no trace in it).*coredump_filter' -ex 'epitaph save x' ./waiters unsaved.core
cp "$core" gone.core
refuses 'gone.core: cannot read the core again .*core-file' -ex 'shell mv gone.core gone.elsewhere' -ex 'epitaph save x' -c gone.core

# Cut anywhere: a message or a part of it, never a part that calls itself whole.
read -r address size offset < <(arena_of "$core")
for cut in 100 4000 $((offset - 1)) $((offset + 100)) $((offset + 4096)) $((offset + size / 2)) $((offset + size - 1)); do
	head -c "$cut" "$core" >cut.core
	if in_gdb -ex 'epitaph save part' -c cut.core >out; then
		[ "$cut" -gt "$offset" ] || say "cut at $cut: a trace of nothing: $(cat out)"
		grep -q 'core truncated' out || say "cut at $cut: not said: $(cat out)"
		grep -q 'arena [0-9.]* [KMG]*iB of\|arena [0-9]* bytes of' out || say "cut at $cut: not a part: $(cat out)"
		core_bytes cut.core "$address" "$size" >arena.1
		core_bytes part "$address" "$size" >arena.2
		cmp arena.1 arena.2 || say "cut at $cut: not what was left"
	else
		[ "$cut" -le $((offset + 128)) ] || say "cut at $cut: $(cat gdb.err)"
	fi
	grep -q Traceback gdb.err && say "cut at $cut: $(cat gdb.err)"
	rm -f part
done
exit $((failures > 0))
