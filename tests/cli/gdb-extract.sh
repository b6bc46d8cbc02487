#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# gdb's `epitaph save` of a core, which chooses fewer pages, tells in a report what `epitaph extract` tells: of whole cores and cut ones,
# of stacks that overflowed and handlers on a stack of their own. Of a live process the history is the same.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"
trap 'kill -9 $process 2>/dev/null || true' EXIT
process=

both() { # PROGRAM CORE: into by-gdb and by-us
	local status=0
	rm -f by-gdb by-us
	in_gdb -ex 'epitaph save by-gdb' "$1" "$2" >said || say "$2: gdb: $(cat gdb.err)"
	"$EPITAPH" extract -q -o by-us "$2" 2>us.err || status=$?
	[ $status -le 1 ] || say "$2: extract: status $status: $(cat us.err)"
	for file in by-gdb by-us; do
		"$EPITAPH" report $file >$file.report 2>&1 || echo "status $?" >>$file.report
		"$EPITAPH" replay --format=tsv $file >$file.tsv 2>&1 || echo "status $?" >>$file.tsv
		sed -i "s/$file/FILE/" $file.report $file.tsv
	done
	grep -q '^died of' by-us.report && diff by-us.report by-gdb.report || say "$2: two different reports"
	cmp by-us.tsv by-gdb.tsv || say "$2: two different histories"
}

for variant in pie: no-pie:-no-pie static:-static static-pie:-static-pie; do
	name=${variant%%:*}
	# shellcheck disable=SC2086
	traced $name ${variant#*:}
	crash ./$name abort $name.core
	both $name $name.core
done
# The abort message of the C library is in both.
cat >said.c <<'END'
#include <stdlib.h>
int main(void) { void *volatile p = malloc(64); free(p); free(p); }
END
for variant in dynamic: static:-static; do
	# shellcheck disable=SC2086
	"$BIN/epitaph-cc" ${variant#*:} -w said.c -o double
	crash ./double abort "said-${variant%%:*}.core"
	both double "said-${variant%%:*}.core"
	grep -q "abort message free(): double free detected" by-gdb.report || say "$variant: the abort message is lost"
done

read -r _ size offset < <(arena_of pie.core)
for cut in $((offset + 5000)) $((offset + size / 2)) $((offset + size + 9000)); do
	head -c $cut pie.core >cut.core
	both pie cut.core
done

gcc -g -O1 -pg -mfentry -minstrument-return=call -c "$TOP/tests/programs/overflow.c" -o overflow.o
gcc overflow.o "$LIB/libepitaph.a" -Wl,-z,now -o overflow
for mode in handler overflow overflow-handler; do
	crash ./overflow $mode $mode.core
	both overflow $mode.core
done

traced waiters
starts ./waiters
in_gdb -ex 'epitaph save by-gdb.live' -ex "shell '$EPITAPH' extract -q -o by-us.live $process" -p "$process" >said || say "live: $(cat gdb.err)"
# gdb's is as it lies in memory, ours laid out anew: they hold the same, but for how long before each was taken.
for file in by-gdb.live by-us.live; do
	"$EPITAPH" replay --format=tsv $file >$file.all || say "live: $file: status $?"
	sed '2{/^# end\t/d}' $file.all >$file.tsv
	"$EPITAPH" info $file >$file.raw || say "live: $file: status $?"
	grep -q '^silence ' $file.raw || say "live: $file does not know when it was taken"
	sed -E '/^(arena|silence) /d; /^scheduling /s/, up to .*the end//; /^[0-9]+ +waiter/s/ +-[0-9.]+ [mun]?s +/ AGE /' $file.raw >$file.info
done
cmp by-gdb.live.tsv by-us.live.tsv && diff by-gdb.live.info by-us.live.info || say "live: two different histories"
[ -s by-us.live.tsv ] || say "live: nothing in it"
exit $((failures > 0))
