#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A core of 70,000 mappings, more than an ELF header can count (PN_XNUM): report, replay, extract and gdb's `epitaph save` read it,
# from a file, a pipe and compressed, in little time. The kernel leaves the list of files out of it; then the trace knows them.
# alone
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

maps=/proc/sys/vm/max_map_count notes=/proc/sys/kernel/core_file_note_size_limit
[ "$(id -u)" -eq 0 ] && [ -w $maps ] || { echo "only root may set vm.max_map_count"; exit 77; }
maps_before=$(cat $maps) notes_before=$(cat $notes 2>/dev/null || true)
restore() {
	echo "$maps_before" >$maps
	[ -z "$notes_before" ] || echo "$notes_before" >$notes
}
trap restore EXIT
trap 'exit 130' INT TERM
"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/mapped.c" -o mapped
echo no ELF file >text
export EPITAPH_RING=64K EPITAPH_MEMORY=2M
export EPITAPH_SCHED=off EPITAPH_LOOKS=off # extract takes what the kernel still has of it, gdb cannot

many() { # CORE COMMAND...: it dies with 70,000 mappings
	local core=$1
	shift
	echo 200000 >$maps
	[ -z "$notes_before" ] || echo 16777216 >$notes
	"$@"
	restore
	mv core "$core"
	readelf -h "$core" | grep -q 'program headers: .*65535 (7[0-9]*)' || fail "$core: no 70,000 program headers"
}
dies() {
	[ "$1" = with-list ] || [ -z "$notes_before" ] || echo "$notes_before" >$notes
	crash 134 ./mapped 70000 "${@:2}"
}
many whole.core dies without-list
many files.core dies with-list text
many objects.core dies with-list mapped

# Far from quadratic, which took more than 100 s; 15 s are what a sanitizer takes on a busy machine.
quick() {
	prlimit --cpu=15 "$@"
}
# partial COMMAND...: its status is 1, as something is missing
partial() {
	local status=0
	quick "$@" 2>said || status=$?
	[ $status -eq 1 ] || { cat said; fail "$*: status $status"; }
}

# ---- the default: no list of files
touch -d @0 whole.core # a stream has no time that bounds the end
partial "$EPITAPH" report --all whole.core >report
grep -q 'kernel.core_file_note_size_limit' report || { cat report; fail "not said where the list is"; }
frames=$(sed -n '/^thread .* died/,/last calls/s/^  #[0-9]* *\([^+ ]*\).*/\1/p' report | tr '\n' ' ')
[[ $frames == *"abort main "*"_start "* ]] || { cat report; fail "stack: $frames"; }
partial "$EPITAPH" replay whole.core >replay
[ "$(grep -c 'map()' replay)" -gt 100 ] || fail "replay: $(wc -l <replay) lines"
partial "$EPITAPH" extract -q -o wanted.core whole.core

# What a report says, without its warnings, and without what only a core file's time tells.
told() { sed '/^warnings/,$d; /^died  /d; s/: last record [^,]*,/:/' "$1"; }

# Streams are read to their end, where the number of segments stands: nothing is lost.
zstd -q -1 whole.core && touch -d @0 whole.core.zst
for stream in "whole.core.zst" "- <whole.core.zst" "<(cat whole.core)"; do
	eval "partial '$EPITAPH' report --all $stream" >other
	! grep -q 'is lost' other said || { cat other said; fail "$stream: called truncated"; }
	diff <(told report) <(told other) || fail "$stream: another report"
	eval "partial '$EPITAPH' extract -q -o other.core $stream"
	cmp wanted.core other.core || fail "$stream: another snapshot"
	rm other.core
done

# Cut off, the number is lost with the end; where the notes begin tells it.
head -c -100 whole.core >cut.core
partial "$EPITAPH" info cut.core >info
grep -q 'number of segments is lost.*notes begin' said || { cat said; fail "the lost number is not said"; }

# ---- with the list, of files that are no objects and of ones that are
quick "$EPITAPH" report files.core >report
grep -q '#[0-9]* *main+' report || { cat report; fail "no main"; }
for core in files objects; do
	quick "$EPITAPH" extract -q -o $core.snap $core.core
	quick "$EPITAPH" report $core.snap >again
	grep -q '#[0-9]* *main+' again || { cat again; fail "$core: no main in the snapshot"; }
done

# ---- gdb saves what tells the same stack
[ "$EPITAPH" = "$BIN/epitaph" ] || exit 0
for core in whole files; do
	touch -d @0 $core.core # it says nothing, nor does what gdb makes of it
	quick gdb -nx -batch -iex 'set debuginfod enabled off' -iex 'set auto-load safe-path /' -x "$BUILD/gdb-ext/epitaph.py" \
		-ex "epitaph save gdb.$core" -c $core.core >said 2>&1 || { cat said; fail "gdb: $core"; }
	quick "$EPITAPH" report $core.core 2>&1 | sed -n '/^thread .* died/,/last calls/p' >wanted || true
	quick "$EPITAPH" report gdb.$core 2>&1 | sed -n '/^thread .* died/,/last calls/p' >got || true
	grep -q 'main+' wanted && diff wanted got || fail "$core: another stack in what gdb saves"
done
rm -f -- *.core gdb.* us.* *.snap
