# SPDX-License-Identifier: BSD-2-Clause
# wrapper.bash: the modes of a compiler, each tried with the wrapper and with the plain compiler, and compared. A test
# sources it and calls wrapper_modes gcc|clang.

failures=0
wrapper=${EPITAPH%/*}/epitaph-cc
wrapperxx=${EPITAPH%/*}/epitaph-c++

claim() { # WORDS COMMAND...: the command holds
	local words=$1 status=0
	shift
	(set -e && "$@") >claim.out 2>&1 || status=$?
	if [ $status -ne 0 ]; then
		failures=$((failures + 1))
		echo "not so with $family: $words (status $status)"
		sed 's/^/  | /' claim.out
	fi
}

# In all that comes through a pipe: grep -q would leave early, and the writer die of SIGPIPE.
seen() { grep "$@" >/dev/null; }

# FILE has calls of hooks in its code (relocations in an object, calls in a program). objdump ends with the first one: a program
# that is linked statically takes it seconds.
calls_hooks() {
	grep -Eq '(call|R_X86_64_[A-Z0-9]+)[[:space:]].*(__fentry__|__return__|__cyg_profile_func_)' < <(objdump -dr "$1")
}

has_hooks() { calls_hooks "$1" || { echo "no hooks in $1"; return 1; }; }
no_hooks() { [ -s "$1" ] && ! calls_hooks "$1" || { echo "hooks in $1"; return 1; }; }

# The symbols that a file defines; the traced one's without ours.
symbols() { nm --defined-only "$1" | awk '{ print $2, $3 }' | sort; }
same_symbols() { diff <(symbols "$1") <(symbols "$2"); }

# Output, error output and exit status of a command.
# The names of temporary files are nobody's words.
said() {
	local status=0
	"$@" >said.out 2>said.err || status=$?
	{ cat said.out; echo "--"; cat said.err; echo "-- $status"; } | sed -E 's,/tmp/[A-Za-z0-9-]+\.(o|s|res),TEMPORARY.\1,g'
}
same_words() { # ARGUMENTS...: the two compilers say the same
	local plain traced
	plain=$(said "${plaincc[@]}" "$@")
	traced=$(said "$wrapper" "$@")
	[ "$plain" = "$traced" ] || { diff <(echo "$plain") <(echo "$traced"); return 1; }
}
same_run() { # PROGRAM PROGRAM
	local one other
	one=$(said "$1")
	other=$(said "$2")
	[ "$one" = "$other" ] || { diff <(echo "$one") <(echo "$other"); return 1; }
}

sources() {
	cat >main.c <<'SRC'
#include <stdio.h>
int twice(int);
static int thrice(int x) { return twice(x) + x; }
int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", thrice(7));
	return argc + 2;
}
SRC
	cat >twice.c <<'SRC'
int twice(int x);
int twice(int x) { return x + x; }
SRC
	cat >throws.cc <<'SRC'
#include <cstdio>
#include <stdexcept>
#include <vector>
struct Guard { ~Guard() { std::puts("unwound"); } };
static int at(const std::vector<int> &v, std::size_t i)
{
	Guard guard;
	return v.at(i);
}
int main()
{
	std::vector<int> v{ 1, 2, 3 };
	int caught = 0;
	for (std::size_t i = 0; i < 5; i++) {
		try {
			std::printf("%d\n", at(v, i));
		} catch (const std::out_of_range &) {
			caught++;
			try {
				throw caught;
			} catch (int &n) {
				std::printf("caught %d\n", n);
			}
		}
	}
	return caught;
}
SRC
	cat >square.S <<'SRC'
#define NAME square
	.text
	.globl NAME
	.type NAME, @function
NAME:	mov %edi, %eax
	imul %edi, %eax
	ret
	.size NAME, . - NAME
	.section .note.GNU-stack,"",@progbits
SRC
	gcc -E square.S -o square.s
	cat >wrong.c <<'SRC'
int main(void) { return undeclared; }
SRC
	cat >unresolved.c <<'SRC'
void nowhere(void);
int main(void) { nowhere(); return 0; }
SRC
}

# ---- compiling ------------------------------------------------------------------------------------------------------

c_without_o() { "$wrapper" -O1 -c twice.c && has_hooks twice.o && rm twice.o; }
c_with_o() { "$wrapper" -O1 -c twice.c -o "a b,c.o" && has_hooks "a b,c.o"; }
c_defines_the_same() { "$wrapper" -O1 -c main.c -o t.o && "${plaincc[@]}" -O1 -c main.c -o p.o && same_symbols t.o p.o; }
c_several() { "$wrapper" -O1 -c main.c twice.c && has_hooks main.o && has_hooks twice.o && rm main.o twice.o; }
c_joined_o() { "$wrapper" -O1 -otwice2.o -c twice.c && has_hooks twice2.o; }
x_language() { cp twice.c twice.txt && "$wrapper" -O1 -x c -c twice.txt -o x.o && has_hooks x.o && "$wrapper" -O1 -xc -c twice.txt -o x.o && has_hooks x.o; }
from_stdin() { "$wrapper" -O1 -x c -c - -o i.o <twice.c && has_hooks i.o; }
from_stdin_to_program() { cat main.c twice.c | "$wrapper" -O1 -x c - -o i && has_hooks i && { ./i >out || [ $? -eq 3 ]; } && grep -qx 21 out; }
x_none_behind() { "${plaincc[@]}" -c twice.c -o p.o && "$wrapper" -O1 -x c main.c -x none p.o -o i && has_hooks i; }
x_left_on() { cp main.c main.txt && cp twice.c twice.txt && "$wrapper" -O1 -x c main.txt twice.txt -o i && has_hooks i; }
to_assembly() { "$wrapper" -O1 -S twice.c && grep -Eq '__fentry__|__cyg_profile' twice.s && "$wrapper" -O1 -S twice.c -o - | grep -Eq '__fentry__|__cyg_profile'; }
pipe() { "$wrapper" -pipe -O1 -c twice.c -o t.o && has_hooks t.o; }
preprocessed_equals() { "$wrapper" -E main.c -o t.i && "${plaincc[@]}" -E main.c -o p.i && cmp t.i p.i; }
preprocess_assembly() { "$wrapper" -E square.S -o t.i && "${plaincc[@]}" -E square.S -o p.i && cmp t.i p.i; }
dependencies() { same_words -M main.c && same_words -MM main.c; }
dependencies_beside() {
	mkdir -p dt dp
	"$wrapper" -MD -c main.c -o dt/m.o && "${plaincc[@]}" -MD -c main.c -o dp/m.o && diff <(sed s,dt/,, dt/m.d) <(sed s,dp/,, dp/m.d)
	"$wrapper" -MMD -MP -MF dt/x.d -MT goal -c main.c -o dt/m.o && "${plaincc[@]}" -MMD -MP -MF dp/x.d -MT goal -c main.c -o dp/m.o &&
		cmp dt/x.d dp/x.d && has_hooks dt/m.o
}
saved_temporaries() {
	mkdir st sp
	(cd st && "$wrapper" -save-temps -O1 ../main.c ../twice.c -o prog && has_hooks prog)
	(cd sp && "${plaincc[@]}" -save-temps -O1 ../main.c ../twice.c -o prog)
	diff <(ls st) <(ls sp)
	(cd st && "$wrapper" -save-temps -O1 -c ../main.c && has_hooks main.o)
}
assembly_untouched() { local s; for s in square.S square.s; do "$wrapper" -c $s -o t.o && "${plaincc[@]}" -c $s -o p.o && cmp t.o p.o; done; }
syntax_only() { same_words -fsyntax-only -Wall main.c && same_words -fsyntax-only wrong.c; }
strict_is_clean() { local err; err=$("$wrapper" -Wall -Wextra -Werror -pedantic -O2 main.c twice.c -o strict 2>&1); [ -z "$err" ] || { echo "$err"; return 1; }; }
strict_object_is_clean() { local err; err=$("$wrapper" -Werror -fPIC -c -O2 twice.c -o t.o 2>&1; "$wrapper" -Werror -c square.S -o s.o 2>&1; "$wrapper" -Werror t.o -shared -o t.so 2>&1); [ -z "$err" ] || { echo "$err"; return 1; }; }
without_frame_pointer() { "$wrapper" -O2 -fomit-frame-pointer -c twice.c -o t.o && has_hooks t.o; }
unwanted() { [ "$family" = clang ] && return 0 # has no such option before 15
	"$wrapper" -fno-instrument-functions -c twice.c -o t.o && no_hooks t.o; }
no_instrument_attribute() { echo '#include <epitaph.h>
NOFUNTRACE int f(int); NOFUNTRACE int f(int x) { return x; }' | "$wrapper" -O1 -x c -c - -o t.o && no_hooks t.o; }

response_files() {
	mkdir -p 'rsp dir' && cp twice.c 'rsp dir/two ce.c'
	printf '%s\n' '-O1 -c "rsp dir/two ce.c"' >outer.rsp
	printf '%s\n' "-o 'from rsp.o' @outer.rsp -DX=\\\"q\\\"" >nested.rsp
	"$wrapper" @nested.rsp && has_hooks 'from rsp.o'
	echo "-shared -fPIC -O1 twice.c -o rsp.so" >dso.rsp && "$wrapper" @dso.rsp && has_hooks rsp.so
	echo "main.c twice.c -o rsp-program" >link.rsp && "$wrapper" -O1 @link.rsp && has_hooks rsp-program
	same_words @missing.rsp && echo @endless.rsp >endless.rsp && same_words @endless.rsp
}

precompiled_header() {
	rm -rf pch && mkdir pch && echo '#include <stdio.h>
static inline int one(void) { return 1; }' >pch/all.h
	echo '#include "all.h"
int main(void) { return one() - 1; }' >pch/use.c
	cd pch && "$wrapper" -O1 all.h && ls all.h.?ch && "$wrapper" -O1 -Winvalid-pch -Werror use.c -o use && ./use && has_hooks use
}

own_header() {
	echo '#include <epitaph.h>
uint64_t f(void); uint64_t f(void) { return epitaph_time(); }' >header.c
	"$wrapper" -Wall -Werror -c header.c && "$wrapper" -E header.c | seen epitaph_resume
	mkdir -p mine && echo '#define MINE 1' >mine/epitaph.h
	echo '#include <epitaph.h>
int f = MINE;' >mine.c && "$wrapper" -Imine -c mine.c && "$wrapper" -isystem mine -c mine.c && CPATH=mine "$wrapper" -c mine.c
}

# ---- linking --------------------------------------------------------------------------------------------------------

program_runs_the_same() { "$wrapper" -O2 main.c twice.c -o t && "${plaincc[@]}" -O2 main.c twice.c -o p && has_hooks t && same_run ./t ./p; }
objects_only() { "$wrapper" -O1 -c main.c twice.c && "$wrapper" main.o twice.o -o t && same_run ./t ./p; }
default_name() { rm -f a.out && "$wrapper" main.c twice.c && ls a.out; }
no_gprof() { rm -f gmon.out && "$wrapper" -O1 main.c twice.c -o t && { ./t || true; } && [ ! -e gmon.out ] && ! nm t | grep -E 'mcleanup|monstartup'; }
positions() { local how; for how in -no-pie "-fPIE -pie" -static -static-pie "-fno-pie -no-pie"; do
	# shellcheck disable=SC2086
	"$wrapper" -O1 $how main.c twice.c -o t && has_hooks t && same_run ./t ./p || { echo "$how"; return 1; }
done; }
garbage_collected() { "$wrapper" -O1 -ffunction-sections -fdata-sections -Wl,--gc-sections main.c twice.c -o t && nm t | seen epitaph_root && nm -D t | seen ' dlopen$' && readelf -n t | seen EPITAPH && same_run ./t ./p; }
relocatable() { "$wrapper" -O1 -c main.c twice.c && "$wrapper" -r main.o twice.o -o r.o && ! nm r.o | grep epitaph && "$wrapper" r.o -o t && same_run ./t ./p &&
	"$wrapper" -nostdlib -no-pie -Wl,-r main.o twice.o -o r.o && ! nm r.o | grep epitaph; }
link_time_optimized() {
	"$wrapper" -O2 -flto "${lto[@]}" main.c twice.c -o t && has_hooks t && same_run ./t ./p
	"$wrapper" -O2 -flto "${lto[@]}" -c main.c twice.c && "$wrapper" -O2 -flto "${lto[@]}" main.o twice.o -o t && has_hooks t && same_run ./t ./p
	! nm t | grep -E 'mcleanup|monstartup'
}
immediate_binding() { "$wrapper" main.c twice.c -o t && readelf -d t | grep -Eq 'NOW|BIND_NOW' && "$wrapper" -shared -fPIC twice.c -o t.so && readelf -d t.so | grep -Eq 'NOW'; }
only_libc_needed() { "$wrapper" main.c twice.c -o t && diff <(readelf -d t | grep -o 'NEEDED.*') <("${plaincc[@]}" main.c twice.c -o p && readelf -d p | grep -o 'NEEDED.*'); }
executable_stack() { "$wrapper" main.c twice.c -o t && readelf -lW t | grep GNU_STACK | seen 'RW ' && ! readelf -lW t | seen 'RWE'; }
runtime_inside() { "$wrapper" main.c twice.c -o t && nm t | seen ' epitaph_root$' && nm -D t | seen -E '[TW] __cyg_profile_func_enter$'; }
shared_library() {
	cat >loads.c <<'SRC'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	int (*twice)(int);
	if (!library) {
		puts(dlerror());
		return 1;
	}
	*(void **)&twice = dlsym(library, "twice");
	printf("%d\n", twice(21));
	return dlclose(library);
}
SRC
	"$wrapper" -O1 -shared -fPIC twice.c -o libtwice.so && has_hooks libtwice.so
	! nm libtwice.so | grep ' epitaph_root$'
	"$wrapper" -O1 loads.c -o loads && [ "$(./loads ./libtwice.so)" = 42 ]
	"$wrapper" -O1 main.c -o linked -L. -ltwice -Wl,-rpath,. && { ./linked || [ $? -eq 3 ]; }
	"$wrapper" -O1 -c -fPIC twice.c -o pic.o && "$wrapper" -shared -Wl,-z,defs pic.o -o libdefs.so && [ "$(./loads ./libdefs.so)" = 42 ]
}
own_functions_stay() { # a program's own function isn't replaced by one of ours
	cat >own.c <<'SRC'
#include <stdio.h>
int pthread_setname_np(unsigned long thread, const char *name);
int pthread_setname_np(unsigned long thread, const char *name) { return printf("own %lu %s\n", thread, name); }
void *dlopen(const char *path, int mode);
void *dlopen(const char *path, int mode) { printf("own %s %d\n", path, mode); return NULL; }
int main(void)
{
	return dlopen("x", 1) != NULL || pthread_setname_np(3, "y") != 8;
}
SRC
	"${plaincc[@]}" own.c -o plainown
	local how
	for how in "" -static -epitaph-runtime=shared -Wl,--gc-sections; do
		# shellcheck disable=SC2086
		"$wrapper" $how own.c -o t && same_run ./t ./plainown || { echo "$how"; return 1; }
	done
}
shared_runtime() {
	"$wrapper" -epitaph-runtime=shared -O1 main.c twice.c -o t && readelf -d t | seen 'NEEDED.*libepitaph.so.0' &&
		(unset LD_LIBRARY_PATH && same_run ./t ./p) && ! nm t | grep ' epitaph_root$'
	"$wrapper" -epitaph-runtime=shared -shared -fPIC -O1 twice.c -o libplug.so && "${plaincc[@]}" loads.c -o plainloads && [ "$(./plainloads ./libplug.so)" = 42 ]
	"$wrapper" -epitaph-runtime=shared -Wl,--as-needed -O1 main.c twice.c -o t && readelf -d t | seen 'NEEDED.*libepitaph.so.0'
}
without_libc() {
	cat >bare.c <<'SRC'
static int f(int x) { return x + 1; }
__attribute__((no_instrument_function)) void _start(void);
void _start(void)
{
	register long status __asm__("rdi") = f(4);
	register long number __asm__("rax") = 60;
	__asm__ volatile("syscall" : : "r"(number), "r"(status));
	__builtin_unreachable();
}
SRC
	"$wrapper" -epitaph-verbose -O0 -nostdlib -static -fno-stack-protector bare.c -o bare 2>bare.err && ! nm bare | grep epitaph && grep -q 'no runtime' bare.err
	./bare || [ $? -eq 5 ]
	"$wrapper" -ffreestanding -O1 -c twice.c -o t.o && no_hooks t.o
	"$wrapper" -ffreestanding -nostdlib -static -fno-stack-protector bare.c -o bare && { ./bare || [ $? -eq 5 ]; }
}
other_machine() { echo 'int f(int x) { return x; }' >f.c && same_words -m32 -S f.c -o -; }
cpp_exceptions() {
	local how
	for how in "" -O2 "-O2 -fno-inline" "-O2 -static"; do
		# shellcheck disable=SC2086
		"$wrapperxx" $how throws.cc -o t && has_hooks t
		# shellcheck disable=SC2086
		"${plaincxx[@]}" $how throws.cc -o p2 && same_run ./t ./p2
	done
}
resolvers() { # run before thread-local memory exists in a static program; target_clones makes gcc write one itself
	cat >resolver.c <<'SRC'
#include <stdio.h>
static int add_one(int x) { return x + 1; }
static int (*resolve(void))(int) { return add_one; }
int chosen(int) __attribute__((ifunc("resolve")));
#ifndef __clang__
__attribute__((target_clones("avx2", "default")))
#endif
int cloned(int x);
int cloned(int x) { return x * 3; }
int main(void)
{
	printf("%d %d\n", chosen(1), cloned(4));
	return 0;
}
SRC
	"${plaincc[@]}" -O1 resolver.c -o plainresolver
	local how
	for how in "" "-static" "-static-pie" "-static -epitaph-method=finstrument" "-static -O2 -flto ${lto[*]}"; do
		# shellcheck disable=SC2086
		"$wrapper" -O1 $how resolver.c -o t && has_hooks t && same_run ./t ./plainresolver || { echo "$how"; return 1; }
	done
}
sanitized_program() { "$wrapper" -O1 -fsanitize=address main.c twice.c -o t && has_hooks t && ASAN_OPTIONS= same_run ./t ./p; }
covered_program() { rm -rf cov && mkdir cov && cd cov && "$wrapper" -O1 --coverage ../main.c ../twice.c -o t && { ./t || true; } && ls ./*.gcda >/dev/null && has_hooks t; }
profiled_program() { rm -rf prof && mkdir prof && cd prof && "$wrapper" -O2 -fprofile-generate ../main.c ../twice.c -o t && { ./t || true; } && { ls ./*.gcda || ls ./*.profraw; }; }

parallel_make() {
	rm -rf many && mkdir many && cd many
	for i in $(seq 30); do echo "int f$i(int x); int f$i(int x) { return x + $i; }" >f$i.c; done
	{ for i in $(seq 30); do echo "int f$i(int x);"; done; echo 'int main(void) { int s = 0;'; for i in $(seq 30); do echo "s += f$i(0);"; done; echo 'return s - 465; }'; } >main.c
	# shellcheck disable=SC2016
	printf 'prog: $(patsubst %%.c,%%.o,$(wildcard *.c))\n\t$(CC) $^ -o $@\n' >Makefile
	make -j4 CC="$wrapper" >/dev/null && ./prog && has_hooks prog
}

# ---- talking --------------------------------------------------------------------------------------------------------

queries() {
	local one
	for one in --version -dumpversion -dumpmachine -print-search-dirs -print-libgcc-file-name -print-prog-name=ld -print-file-name=libc.so \
		-v "-### main.c" "-Wl,--version" "" "-Wnope" "--help" "-c" "-o x"; do
		# shellcheck disable=SC2086
		same_words $one || { echo "$one"; return 1; }
	done
}
diagnostics() { same_words -c wrong.c -o t.o && same_words -c missing.c && same_words -c -nosuchoption main.c && same_words -Wall -Werror -Wunused -c main.c -o t.o; }
link_errors() { local status=0; "$wrapper" unresolved.c -o t 2>err || status=$?; [ $status -eq 1 ] && grep -q "undefined reference to .nowhere" err; }
wrapped_words() {
	printf '#!/bin/sh\nexec "$@"\n' >ccache && chmod +x ccache
	EPITAPH_CC="$PWD/ccache  ${plaincc[*]}" "$wrapper" -O1 -c twice.c -o t.o && has_hooks t.o
}
asked_family() { # a name that says nothing
	ln -sf "$(command -v "${plaincc[0]}")" strange && EPITAPH_CC=./strange "$wrapper" -O1 -c twice.c -o t.o && has_hooks t.o
}
killed_compiler() {
	printf '#!/bin/sh\nkill -9 $$\n' >dies-gcc && chmod +x dies-gcc
	local status=0; EPITAPH_CC=./dies-gcc "$wrapper" -c twice.c || status=$?; [ $status -eq 137 ]
}
missing_compiler() { local status=0; EPITAPH_CC=./nowhere-gcc "$wrapper" -c twice.c 2>err || status=$?; [ $status -eq 127 ] && grep -q 'nowhere-gcc: No such file' err; }
itself() { local status=0; EPITAPH_CC=$wrapper "$wrapper" -c twice.c 2>err || status=$?; [ $status -eq 64 ] && grep -q itself err; }
bad_option() { local status=0; "$wrapper" -epitaph-method=magic -c twice.c 2>err || status=$?; [ $status -eq 64 ] && grep -q finstrument err; }
verbose() { "$wrapper" -epitaph-verbose -c "twice.c" -o 'a b.o' 2>err && grep -q "'a b.o'" err && eval "$(tail -n 1 err)"; }
method_finstrument() { "$wrapper" -epitaph-method=finstrument -O2 -c twice.c -o t.o && nm t.o | seen __cyg_profile_func_enter; }
method_default() { "$wrapper" -O2 -c twice.c -o t.o && nm t.o | seen "$default_hook"; }
method_of_the_other() { local status=0; "$wrapper" "-epitaph-method=$foreign" -c twice.c 2>err || status=$?; [ $status -eq 64 ] && grep -q "needs" err; }
runtime_none() { "$wrapper" -epitaph-runtime=none -epitaph-method=finstrument main.c twice.c -o t && ! nm t | grep epitaph_root; }

wrapper_modes() { # gcc|clang
	family=$1
	case $family in
	gcc) plaincc=(gcc) plaincxx=(g++) lto=() default_hook=__return__ foreign=after-inlining ;;
	clang) plaincc=(clang) plaincxx=(clang++) lto=(-fuse-ld=lld) default_hook=__cyg_profile_func_exit foreign=pg
		export EPITAPH_CC=clang EPITAPH_CXX=clang++ ;;
	esac
	sources
	"${plaincc[@]}" -O2 main.c twice.c -o p
	local one
	for one in c_without_o c_with_o c_defines_the_same c_several c_joined_o x_language from_stdin from_stdin_to_program \
		x_none_behind x_left_on to_assembly pipe preprocessed_equals preprocess_assembly dependencies \
		dependencies_beside saved_temporaries assembly_untouched syntax_only strict_is_clean strict_object_is_clean \
		without_frame_pointer unwanted no_instrument_attribute response_files precompiled_header own_header \
		program_runs_the_same objects_only default_name no_gprof positions garbage_collected relocatable \
		link_time_optimized immediate_binding only_libc_needed executable_stack runtime_inside shared_library \
		own_functions_stay shared_runtime without_libc other_machine cpp_exceptions resolvers sanitized_program covered_program \
		profiled_program parallel_make queries diagnostics link_errors wrapped_words asked_family \
		killed_compiler missing_compiler itself bad_option verbose method_finstrument method_default \
		method_of_the_other runtime_none; do
		claim "${one//_/ }" "$one"
	done
	echo "$failures modes are not as they should be"
	[ "$failures" -eq 0 ]
}
