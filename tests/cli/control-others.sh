#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# epitaph control on processes of other users, on a 32-bit one, on one that
# starts another program; and several of it at once.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off
jobs=
open=$(mktemp -d /tmp/control.XXXXXX) # other users may look into this one
chmod 755 "$open"
trap 'kill -9 $jobs 2>/dev/null || true; rm -rf "$open"' EXIT
trap 'exit 1' INT TERM

"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/controlled.c" -o "$open/controlled"
cp "$epitaph" "$open/epitaph"

# start COMMAND...: in the background, as $pid, until it says that it is ready.
start() {
	mkfifo "$open/in.$#" "$open/out.$#" 2>/dev/null || true
	exec 7<>"$open/in.$#" 8<>"$open/out.$#"
	"$@" <&7 >&8 2>/dev/null &
	pid=$!
	jobs="$jobs $pid"
	read -r word <&8
	[ "$word" = ready ] || fail "$*: $word"
}
control() { # STATUS ARGUMENTS...
	local want=$1 got=0
	shift
	"$epitaph" control "$@" >said 2>err || got=$?
	[ $got = "$want" ] || fail "control $*: status $got, not $want: $(cat said err)"
}

# ---- by users
if [ "$(id -u)" = 0 ]; then
	start setpriv --reuid 65534 --regid 65534 --clear-groups "$open/controlled"
	got=0
	setpriv --reuid 65533 --regid 65533 --clear-groups "$open/epitaph" control "$pid" pause >said 2>err || got=$?
	[ $got = 3 ] || fail "another user: status $got, $(cat said err)"
	grep -q 'permission denied' err || fail "another user: $(cat err)"
	grep -Eq 'run as|yama' err || fail "it does not say what to do: $(cat err)"
	for command in "extract -o $open/none.core" report stats "control $pid"; do
		got=0
		# shellcheck disable=SC2086
		setpriv --reuid 65533 --regid 65533 --clear-groups "$open/epitaph" ${command% "$pid"} "$pid" \
			$([[ $command == control* ]] && echo status) >said 2>err || got=$?
		[ $got = 3 ] && grep -Eq 'permission denied.*(CAP_SYS_PTRACE|ptrace_scope)' err ||
			fail "$command of another user's: status $got: $(cat err)"
	done
	control 0 "$pid" pause
	control 0 "$pid" resume
	if [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups "$open/epitaph" control "$pid" pause >said 2>err ||
			fail "the same user: $(cat err)"
	fi
	kill -9 "$pid"
fi

# ---- one's own, but with privileges: the kernel keeps it from its user, and that is said
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" = 0 ]; then
	cp "$open/controlled" "$open/privileged"
	chgrp 1 "$open/privileged"
	chmod 2755 "$open/privileged"
	start setpriv --reuid 65534 --regid 65534 --clear-groups "$open/privileged"
	got=0
	setpriv --reuid 65534 --regid 65534 --clear-groups "$open/epitaph" report "$pid" >said 2>err || got=$?
	[ $got = 3 ] && grep -q 'though it is yours.*setuid.*CAP_SYS_PTRACE' err || fail "setgid: status $got: $(cat err)"
	kill -9 "$pid"
fi

# ---- out of a user namespace: it has all capabilities, but none over the process
if unshare -Ur true 2>/dev/null; then
	start "$open/controlled"
	got=0
	unshare -Ur "$open/epitaph" report "$pid" >said 2>err || got=$?
	[ $got = 3 ] && grep -q 'in spite of CAP_SYS_PTRACE.*user namespace' err || fail "a user namespace: status $got: $(cat err)"
	kill -9 "$pid"
fi

# ---- several at once: whoever is last says what holds, and nothing is torn
start "$open/controlled"
for n in 1 2 3; do
	for i in 1 2 3 4 5 6 7 8 9 10; do
		"$epitaph" control -q "$pid" pause
		"$epitaph" control -q "$pid" timing $((1 << (i % 7)))
		"$epitaph" control -q "$pid" resume
	done &
	loops="${loops:-} $!"
done
wait $loops
control 0 "$pid" resume
control 0 "$pid" status --json
grep -q '"recording":true' said || fail "$(cat said)"
control 0 "$pid" snapshot -o "$open/after.core"
"$epitaph" info "$open/after.core" >text || fail "info: $(cat text)"
kill -9 "$pid"

# ---- a 32-bit program: exit(pause())
cat >small.s <<'S'
	.globl	_start
_start:	movl	$29, %eax
	int	$0x80
	movl	$1, %eax
	int	$0x80
S
as --32 small.s -o small.o
ld -m elf_i386 small.o -o small
./small &
jobs="$jobs $!"
pid=$!
# A kernel without CONFIG_IA32_EMULATION starts no such program.
until [ "$(readlink /proc/$pid/exe)" = "$PWD/small" ] || ! kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
if kill -0 "$pid" 2>/dev/null; then
	control 3 "$pid" status
	grep -q '32-bit' err || fail "$(cat err)"
	kill -9 "$pid"
else
	echo "no 32-bit program was looked at: this kernel runs none"
fi

# ---- one that has started another program, of the same pid
start sh -c 'echo ready; exec "$0" 1000 2>/dev/null' sleep
control 2 "$pid" pause
grep -q 'no trace' err || fail "$(cat err)"
kill -9 "$pid"
