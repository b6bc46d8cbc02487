#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# libcapstone is loaded when code is looked at, not before. Where it is missing, broken or another one: said once, with its
# package; names, stacks and counts are there all the same, and what cannot be known is left out.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

readelf -dW "$EPITAPH" | grep -q 'NEEDED.*libcapstone' && fail "epitaph links libcapstone"
soname=$(readelf -dW "$(cc -print-file-name=libcapstone.so)" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
mkdir -p broken other
echo 'no library' >"broken/$soname"
cc -shared -o "other/$soname" -x c /dev/null

"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/deaths.c" -o deaths -lpthread
crash 139 ./deaths null
EPITAPH_MODE=count EPITAPH_OUTPUT=counts ./deaths none >/dev/null 2>&1 || true
[ -s counts ] || fail "no counts"

# without COMMAND...: its standard output to "page", what it says to "said"; its status
without() {
	local status=0
	LD_LIBRARY_PATH=$where "$EPITAPH" "$@" >page 2>said || status=$?
	return $status
}
# told WORDS FILE: once
told() {
	[ "$(grep -c "libcapstone.*$1" "$2")" -eq 1 ] || { cat page said; fail "$where: not said once in $2: $1"; }
}
partial() { # COMMAND...
	local status=0
	without "$@" || status=$?
	[ $status -eq 1 ] || { cat page said; fail "$where: $1: status $status"; }
}

"$EPITAPH" report core >report || [ $? -eq 1 ]
grep -q '^at .*0x[0-9a-f]*: mov' report || { cat report; fail "no instruction"; }
"$EPITAPH" count report --json counts >counted || [ $? -eq 1 ]
grep -q '"instructions": *[1-9]' counted || { cat counted; fail "no sizes in instructions"; }

for where in broken other; do
	words="package ${soname%.so.*}${soname##*.}"
	[ $where = broken ] || words="lacks a function"
	# What looks at no code does not miss it.
	for command in --version 'info core' 'replay core' 'stats core' 'export -f jsonl core -o -'; do
		# shellcheck disable=SC2086
		"$EPITAPH" $command >wanted 2>&1 || [ $? -eq 1 ]
		# shellcheck disable=SC2086
		without $command || [ $? -eq 1 ]
		cat page said | cmp - wanted || fail "$where: $command"
	done
	partial report core
	told "$words" page
	! grep -q '^at .*: mov' page || fail "$where: an instruction from nowhere"
	grep -q '^died.*SIGSEGV\|SIGSEGV' page || { cat page; fail "$where: no death"; }
	# The same calls on the stack.
	diff <(grep -oE '^ +#[0-9]+ +[a-z_]+' report) <(grep -oE '^ +#[0-9]+ +[a-z_]+' page) || fail "$where: another stack"
	partial report --json core
	python3 -c '
import json
codes = [w["code"] for w in json.load(open("page"))["warnings"]]
assert codes.count("no-disassembler") == 1, codes' || fail "$where: no code for programs"
	partial count report --json counts
	told "$words" said
	! grep -q '"instructions": *[1-9]' page || fail "$where: sizes from nowhere"
	diff <(grep -oE '"(name|calls)": *[^,]*' counted) <(grep -oE '"(name|calls)": *[^,]*' page) || fail "$where: other counts"
done
