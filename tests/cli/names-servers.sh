#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A debuginfod server that sends another file, half of one, or nothing: told in one line, within the time allowed, with the same
# calls as without. Ctrl-C ends a download that takes too long, and the report comes all the same.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

traced story story -Wl,--build-id
mkdir served
objcopy --only-keep-debug story served/right
traced waiters other -Wl,--build-id
objcopy --only-keep-debug other served/wrong
strip story
crash core "$PWD/story"
gives 0 "$EPITAPH" replay --no-debuginfod core
mv out without

python3 "$TOP/tests/cli/lib/debuginfod.py" served port >server.log 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do [ -e port ] && break || sleep 0.1; done
export DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_TIMEOUT=2

asked() { # WAY STATUS WORDS
	rm -rf cache
	begun=$SECONDS
	status=0
	DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)/$1 timeout 60 "$EPITAPH" replay core >out 2>err || status=$?
	[ $status -eq "$2" ] || { say "$1: status $status"; cat err; }
	[ $((SECONDS - begun)) -lt 30 ] || say "$1: $((SECONDS - begun)) s"
	[ "$(wc -l <err)" -eq "$2" ] || { say "$1: told not once:"; cat err; }
	[ -z "$3" ] || has err "$3"
	# What is named is not story's, so all calls are as without.
	cmp -s out without || say "$1: other calls than without"
}
asked wrong 1 "from a debuginfod server, is damaged or not its file"
asked cut 1 "from a debuginfod server, is damaged or not its file"
asked hang 1 "no debuginfod server answered in time"
# To the client these are servers that don't have the file.
for way in empty short error; do asked $way 0 ""; done

# More than anybody wants: no more of it comes to the disk than was allowed. (The client, 0.188, leaks a buffer then: not sanitized.)
export DEBUGINFOD_MAXSIZE=1000000
EPITAPH=$BIN/epitaph asked flood 1 "a debuginfod server sent more than DEBUGINFOD_MAXSIZE"
kilobytes=$(du -sk cache | cut -f 1)
[ "$kilobytes" -lt 1100 ] || say "$kilobytes KB in the cache"
EPITAPH=$BIN/epitaph asked chunks 1 "a debuginfod server sent more than DEBUGINFOD_MAXSIZE"
# What comes packed is not unpacked, and so is not its file.
asked bomb 0 ""
kilobytes=$(du -sk cache | cut -f 1)
[ "$kilobytes" -lt 1100 ] || say "a bomb: $kilobytes KB in the cache"
unset DEBUGINFOD_MAXSIZE
# Nor is anybody led elsewhere: to itself without end, to a file of this machine, to another scheme; nor waited for, a byte at a time.
asked loop 1 "debuginfod server"
for way in file gopher; do
	asked $way 0 ""
	! grep -rq root: cache || say "$way: a file of this machine in the cache"
done
# A byte now and then: the client says that it took too long, or that there is no such file.
rm -rf cache
begun=$SECONDS
DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)/drip timeout 60 "$EPITAPH" replay core >out 2>err || [ $? -eq 1 ] || say "drip: $(cat err)"
[ $((SECONDS - begun)) -lt 30 ] || say "drip: $((SECONDS - begun)) s"
cmp -s out without || say "drip: other calls than without"

# A file that comes too slowly, on a terminal: progress is told, and Ctrl-C is obeyed.
export DEBUGINFOD_TIMEOUT=60
rm -rf cache
DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)/drip python3 - "$EPITAPH" >out 2>err <<'PYTHON' || say "cancelling"
import os, pty, signal, subprocess, sys
master, slave = pty.openpty()
child = subprocess.Popen([sys.argv[1], "report", "core"], stdout=open("report", "w"), stderr=slave)
os.close(slave)
told = b""
try:
    while True:
        told += os.read(master, 4096)
        if b" MB (Ctrl-C" in told and signal:
            child.send_signal(signal.SIGINT)
            signal = None
except OSError:
    pass
assert b"debuginfod: story: " in told
sys.exit(child.wait() != 1)
PYTHON
has report "died of    SIGABRT"
has report "cancelled, debuginfod servers are not asked any more"
[ $failures -eq 0 ]
