#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What a forked child's trace says of its process is the child's own, though most of it is its parent's: pid, start, modules, with
# private memory and with a file, and where the parent has gone to another directory since it was started.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

"$BIN/epitaph-cc" -O1 "$TOP/tests/programs/inherits.c" -o inherits
mkdir elsewhere
try() { # WHAT [DIRECTORY]
	local core
	rm -f died.*
	./inherits "${@:2}" >said
	core=$(echo died.*)
	"$EPITAPH" info --modules "$core" >modules || [ $? -eq 1 ]
	"$EPITAPH" report --json "$core" >report.json || [ $? -eq 1 ]
	"$EPITAPH" replay --format=tsv "$core" >calls || [ $? -eq 1 ]
	grep -q 'work' calls || fail "$1: no call of work: $(cat calls)"
	python3 - "$1" <<'END' || fail "$1"
import json, sys
said = dict(line.split() for line in open("said"))
process = json.load(open("report.json"))["process"]
started = process["started_realtime_ns"]
assert process["pid"] == int(said["pid"]), process
assert int(said["before"]) <= started <= int(said["after"]), (started, said)
END
}
export EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT="$PWD/died.%p"
try "private memory"
try "elsewhere" elsewhere
EPITAPH_FILE="$PWD/arena.%p" try "in a file"
echo 'int plug(void) { return 1; }' | "$BIN/epitaph-cc" -xc -shared -fPIC - -o plug.so
# What has gone before the child was made is none of its modules; the others are.
try "unloaded" . "$PWD/plug.so"
grep -q '^0x.*plug' modules && fail "unloaded: $(cat modules)"
grep -q '^0x.*inherits$' modules || fail "unloaded: no modules"
