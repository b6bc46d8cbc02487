#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -epitaph-no-trace=, -do-trace=, -instr-thresh=, -ignore-loops, under both spellings: which functions keep their hooks, by
# objdump, with every compiler and method. What is expected follows from the rules and the source, not from the filter.
set -euo pipefail
source "$TOP/tests/cli/lib/filter.bash"

cat >f.c <<'SRC'
#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone))
#endif
KEEP int tiny(int x) { return x + 1; }
KEEP int tiny2(int x) { return x + 2; }
KEEP int other(int x) { return tiny(x) * 3; }
KEEP int long_one(int x)
{
	return tiny(x) * 3 + tiny2(x * 5) * tiny(x * 7) + tiny2(x * 9) * tiny(x * 11) + other(x * 13) * tiny2(x * 15);
}
KEEP int looping(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s ^= tiny(i);
	return s;
}
__attribute__((no_instrument_function)) KEEP int never(int x) { return tiny(x) + 5; }
extern int alias(int x) __attribute__((alias("other")));
int main(void) { return (long_one(1) + looping(3) + never(2) + alias(4)) & 63; }
SRC

# The functions of f.c that call hooks, in one line.
hooked() { # OBJECT
	objdump -dr --no-show-raw-insn "$1" | awk '/^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f) }
		/(__fentry__|__return__|__cyg_profile_func_)/ { n[f]++ } END { for (f in n) print f }' | sed 's/\.cold$//; s/^alias$/other/' | sort -u | xargs
}
keeps() { # "FUNCTIONS" OPTIONS...
	local want got
	want=$(xargs -n1 <<<"$1" | sort | xargs)
	shift
	"$wrapper" "-epitaph-method=$method" "-$level" -c f.c -o f.o "$@" || return 1
	got=$(hooked f.o)
	[ "$got" = "$want" ] || { echo "$compiler $method -$level $*: hooks in: $got; wanted: $want"; return 1; }
}

all="tiny tiny2 other long_one looping main"
echo "tiny other" >two
printf '# a comment\n\tt?ny2 # and one\r\n\n  looping\tmain' >blanks
echo 'tiny*' >glob
echo '[lm]*' >set
echo alias >alias
echo never >never
echo main >mainly
: >empty
each_build keeps "$all"
each_build keeps "tiny2 long_one looping main" -epitaph-no-trace=two
each_build keeps "looping" -epitaph-instr-thresh=1000
each_method keeps "$all" -epitaph-no-trace=empty
each_method keeps "tiny2 long_one looping main" -funtrace-no-trace=two
each_method keeps "tiny other long_one" -epitaph-no-trace=blanks
each_method keeps "other long_one looping main" -epitaph-no-trace=glob
each_method keeps "other" -epitaph-no-trace=glob -epitaph-no-trace=set
each_method keeps "tiny tiny2 long_one looping main" -epitaph-no-trace=alias
each_method keeps "tiny other long_one looping main" -epitaph-no-trace=glob -epitaph-do-trace=two
each_method keeps "$all" -epitaph-no-trace=glob -funtrace-do-trace=glob -epitaph-do-trace=never
# Every function is shorter than 1,000 instructions, none than 1.
each_method keeps "" -funtrace-instr-thresh=1000 -funtrace-ignore-loops
each_method keeps "tiny other" -epitaph-instr-thresh=1000 -epitaph-ignore-loops -epitaph-do-trace=two
each_method keeps "$all" -epitaph-instr-thresh=1
each_method keeps "long_one looping" -epitaph-instr-thresh=20 -epitaph-no-trace=mainly

wrong() { # WORDS OPTIONS...: refused with status 64 and these words, and no object is left
	local words=$1 status=0
	shift
	rm -f wrong.o
	"$wrapper" -c f.c -o wrong.o "$@" 2>err || status=$?
	[ $status -eq 64 ] && grep -qF "$words" err && [ ! -e wrong.o ] || { echo "$*: status $status"; cat err; exit 1; }
}
printf 'a\0b' >nul
wrong "nowhere: No such file" -epitaph-no-trace=nowhere
wrong "nul: not a list of functions: a NUL at byte 1" -epitaph-do-trace=nul
wrong "a number of instructions" -epitaph-instr-thresh=12x
wrong "a number of instructions" -epitaph-instr-thresh=-1
wrong "the value is missing" -epitaph-no-trace=
wrong "takes no value" -epitaph-ignore-loops=1
wrong "no such option" -funtrace-notrace=two
