#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# EPITAPH_FILE: the trace of a killed process is in its file; nothing that a dead process left is overwritten, nothing that a
# living one has is taken; whatever the file system says, the program runs.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export EPITAPH_MEMORY=2M EPITAPH_RING=64K

traced lasting lasting

# dies FILE [ARGUMENTS]: killed, as it would be without us; what it said is in out and err.
dies() {
	local file=$1 status=0
	shift
	{ EPITAPH_FILE=$file ./lasting "${@:-die}" >out 2>err || status=$?; } 2>/dev/null
	[ $status -eq 137 ] || { say "$file: status $status"; cat err; }
}

calls() { # FILE FUNCTION: how many calls of it are in the trace
	"$EPITAPH" replay --format=tsv "$1" | awk -F'\t' -v f="$2" '$1 == "B" && $8 == f' | wc -l
}

state() { # FILE WORD
	local got
	got=$("$EPITAPH" info --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["state"])')
	[ "$got" = "$2" ] || say "$1: $got, not $2"
}

# Killed, and started again with the same path: all of it is there.
for n in 300 200 100; do dies a die $n; [ ! -s err ] || say "$(cat err)"; done
[ "$(calls a in_parent) $(calls a.2 in_parent) $(calls a.1 in_parent)" = "100 200 300" ] || say "a, a.2, a.1 hold other calls"
[ "$(stat -c %a a)" = 600 ]
state a ended
gives 0 "$EPITAPH" report --all a
has out 'has ended'
has out 'open calls main'

# A directory that it cannot write to, none at all, a link, somebody's file: as without EPITAPH_FILE, and one line.
ln -s elsewhere link
echo mine >mine
for file in missing/a /proc/a link mine; do
	dies "$file"
	[ "$(wc -l <err)" = 1 ] && grep -q "^epitaph: EPITAPH_FILE=$file: .*; tracing goes on" err || say "$file: $(cat err)"
done
[ "$(cat mine)" = mine ] && [ -L link ] && [ ! -e elsewhere ]

# Old files are limited in number and size; nobody else's are counted.
for n in 1 2 3 4 5 6; do EPITAPH_FILE_KEEP=3 dies many.%p; done
[ "$(ls many.* | wc -l)" = 4 ] || say "EPITAPH_FILE_KEEP=3: $(ls many.*)"
EPITAPH_FILE_KEEP_SIZE=1 dies many.%p
[ "$(ls many.* | wc -l)" = 1 ] || say "EPITAPH_FILE_KEEP_SIZE=1: $(ls many.*)"
[ -e a.1 ] && [ -e a.2 ] && [ -e a ]

# A running process: said so, read while it goes on, and its file is not taken.
mkfifo hold
EPITAPH_FILE=running ./lasting wait <hold >ready &
pid=$!
exec 7>hold
until [ -s ready ]; do sleep 0.02; done
state running running
inode=$(stat -c %i running)
dies running
has err 'a process that runs has it'
[ "$(stat -c %i running)" = "$inode" ] && [ ! -e running.1 ]
gives 0 "$EPITAPH" extract running -o running.core
[ "$(calls running.core in_parent)" = 1000 ]
gives 0 "$EPITAPH" report "$pid"
# It closes what it does not know, as daemons do: its pid and start still tell.
exec 7>&-
wait $pid
state running ended

# Where /proc is still the outer pid namespace's, its pid is another process's there, or nobody's.
apart=(unshare --pid --fork)
[ "$(id -u)" -eq 0 ] || apart+=(--user)
if "${apart[@]}" true 2>/dev/null; then
	"${apart[@]}" bash -c '
		EPITAPH_FILE=apart ./lasting wait <hold >apart.ready &
		exec 7>hold
		until [ -s apart.ready ]; do sleep 0.02; done
		"$0" info --json apart
		exec 7>&-
		wait' "$EPITAPH" >apart.json || say "apart: status $?"
	grep -q '"state":"running"' apart.json || say "apart: $(head -c 300 apart.json)"
fi

# exec: the new program's start finds the file of its own pid.
dies image exec ./lasting die 50
[ "$(calls image in_parent) $(calls image.1 in_parent)" = "50 1000" ] || say "after exec: $(ls image*)"

# Each process its own; without %p the child has private memory.
for how in fork _Fork raw assembly; do
	dies "child.%p" forks $how
	read -r parent child <out
	[ "$(calls child.$parent in_child)" -le 508 ] || say "$how: the child's calls are in the parent's file"
	[ "$(calls child.$child in_parent)" = 0 ] || say "$how: the parent's calls are in the child's file"
	[ "$(calls child.$child in_child)" -gt 2400 ] || say "$how: the child's calls are missing"
	"$EPITAPH" info child.$parent >info || [ $? -eq 1 ]
	if [ $how = assembly ]; then
		has info 'blocks have records of a child too'
	else
		hasnt info 'of a child'
		[ "$(calls child.$parent in_child) $(calls child.$child in_child)" = "0 3000" ] || say "$how: calls of the child's went astray"
	fi
	rm child.*
	dies one forks $how
	read -r parent child <out
	[ "$(ls one*)" = one ] && [ ! -s err ]
	"$EPITAPH" info --json one | grep -q "\"pid\":$parent,"
	rm one
done

# A default core lacks shared memory of files: the root leads to the file, also when that was put aside since.
traced crashes crashes
EPITAPH_FILE=$PWD/beside crash beside.core "$PWD/crashes" segv
for after in 0 1; do
	gives 0 "$EPITAPH" report --all beside.core
	has out '#0    segv'
	has out 'segv() { /* did not return */'
	gives 0 "$EPITAPH" extract beside.core -o beside.small.$after
	gives 0 "$EPITAPH" report --all beside.small.$after
	has out 'segv() { /* did not return */'
	dies beside die 10
done
[ -e beside.1 ] && mv beside.1 elsewhere
gives 2 "$EPITAPH" info beside.core
has err 'name it instead of the core'
gives 0 "$EPITAPH" info elsewhere

# What was cut off is said to be.
cp a cut
truncate -s 100000 cut
gives 1 "$EPITAPH" info cut
has err 'cut off'
head -c 100 a >cut
gives 3 "$EPITAPH" info cut
head -c 5000 a | sed 's/EPITARNA/EPITARNB/' >cut
gives 3 "$EPITAPH" info cut

# A full file system: goes on with what it has.
if mkdir small && mount -t tmpfs -o size=400k tmpfs small 2>/dev/null; then
	EPITAPH_RING=1M EPITAPH_MEMORY=4M dies small/a
	[ "$(wc -l <err)" = 1 ] || say "full: $(cat err)"
	mount -o remount,size=900k small
	EPITAPH_RING=1M EPITAPH_MEMORY=4M dies small/a die 100000
	has err 'no more room'
	"$EPITAPH" info small/a >info || [ $? -eq 1 ]
	has info 'there was no room'
	[ "$(calls small/a in_parent)" -gt 2000 ] || say "full: few calls are left"
	umount small
fi

# A set-user-id program must not be made to write where its user cannot.
if [ "$(id -u)" = 0 ]; then
	mkdir open && chmod 777 . open
	cp lasting suid && chmod 4755 suid
	EPITAPH_FILE=$PWD/open/f EPITAPH_OUTPUT=$PWD/open/o setpriv --reuid=65534 --clear-groups --regid=65534 \
		./suid wait </dev/null >out 2>err
	[ -z "$(ls -A open)" ] || say "set-user-id: $(ls -l open)"
fi
[ -z "$(ls .epitaph.* 2>/dev/null)" ] || say "left behind: $(ls .epitaph.*)"
exit $((failures > 0))
