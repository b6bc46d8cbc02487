#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What the runtime cannot see is said: exceptions past an unwinder that it does not stand in front of; a thread's tid where a
# clone in its thread-local memory came first, until the thread itself enters a block.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

cat >throws.cc <<'END'
#include <cstdlib>
static volatile int sink;
__attribute__((noinline)) void flow_throws() { throw 1; }
__attribute__((noinline)) void flow_catches() { try { flow_throws(); } catch (int) { sink = 1; } }
int main() { flow_catches(); abort(); }
END
for flags in '' '-static-libgcc -static-libstdc++' '-epitaph-runtime=shared' '-static-libgcc'; do
	# shellcheck disable=SC2086
	"$BIN/epitaph-c++" -O1 $flags throws.cc -o throws
	crash 134 ./throws
	"$EPITAPH" info core >out || fail "$flags: info ends with $?"
	"$EPITAPH" report core >told || fail "$flags: report ends with $?"
	said=$(cat out told | grep -Ec '^unseen .*exceptions|exceptions of shared libraries left no marks' || true)
	[ "$said" -eq $([ "$flags" = -static-libgcc ] && echo 2 || echo 0) ] || { cat out told; fail "'$flags': said $said times"; }
	"$EPITAPH" replay --format=tsv core >out
	marks=$(grep -c '^P' out || true)
	[ "$marks" -eq $([ "$flags" = -static-libgcc ] && echo 0 || echo 2) ] || { cat out; fail "'$flags': $marks marks"; }
done

"$BIN/epitaph-cc" -O1 "$TOP/tests/programs/borrowed.c" -o borrowed
crash 134 ./borrowed
[ "$(info 'sum(t["tid"] == info["pid"] for t in info["threads"])')" = 1 ] || { cat info.json; fail "main has the clone's tid"; }
