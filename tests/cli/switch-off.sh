#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# EPITAPH=off in programs of each kind: what runs often has its hooks off in the code (objdump says where they are, the
# process's memory what lies there); switched on by the program's own word all of them are back, and its core tells the calls
# as that of a process that never was off.
# sanitized only
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/switching.bash"

calls() { # READER: of core, from the last time that work() began: event, depth in it, function, where in its page
	local status=0
	"$1" replay --format=tsv core >tsv || status=$?
	[ $status -le 1 ] || say "replay ends with $status"
	awk -F'\t' '$1 ~ /^[BE]$/ { if ($1 == "B" && $8 == "work") { n = 0; base = $7 }
		line[n++] = $1 " " $7 - base " " $8 " " substr($10, length($10) - 2) }
		END { for (i = 0; i < n; i++) print line[i] }' tsv
}

judge() { # WHAT FILE PROGRAM ARGUMENTS...: FILE, not stripped, has the hooks
	local what=$1 file=$2 before=$failures
	shift 2
	switched "$file" "$@"
	says "$what"
	grep -qE 'off [1-9]' off.sites || say "none went off"
	has off.sites "on 0"
	has on.sites "off 0"
	[ "$(wc -l <off.sites)" = 2 ] || say "some can't go off: $(cat off.sites)"
	calls "$EPITAPH" >switched
	rm -f core*
	{ printf '\n\n' | "$@" >from 2>&1 || true; } 2>/dev/null
	[ -e core ] || mv core.* core 2>/dev/null || say "no core of it on"
	# A core like any other, of the same program: the sanitizers have nothing to find in it.
	calls "$BIN/epitaph" >whole
	grep -q 'B 1 step' whole || say "nothing was recorded"
	diff whole switched || say "another tree"
	[ $failures = "$before" ] || echo "	by $what"
}

executable() { # COMPILER FLAGS...
	EPITAPH_CC=$1 "$BIN/epitaph-cc" "${@:2}" "$TOP/tests/programs/switcher.c" -o prog 2>said || { say "$* does not build"; cat said; }
	judge "$*" prog ./prog
}

library() { # COMPILER FLAGS...: linked, and opened later
	EPITAPH_CC=$1 "$BIN/epitaph-cc" -shared -fPIC -DWORK "${@:2}" "$TOP/tests/programs/switcher.c" -o libwork.so
	EPITAPH_CC=$1 "$BIN/epitaph-cc" -DMAIN "$TOP/tests/programs/switcher.c" -o linked ./libwork.so
	[ -e opens ] || "$BIN/epitaph-cc" -DMAIN -DOPENED "$TOP/tests/programs/switcher.c" -o opens
	judge "a library, $*" libwork.so ./linked
	judge "a library opened, $*" libwork.so ./opens ./libwork.so
}

for compiler in gcc clang; do
	for method in default finstrument; do
		options=(-O2)
		[ $method = default ] || options+=("-epitaph-method=$method")
		executable $compiler "${options[@]}"
		library $compiler "${options[@]}"
	done
	executable $compiler -O1 -epitaph-runtime=shared
	executable $compiler -O0
	executable $compiler -O3 -fcf-protection=full
	executable $compiler -Os -no-pie -fno-pie
	executable $compiler -O2 -static-pie
	executable $compiler -O2 -flto
	executable $compiler -O2 -ffunction-sections -Wl,--gc-sections -fuse-ld=lld
	executable $compiler -O2 -Wl,--no-eh-frame-hdr # code without a table of functions
	library $compiler -O2 -fno-plt -fuse-ld=lld
done
# Sleds: what never was on was never written to.
executable clang -O2 -epitaph-method=xray
executable clang -O0 -epitaph-method=xray -static-pie
executable clang -O1 -epitaph-method=xray -epitaph-runtime=shared
library clang -O2 -epitaph-method=xray
# Stripped: names are for who judges and who reads.
EPITAPH_CC=gcc "$BIN/epitaph-cc" -O2 "$TOP/tests/programs/switcher.c" -o prog.whole
strip prog.whole -o prog
objcopy --add-gnu-debuglink=prog.whole prog
judge stripped prog.whole ./prog
# Linked by hand, without the wrapper's stubs: by the procedure linkage table.
gcc -O2 -shared -fPIC -finstrument-functions -DWORK -I"$BIN/../include/epitaph" "$TOP/tests/programs/switcher.c" -o libwork.so
cp opens opens-by-hand
judge "a library linked by hand" libwork.so ./opens-by-hand ./libwork.so
[ $failures = 0 ]
