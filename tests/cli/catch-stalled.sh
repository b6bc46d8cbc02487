#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A crash with a page of its arena in a file system that does not answer any more, where not even SIGKILL ends what reads it: the core goes
# on, the log says why there is no snapshot, and the handler and the crashed process end.
# alone
# timeout: 180
set -euo pipefail
. "$TOP/tests/cli/lib/catch.bash"
[ -w /dev/fuse ] || { echo "there is no /dev/fuse"; exit 77; }
gcc -O1 "$TOP/tests/programs/stalls.c" -o stalls
"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/stalled.c" -o deaths.stalled
mkdir mount here && chmod 777 here
head -c 4096 /dev/zero >page
./stalls mount page "$room/stall" 2>stalls.err &
stalls=$!
trap 'kill -9 $stalls 2>/dev/null || true; umount -l "$room/mount" 2>/dev/null || true; put_back' EXIT
soon test -e mount/file || { cat stalls.err; fail "no file system"; }
installed core --timeout=2
mkfifo go ready
(cd here && ulimit -c unlimited && exec ../deaths.stalled ../mount/file page crash) <go >ready 2>&1 &
crashed=$!
exec 8>go
read -r -t 20 _ <ready || fail "it does not begin"
touch stall
begun=$SECONDS
exec 8>&-
wait $crashed || true
took=$((SECONDS - begun))
soon grep -qs 'no snapshot: it took more than 2 seconds' "$store/log" || { log; fail "the log"; }
[ -f here/core ] || { log; fail "no core"; }
! pgrep -f "^$catch catch $store $crashed" >pids || [ "$(wc -l <pids)" -le 1 ] || { cat pids; fail "handlers stay"; }
[ "$took" -lt 20 ] || fail "the crashed process was held for $took s"
! compgen -G "$store/*.core" >/dev/null && [ "$(ls "$store" | grep -vcx -e log -e settings -e places)" = 0 ] || fail "left behind: $(ls "$store")"
# Others crash as ever.
dies null
[ -n "$snapshot" ] || { log; fail "no snapshot of the next one"; }
