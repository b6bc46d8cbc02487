#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Names and lines from a debuginfod server, by build-id: of a stripped program, and of one whose file is gone. A server that
# is not there, and nonsense for its address, are told in one line and cost no time.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
command -v debuginfod >/dev/null || { echo "debuginfod (apt: debuginfod) is not installed"; exit 77; }

traced story story -Wl,--build-id
mkdir served
objcopy --only-keep-debug story served/story.debug
strip story
crash core "$PWD/story"
cp story served/story.bin

export DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_TIMEOUT=5
port=$((20000 + $$ % 20000))
debuginfod -p $port -F -t 0 -d "$PWD/db" "$PWD/served" >server.log 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
id=$(readelf -n story | sed -n 's/.*Build ID: //p')
for i in $(seq 100); do
	DEBUGINFOD_URLS=http://127.0.0.1:$port debuginfod-find debuginfo "$id" >/dev/null 2>&1 && break
	kill -0 $server 2>/dev/null || { cat server.log; exit 1; }
	rm -rf cache
	sleep 0.1
done

gives 0 "$EPITAPH" replay core
hasnt out "recursive"
export DEBUGINFOD_URLS="http://127.0.0.1:$port"
rm -rf cache
gives 0 "$EPITAPH" replay core
has out "recursive() {"
[ -d cache ] || say "nothing was cached"
gives 0 "$EPITAPH" report core
has out "tests/programs/story.c:"
gives 0 "$EPITAPH" replay --no-debuginfod core
hasnt out "recursive"

# The program's own file is gone: both files come from the server.
mv story away
rm -rf cache
gives 0 "$EPITAPH" replay core
has out "recursive() {"
gives 0 "$EPITAPH" report core
has out "tests/programs/story.c:"
status=0
"$EPITAPH" replay --no-debuginfod core >out 2>err || status=$?
[ $status -eq 1 ] || say "without any file: status $status"
hasnt out recursive

# Nobody there; nonsense; blanks; a build-id that nobody has.
kill $server
wait $server 2>/dev/null || true
for urls in http://127.0.0.1:1 "http://127.0.0.1:$port" "no://such thing"; do
	rm -rf cache
	status=0
	DEBUGINFOD_URLS=$urls timeout 30 "$EPITAPH" replay core >out 2>err || status=$?
	[ $status -eq 1 ] || say "$urls: status $status"
	has err "no debuginfod server"
	[ "$(grep -c 'debuginfod server' err)" = 1 ] || { say "$urls: told more than once"; cat err; }
	hasnt out recursive
done
rm -rf cache
status=0
DEBUGINFOD_URLS="  " "$EPITAPH" replay core >out 2>err || status=$?
[ $status -eq 1 ] || say "blanks: status $status"
hasnt err "debuginfod server"
[ $failures -eq 0 ]
