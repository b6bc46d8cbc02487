# SPDX-License-Identifier: BSD-2-Clause
# timeout: 600
# Stack and trace side by side: each frame and each open call has its verdict, however the program was built and dies: also
# where the stack was overwritten, where a return was under way, and where either of the two knows less than the other.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

build() { # NAME COMPILER FLAGS...
	local name=$1 compiler=$2
	shift 2
	EPITAPH_CC=$compiler "$BIN/epitaph-cc" -g -w -fno-stack-protector "$@" "$TOP/tests/programs/deaths.c" -o "$name" -lpthread
}

# rows CORE: one word a row up to main, then what the edges say: "die_null=agree choose=agree main=agree".
rows() {
	"$EPITAPH" report --all --last=0 "$1" >page || [ $? -eq 1 ] || say "no report of $1"
	awk '
	/^thread [0-9]+ .* died/ { on = 1; next }
	/^thread|^$/ { on = 0 }
	!on || /^  state/ { next }
	/-- the stack is overwritten/ { printf "OVERWRITTEN " }
	/-- from here on by the trace/ { printf "TRACE " }
	/-- the trace does not reach/ { printf "EDGE " }
	/^       (--|the stack)/ { next }
	{
		name = $1 ~ /^#/ ? $2 : $1
		sub(/\+0x[0-9a-f]+$/, "", name)
		if (name ~ /^0x/)
			name = "nowhere"
		if (name ~ /^(_start|__libc_start|__pthread_kill|raise|abort|msort|qsort)/)
			name = "libc"
		verdict = /stack overwritten: / ? "not-believed" : /frame lost/ ? "frame-lost" : /\[called/ ? "agree" : \
			/not instrumented/ ? "no-hook" : /a signal came/ ? "signal" : /trace lost/ ? "trace-lost" : \
			/its hook recorded its return/ ? "returning" : /hook had not run/ ? "entering" : "?"
		if ($1 !~ /^#/ && verdict == "agree")
			verdict = "call"
		word = name "=" verdict
		if (word != last)
			printf "%s ", word
		last = word
	}' page
}

# wants PROGRAM HOW ROWS [SETTINGS...]: repeated rows stand for one. Of a program that is stripped only the verdicts are known.
wants() {
	local program=$1 how=$2 want=$3 got
	shift 3
	crash core.dead env EPITAPH_TIMESTAMP_EVERY=1 "$@" "$PWD/$program" "$how"
	got=$(rows core.dead)
	got=${got% }
	if [[ $program == *stripped* ]]; then
		got=$(sed -E 's/[^ =]+=//g' <<<"$got" | tr ' ' '\n' | uniq | tr '\n' ' ')
		want=$(sed -E 's/[^ =]+=//g' <<<"$want" | tr ' ' '\n' | uniq | tr '\n' ' ')
	fi
	[ "$got" = "$want" ] || { say "$program $how:"; echo "	is   $got"; echo "	want $want"; cat page; }
}

outside='choose=agree main=agree libc=no-hook'
some_ways() { # PROGRAM
	wants "$1" handled "libc=no-hook handle_fault=agree <signal=signal die_handled=agree $outside"
	wants "$1" smashed 'die_smashed=agree OVERWRITTEN nowhere=not-believed TRACE choose=call main=call'
	wants "$1" returning 'die_returning=returning OVERWRITTEN nowhere=not-believed TRACE choose=call main=call'
}

all_ways() { # PROGRAM
	some_ways "$1"
	wants "$1" null "die_null=agree $outside"
	wants "$1" abort "libc=no-hook die_abort=agree $outside"
	wants "$1" call "nowhere=no-hook die_call=agree $outside"
	wants "$1" sorting "compare=agree libc=no-hook die_sorting=agree $outside"
	wants "$1" deep "descend=agree die_deep=agree $outside"
	wants "$1" jumped "die_jumped=agree $outside"
	wants "$1" erased 'die_erased=agree OVERWRITTEN TRACE choose=call main=call'
}

build plain gcc -O0
build fast gcc -O2
build before gcc -O1 -finstrument-functions
build clang clang -O2
build clang-before clang -O1 -finstrument-functions
cp fast stripped
strip stripped
for program in plain before clang stripped; do
	some_ways $program
done
all_ways fast
all_ways clang-before

# What a tail call has left is on neither side; where it was no jump, it is on both.
wants fast tail "die_null=agree $outside"
wants plain tail "die_null=agree die_tail=agree $outside"
# Hooks without a name are known by what was told last.
build static gcc -O2 -static
cp static static-stripped
strip static-stripped
wants static returning 'die_returning=returning OVERWRITTEN nowhere=not-believed TRACE choose=call main=call'
wants static-stripped returning 'die_returning=returning OVERWRITTEN nowhere=not-believed TRACE choose=call main=call'
# Neither the clock nor what was left out of the history changes which calls are open.
wants fast deep "descend=agree die_deep=agree $outside" EPITAPH_TIMESTAMP_EVERY=64
wants fast deep "descend=agree die_deep=agree $outside" EPITAPH_MIN_DURATION=1ms
# The history begins in the middle of a recursion: the stack has the rest, and the trace would have had it.
wants fast overflow 'overflow_stack=agree EDGE overflow_stack=trace-lost choose=trace-lost main=trace-lost libc=no-hook' EPITAPH_RING=4K
has page 'trace lost: older than the history'

# Why the trace lacks a call that is on the stack: it was called in a pause, before a fork, or where a block of records is lost.
cat >lost.c <<'END'
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <epitaph.h>
#include "runtime/format.h"

extern struct ep_root epitaph_root;
static volatile int sink;
static volatile int *nowhere;
__attribute__((noinline)) static void leaf(void) { sink++; }

/* More than a block of records. */
__attribute__((noinline)) static void fill(void)
{
	for (int i = 0; i < 600; i++)
		leaf();
}

/* Of the only thread, which has used a few: the one before its last. */
NOFUNTRACE static void lose_block(void)
{
	const struct ep_arena *arena = (const void *)(uintptr_t)epitaph_root.arena_address;
	struct ep_block *blocks = NULL, *last;

	for (unsigned i = 0; i < EP_SECTION_MAX; i++)
		if (arena->sections[i].type == EP_SECTION_RINGS)
			blocks = (void *)(uintptr_t)(epitaph_root.arena_address + arena->sections[i].offset);
	for (last = blocks; last[1].check;)
		last++;
	for (; last->sequence != 2; last--)
		continue;
	memset(last, 0x55, EP_BLOCK_HEADER);
}

__attribute__((noinline)) static int inner(void) { return *nowhere + 1; }

__attribute__((noinline)) static int between(const char *how)
{
	if (!strcmp(how, "paused"))
		epitaph_thread_resume();
	fill();
	if (!strcmp(how, "blocks"))
		lose_block();
	return inner() + 1;
}

__attribute__((noinline)) static int outer(const char *how)
{
	if (!strcmp(how, "fork")) {
		pid_t child = fork();

		if (child) {
			waitpid(child, NULL, 0);
			return 0;
		}
	}
	if (!strcmp(how, "paused"))
		epitaph_thread_pause();
	/* `between` begins in the second block. */
	if (!strcmp(how, "blocks"))
		for (int i = 0; i < 300; i++)
			leaf();
	return between(how) + 1;
}

int main(int count, char **words) { (void)count; return outer(words[1]) + 1; }
END
"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls -I"$TOP" lost.c -o lost
# Where history is missing nothing is known of what was outside of all.
wants lost paused 'inner=agree between=trace-lost outer=agree main=agree EDGE libc=no-hook'
grep -qE 'between\+.*\[trace lost: tracing was paused\]' page || { say 'the reason: paused'; cat page; }
wants lost blocks 'inner=agree between=trace-lost outer=agree main=agree EDGE libc=no-hook'
grep -qE 'between\+.*\[trace lost: blocks of records are lost there\]' page || { say 'the reason: lost blocks'; cat page; }
wants lost fork 'inner=agree between=agree EDGE outer=trace-lost main=trace-lost libc=no-hook'
[ "$(grep -cE '(outer|main)\+.*\[trace lost: called before the fork: the parent.s\]' page)" = 2 ] || { say 'the reason: fork'; cat page; }

# A function that was inlined has hooks of its own: its call stands where the debug information has it.
cat >inlined.c <<'END'
static volatile int *nowhere;
static inline __attribute__((always_inline)) int inner(int value) { *nowhere = value; return value; }
__attribute__((noinline)) int outer(int value) { return inner(value) + 1; }
int main(int count, char **words) { (void)words; return outer(count) + 1; }
END
"$BIN/epitaph-cc" -g -O1 -epitaph-method=finstrument inlined.c -o inlined
crash core.dead "$PWD/inlined"
[ "$(rows core.dead)" = 'inner=agree outer=agree main=agree libc=no-hook ' ] || { say 'inlined:'; cat page; }
grep -qE '^  #0 +inner \(inlined\) .*\[called' page || { say 'inner is not told as inlined'; cat page; }

# At the first instruction the hook has not run.
cat >entering.c <<'END'
__attribute__((noinline)) int above(int value) { __asm__ volatile("and $0xfff, %%rsp\n\tjmp here\nhere:" ::: "memory"); return value; }
static int (*volatile call)(int);
__attribute__((noinline)) int below(int value) { return value + 1; }
int main(int count, char **words)
{
	(void)words;
	call = below;
	/* with a stack that is none: the first push of the callee faults */
	__asm__ volatile("mov %%rsp, %%rbx\n\tmov $4096, %%rsp\n\tjmp *%0" :: "r"(call), "D"(count) : "rbx", "memory");
	return above(count);
}
END
"$BIN/epitaph-cc" -g -O1 entering.c -o entering
crash core.dead "$PWD/entering"
grep -qE '^  #0 +below\+0x[0-9a-f] .*its hook had not run yet' <("$EPITAPH" report core.dead) ||
	{ say 'entering:'; "$EPITAPH" report core.dead; }

# The stack of a fiber begins with what makecontext laid there; the frame pointer leads on into who made it, whose calls are open
# upon another stack.
cat >fiber.c <<'END'
#include <stdlib.h>
#include <ucontext.h>
static ucontext_t back, own;
static char room[65536];
__attribute__((noinline)) static void inner(void) { abort(); }
__attribute__((noinline)) static void on_fiber(void) { inner(); }
__attribute__((noinline)) static void outer(void)
{
	getcontext(&own);
	own.uc_stack.ss_sp = room;
	own.uc_stack.ss_size = sizeof(room);
	own.uc_link = &back;
	makecontext(&own, on_fiber, 0);
	swapcontext(&back, &own);
}
int main(void) { outer(); return 0; }
END
"$BIN/epitaph-cc" -g -O0 fiber.c -o fiber
crash core.dead "$PWD/fiber"
rows core.dead >got
grep -q '^libc=no-hook inner=agree on_fiber=agree libc.so.6=no-hook $' got || { say 'a fiber:'; cat got page; }
grep -q "was not called: a stack of makecontext's begins there" page || { say 'where its stack begins:'; cat page; }

# Without a stack the trace is the backtrace, and that is said.
crash core.dead env EPITAPH_TIMESTAMP_EVERY=1 "$PWD/fast" deep
gives 0 "$EPITAPH" extract -q --no-stacks -o bare core.dead
rows bare >got
grep -q 'TRACE .*choose=call main=call' got || { say 'a snapshot without stacks:'; cat page; }
exit $((failures != 0))
