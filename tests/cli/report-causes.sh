#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Why it died, where more than the signal tells it: an abort by its stack, a return to nowhere, a file that was cut, a limit, a
# filter; from the kernel's core and from the snapshot that the same death has written, in text and in JSON.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

# dies PROGRAM HOW: its snapshot is "shot", its core, if there is one, "core.dead"
dies() {
	rm -rf crash.dir core.dead shot && mkdir crash.dir
	{ (cd crash.dir && EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=../shot exec ../"$1" "$2") \
		>/dev/null 2>err || true; } 2>/dev/null
	! grep epitaph: err || say "$1 $2 complains"
	[ ! -e crash.dir/core* ] 2>/dev/null || mv crash.dir/core* core.dead
}

# tells FILE CAUSE WORDS [STATUS]: the report of a core in JSON, of a snapshot in text; CAUSE "-": no cause
tells() {
	local got cause=-
	if [ "$1" = shot ]; then
		gives "${4:-0}" "$EPITAPH" report --last=0 shot
		got=$(sed -n 's/^because    //p' out)
	else
		gives "${4:-0}" "$EPITAPH" report --json --last=0 core.dead
		got=$(sed -nE 's/.*"because":"(([^"\\]|\\.)*)".*/\1/p' out | sed 's/\\"/"/g')
		cause=$(sed -nE 's/.*"cause":"([^"]*)".*/\1/p' out)
		[ "${cause:--}" = "$2" ] || say "$program $how: the cause is \"$cause\", not \"$2\""
	fi
	[[ $got == *"$3"* ]] || say "$program $how, $1: because is \"$got\", not \"$3\""
}

# wants PROGRAM HOW CAUSE WORDS [STATUS]
wants() {
	local program=$1 how=$2
	dies "$program" "$how"
	[ -s core.dead ] && [ -s shot ] || { say "$program $how: no core, or no snapshot"; return; }
	tells core.dead "${@:3}"
	cp out json
	tells shot "${@:3}"
}

for compiler in gcc clang; do
	EPITAPH_CXX=${compiler/gcc/g++} EPITAPH_CC=$compiler
	EPITAPH_CXX=${EPITAPH_CXX/%clang/clang++}
	export EPITAPH_CXX EPITAPH_CC
	"$BIN/epitaph-c++" -g -O1 -w -fno-optimize-sibling-calls -fstack-protector-strong -D_FORTIFY_SOURCE=2 \
		"$TOP/tests/programs/aborts.cc" -o "aborts-$compiler" -lpthread
	"$BIN/epitaph-cc" -g -O1 -w -fno-optimize-sibling-calls -fno-stack-protector "$TOP/tests/programs/deaths.c" \
		-o "deaths-$compiler" -lpthread
done
unset EPITAPH_CXX EPITAPH_CC

for compiler in gcc clang; do
	aborts=aborts-$compiler deaths=deaths-$compiler
	# The noexcept function is on clang's stack only.
	wants $aborts noexcept noexcept 'the exception of type std::runtime_error, thrown in leaf_throws(), came to a function that is noexcept'
	wants $aborts alloc uncaught-exception 'nobody caught the exception of type std::bad_alloc, thrown in bad_alloc() by libstdc++'
	has out '  uncaught   exception of type std::bad_alloc, thrown in libstdc++'
	has out ', called by bad_alloc(), '
	wants $deaths low return-address 'return_low returned to 0x4242 ("BB"), where no code is: its return address was overwritten' 1
	wants $deaths text return-address 'return_text returned to 0x4242424242424242 ("BBBBBBBB"), where no code is' 1
done

wants deaths-gcc heap return-address 'return_heap returned to 0x' 1
wants deaths-gcc zero return-address 'return_zero returned to 0x0, where' 1
wants deaths-gcc call - 'call of a null function pointer (0x0)'
wants aborts-gcc handled uncaught-exception 'nobody caught the exception of type std::runtime_error, thrown in leaf_throws()'
wants aborts-gcc smash stack-smashed 'a buffer in the frame of smash() was written beyond its end' 1
wants aborts-gcc pure pure-virtual 'called a pure virtual function'
wants aborts-gcc twice heap 'free(), called by free_twice(), found the heap damaged, or was given a wrong pointer: double free'
has out 'abort message double free'
wants aborts-gcc wild heap 'free(), called by free_wild(), found the heap damaged, or was given a wrong pointer: free(): invalid pointer'
wants aborts-gcc rethrow rethrow-nothing '`throw;` in rethrow_nothing(), where no exception was being handled'
wants aborts-gcc again uncaught-exception 'nobody caught the exception of type std::runtime_error, thrown in again(); again() threw it again'
wants aborts-gcc assert assertion 'an assertion failed in assertion()'
wants aborts-gcc fortify fortify 'strcpy in fortify() was to go beyond its buffer'
wants aborts-gcc range uncaught-exception 'type std::out_of_range, thrown in out_of_range() by libstdc++'
wants aborts-gcc joinable terminate 'joinable() called std::terminate(), with no exception on its way'
wants aborts-gcc swallowed abort 'swallowed() called abort()'
wants aborts-gcc abort abort 'plain() called abort()'
wants aborts-gcc raise raised 'raised() sent it to its own process: raise()'
wants deaths-gcc cut - 'crash.dir/cut.'
has out ', offset 0x1388, beyond the end of that file, likely: it was cut, or never was so long (BUS_ADRERR)'
wants deaths-gcc cpu - 'its limit of processor time was reached (RLIMIT_CPU'
wants deaths-gcc denied - 'system call 110 (getppid); denied by a seccomp filter (SYS_SECCOMP)'
has json '"system_call":110'

# Those that leave no core.
without() { # HOW WORDS
	local program=deaths-gcc how=$1
	dies $program "$how"
	tells shot - "$2"
}
without long 'it wrote beyond its limit of file size (RLIMIT_FSIZE)'
without pipe 'it wrote to a pipe or socket that nobody reads'
without alarm 'a timer that it had set ran out'
without term 'die_terminated sent it to its own process: raise()'
# Names are as people say them, as elsewhere on the page; without parameters where it is one screen; JSON has them in full.
cat >names.cc <<'END'
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
template <class T> struct strange : std::runtime_error { using runtime_error::runtime_error; };
__attribute__((noinline)) void serve(const std::map<std::string, std::vector<int>> &m)
{
	if (m.empty())
		throw strange<std::vector<std::string>>("no");
}
int main() { serve({}); }
END
"$BIN/epitaph-c++" -O1 names.cc -o names
crash core.names "$PWD/names"
thrown='exception of type strange<std::vector<std::string>>, thrown in serve'
said() { # OPTION LINE
	gives 0 "$EPITAPH" report $1 core.names
	grep -qxF "because    nobody caught the $2" out || { say "names of report $1:"; grep '^because' out; }
	grep -qE '^  uncaught   exception of type strange<std::vector<std::string>>, thrown in serve' out || say "uncaught of report $1"
}
said '' "$thrown"
said --last=2 "$thrown(std::map<std::string, std::vector<int>> const&)"
for option in --full-names --json; do
	gives 0 "$EPITAPH" report $option core.names
	grep -q 'because.*strange<std::vector<std::__cxx11::basic_string<char.*serve(std::map<std::__cxx11::basic_string' out || say "names of $option"
done
exit $((failures != 0))
