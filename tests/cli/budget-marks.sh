#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Storms of exceptions and jumps are in the account: marks that change nothing are left out, which is said; and what is open at a death
# is what was, though most exceptions are not in the history. Counts, not times.
# plain only: the runtime counts here; the reader is in budget and flow-jumps
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

for compiler in g++ clang++; do
	command -v $compiler >/dev/null || continue
	EPITAPH_CXX=$compiler "$BIN/epitaph-c++" -O1 -g "$TOP/tests/programs/thinned.cc" -o thinned
	for what in throws jumps; do
		for budget in 5% none; do
			EPITAPH_BUDGET=$budget EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=$PWD/death ./thinned $what >out 2>err && fail "$what: it lives"
			"$EPITAPH" info --json death >info.json || [ $? -eq 1 ] || fail "info: $?"
			left_out=$(python3 -c 'import json; print(json.load(open("info.json"))["switching"]["marks_left_out"])')
			if [ $budget = none ]; then
				[ "$left_out" -eq 0 ] || fail "$compiler, $what: $left_out marks left out without a budget"
			else
				[ "$left_out" -gt 1000 ] || fail "$compiler, $what: $left_out marks left out"
				"$EPITAPH" info death >told || true
				grep -q "^marks .*$left_out of exceptions and jumps were left out" told || fail "info does not say it"
				"$EPITAPH" report death >report || [ $? -eq 1 ]
				grep -q "EPITAPH_BUDGET" report || fail "the report does not say it: $(cat report)"
			fi
			# What was left is not open, and what is open was called: by records, not by the stack alone.
			"$EPITAPH" report death >report 2>/dev/null || [ $? -eq 1 ]
			for function in thinned_last thinned_end; do
				grep -q "^  #.* $function+.*called .* before the end" report || fail "$compiler, $what, $budget: $function: $(cat report)"
			done
			[ "$(grep -c 'thinned_left.*left by an exception or longjmp' report)" -ge 1 ] ||
				fail "$compiler, $what, $budget: not seen to be left: $(cat report)"
			"$EPITAPH" replay --last=3 death >replay 2>/dev/null || [ $? -eq 1 ]
			! grep -E 'thinned_(left|throw|leap).*did not return' replay || fail "$compiler, $what, $budget: open that was left"
			rm -f death
		done
	done
done
