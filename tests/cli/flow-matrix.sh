#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Every control flow under every build: each program of tests/programs/flows crashes, and its core tells exactly the calls that
# its opening comment says, under both compilers, each method, without and with optimization. What differs by build is in the
# columns below. (Flows by chance, against logs that the programs keep: flow-jumps, flow-fibers, decode-truth, builds-*. The
# sanitized reader reads those; this is run once.)
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

#      build      compiler  level  method                                 what compilers bend (lib/flows.py)
builds='
       gcc-pg-0    gcc      -O0    pg                                     -
       gcc-pg-2    gcc      -O2    pg                                     tails
       gcc-fin-0   gcc      -O0    finstrument                            cleans
       gcc-fin-2   gcc      -O2    finstrument                            cleans
       clang-ai-0  clang    -O0    after-inlining                         -
       clang-ai-2  clang    -O2    after-inlining                         -
       clang-fin-0 clang    -O0    finstrument                            -
       clang-fin-2 clang    -O2    finstrument                            -
       clang-xray-0 clang   -O0    xray                                   -
       clang-xray-2 clang   -O2    xray                                   tails
'
#      program        compilers   flags
flows='
       unwinds.cc     gcc,clang
       carries.cc     gcc,clang
       jumps.c        gcc,clang
       tails.c        gcc,clang
       thunks.cc      gcc,clang
       signals.c      gcc,clang
       nested.c       gcc         -Wl,--no-warn-execstack
       labels.c       gcc,clang
       coroutines.cc  gcc,clang   -std=c++20
       vforks.c       gcc,clang
       execs.c        gcc,clang
       forks.c        gcc,clang
       many.c         gcc,clang
       teams.c        gcc,clang   -fopenmp
'
# clang has no nested functions.

run() { # PROGRAM BUILD COMPILER LEVEL METHOD FLAGS...: leaves BUILD.tsv
	local program=$1 build=$2 compiler=$3 level=$4 method=$5 name=${1%.*} wrapper=epitaph-cc cxx=g++ status=0
	shift 5
	[[ $program == *.c ]] || wrapper=epitaph-c++
	[ "$compiler" = gcc ] || cxx=clang++
	EPITAPH_CC=$compiler EPITAPH_CXX=$cxx "$BIN/$wrapper" -w "$level" "-epitaph-method=$method" "$@" \
		"$TOP/tests/programs/flows/$program" -o "$name" -pthread
	EPITAPH_MEMORY=4M crash core "$PWD/$name"
	"$BIN/epitaph" replay --format=tsv core >"$build.tsv" || status=$?
	[ $status -le 1 ] || say "$program $build: replay ends with $status"
}

only=${FLOWS:-} # a pattern of programs, for a person
while read -r program compilers flags; do
	# shellcheck disable=SC2053
	[[ -n $program && $program == ${only:-*} ]] || continue
	declare -A told=() # by what compilers bend, the replays
	while read -r build compiler level method options; do
		[[ -n $build && ,$compilers, == *,$compiler,* ]] || continue
		# shellcheck disable=SC2086
		run "$program" "$build" "$compiler" "$level" "$method" $flags
		told[$options]+=" $build.tsv"
	done <<<"$builds"
	for options in "${!told[@]}"; do
		# shellcheck disable=SC2086
		python3 "$TOP/tests/cli/lib/flows.py" "$TOP/tests/programs/flows/$program" "$options" ${told[$options]} >why ||
			{ say "$program"; cat why; }
	done
done <<<"$flows"
[ $failures -eq 0 ]
