#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Hooks go off and come back while gdb puts breakpoints on their very bytes and takes them away, in a program that four threads
# run at full speed: its results are right, no breakpoint is overwritten, and what gdb puts back is the one or the other whole
# instruction. Where that is the wrong one, control hooks says so, and control on sets it right.
# sanitized only
set -Eeuo pipefail
source "$TOP/tests/cli/lib/gdb.bash"
source "$TOP/tests/cli/lib/switching.bash"
trap 'echo "line $LINENO ends with $?: $BASH_COMMAND"' ERR
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off
process=
loop=
trap 'kill -9 $process $loop 2>/dev/null || true' EXIT

"$BIN/epitaph-cc" -g -O2 -pthread "$TOP/tests/programs/breakable.c" -o breakable
begin() { # as $process; it is right when it says so in the end
	# New ones: whatever has the old ones open may end now, which would be read as the program's end.
	rm -f in out
	mkfifo in out
	./breakable <in >out &
	process=$!
	exec 5>in 6<out
	read -r word <&6
}
finish() {
	exec 5>&-
	read -r word <&6 || word="nothing at all"
	[ "$word" = right ] || say "$1: the program says $word"
	wait "$process" || say "$1: it ended with $?"
	process=
}
sites() { # WHAT ON OFF
	python3 "$TOP/tests/cli/lib/sites.py" "$process" breakable leaf twice deep tail >sites
	[ "$(tr '\n' ' ' <sites)" = "on $2 off $3 " ] || say "$1: $(tr '\n' ' ' <sites)"
}
control() { # STATUS ARGUMENTS...
	local want=$1 got=0
	shift
	"$epitaph" control "$process" "$@" >said 2>err || got=$?
	[ $got = "$want" ] || say "control $*: status $got, not $want: $(cat said err)"
}

# ---- by chance
begin
python3 "$TOP/tests/cli/lib/sites.py" "$process" breakable leaf twice deep tail >all
hooks=$(sed -n 's/^on //p' all)
[ "$hooks" -ge 8 ] || say "only $hooks hooks"
# To its end: a command that outlives it would switch what is looked at later.
while [ ! -e enough ]; do
	"$epitaph" control -q "$process" off
	"$epitaph" control -q "$process" on
	"$epitaph" control -q "$process" untrace leaf deep
	"$epitaph" control -q "$process" trace '*e*'
done >loop.out 2>&1 &
loop=$!
# Some virtual machines take a hardware watchpoint and never stop at it.
echo 'volatile int watched; int main(void) { watched = 1; watched = 2; return 0; }' >watched.c
cc -g watched.c -o watched
gdb "${gdb_quick[@]}" -ex 'break main' -ex run -ex 'watch watched' -ex continue ./watched >watched.out 2>&1 || true
export WATCHPOINTS
WATCHPOINTS=$(grep -c 'New value = 1' watched.out || true)
[ "$WATCHPOINTS" != 0 ] || echo 'no watchpoints: this machine never stops at one'
gdb "${gdb_quick[@]}" -x "$TOP/tests/cli/lib/breakpoints.py" -p "$process" >gdb.out 2>&1 || say "gdb: $(tail -5 gdb.out)"
grep -Eq '^done [0-9]{2}' gdb.out || say "gdb did not come to its end: $(tail -5 gdb.out)"
touch enough
wait $loop 2>/dev/null || true
loop=
control 0 trace '*'
control 0 on
sites "after all" "$hooks" 0
control 0 hooks
! grep '^not right' said || say "after all a hook is not right"
finish "by chance"

# ---- what gdb puts back: it found the hook off, and it was switched on meanwhile; and the other way round
within() { # GDB'S PLACE COMMAND...: while a breakpoint is there, and deleted at the end
	local place=$1
	shift
	gdb "${gdb_quick[@]}" -ex 'set breakpoint always-inserted on' -ex "break *$place" -ex "shell $*" -ex delete -ex detach \
		-p "$process" >gdb.out 2>&1 || say "gdb: $(tail -5 gdb.out)"
}
# The hook's call, behind what stands before it.
place="((char *)&deep + (*(unsigned char *)&deep == 0x67))"
begin
control 0 off
until python3 "$TOP/tests/cli/lib/sites.py" "$process" breakable leaf twice deep tail | grep -qx 'on 0'; do sleep 0.01; done
within "$place" "$epitaph control $process on >said 2>err; echo \$? >status"
[ "$(cat status)" = 1 ] && grep -q '1 hooks are held by a debugger' err || say "on below a breakpoint: $(cat status said err)"
sites "put back off" $((hooks - 1)) 1
control 0 hooks
grep -Eq '^not right  1 hook is on that should be off, or off' said || { say "hooks says nothing of it"; cat said; }
control 0 hooks -j
grep -q '"hooks_not_right":1' said || say "nor does it for programs"
control 0 on
sites "set right" "$hooks" 0
control 0 hooks
! grep '^not right' said || say "hooks says it though it is right"

within "$place" "$epitaph control $process untrace deep >said 2>err; echo \$? >status"
[ "$(cat status)" = 1 ] || say "untrace below a breakpoint: $(cat status said err)"
control 0 hooks
grep -Eq '^not right  1 hook' said || { say "untraced, and put back on: nothing said"; cat said; }
control 0 on
control 0 hooks
! grep '^not right' said || say "untraced: not set right"
control 0 trace deep
sites "in the end" "$hooks" 0
finish "put back"
exit $((failures > 0))
