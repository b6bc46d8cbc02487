# SPDX-License-Identifier: BSD-2-Clause
# What cannot be read is refused by name, with the reason, and status 3; what is cut short is used as far as it goes, with
# status 1 and a word about it; an output that cannot be written is told. Never a crash, never an empty success.
# sanitized only
# leaks
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
traced deaths deaths
EPITAPH_RING=64K crash core.whole "$PWD/deaths" null thread

commands=('report' 'info' 'info --json' 'replay' 'replay --format=tsv' 'export -f viztracer' 'extract -o snapshot')

# Not a core at all.
: >empty
echo 'a text' >text
head -c 100000 /dev/urandom >noise
head -c 40 core.whole >stump
mkdir folder
mkfifo pipe
cp deaths executable
for file in empty text noise stump folder pipe executable absent /dev/null; do
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086
		gives 3 timeout 20 "$EPITAPH" $command $file
		has err "$file"
		[ ! -s out ] || say "$command $file printed something"
		[ ! -e snapshot ] || say "$command $file left a snapshot"
	done
done
gives 3 "$EPITAPH" info 4194999 # no such process
has err 4194999
gives 3 "$EPITAPH" info pid:4194999

# A core cut short, from its last byte to its first: whole, partial, nothing found, or unreadable, always with the name.
size=$(stat -c %s core.whole)
seen=
for part in 1 2 5 10 20 40 60 80 90 95 99; do
	head -c $((size * part / 100)) core.whole >cut
	for command in "${commands[@]}"; do
		rm -f snapshot
		status=0
		# shellcheck disable=SC2086
		timeout 60 "$EPITAPH" $command cut >out 2>err || status=$?
		case $status in
		1 | 2 | 3)
			grep -q cut out err || say "$command of $part %: nothing names the file"
			grep -qE 'truncated|cut off|ends' out err || say "$command of $part %: not told to be truncated"
			;;
		*) say "$command of $part %: status $status" ;;
		esac
		[ "$command" != report ] || seen+="$status "
	done
done
# The arena comes first in a core: with most of it, there is much to tell.
[[ $seen == *'1 1 1 '* ]] || say "report's statuses from 1 % to 99 %: $seen"

# A whole one: complete, and nothing on stderr.
gives 0 "$EPITAPH" report core.whole
[ ! -s err ] || say 'report of a whole core complains'
gives 0 "$EPITAPH" replay core.whole
[ ! -s err ] || say 'replay of a whole core complains'

# stdout that takes nothing: told, status 3. A reader that goes away: quiet.
for command in report info 'info --json' replay 'replay --format=tsv' 'export -f viztracer' '--help' 'help' 'help replay'; do
	case $command in *help*) source= ;; *) source=core.whole ;; esac
	status=0
	# shellcheck disable=SC2086
	"$EPITAPH" $command $source >/dev/full 2>err || status=$?
	[ $status -eq 3 ] || say "$command >/dev/full: status $status"
	has err 'No space left'
	# shellcheck disable=SC2086
	{ "$EPITAPH" $command $source 2>err || true; } | head -c 1 >/dev/null || true
	[ ! -s err ] || { say "$command | head is not quiet:"; cat err; }
done
status=0
"$EPITAPH" --version >/dev/full 2>err || status=$?
[ $status -eq 3 ] || say "--version >/dev/full: status $status"

# What is missing is missing for every command: threads that found no room for a history.
cat >many.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
static pthread_barrier_t all;
static __attribute__((noinline)) void work(void) { __asm__ volatile(""); }
static void *thread(void *arg) { work(); pthread_barrier_wait(&all); pthread_barrier_wait(&all); return arg; }
int main(void)
{
	pthread_t id;
	pthread_barrier_init(&all, NULL, 126);
	for (int i = 0; i < 125; i++)
		pthread_create(&id, NULL, thread, NULL);
	pthread_barrier_wait(&all);
	abort();
}
EOF
"$BIN/epitaph-cc" -O1 many.c -o many -lpthread
EPITAPH_RING=64K EPITAPH_MEMORY=512K EPITAPH_SCHED=off crash core.crowded "$PWD/many"
gives 1 "$EPITAPH" info core.crowded
has out 'threads had no room for a history'
for command in report replay stats 'export -f jsonl' 'export -f chrome' 'info --json'; do
	# shellcheck disable=SC2086
	gives 1 "$EPITAPH" $command core.crowded
done

# Before anything was ever caught there is no folder: an answer, which says what to do, and no error.
there() { # COMMAND...: where no such folder is
	if [ ! -e /var/lib/epitaph ]; then
		"$@"
	elif [ "$(id -u)" = 0 ]; then
		unshare -m sh -c 'mount -t tmpfs none /var/lib && exec "$@"' sh "$@"
	else
		unshare -Urm sh -c 'mount -t tmpfs none /var/lib && exec "$@"' sh "$@"
	fi
}
gives 2 there "$EPITAPH" list
has err 'epitaph catch --install'
hasnt err 'No such file'
gives 0 there "$EPITAPH" list --json
[ "$(xargs <out)" = '[]' ] || say "list --json: $(cat out)"
gives 3 "$EPITAPH" list no/such/folder

# Whatever -o names appears whole or not at all: what was there is replaced or stays, and is never what it is made from.
echo mine >there
gives 3 "$EPITAPH" extract -o there nothing.core
gives 3 "$EPITAPH" export -f jsonl -o there nothing.core
[ "$(cat there)" = mine ] || say 'a failure cost a file'
ln core.whole same.core
gives 64 "$EPITAPH" extract -o same.core core.whole
gives 64 "$EPITAPH" export -f jsonl -o same.core core.whole
has err 'same.core: is what it is made from'
cmp -s core.whole same.core || say 'a core was replaced by what was made from it'
gives 0 "$EPITAPH" export -f jsonl -o there core.whole
head -c 1 there | grep -q '{' || say 'export did not replace a file'
gives 0 "$EPITAPH" extract -o there core.whole
gives 0 "$EPITAPH" info there
gives 3 "$EPITAPH" extract -o no/such/there core.whole
(ulimit -f 64 && trap '' XFSZ && exec "$EPITAPH" extract -o small core.whole) >out 2>err && say 'a limit of 64 KiB was enough'
[ ! -e small ] || say 'half a snapshot is there'
[ -z "$(find . -name 'small*')" ] || say "something is left: $(find . -name 'small*')"
exit $((failures != 0))
