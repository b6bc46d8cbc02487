#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Everything is off as the last step of the budget: when the program has done something else for long enough, all comes back by
# itself, and is in the history.
# plain only: the runtime chooses here; the reader is in budget and switched-truth
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/sched.bash"
unset EPITAPH_BUDGET
export EPITAPH_MEMORY=4M

{
	echo '#include <signal.h>'
	echo '#include <stdlib.h>'
	echo '#include <time.h>'
	echo '#include <unistd.h>'
	echo 'volatile int total; volatile sig_atomic_t more = 1;'
	echo 'static void stop(int signal) { (void)signal; more = 0; }'
	for ((i = 0; i < 4000; i++)); do echo "__attribute__((noinline)) void part$i(int x) { total += x; }"; done
	echo '__attribute__((noinline)) void round(void) {'
	for ((i = 0; i < 4000; i++)); do echo "part$i($i);"; done
	echo '}'
	# A call now and then, and much of its own to do.
	echo '__attribute__((noinline)) void later(int x) { for (int i = 0; i < 3000000; i++) total += x; }'
	echo 'int main(int argc, char **argv) { (void)argv; alarm(250); signal(SIGUSR1, stop); while (more) round();'
	echo 'for (;;) if (argc == 1) later(3); else { part7(3); for (int i = 0; i < 3000000; i++) total += 3; } }'
} >many.c
"$BIN/epitaph-cc" -O1 -fno-builtin many.c -o many
trap 'kill $pid 2>/dev/null || true' EXIT

begin_until() { # PATTERN COMMAND...: until `status` has it; then the program is to do something else
	"${@:2}" &
	pid=$!
	until "$EPITAPH" control $pid status >status && grep -q "$1" status; do
		kill -0 $pid || { say 'it is over, and nothing went off'; exit 1; }
		sleep 0.05
	done
	kill -USR1 $pid
}

status_loses() { # PATTERN, within a minute
	for ((i = 0; i < 600; i++)); do
		"$EPITAPH" control $pid status >status
		grep -q "$1" status || return 0
		sleep 0.1
	done
	say "$(grep "$1" status)"
	exit 1
}

comes_back() { # FUNCTION [ARGUMENT]: and FUNCTION is in the history
	begin_until '^off .*: it cost more than EPITAPH_BUDGET' ./many "${@:2}"
	status_loses '^off '
	# Who found that it is time puts 8,000 hooks back before it goes on.
	for ((i = 0; i < 600; i++)); do
		"$EPITAPH" replay --last=20 $pid >replay 2>/dev/null || [ $? -eq 1 ]
		! grep -q "$1(" replay || break
		sleep 0.1
	done
	kill -ABRT $pid
	wait $pid 2>/dev/null || true
	mv core core.all 2>/dev/null || mv core.* core.all 2>/dev/null || say "no core"
	"$EPITAPH" replay --last=100 core.all >replay 2>/dev/null || true
	has replay "$1("
}

# A hook that never ran while much did is left in the code, and asks whether it is time.
for ((turn = 0; turn < 4; turn++)); do # where hooks lie, and which go with which, is another each time
	EPITAPH_SCHED=off comes_back later
done
# No such hook is left: who copies scheduling events asks, and goes on asking where there are none to copy.
comes_back part7 same

# One function alone is off, and what runs fills no block, at whose boundary others would look.
cat >few.c <<'END'
#include <signal.h>
#include <unistd.h>
volatile int total;
volatile sig_atomic_t more = 1;
static void stop(int signal) { (void)signal; more = 0; }
__attribute__((noinline)) void hot(int x) { total += x; }
int main(void)
{
	alarm(250);
	signal(SIGUSR1, stop);
	while (more)
		hot(1);
	for (;;) {
		hot(1);
		for (int i = 0; i < 3000000; i++)
			total += 3;
	}
}
END
"$BIN/epitaph-cc" -O1 few.c -o few
refused=(env EPITAPH_SCHED=ftrace)
[ "$(id -u)" -ne 0 ] || refused+=(setpriv --reuid=65534 --regid=65534 --clear-groups)
for events in allowed refused; do
	if [ $events = allowed ]; then command=(./few); else command=("${refused[@]}" ./few); fi
	begin_until '^functions *1 off: 1 by budget' "${command[@]}"
	status_loses '^functions .* off: '
	kill $pid
	wait $pid 2>/dev/null || true
done
[ "$failures" -eq 0 ] || exit 1
