#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that set a filter of system calls dies as it does untraced, and ends as it does untraced, whatever the filter lets through and
# does about the rest, with EPITAPH_ON_CRASH and without. The snapshot is there where the filter lets it be written, else the arena says
# why it is not.
# sanitized only
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

gcc -O1 -w "$TOP/tests/programs/jailed_death.c" -o plain -lpthread
"$BIN/epitaph-cc" -O1 -w "$TOP/tests/programs/jailed_death.c" -o traced -lpthread
"$BIN/epitaph-cc" -O1 -w -static "$TOP/tests/programs/jailed_death.c" -o traced-static -lpthread
"$BIN/epitaph-cc" -O1 -w -epitaph-runtime=shared "$TOP/tests/programs/jailed_death.c" -o traced-shared -lpthread

status() {
	local result=0
	(ulimit -c 0; exec "$@") >/dev/null 2>&1 || result=$?
	echo $result
}
compare() { # PROGRAM ACTION LIST WAY DEATH
	local program=$1 wanted got snapshot
	shift
	wanted=$(status ./plain "$@")
	[ "$wanted" -ne 98 ] || fail "untraced, $*: no filter"
	for snapshot in none snapshot; do
		rm -f shot
		got=$(EPITAPH_OUTPUT=shot EPITAPH_ON_CRASH=$snapshot status ./$program "$@")
		[ "$got" = "$wanted" ] || fail "$program, $snapshot, $*: status $got, untraced $wanted"
	done
}
for action in process thread trap errno trace strict; do
	for list in bare handlers files arguments all; do
		deaths='segv none'
		[ $action != process ] || deaths='segv ud2 int3 sys none'
		for death in $deaths; do
			compare traced $action $list prctl $death
			case $list-$death in
			files-segv | files-int3 | arguments-segv | arguments-ud2 | all-segv)
				[ $action = strict ] || [ -s shot ] || fail "$action, $list, $death: no snapshot, though the filter lets it" ;;
			bare-* | handlers-*)
				[ ! -e shot ] || fail "$action, $list, $death: a snapshot?" ;;
			esac
		done
	done
done 2>/dev/null
for way in syscall syscall-prctl tsync; do
	compare traced process bare $way segv
	compare traced process files $way segv
	[ -s shot ] || fail "$way: no snapshot"
done 2>/dev/null
for program in traced-static traced-shared; do
	for list in bare handlers files; do
		compare $program process $list prctl segv
		compare $program process $list prctl none
	done
	[ $list = files ]
done 2>/dev/null

# The snapshot has what was recorded under the filter; the core of one that could not be written says so.
EPITAPH_OUTPUT=shot EPITAPH_ON_CRASH=snapshot status ./traced process files prctl segv >/dev/null
"$EPITAPH" stats --csv shot >stats || [ $? -eq 1 ]
grep -q '^"work","traced",0x[0-9a-f]*,4000,' stats || fail "the snapshot: $(cat stats)"
EPITAPH_ON_CRASH=snapshot crash 139 ./traced process handlers prctl segv
"$EPITAPH" report core >page || [ $? -eq 1 ]
grep -q "EPITAPH_ON_CRASH had no effect: the program set a filter" page || fail "the report: $(cat page)"
"$EPITAPH" info core >page || [ $? -eq 1 ]
grep -q "unseen .*EPITAPH_ON_CRASH" page || fail "info: $(cat page)"
EPITAPH_ON_CRASH=snapshot crash 139 ./traced process files prctl segv
"$EPITAPH" report core >page || [ $? -eq 1 ]
! grep -q "EPITAPH_ON_CRASH had no effect" page || fail "the report of one with a snapshot: $(cat page)"
