#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A snapshot kept in memory comes out of a core, out of a snapshot of it, and out
# of the program's own file, and is the same each time: the request that the
# rings have forgotten, and what another thread was waiting in at that moment.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/slowest.c" -o slowest
EPITAPH_RING=16K crash 139 ./slowest saved.core

"$EPITAPH" replay --format=tsv core >events
grep -q '	slow_step	' events && fail "the ring was to forget the slow request"
[ "$(info 'len(info["kept"])')" = 1 ] || fail "$(info 'info["kept"]')"
number=$(info 'info["kept"][0]["number"]')
[ "$(info 'info["kept"][0]["saved_bytes"] == info["kept"][0]["bytes"]')" = True ]
[ "$(info 'info["kept"][0]["tid"] == info["pid"]')" = True ]
[ "$(info 'info["is_kept"]')" = False ]
"$EPITAPH" info core >text
grep -q "^kept  *$number: " text || { cat text; fail "info does not list it"; }

"$EPITAPH" report core >report || [ $? -eq 1 ]
grep -q '^kept in memory by the program: 1 snapshot ' report || { cat report; fail "report does not tell of it"; }
"$EPITAPH" extract --quiet --kept "$number" -o one.core core
"$EPITAPH" extract --quiet --kept all core
mv "epitaph.$(info 'info["pid"]').kept-$number.core" all.core
"$EPITAPH" extract --quiet -o small.core core
"$EPITAPH" extract --quiet --kept "$number" -o two.core small.core
"$EPITAPH" extract --quiet -o again.core one.core
for file in one saved all two again; do
	"$EPITAPH" replay --format=tsv $file.core >$file.tsv
	cmp one.tsv $file.tsv || fail "$file.core tells another story"
done
[ "$(grep -c '^B.*	slow_step	' one.tsv)" = 5 ] || { cat one.tsv; fail "slow_step"; }
grep -q '	later_step	' one.tsv && fail "what came later is in it"
# The thread that waits is open, there as in the core.
[ "$(grep -c '^[BE].*	wait_for_ever	' one.tsv)" = 1 ] || fail "the other thread"
[ "$(info 'info["is_kept"]' one.core)" = True ]
[ "$(info 'sum(info["lost"].values())' one.core)" = 0 ] || fail "$(info 'info["lost"]')"
"$EPITAPH" report one.core >report || fail "report: status $?"
grep -q 'did not die' report || { cat report; fail "a kept snapshot has no death"; }

gdb -q -batch -nx -ex 'info threads' -c one.core ./slowest >gdb.txt 2>&1
grep -q 'LWP' gdb.txt || { cat gdb.txt; fail "gdb does not open it"; }

# Out of the running process.
mkfifo in out
./slowest live.core wait <in >out 2>/dev/null &
pid=$!
trap 'kill -9 $pid 2>/dev/null || true' EXIT
exec 5>in 6<out
read -r word <&6
[ "$word" = ready ]
"$EPITAPH" extract --quiet --kept "$number" -o five.core "$pid"
cmp <("$EPITAPH" replay --format=tsv live.core) <("$EPITAPH" replay --format=tsv five.core) ||
	fail "the running process tells another story"
kill -TRAP "$pid"
until [ -e "epitaph.$pid.1.core" ]; do sleep 0.01; done
"$EPITAPH" extract --quiet --kept "$number" -o six.core "epitaph.$pid.1.core"
cmp <("$EPITAPH" replay --format=tsv live.core) <("$EPITAPH" replay --format=tsv six.core) ||
	fail "the process's own snapshot tells another story"
kill -9 "$pid"

# What is not there.
status=0
"$EPITAPH" extract --kept 9999 -o no.core core 2>err || status=$?
[ $status = 2 ] || fail "status $status for a number that is not kept"
grep -q 'info lists' err
status=0
"$EPITAPH" extract --kept x -o no.core core 2>err || status=$?
[ $status = 64 ] || fail "status $status for no number"
status=0
"$EPITAPH" extract --kept all -o no.core one.core 2>err || status=$?
[ $status = 2 ] || fail "status $status where nothing is kept"
[ ! -e no.core ]

# Several: each gets a file.
cat >several.c <<'C'
#include <epitaph.h>
#include <stdlib.h>
int main(void)
{
	epitaph_snapshot_take();
	epitaph_snapshot_free(epitaph_snapshot_take());
	epitaph_snapshot_take();
	abort();
}
C
"$BIN/epitaph-cc" several.c -o several
crash 134 ./several
[ "$(info '[k["number"] for k in info["kept"]]')" = "[1, 3]" ] || fail "$(info 'info["kept"]')"
status=0
"$EPITAPH" extract --kept all -o same.core core 2>err || status=$?
[ $status = 64 ] && grep -q '%n' err && [ ! -e same.core ] || fail "two files of one name: $status, $(cat err)"
"$EPITAPH" extract --quiet --kept all -o 'each.%n.core' core
[ "$(echo each.*.core)" = "each.1.core each.2.core" ] || fail "$(echo each.*)"
"$EPITAPH" extract --quiet --kept all core
[ "$(ls | grep -c '\.kept-[13]\.core$')" = 2 ] || fail "$(ls)"

# What the program said, and a deadline that was missed, are in it when the ring has forgotten them.
cat >told.c <<'C'
#include <epitaph.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void later(void) { __asm__ volatile(""); }
static volatile int misses;
static void missed(const struct epitaph_miss *miss) { (void)miss; misses++; }
int main(void)
{
	struct epitaph_watchdog *dog = epitaph_watchdog_create("guard", 20000000, missed);

	epitaph_note("resized %s to %d of %.1f", "users", 7, 8.5);
	epitaph_mark_begin("request");
	epitaph_watchdog_feed(dog);
	while (!misses)
		usleep(1000);
	epitaph_mark_begin("inner");
	epitaph_mark_end("inner");
	epitaph_snapshot_take();
	epitaph_mark_end("request");
	for (int i = 0; i < 100000; i++)
		later();
	epitaph_watchdog_destroy(dog);
	abort();
}
C
"$BIN/epitaph-cc" -O1 told.c -o told
EPITAPH_RING=16K crash 134 ./told
"$EPITAPH" replay --format=tsv core | grep -q resized && fail "the ring was to forget the note"
"$EPITAPH" extract --quiet --kept all -o told.core core
"$EPITAPH" replay told.core >tree
for words in '-- resized users to 7 of 8.5' '-- span request begins' '-- missed deadline: guard: ' '-- span inner ends after' \
	'-- span request began here and did not end'; do
	grep -qF -- "$words" tree || { cat tree; fail "no $words"; }
done
grep -q later tree && fail "what came later is in it"
for format in jsonl chrome viztracer; do
	"$EPITAPH" export --format=$format told.core -o told.$format
	for words in 'resized users to 7 of 8.5' request guard inner; do
		grep -qF "$words" told.$format || { cat told.$format; fail "$format: no $words"; }
	done
done
[ "$(info 'sum(info["lost"].values())' told.core)" = 0 ] || fail "$(info 'info["lost"]')"

# No memory for it: the program is told, and so is the reader.
status=0
EPITAPH_KEEP=0 ./slowest saved.core 2>err || status=$?
[ $status = 1 ] && grep -q 'no room' err || fail "EPITAPH_KEEP=0: $status, $(cat err)"
