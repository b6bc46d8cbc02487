#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# With EPITAPH_ON_CRASH=snapshot a program that dies before main, or after it, in its own constructors and destructors or in those of a library,
# traced or not, leaves a snapshot of that death, and dies as it does without.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

gcc -O1 -g -shared -fPIC "$TOP/tests/programs/early_library.c" -o libplain.so
"$BIN/epitaph-cc" -O1 -g -shared -fPIC "$TOP/tests/programs/early_library.c" -o libtraced.so
for library in plain traced; do
	"$BIN/epitaph-c++" -O1 -g "$TOP/tests/programs/early_death.cc" -o with-$library ./lib$library.so
done
"$BIN/epitaph-c++" -O1 -g -epitaph-runtime=shared "$TOP/tests/programs/early_death.cc" -o with-shared ./libtraced.so
"$BIN/epitaph-cc" -O1 -g -c "$TOP/tests/programs/early_library.c" -o library.o
"$BIN/epitaph-c++" -O1 -g -static "$TOP/tests/programs/early_death.cc" library.o -o with-static
for program in with-plain with-traced with-shared with-static; do
	EPITAPH_ON_CRASH=snapshot ./$program || fail "$program: status $? without a death"
	for when in LOADED UNLOADED STATIC STATIC_END AT_EXIT FIRST; do
		rm -f shot
		status=0
		(ulimit -c 0; exec env DIES_$when=1 EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=shot ./$program) 2>/dev/null || status=$?
		[ $status -eq 139 ] || fail "$program, $when: status $status"
		[ -s shot ] || fail "$program, $when: no snapshot"
		"$EPITAPH" report shot >page || [ $? -eq 1 ]
		case $when in
		LOADED | UNLOADED) inside=inside ;;
		*) inside=die ;;
		esac
		grep -qE "^in +#0 $inside\b" page || fail "$program, $when: $(cat page)"
	done
done
