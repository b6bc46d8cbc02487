#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Traced plug-ins of programs that are not (-epitaph-runtime=shared): the C library has empty hooks and its own setjmp of the
# same names, and was there first; the C++ library may have been too, with the unwinder. Flows of tests/programs/flows as
# plug-ins: opened at once and lazily, by C, by C++ that has thrown before, by Python, linked, with the C library named
# before the runtime, by Rust. Each dies, and its core tells exactly the calls of the plug-in, and that these are all.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export EPITAPH_MEMORY=4M EPITAPH_SCHED=off

plugin() { # PROGRAM COMPILER METHOD FLAGS...: its main is called plugin
	local wrapper=epitaph-cc cxx=g++
	[[ $1 == *.c ]] || wrapper=epitaph-c++
	[ "$2" = gcc ] || cxx=clang++
	EPITAPH_CC=$2 EPITAPH_CXX=$cxx "$BIN/$wrapper" -w -g -O1 -shared -fPIC "-epitaph-method=$3" -epitaph-runtime=shared \
		"-Dmain=plugin(void) __asm__(\"plugin\"); int plugin" "$TOP/tests/programs/flows/$1" -o libplugin.so "${@:4}"
}

dies() { # PROGRAM WHAT OPTIONS HOST ARGUMENTS...: HOST's name is the program's
	local program=$1 what="$1, $2" options=$3 status=0
	crash core "${@:4}"
	"$BIN/epitaph" replay --format=tsv core 2>err | sed "s/\tplugin\t/\tmain\t/" >tsv || status=$?
	[ $status -le 1 ] || say "$what: replay ends with $status"
	python3 "$TOP/tests/cli/lib/flows.py" "$TOP/tests/programs/flows/$program" "$options" tsv >why || { say "$what"; cat why; }
	"$BIN/epitaph" report core >out 2>err || status=$?
	grep -q '^thread .* died: .*, whole$' out || { say "$what: not whole"; grep '^thread' out || true; }
	hasnt out "lost"
}

cat >host.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#ifdef __cplusplus
#include <stdexcept>
static void before() { try { throw std::runtime_error("before"); } catch (const std::exception &) { } }
#else
static void before(void) { }
#endif
int main(int argc, char **argv)
{
	void *handle = (before(), dlopen(argv[1], argc > 2 && !strcmp(argv[2], "lazy") ? RTLD_LAZY : RTLD_NOW));
	int (*plugin)(void);

	if (!handle)
		return puts(dlerror());
	plugin = (int (*)(void))dlsym(handle, "plugin");
	return plugin();
}
END
gcc -w host.c -o c-host
g++ -w -x c++ host.c -o cxx-host
echo 'int plugin(void); int main(void) { return plugin(); }' >linked.c
python3 -c 'import sys; print(sys.executable)' >python
cat >opens.py <<'END'
import ctypes, sys
ctypes.CDLL(sys.argv[1]).plugin()
END
cat >host.rs <<'END'
#[link(name = "plugin")]
extern "C" { fn plugin() -> i32; }
fn main() { std::process::exit(unsafe { plugin() }) }
END
rustc=$(command -v rustc || true)

here=$PWD/libplugin.so
for program in jumps.c unwinds.cc vforks.c; do
	name=${program%.*}
	while read -r compiler method options; do
		[ -n "$method" ] || continue
		plugin $program $compiler $method
		cp c-host "$name"
		dies $program "$compiler $method, at once" "$options" "$PWD/$name" "$here"
		[[ $program == *.c && $method != pg ]] && continue
		cp cxx-host "$name"
		dies $program "$compiler $method, lazily, by C++" "$options" "$PWD/$name" "$here" lazy
	done <<<'
		gcc finstrument     cleans
		clang after-inlining -
		clang finstrument    -
		gcc pg               -
	'
	rm "$name"
	if [ $program = unwinds.cc ]; then
		ln -sf "$(<python)" "$name"
		dies $program Python - "$PWD/$name" "$PWD/opens.py" "$here"
		rm "$name"
	fi
	gcc linked.c -o "$name" -L. -lplugin -Wl,-rpath,"$PWD"
	dies $program linked - "$PWD/$name"
	if [ -n "$rustc" ] && [ $program = unwinds.cc ]; then
		"$rustc" -L. -C "link-args=-Wl,-rpath,$PWD" host.rs -o "$name" 2>err || { say "rustc: $program"; cat err; }
		dies $program Rust - "$PWD/$name"
	fi
	[ $program != vforks.c ] || continue
	plugin $program gcc pg -lc
	dies $program "the C library named first" - "$PWD/$name"
done

# In a traced program, whose runtime is its own, that one is used; and of the plug-in's nothing is left there.
EPITAPH_CXX=g++ "$BIN/epitaph-c++" -w -x c++ host.c -o unwinds
plugin unwinds.cc gcc pg
dies unwinds.cc "in a traced program" - "$PWD/unwinds" "$here"
plugin jumps.c gcc pg
cp unwinds jumps
dies jumps.c "in a traced program" - "$PWD/jumps" "$here"

# Direct calls, and no name of a hook that another could answer to.
objdump -d --no-show-raw-insn libplugin.so >code
grep -q 'call .*<__wrap___fentry__>' code || say "hooks are not called directly"
! nm -D libplugin.so | grep -E ' (__wrap_.*|__fentry__|__return__|__cyg_.*|_?setjmp)$' | grep -v ' U _setjmp' || say "a hook's name got out"
# As PostgreSQL's makefile asks of libpq: nothing that it needs has "exit" in its name.
! nm -u libplugin.so | grep -v __cxa_atexit | grep exit || say "a library that seems to exit"
"$BIN/epitaph" doctor libplugin.so >out 2>&1 || true
hasnt out "no hooks"

# Without any runtime in the process, a traced library is just a library: also with gcc's pg, whose hook at returns no C
# library has.
echo 'int traced(void) { return 1; } int plugin(void) { return traced() - 1; }' >plain.c
"$BIN/epitaph-cc" -O0 -shared -fPIC plain.c -Wl,-z,defs -o libplugin.so
./c-host "$here" >out 2>err || say "a library without a runtime"
[ ! -s out ] && [ ! -s err ] || { say "a library without a runtime says something"; cat out err; }

# What a library has of such a name is its own and is called, whoever else has one.
cat >own.c <<'END'
#include <setjmp.h>
#include <stdio.h>
static jmp_buf buffer;
int vfork(void) { return 42; }
void longjmp(jmp_buf where, int value) { printf("%d\n", value); fflush(stdout); __builtin_trap(); }
static int calls(int (*f)(void)) { return f(); }
int plugin(void) { printf("%d\n", vfork()); longjmp(buffer, 7); return calls(vfork); }
END
"$BIN/epitaph-cc" -w -O1 -fno-builtin -shared -fPIC -epitaph-runtime=shared own.c -o libplugin.so -Wl,-Bsymbolic
./c-host "$here" >out 2>err || true
[ "$(tr '\n' ' ' <out)" = "42 7 " ] || { say "a library's own functions"; cat out err; }
[ $failures -eq 0 ]
