#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A command with the filter's options is the command that it was: sources, outputs, diagnostics, status, dependencies, -pipe,
# -S, -save-temps, response files, standard input, -B of the user's own, link-time optimization.
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/wrapper.bash"
wrapper=$BIN/epitaph-cc
sources
echo "twice	thrice" >list
echo "nothing" >none
filter=-epitaph-no-trace=list

hooked() { # FILE: functions of ours that call hooks
	objdump -dr --no-show-raw-insn "$1" | awk '/^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f) }
		/(__fentry__|__return__|__cyg_profile_func_)/ && f ~ /^(main|twice|thrice)$/ { n[f]++ } END { for (f in n) print f }' | sort | xargs
}
only_main() { local got; got=$(hooked "$1"); [ "$got" = main ] || { echo "$1: hooks in '$got'"; return 1; }; }
nobody() { local got; got=$(hooked "$1"); [ -z "$got" ] || { echo "$1: hooks in '$got'"; return 1; }; }

object() { "$wrapper" -O1 $filter -c twice.c -o t.o && nobody t.o; }
several() { "$wrapper" -O1 $filter -c main.c twice.c && only_main main.o && nobody twice.o; }
program() { "$wrapper" -O0 $filter main.c twice.c -o t && only_main t && same_run ./t ./p; }
joined() { "$wrapper" -O0 $filter -ot main.c twice.c && only_main t; }
piped() { "$wrapper" -O0 -pipe $filter main.c twice.c -o t && only_main t && same_run ./t ./p; }
from_stdin() { "$wrapper" -O0 $filter -x c -c - -o t.o <main.c && only_main t.o && cat main.c twice.c | "$wrapper" -pipe -O0 $filter -x c - -o t && only_main t; }
assembly() {
	rm -f main.s twice.s && "$wrapper" -O0 $filter -S main.c twice.c && "$wrapper" -O0 $filter -S main.c -o other.s
	cmp main.s other.s && "$wrapper" -O0 $filter -S main.c -o - | cmp - main.s
	"$wrapper" -c main.s -o t.o && only_main t.o && "$wrapper" -c twice.s -o t.o && nobody t.o
	[ -z "$(find . -name '*.s.*')" ]
}
saved() { rm -rf s && mkdir s && (cd s && "$wrapper" -save-temps -O0 "-epitaph-no-trace=../list" ../main.c ../twice.c -o t && only_main t && ls ./*.s >/dev/null); }
depends() { mkdir -p dt dp && "$wrapper" $filter -MD -c main.c -o dt/m.o && only_main dt/m.o && "${plaincc[@]}" -MD -c main.c -o dp/m.o && diff <(sed s,dt/,, dt/m.d) <(sed s,dp/,, dp/m.d); }
response() { printf '%s\n' '-O0 -c main.c' '-o "from rsp.o"' >words.rsp && "$wrapper" @words.rsp $filter && only_main "from rsp.o"; }
complains() { local w; for w in wrong.c "-fsyntax-only wrong.c" "-c wrong.c" "-E main.c -o -" "-M main.c"; do
	# shellcheck disable=SC2086
	same_words $filter $w || return 1
done; }
# The plain compiler knows no such option: it is taken from its words.
same_words() { shift; local plain traced; plain=$(said "${plaincc[@]}" "$@"); traced=$(said "$wrapper" $filter "$@"); [ "$plain" = "$traced" ] || { diff <(echo "$plain") <(echo "$traced"); return 1; }; }
assembler_complains() { # an error of the assembler's: it names its line of the compiler's text, status 1
	echo 'void twice(void) {} int main(void) { __asm__("nonsense %rax"); twice(); }' >inline.c
	"${plaincc[@]}" -O0 -c inline.c 2>plain.err && return 1
	local status=0
	"$wrapper" -O0 $filter -c inline.c -o inline.o 2>err || status=$?
	[ $status -eq 1 ] && grep -q nonsense err && [ ! -e inline.o ]
}
hand_written() { "$wrapper" $filter -c square.S -o t.o && "${plaincc[@]}" -c square.S -o p.o && cmp t.o p.o &&
	"$wrapper" $filter -c square.s -o t.o && cmp t.o p.o; }
untouched_is_identical() { # nothing to take out: the object is the one without the option
	[ "$family" = clang ] && return 0 # whose own assembler writes another
	"$wrapper" -O2 -c main.c -o a.o && "$wrapper" -O2 -epitaph-no-trace=none -c main.c -o b.o && cmp a.o b.o; }
own_assembler() { # a -B of the user's own is still followed, behind ours
	rm -rf b && mkdir b && printf '#!/bin/sh\necho used >>used\nexec as "$@"\n' >b/as && chmod +x b/as && rm -f used
	[ "$family" = clang ] && return 0
	"$wrapper" -O0 -Bb/ $filter -c main.c -o t.o && only_main t.o && [ -e used ]
}
library() { "$wrapper" -O0 $filter -shared -fPIC main.c twice.c -o t.so && only_main t.so; }
blanks_and_commas() { mkdir -p "a b,c" && cp list "a b,c/li st" && "$wrapper" -O0 "-epitaph-no-trace=a b,c/li st" -c main.c -o t.o && only_main t.o; }
unknown_names() { # told when it is linked, and the link is fine
	echo "twice misspelt" >names && "$wrapper" -O0 -epitaph-no-trace=names main.c twice.c -o t 2>err && ./t >/dev/null || [ $? -eq 3 ]
	grep -q 'names:1: misspelt is no function of t' err && grep -q '1 of 2 names' err
	"$wrapper" -O0 $filter main.c twice.c -o t 2>err && [ ! -s err ]
}
verbose() { "$wrapper" -O0 -epitaph-verbose $filter -c main.c 2>err && grep -q 'note: main.c: thrice: not traced: list:1 says thrice' err && grep -q 'note: main.c: main: traced' err; }
users_own() { # what the user wrote by hand stays, and is named when a list asks for it
	cat >hand.c <<'SRC'
void __fentry__(void);
__asm__(".text\n.globl twice\n.type twice, @function\ntwice:\ncall __fentry__\nlea (%rdi,%rdi), %eax\nret\n.size twice, .-twice");
int twice(int);
__attribute__((no_instrument_function)) int thrice(int x) { __asm__ volatile("call __fentry__" ::: "r10", "r11", "memory"); return x; }
SRC
	"$wrapper" -O1 -c hand.c -o a.o && "$wrapper" -O1 $filter -c hand.c -o b.o 2>err
	[ "$(hooked a.o)" = "thrice twice" ] && [ "$(hooked b.o)" = "thrice twice" ]
	[ "$family" = gcc ] || grep -q "hand.c: twice keeps its hooks: no compiler wrote it" err
}
link_time() {
	local status=0
	if [ "$family" = clang ]; then
		rm -f t
		"$wrapper" -O1 -flto -fuse-ld=lld $filter main.c twice.c -o t 2>err || status=$?
		[ $status -eq 64 ] && grep -q 'the linker makes the code' err && [ ! -e t ]
		return
	fi
	"$wrapper" -O1 -fno-inline -flto -c main.c twice.c && "$wrapper" -O1 -fno-inline -flto $filter main.o twice.o -o t && only_main t && same_run ./t ./p
	"$wrapper" -O1 -fno-inline -flto=2 $filter main.c twice.c -o t && only_main t
	"$wrapper" -O1 -fno-inline -flto -ffat-lto-objects $filter -c main.c twice.c && "$wrapper" -O1 -fno-inline -fno-lto main.o twice.o -o t && only_main t
	"$wrapper" -O1 -fno-inline -flto -epitaph-no-trace=none -c main.c && "$wrapper" -O1 -fno-inline -flto $filter -c twice.c &&
		"$wrapper" -O1 -fno-inline -flto $filter main.o twice.o -o t 2>err && only_main t && [ ! -s err ]
}
thunks() { # where a hook is jumped to, `ret` is not what -mfunction-return= asks for
	[ "$family" = gcc ] || return 0 # clang 14 has no such option
	local kind
	echo 'int twice(int x); void thrice(int x) { twice(x); }' >tail.c
	for kind in thunk thunk-inline; do
		"$wrapper" -O2 -epitaph-method=finstrument -mfunction-return=$kind -epitaph-instr-thresh=99 -c tail.c -o t.o 2>err
		[ "$(hooked t.o)" = thrice ] && grep -q 'thrice keeps its hooks: it would return by a thunk' err || return 1
	done
	"$wrapper" -O2 -epitaph-method=finstrument -mfunction-return=keep -epitaph-instr-thresh=99 -c tail.c -o t.o && nobody t.o
}
syntax_of_intel() {
	local status=0
	# (gcc 12 writes the entry hook of -pg in the other syntax and can't assemble it, filter or not.)
	"$wrapper" -O0 -masm=intel -epitaph-method=finstrument $filter -c main.c -o t.o 2>err || status=$?
	if [ "$family" = clang ]; then [ $status -eq 64 ] && grep -q masm=intel err; else only_main t.o; fi
}
asked() { # which assembler it runs, the compiler itself says
	printf '#!/bin/sh\necho "$*" >>%s/questions\nexec %s "$@"\n' "$PWD" "${plaincc[0]}" >compiler
	chmod +x compiler
	: >questions
	EPITAPH_CC=$PWD/compiler "$wrapper" -O0 $filter -c main.c -o t.o && only_main t.o && grep -q '^-print-prog-name=as' questions
}
cached() { # a list that changed is a new compilation
	command -v ccache >/dev/null || return 0
	export CCACHE_DIR=$PWD/cache
	EPITAPH_CC="ccache ${plaincc[0]}"
	echo main >changing && "$wrapper" -O0 -c main.c -o t.o -epitaph-no-trace=changing && [ "$(hooked t.o)" = thrice ]
	echo thrice >changing && "$wrapper" -O0 -c main.c -o t.o -epitaph-no-trace=changing && only_main t.o
	"$wrapper" -O0 -c main.c -o t.o -epitaph-no-trace=changing && only_main t.o
}

for family in gcc clang; do
	plaincc=("$family")
	export EPITAPH_CC=$family
	"$family" -O0 main.c twice.c -o p
	claim "-c" object
	claim "-c of several" several
	claim "a program" program
	claim "-o joined" joined
	claim "-pipe" piped
	claim "standard input" from_stdin
	claim "-S" assembly
	claim "-save-temps" saved
	claim "-MD" depends
	claim "response files" response
	claim "diagnostics and status are the compiler's" complains
	claim "errors of the assembler" assembler_complains
	claim "hand-written assembly is untouched" hand_written
	claim "without a match the object is the same" untouched_is_identical
	claim "-B of the user's own" own_assembler
	claim "the compiler is asked for its assembler" asked
	claim "-shared" library
	claim "blanks and commas in a list's name" blanks_and_commas
	claim "names of no function are told at the link" unknown_names
	claim "-epitaph-verbose" verbose
	claim "the user's own hooks stay" users_own
	claim "-flto" link_time
	claim "-mfunction-return" thunks
	claim "-masm=intel" syntax_of_intel
	claim "ccache" cached
done
[ $failures -eq 0 ]
