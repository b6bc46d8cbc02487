#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A death inside of a hook: its stack is whole, and each frame has the right verdict, before and after the hook has told its event.
# gdb stops the program at the instruction and lets it die there. With frame pointers (-O0): the hook's return address lies where
# gcc, behind the epilogue, still has the caller's, unless it is told otherwise (kit/pg.specs); "static" is as if it were not.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >hooked.c <<'SRC'
#define KEPT __attribute__((noinline))
static volatile int sink;
KEPT int leaf(int x) { sink += x; return sink; }
KEPT int middle(int x) { return leaf(x) + 1; }
KEPT int outer(int x) { return middle(x) + middle(x + 1); }
int main(void) { return outer(1) > 100; }
SRC
# Calls and returns of one function, all alike.
cat >again.c <<'SRC'
#define KEPT __attribute__((noinline))
static volatile int sink;
KEPT int again(int x) { if (x) sink = again(x - 1) + 1; return sink; }
int main(void) { return again(3) > 100; }
SRC
"$BIN/epitaph-cc" -g -O0 again.c -o again
"$BIN/epitaph-cc" -g -O0 -S hooked.c
grep -q 'cfi_restore 6' hooked.s || say "gcc does not say that %rbp is back"
sed -i '/\.cfi_restore 6/d' hooked.s
"$BIN/epitaph-cc" -g hooked.s -o static
"$BIN/epitaph-cc" -g -O0 -epitaph-runtime=shared hooked.c -o shared

# dies PROGRAM HOOK WHICH EVERY ROWS [BEFORE]: at the first instruction of HOOK that objdump prints with WHICH, met in leaf, or in `again`
# after it was met BEFORE times
dies() {
	local program=$1 hook=$2 which=$3 at library=$1 from=hooked.c:3
	[ "$program" != again ] || from=main
	[ "$program" != shared ] || library=$BUILD/lib/libepitaph.so
	at=$(objdump -d --no-show-raw-insn --disassemble="$hook" "$library" |
		awk -v hook="<$hook>:" -v which="$which" '$2 == hook { print $1 } /^ / && $0 ~ which { print $1; exit }' | tr -d :)
	[[ $at == *$'\n'* ]] || { say "$program: no $which in $hook"; return 1; }
	at=$((16#${at#*$'\n'} - 16#${at%$'\n'*}))
	rm -f core*
	EPITAPH_SCHED=off EPITAPH_TIMESTAMP_EVERY=$4 timeout 60 gdb -nx -batch -iex 'set debuginfod enabled off' -ex "break $from" -ex run \
		-ex delete -ex "break *((char *)&$hook + $at)" -ex "ignore 2 ${6:-0}" -ex continue -ex delete -ex 'signal SIGSEGV' ./$program >said 2>&1 || true
	mv core* core.dead 2>/dev/null || { say "no core of $program in $hook: $(tail -n 3 said)"; return 1; }
}
# wants PROGRAM HOOK WHICH EVERY ROWS
wants() {
	local got
	dies "$@" || return 0
	"$EPITAPH" report --last=0 core.dead >page || [ $? -eq 1 ]
	got=$(sed -nE 's/^  #[0-9]+ +([a-z_]+)\+?[^ ]* .*\[(.*)\]$/\1=\2/p' page | sed -E 's/^epitaph_//; s/=called.*/=agree/; s/=.*own hook/=hook/; s/=its hook recorded.*/=returning/; s/=its hook had.*/=entering/' |
		grep -v libc | head -n 5 | tr '\n' ' ')
	[ "$got" = "$5 " ] || { say "$*: $got"; cat page; }
}
outside='middle=agree outer=agree main=agree'
# The static runtime's hook begins with the push.
wants shared __return__ endbr64 64 "__return__=hook leaf=agree $outside"
for program in static shared; do
	for which in 'push +%r10' 'test'; do
		wants $program __return__ "$which" 64 "__return__=hook leaf=agree $outside"
	done
	wants $program __return__ 'ret *$' 64 "__return__=hook leaf=returning $outside"
	wants $program __return__ 'rdtsc' 1 "__return__=hook leaf=agree $outside"
done
# The second call, of a function that was called before.
wants static __fentry__ "mov +%fs" 64 "__fentry__=hook leaf=entering $outside"
# Functions do not tell which of the calls was recorded last.
wants again __fentry__ rdtsc 1 "__fentry__=hook again=entering again=agree again=agree main=agree" 2
wants again __return__ rdtsc 1 "__return__=hook again=agree again=agree again=agree main=agree" 1
exit $((failures != 0))
