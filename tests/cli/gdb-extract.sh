#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# gdb's `epitaph save` of a core writes the file that `epitaph extract` writes, to the byte: of whole cores and cut ones, of stacks
# that overflowed and handlers on a stack of their own, and of snapshots. Of a live process the arena is the same.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"
trap 'kill -9 $process 2>/dev/null || true' EXIT
process=

both() { # CORE: into by-gdb and by-us
	local status=0
	rm -f by-gdb by-us
	in_gdb -ex 'epitaph save by-gdb' -c "$1" >told || say "$1: gdb: $(cat gdb.err)"
	"$EPITAPH" extract -q -o by-us "$1" 2>us.err || status=$?
	[ $status -le 1 ] || say "$1: extract: status $status: $(cat us.err)"
	cmp by-gdb by-us || say "$1: two different snapshots"
}

for variant in pie: no-pie:-no-pie static:-static static-pie:-static-pie; do
	# shellcheck disable=SC2086
	traced waiters ${variant#*:}
	crash ./waiters abort "${variant%%:*}.core"
	both "${variant%%:*}.core"
done
# What the C library said is in both.
cat >said.c <<'END'
#include <stdlib.h>
int main(void) { void *volatile p = malloc(64); free(p); free(p); }
END
for variant in dynamic: static:-static; do
	# shellcheck disable=SC2086
	"$BIN/epitaph-cc" ${variant#*:} -w said.c -o said
	crash ./said abort "said-${variant%%:*}.core"
	both "said-${variant%%:*}.core"
	"$EPITAPH" report by-gdb >out || true
	grep -q "abort message free(): double free detected" out || say "$variant: what glibc said is lost"
done
# They see the same threads, names and blocks in it.
in_gdb -ex 'epitaph threads' -c pie.core | awk '$NF != "record" && /live/ { sub(/^\*/, " "); print $2, $3, $5 }' | sort >by-gdb.threads
"$EPITAPH" info pie.core | sed -n '/^tid/,$p' | awk '$1 ~ /^[0-9]+$/ { print $1, $2, $4 }' | sort >by-us.threads
[ "$(wc -l <by-us.threads)" -eq 4 ] || say "not four threads: $(cat by-us.threads)"
diff by-gdb.threads by-us.threads || say "two different lists of threads"

mv by-us first
both first
cmp first by-us || say "a snapshot's snapshot is another one"

read -r _ size offset < <(arena_of pie.core)
for cut in $((offset + 5000)) $((offset + size / 2)) $((offset + size + 9000)); do
	head -c $cut pie.core >cut.core
	both cut.core
done

gcc -g -O1 -pg -mfentry -minstrument-return=call -c "$TOP/tests/programs/overflow.c" -o overflow.o
gcc overflow.o "$LIB/libepitaph.a" -Wl,-z,now -o overflow
for mode in handler overflow overflow-handler; do
	crash ./overflow $mode $mode.core
	both $mode.core
done

traced waiters
starts ./waiters
in_gdb -ex 'epitaph save by-gdb.live' -ex "shell '$EPITAPH' extract -q -o by-us.live $process" -p "$process" >told || say "live: $(cat gdb.err)"
# gdb's is as it lies in memory, ours laid out anew: they tell the same, but for how long before each was taken.
for file in by-gdb.live by-us.live; do
	"$EPITAPH" replay --format=tsv $file >$file.tsv || say "live: $file: status $?"
	"$EPITAPH" info $file | sed -E '/^(arena|silence) /d; /^[0-9]+ +waiter/s/ +-[0-9.]+ [mun]?s +/ AGE /' >$file.info || say "live: $file: status $?"
done
cmp by-gdb.live.tsv by-us.live.tsv && diff by-gdb.live.info by-us.live.info || say "live: two different histories"
[ -s by-us.live.tsv ] || say "live: nothing in it"
exit $((failures > 0))
