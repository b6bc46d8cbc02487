#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# epitaph tui of a running process is a top of what it calls and where it waits: what it did since the last look, that recording is
# paused, that it has ended. Names that mean harm do none to the terminal, on any of the screens.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/tui.bash"

cat >live.c <<'SRC'
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#define KEPT __attribute__((noinline))
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
KEPT void odd_bytes(void) { __asm__ volatile(""); }
KEPT void odd_length(void) { __asm__ volatile(""); }
KEPT void nap(void) { nanosleep(&(struct timespec){0, 20000000}, NULL); }
KEPT void locked(void) { pthread_mutex_lock(&lock); nap(); pthread_mutex_unlock(&lock); }
KEPT void step(void) { odd_bytes(); odd_length(); locked(); }
KEPT void once(void) { __asm__ volatile(""); }
static void *work(void *name)
{
	prctl(PR_SET_NAME, name);
	for (;;)
		step();
}
int main(void)
{
	pthread_t thread;

	once();
	pthread_create(&thread, NULL, work, "o\033]0;FORGED\a\xff");
	puts("ready");
	fflush(stdout);
	work("main");
}
SRC
odd=$'odd\e]0;FORGED\a\e[2J\xff'
long=$(printf 'n%.0s' {1..10000})
"$BIN/epitaph-cc" -O1 -c live.c -o live.o
objcopy --redefine-sym odd_bytes="$odd" --redefine-sym odd_length="$long" live.o
"$BIN/epitaph-cc" live.o -o live -lpthread
tool=$EPITAPH
unset EPITAPH
mkfifo ready
./live >ready &
pid=$!
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null || true; end_terminal' EXIT
read -r _ <ready

terminal 150 24 "$tool" tui "$pid"
sees '7 top' ' calls in ' 'locked' 'nap' 'nnnnn'
# Each look is of its own second: what was called once, before the first, is in none of the later ones. Three calls of step's take
# 40 ms at least.
has_calls() { # LEAST MOST: the first line's calls
	local calls
	screen
	calls=$(sed -nE '1s/.*: ([0-9]+) calls in .*/\1/p' screen)
	[ "${calls:-0}" -ge "$1" ] && [ "$calls" -le "$2" ]
}
soon has_calls 10 1000000 || { say 'not 10 to 1000000 calls:' && cat screen; }
sees_not once
presses S
sees 'namev'
is_sorted() { screen && sed 1,2d screen | grep -owE 'locked|nap|step' | head -n 3 | cmp -s - <(printf '%s\n' locked nap step); }
soon is_sorted || { say 'not by name:' && cat screen; }

# Waits, where this user may have them.
if "$tool" info "$pid" | grep -qE '^scheduling (ftrace|perf)'; then
	sees 'locked < step' 'nap < locked'
	presses w w
	sees 'waited'
	sees_not 'namev'
	presses w
fi

# Bytes of names are shown, not obeyed.
for key in 7 1 2 E 3 5 6 4; do
	presses $key
	screen
	! grep -q "$(printf '[\001-\010\013-\037]')" screen || say "control bytes on screen $key"
done
presses 3
sees 'odd\x1b]0;FORGED\x07'
[[ $(on_terminal display-message -p -t tui '#{pane_title}') != *FORGED* ]] || say 'a name changed the title'

presses 7
sees_not 'switched off'
"$tool" control "$pid" untrace odd_length nap >/dev/null
sees 'switched off'
"$tool" control "$pid" pause >/dev/null
sees 'recording is paused'
presses p
sees 'stopped'
presses p
kill -9 $pid
wait $pid 2>/dev/null || true
pid=
sees 'has ended'
presses q
ends 0
[ ! -s tui.err ] || say "stderr: $(cat tui.err)"

[ $failures -eq 0 ]
