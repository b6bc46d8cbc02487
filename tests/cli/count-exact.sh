# SPDX-License-Identifier: BSD-2-Clause
# EPITAPH_MODE=count counts each call that would be traced, and no other: before main, in destructors, in 2,000 threads, in
# signal handlers, around pauses; under every method, compiler and runtime, in the same binary that traces.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

# counts FUNCTION: its calls, as the last report has them
calls() { awk -F, -v f="\"$1\"" '$1 == f { n += $3 } END { print n + 0 }' out; }
are() { # FUNCTION CALLS...: of the report of SOURCE, which was told before
	while [ $# -gt 0 ]; do
		[ "$(calls "$1")" = "$2" ] || say "$what: $1 was called $2 times, not $(calls "$1")"
		shift 2
	done
}
run() { # HOW [N]: runs ./counted, leaves its report in out
	rm -f ./*.counts
	EPITAPH_MODE=count ./counted "$@" >printed || true
	gives 0 "$EPITAPH" count report --csv epitaph.*.counts
}

builds=0
build() { # WORDS...: counted under these
	what=$*
	builds=$((builds + 1))
	traced counted counted "$@"
	run threads 40
	are main 1 once 1 twice 2 construct 1 before 3 destruct 1 after 4 thread 40 in_thread 2000 never 0 paused 0 at_end 1
}

build -O1
build -O2 -epitaph-method=finstrument
build -static
build -no-pie
build -epitaph-runtime=shared
EPITAPH_CC=clang build -O2
EPITAPH_CC=clang build -epitaph-method=finstrument
traced counted counted

what=threads
run threads 2000
are thread 2000 in_thread 100000 threads 1
# They were handed on: each thread has 128 bytes in the table, 500 blocks, and not a list of counters, 4 KiB.
blocks=$(stat -c %b epitaph.*.counts)
run threads 8
[ $((blocks - $(stat -c %b epitaph.*.counts))) -lt 640 ] || say "2,000 threads leave $blocks blocks, 8 $(stat -c %b epitaph.*.counts)"
what=signals
run signals 20000
are on_signal 20000 in_handler 20000
# As many as the kernel can send: whatever a signal comes in between of, its own calls and the interrupted ones are all there.
what=storm
traced storm storm
rm -f ./*.counts
EPITAPH_MODE=count ./storm 100000 2>/dev/null || true
gives 0 "$EPITAPH" count report --csv epitaph.*.counts
handled=$(calls on_signal)
[ "$handled" -ge 100000 ] || say "$what: $handled signals"
are in_handler "$handled" leaf $((2 * $(calls outer) + handled))
# Two threads whose first calls come at once: one list of sites is made twice, and one of the two is left.
what=race
cat >race.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#define QUIET __attribute__((no_instrument_function))
#define KEPT __attribute__((noinline))
static pthread_barrier_t both;
KEPT void one(void) { __asm__ volatile(""); }
KEPT void two(void) { __asm__ volatile(""); }
QUIET static void *begin(void *second)
{
	pthread_barrier_wait(&both);
	second ? two() : one();
	return NULL;
}
QUIET int main(void)
{
	pthread_t thread;
	pthread_barrier_init(&both, NULL, 2);
	if (pthread_create(&thread, NULL, begin, NULL))
		return 1;
	begin(&thread);
	return pthread_join(thread, NULL);
}
END
"$BIN/epitaph-cc" -O1 race.c -o race -lpthread
for _ in {1..60}; do
	rm -f ./*.counts
	EPITAPH_MODE=count ./race
	gives 0 "$EPITAPH" count report --csv epitaph.*.counts
	are one 1 two 1
done
what=pause
run pause
are pauses 1 paused 0 resumed 2
exit $((failures != 0))
