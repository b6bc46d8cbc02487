#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What a program gets under limits of address space (ulimit -v), data (-d) and locked memory (-l) it gets traced, when the limit is larger by
# what docs/overhead.md says the runtime needs: 4 MiB, 3 of locked memory, and a fifteenth of what the program has left beside that.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

library=$(ldconfig -p | awk '$1 == "libm.so.6" && !found++ { print $NF }')
gcc -O1 -w "$TOP/tests/programs/limited.c" -o plain -pthread
"$BIN/epitaph-cc" -O1 -w "$TOP/tests/programs/limited.c" -o traced -pthread

result() { # LIMIT KIB COMMAND...
	local kind=$1 kib=$2 status=0
	shift 2
	(
		ulimit -c 0
		[ $kind = -l ] || ulimit $kind $kib
		[ $kind != -l ] || exec "${as[@]}" "$@"
		exec "$@"
	) >out 2>/dev/null || status=$?
	echo "$status $(tr '\n' ' ' <out)"
}
compared=0
compare() { # LIMIT KIB ARGUMENT...
	local kind=$1 kib=$2 wanted got larger
	shift 2
	larger=$((kib + 4096 + kib / 15))
	[ $kind != -l ] || larger=$((kib + 3072 + kib / 15)) # below the 8 MiB that users have
	as=(prlimit --memlock=$((kib << 10)) setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
	wanted=$(result $kind $kib ./plain "$@")
	case $wanted in
	0\ *) ;;
	*) return 0 ;; # no more than that is promised
	esac
	as[1]=--memlock=$((larger << 10))
	got=$(result $kind $larger ./traced "$@")
	[ "$got" = "$wanted" ] || fail "$kind $kib KiB, $*: untraced $wanted, traced with $larger KiB $got"
	compared=$((compared + 1))
}
values=()
for ((kib = 1000; kib < 300000; kib += kib / 5)); do values+=($kib); done
for kib in "${values[@]}"; do
	for kind in -v -d; do
		compare $kind $kib one
		compare $kind $kib threads 1
		compare $kind $kib threads 64
		compare $kind $kib load "$library"
	done
done
[ $compared -gt 120 ] || fail "only $compared could be compared"

# A limit that the program sets itself, when the arena has its place.
./plain sets >wanted
./traced sets >out || fail "a limit of its own: $(cat out)"
cmp wanted out
EPITAPH_MEMORY=1G ./traced sets >out || fail "a limit of its own, with 1 GiB of memory: $(cat out)"
cmp wanted out

# Locked memory: as root without a limit, as a user with one.
chmod 755 .
for flags in 1 2 3 5 6 7; do
	[ "$(./traced locks $flags)" = "$(./plain locks $flags)" ] || fail "mlockall $flags: $(./traced locks $flags)"
done
if [ "$(id -u)" -eq 0 ]; then
	for flags in 1 2 3 7; do
		for kib in 64 1000 2000 3000 4100 4500; do
			compare -l $kib locks $flags
		done
	done
	[ $compared -gt 125 ] || fail "only $compared could be compared"
fi
