#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# epitaph_trace and epitaph_untrace: functions go out of the trace by name and come
# back, C++ ones by scope, those of libraries that come later too; a child begins
# with what is off. Refused with a reason where code cannot be changed.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off

calls() { # CORE FUNCTION: how often it was called, by the trace
	local result=0
	"$epitaph" stats --csv "$1" >stats 2>err || result=$?
	[ $result -le 1 ] || fail "stats of $1: $result, $(cat err)"
	python3 -c 'import csv, sys
rows = [row for row in csv.DictReader(open("stats")) if row["function"].split("(")[0].split("<")[0].endswith(sys.argv[1])]
print(sum(int(row["calls"]) for row in rows))' "$2"
}
has() { # CORE FUNCTION TIMES
	local got
	got=$(calls "$1" "$2")
	[ "$got" = "$3" ] || fail "$1: $2 was called $got times, not $3: $(cat stats)"
}

echo 'void plugin_quiet(void) {} void plugin_loud(void) {}' >plugin.c
for compiler in g++ clang++; do
	export EPITAPH_CXX=$compiler EPITAPH_CC=${compiler/++/}
	[ "$compiler" = g++ ] && export EPITAPH_CC=gcc
	"$BIN/epitaph-cc" -O1 -shared -fPIC plugin.c -o libplugin.so
	for flags in "" "-s -rdynamic"; do
		# shellcheck disable=SC2086
		"$BIN/epitaph-c++" -O2 $flags "$TOP/tests/programs/untraced.cc" -ldl -o untraced
		rm -f ./*.core
		./untraced || fail "$compiler $flags: it says so"
		has untraced.core net::Server::run 1
		has untraced.core net::Server::handle 2
		has untraced.core net::other 3
		has untraced.core plugin_quiet 0
		has untraced.core plugin_loud 2
		has child.core net::Server::run 1
		has child.core net::Server::handle 0
		has child.core net::other 2
	done
done

# ---- under valgrind, code stays as it is
if command -v valgrind >/dev/null; then
	valgrind -q ./untraced not 2>err || fail "valgrind: $(cat err)"
fi
