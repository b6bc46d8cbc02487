#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Between its look at a page of code and its writing of it, epitaph control is held (by gdb) while the process switches a function
# of that page by itself: its change is not lost in the end.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"
source "$TOP/tests/cli/lib/control.bash"
job=
trap 'kill -9 $job 2>/dev/null || true' EXIT

cat >page.c <<'SRC'
#include <epitaph.h>
#include <stdio.h>
#include <string.h>
static volatile int sum;
__attribute__((noinline, aligned(4096))) void side_first(void) { sum += 1; }
__attribute__((noinline)) void between(void) { sum += 2; }
__attribute__((noinline)) void side_last(void) { sum += 3; }
int main(void)
{
	char word[32];

	puts("ready");
	fflush(stdout);
	while (scanf("%31s", word) == 1) {
		if (!strcmp(word, "leave"))
			epitaph_untrace("between");
		else
			epitaph_trace("between");
		side_first();
		between();
		side_last();
		puts(word);
		fflush(stdout);
	}
	return 0;
}
SRC
"$BIN/epitaph-cc" -O1 -fno-toplevel-reorder page.c -o page
mkfifo in out
EPITAPH_BUDGET=none ./page <in >out &
job=$!
exec 5>in 6<out
read -r word <&6
[ "$word" = ready ] || fail "begun: $word"

hooks() { # FUNCTION
	python3 "$TOP/tests/cli/lib/sites.py" $job page "$1" | tr '\n' ' '
}
are() { # FUNCTION STATE WHEN
	[ "$(hooks "$1")" = "$2 " ] || fail "$3: $1: $(hooks "$1"), not $2"
}
code=$(awk '$2 == "r-xp" && /\/page$/ { split($1, ends, "-"); print "$rsi >= 0x" ends[1] " && $rsi < 0x" ends[2]; exit }' /proc/$job/maps)
[ -n "$code" ] || fail "no code of page"
# held WORDS-OF-CONTROL MEANWHILE: the command before its first write to the code; there gdb runs the other one.
held() {
	printf '%s\n' "set confirm off" "set follow-fork-mode child" "break *ep_control_poke if $code" "run control $1" "python print('held at', gdb.selected_frame().name())" \
		delete "shell $2" continue >commands
	gdb -nx -q -batch -iex 'set debuginfod enabled off' -iex 'set startup-with-shell off' -x commands "$BIN/epitaph" >gdb.out 2>&1 || true
	grep -q 'held at ep_control_poke' gdb.out && grep -q 'exited normally' gdb.out || fail "control was not held: $(cat gdb.out)"
}

control 0 $job untrace 'side_*'
are side_first "on 0 off 2" untrace
are between "on 2 off 0" untrace
held "$job trace side_*" "bash -c 'echo leave >&5; read -r word <&6; [ \$word = leave ]; echo left >left'"
[ -e left ] || fail "the process was not asked: $(cat gdb.out)"
are side_first "on 2 off 0" trace
are side_last "on 2 off 0" trace
are between "on 0 off 2" "switched by the process meanwhile"

ask come
are between "on 2 off 0" "by the process"
held "$job untrace side_*" "bash -c 'echo leave >&5; read -r word <&6'"
are side_first "on 0 off 2" "untrace again"
are side_last "on 0 off 2" "untrace again"
are between "on 0 off 2" "switched by the process meanwhile, again"
ask come
are between "on 2 off 0" "by the process, again"
control 0 $job trace 'side_*'
are side_last "on 2 off 0" "in the end"

exec 5>&-
wait $job || fail "the program ended with $?"
