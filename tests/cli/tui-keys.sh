#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Keys of epitaph tui that less and htop have, too: rows by number, search that goes round and heeds capitals, a name to be copied,
# the mouse; a thread and a time from the command line; the report's page in another width; other terminals and locales.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/tui.bash"
cat >keys.c <<'SRC'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#define KEPT __attribute__((noinline))
KEPT void Capital(void) { __asm__ volatile(""); }
KEPT void capital(void) { __asm__ volatile(""); }
KEPT void wide_name(void) { __asm__ volatile(""); }
KEPT void long_name(void) { __asm__ volatile(""); }
KEPT void *other(void *none) { capital(); pthread_setname_np(pthread_self(), "other"); return none; }
KEPT void once(void) { wide_name(); long_name(); Capital(); capital(); }
int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	once();
	abort();
}
SRC
wide='функция_日本語'
long=long_$(printf '%0100d' 7)_end
"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls -c keys.c -o keys.o
objcopy --redefine-sym wide_name="$wide" --redefine-sym long_name="$long" keys.o
"$BIN/epitaph-cc" keys.o -o keys -lpthread
crash core "$PWD/keys"
export LANG=C.UTF-8 LC_ALL=C.UTF-8
bottom() { # NUMBER PATTERN: soon the last line but NUMBER is so
	local lines
	lines=$(on_terminal display-message -p -t tui '#{window_height}')
	row $((lines - $1)) "$2"
}

# ---- rows, search, names
terminal 80 24 "$EPITAPH" tui core
sees '1 threads'
presses 3 S
sees 'namev'
bottom 0 ' 1/7$'
presses : 3 Enter
bottom 0 ' 3/7$'
presses : 5 0 % Enter
bottom 0 ' 3/7$'
presses : 9 9 9 Enter
bottom 0 ' 7/7$'
presses : x Enter
sees ':x is no row'
presses g d
bottom 0 ' [2-7]/7$'
# By name Capital comes before capital, and small letters mean both.
presses g / c a p i t a l Enter y
bottom 0 '^Capital$'
presses n y
bottom 0 '^capital$'
presses n
sees 'end; went on at the other end: capital'
presses y
bottom 0 '^Capital$'
presses G N N
presses / C a p i t a l Enter y
bottom 0 '^Capital$'
presses n
sees 'went on at the other end: Capital'
presses / C A P Enter
sees 'not found: CAP'
# A name that is longer than the screen is wide is there to the end, and gone at the next key.
presses / l o n g _ Enter y
bottom 1 "^${long:0:80}$"
bottom 0 "^${long:80}$"
presses j k
bottom 0 '/7$'
sees "$wide"

# ---- the report's page in another width
presses 6
sees 'died of' 'SIGABRT'
narrow() { screen && grep -qF 'keys.c:' screen && [ "$(sed 1d screen | awk '{ if (length > most) most = length } END { print most }')" -le "$1" ]; }
wide() { ! narrow 80; }
soon narrow 80 || say 'the page is wider than its screen'
on_terminal resize-window -t tui -x 160 -y 40
soon wide || { say 'the page is as narrow as before' && cat screen; }
on_terminal resize-window -t tui -x 80 -y 24
soon narrow 80 || { say 'the page is as wide as before' && cat screen; }
sees 'died of'
presses Q
ends 0

# ---- from the command line
gives 64 "$EPITAPH" tui --last=x core
terminal 80 24 "$EPITAPH" tui --thread=nobody core
ends 2
has tui.err 'no thread fits --thread'
terminal 80 24 "$EPITAPH" tui --thread=other core
sees '5 calls' 'other' 'capital()'
sees_not 'Capital()'
presses 2
sees ' of ' 'other'
sees_not Capital
presses 1
sees keys
presses q q
ends 0
terminal 80 24 "$EPITAPH" tui --thread=keys --last=1 core
sees '5 calls' 'capital()' # and the calls around it
sees_not 'Capital()'
presses Q
ends 0
terminal 120 24 "$EPITAPH" tui --until=-1h core
sees '1 threads'
presses 3
sees 'of the time that was asked for' 'No call was recorded'
presses Q
ends 0

# ---- the mouse, when it is asked for
terminal 80 24 "$EPITAPH" tui core
sees '1 threads'
mouse() { [ "$(on_terminal display-message -p -t tui '#{mouse_any_flag}')" = "$1" ]; }
mouse 0 || say 'the mouse is taken, unasked'
presses 3 S M
sees 'with Shift it selects text'
soon mouse 1 || say 'the mouse is not taken'
on_terminal send-keys -t tui -l $'\e[M %%' # as the terminal that tmux is has it: column and line 5
bottom 0 ' 3/7$'
presses M
sees 'the mouse selects text'
soon mouse 0 || say 'the mouse is not given back'
presses Q
ends 0

# ---- other terminals
for term in xterm xterm-256color screen linux vt100; do
	terminal 80 24 env TERM=$term "$EPITAPH" tui core
	sees '1 threads' 'keys'
	presses 2 3 6
	sees 'died of'
	presses Q
	ends 0
	grep -qE '(^| )icanon' tui.stty || say "TERM=$term: the terminal was not given back"
done
# Without UTF-8 the bytes of such a name are told.
terminal 80 24 env LANG=C LC_ALL=C "$EPITAPH" tui core
sees '1 threads'
presses 3
sees 'selfv' Capital
screen
! grep -q 日本語 screen || say 'wide characters in the C locale'
presses Q
ends 0
[ ! -s tui.err ] || say "stderr: $(cat tui.err)"

[ $failures -eq 0 ]
