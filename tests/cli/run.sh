#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# epitaph run: the program runs as it would without it, with its exit status; when it dies of a signal the report comes on
# stderr, from a core, from a snapshot where there are no cores, or from the arena's file; nothing is left behind.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export TMPDIR=$PWD/tmp
mkdir tmp

traced lasting lasting
traced crashes crashes
printf 'int main(int c, char **v) { (void)v; return c > 1 ? *(volatile int *)8 : 7; }\n' >plain.c
gcc plain.c -o plain
rest() { find . "$TMPDIR" -maxdepth 1 '(' -name 'core*' -o -name 'epitaph-run.*' ')'; }

ulimit -S -c 0
gives 137 "$EPITAPH" run -- ./lasting die 100
has err 'has ended'
has err 'before its end'
has err 'open calls main'
[ ! -s out ] || say "the report is on stdout"
gives 139 "$EPITAPH" run --ring=64K -s TIMESTAMP_EVERY=1 ./crashes segv
has err 'died of    SIGSEGV'
has err '#0    segv'
has err '#1    die_by'
(ulimit -H -c 0; gives 136 "$EPITAPH" run ./crashes fpe; has err 'died of    SIGFPE'; has err '#0    die_by'; exit $((failures > 0))) ||
	failures=$((failures + 1))

# A program that is not traced, none at all, arguments of its own, its input and output.
gives 7 "$EPITAPH" run ./plain
has err './plain is not traced'
gives 139 "$EPITAPH" run ./plain x
has err 'died of    SIGSEGV'
gives 127 "$EPITAPH" run ./none
gives 126 "$EPITAPH" run /etc/passwd
gives 64 "$EPITAPH" run
gives 64 "$EPITAPH" run --set nothing ./plain
echo words | gives 0 "$EPITAPH" run sh -c 'cat; echo "$1" >&2' -- --help
has out words
has err --help
hasnt err 'usage'
gives 3 "$EPITAPH" run -- sh -c 'exit 3'
[ -z "$(rest)" ] || say "left behind: $(rest)"

# Signals that are sent to it reach the program.
mkfifo hold
"$EPITAPH" run ./lasting wait <hold >ready 2>err &
pid=$!
exec 7>hold
until [ -s ready ]; do sleep 0.02; done
kill -TERM $pid
status=0
wait $pid || status=$?
exec 7>&-
[ $status -eq 143 ] || say "SIGTERM: status $status"
has err 'open calls main'

# What the report was made of is kept when asked for.
gives 137 "$EPITAPH" run --keep --file="$PWD/named.%p" ./lasting
file=$(sed -n 's/^epitaph: kept: //p' err)
gives 0 "$EPITAPH" info "$file"
[[ $file == "$PWD"/named.* ]] || say "kept $file"
gives 137 "$EPITAPH" run --keep ./lasting
file=$(sed -n 's/^epitaph: kept: //p' err)
[[ $file == "$TMPDIR"/epitaph-run.*/arena.* ]] || say "not in TMPDIR: $file"
gives 0 "$EPITAPH" info "$file"
gives 137 env -u TMPDIR "$EPITAPH" run --keep ./lasting
file=$(sed -n 's/^epitaph: kept: //p' err)
[[ $file == /dev/shm/epitaph-run.*/arena.* || ! -w /dev/shm ]] || say "not in /dev/shm: $file"
gives 0 "$EPITAPH" info "$file"
[[ $file == /*/epitaph-run.??????/* ]] && rm -rf "${file%/*}"

# Out of memory, in a cgroup of its own: the kernel's count tells.
group=
for mount in /sys/fs/cgroup /sys/fs/cgroup/memory; do
	[ -e $mount/memory.stat ] && mkdir $mount/epitaph-test-$$ 2>/dev/null && group=$mount/epitaph-test-$$ && break
done
if [ -n "$group" ]; then
	for limit in memory.max memory.limit_in_bytes; do [ ! -e $group/$limit ] || echo 32M >$group/$limit; done
	for swap in memory.swap.max memory.memsw.limit_in_bytes; do [ ! -e $group/$swap ] || echo 32M >$group/$swap 2>/dev/null || true; done
	# All of it in one call: a hook takes memory as well, and between two calls the kill would find none open.
	printf '%s\n' '#include <stdlib.h>' \
		'__attribute__((noinline)) void eat(void) { for (;;) { volatile char *p = malloc(1 << 20); for (int i = 0; i < 1 << 20; i += 4096) p[i] = 1; } }' \
		'int main(void) { eat(); }' >hungry.c
	"$BIN/epitaph-cc" -O1 hungry.c -o hungry
	gives 137 timeout -s TERM 20 sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh $group env EPITAPH_FILE="$PWD/hungry.file" ./hungry
	gives 0 "$EPITAPH" report hungry.file
	has out 'out of memory, likely: the kernel killed 1 process of its memory cgroup'
	has out 'open calls eat'
	rmdir $group
fi
exit $((failures > 0))
