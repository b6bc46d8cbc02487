#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# export -f funtrace: whatever way a call ends, a reader of the file that pairs as funtrace2viz does (tests/cli/lib/funtrace.py)
# finds it with its caller, its begin and its end: left by exceptions, also into functions that are not traced, by longjmp, by a
# goto out of a nested function, with its thread, switched off while it was open, on stacks that take turns.
# sanitized only
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export PYTHONDONTWRITEBYTECODE=1 EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=off EPITAPH_BUDGET=none
reader=$TOP/tests/cli/lib/funtrace.py

exported() { # FORMAT FILE [SOURCE]
	local status=0
	"$EPITAPH" export -f "$1" -o "$2" "${3-core}" 2>err || status=$?
	[ $status -le 1 ] || { say "$1 of ${3-core}: status $status"; cat err; }
}

holds() { # LEAST WORDS: of the file core, as calls, and so is what epitaph makes of the file
	exported jsonl core.jsonl
	exported funtrace raw
	python3 "$reader" core.jsonl raw "$1" 2>why || say "$2: $(tail -n 1 why)"
	exported jsonl again.jsonl raw
	python3 "$reader" --again core.jsonl again.jsonl 2>why || say "$2, read again: $(tail -n 1 why)"
}

draws() { # WORDS: of the file core, as slices
	exported viztracer core.json
	exported funtrace raw
	python3 "$reader" --slices core.json raw 2>why || say "$1: $(tail -n 1 why)"
}

build() { # COMPILER OPTIONS...: into prog
	local compiler=$1
	shift
	"$BIN/$compiler" -g -o prog "$@" -lpthread
}

# Switched off while it is open; what follows is beside it.
build epitaph-cc -O1 "$TOP/tests/programs/switched_open.c"
crash core "$PWD/prog"
holds 11 'switched off'
PYTHONPATH=${reader%/*} python3 - 2>why <<-'PY' || say "what follows a call that was switched off lies inside it: $(tail -n 1 why)"
	from funtrace import Raw
	raw = Raw("raw")
	calls = raw.calls(raw.threads[0][1])
	assert [call[:2] for call in calls][:5] == [[0, "main"], [1, "outer"], [2, "inner"], [1, "inner"], [1, "inner"]], calls
PY

# An exception that an untraced function catches, deep and shallow, with clean-up code on the way; calls before, between, after.
cat >untraced.cc <<'CC'
#include <csignal>
#define NI __attribute__((noinline))
#define QUIET NI __attribute__((no_instrument_function))
extern "C" {
volatile int n;
struct guard { NI ~guard(); };
NI void thrower(int depth) { guard one; if (depth == 0) throw 1; thrower(depth - 1); n = n + 1; }
NI void through() { thrower(2); n = n + 1; }
NI void after() { n = n + 1; }
NI void rethrows() { try { through(); } catch (int) { after(); throw; } n = n + 1; }
QUIET void catches(int which) { try { if (which) rethrows(); else through(); n = n + 1; } catch (int) { after(); } after(); n = n + 1; }
NI void middle(int which) { catches(which); after(); n = n + 1; }
}
guard::~guard() { n = n + 1; }
int main() { middle(0); middle(1); after(); catches(0); catches(1); after(); std::raise(SIGABRT); return 0; }
CC
for options in -O0 '-O2 -epitaph-method=finstrument'; do
	# shellcheck disable=SC2086
	build epitaph-c++ -fno-optimize-sibling-calls $options untraced.cc
	crash core "$PWD/prog"
	holds 30 "untraced catch, $options"
done
mv prog elsewhere
"$EPITAPH" export -f jsonl -o again.jsonl raw 2>err || true
python3 "$reader" --again core.jsonl again.jsonl '' 2>why || say "untraced catch, without the program: $(tail -n 1 why)"
EPITAPH_CXX=clang++ build epitaph-c++ -O2 -fno-optimize-sibling-calls untraced.cc
crash core "$PWD/prog"
holds 30 'untraced catch, clang'

# longjmp, what calls its own way out of a nested function, tails, thunks, signals, vfork, unwinding by pthread_exit.
for flow in jumps nested labels unwinds tails thunks signals vforks; do
	source=$(echo "$TOP/tests/programs/flows/$flow".*)
	case $source in *.cc) compiler=epitaph-c++ ;; *) compiler=epitaph-cc ;; esac
	build $compiler -O2 "$source"
	crash core "$PWD/prog"
	holds 3 "$flow"
done
build epitaph-cc -O2 "$TOP/tests/programs/endings.c"
crash core "$PWD/prog"
holds 20 'threads that end'
build epitaph-c++ -O2 "$TOP/tests/programs/jumps.cc"
crash core "$PWD/prog"
holds 100 jumps

# Stacks that take turns: each call is drawn as often as its stack had one.
for mode in linked jumping; do
	build epitaph-cc -O2 "$TOP/tests/programs/fibers.c"
	crash core "$PWD/prog" $mode
	draws "fibers, $mode"
done

# Where history is missing: a call that began there is where it is known to be, inside of what was open before.
cat >hidden.c <<'C'
#include <epitaph.h>
#include <stdlib.h>
#define NI __attribute__((noinline))
static volatile int n;
NI static void leaf(void) { n = n + 1; }
NI static void hidden(void) { leaf(); epitaph_resume(); leaf(); n = n + 1; }
NI static void outer(void) { leaf(); epitaph_pause(); hidden(); leaf(); n = n + 1; }
int main(void) { outer(); outer(); abort(); }
C
build epitaph-cc -O1 -fno-optimize-sibling-calls hidden.c
crash core "$PWD/prog"
exported funtrace raw
PYTHONPATH=${reader%/*} python3 - 2>why <<-'PY' || say "a call that began in a pause: $(tail -n 1 why)"
	from funtrace import Raw
	raw = Raw("raw")
	calls = raw.calls(raw.threads[0][1])
	outer = [[1, "outer"], [2, "leaf"], [2, "hidden"], [3, "leaf"], [2, "leaf"]]
	assert [call[:2] for call in calls] == [[0, "main"], *outer, *outer], calls
	assert [call[1] for call in calls if None in call] == ["main"], calls
PY
build epitaph-cc -O1 "$TOP/tests/programs/pauses.c"
crash core "$PWD/prog"
draws pauses
[ $failures -eq 0 ]
