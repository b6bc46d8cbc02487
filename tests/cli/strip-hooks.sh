#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# epitaph strip-hooks: on executables of every kind and shared libraries of every linker, the functions of a list call no hook
# afterwards (objdump), all others as before, the program prints the same, and --restore gives back the very bytes.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/filter.bash"

cat >f.c <<'SRC'
#include <stdio.h>
#include <stdlib.h>
#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone))
#endif
KEEP int ext(int x) { return x * 2; }
KEEP int tail(int x) { return ext(x + 1); }
KEEP void nothing(void) { __asm__ volatile(""); }
static KEEP int local(int x) { return x - 3; }
KEEP int cold(int x)
{
	if (__builtin_expect(x > 5, 0)) {
		fprintf(stderr, "large %d %d\n", ext(x), local(x));
		abort();
	}
	return ext(x) + 1;
}
KEEP int loop(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += local(i);
	return s;
}
int run(void);
int run(void)
{
	nothing();
	return printf("%d %d %d\n", tail(3), cold(2), loop(5));
}
SRC
echo 'int run(void); int main(void) { return run() != 8; }' >main.c
echo "ext nothing co*	# local
local" >list

# How often each function calls a hook: "name count" lines. A stub of the procedure linkage table is a call too.
calls() { # FILE
	objdump -d --no-show-raw-insn "$1" | awk '/^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f); sub(/\.cold$/, "", f) }
		/(call|jmp) .*<(__wrap_)?(__fentry__|__return__|__cyg_profile_func_(enter|exit))(@plt|@@.*|[$]plt)?>/ || \
		/(call|jmp) +\*.*<(__fentry__|__return__|__cyg_profile_func_(enter|exit))@.*>/ { n[f]++ }
		END { for (f in n) if (f !~ /^__|@plt/) print f, n[f] }' | sort
}
listed='^(ext|nothing|cold|local) '

strips() { # FILE: all of the above
	"$EPITAPH" strip-hooks "$1" --no-trace=list -o "$1.less" >said || { echo "$1: status $?"; exit 1; }
	calls "$1" | grep -Ev "$listed" >want
	calls "$1.less" >got
	[ "$(calls "$1" | grep -Ec "$listed")" = 4 ] || { echo "$1: the test has nothing to strip"; calls "$1"; exit 1; }
	diff want got || { echo "$1: the hooks of other functions"; exit 1; }
	cp "$1.less" "$1.back"
	"$EPITAPH" strip-hooks --restore "$1.back" && cmp "$1" "$1.back"
	[ "$(readelf -n "$1" | grep Build)" = "$(readelf -n "$1.less" | grep Build)" ]
	eu-elflint --gnu-ld "$1.less" >lint.after || true
	eu-elflint --gnu-ld "$1" >lint.before || true
	diff lint.before lint.after
}
executable() { # OPTIONS...
	# shellcheck disable=SC2086
	"$wrapper" "-epitaph-method=$method" $how f.c main.c -o prog
	strips prog
	[ "$(./prog.less)" = "8 5 -5" ] || { echo "$compiler $method $how: $(./prog.less)"; exit 1; }
}
library() {
	# shellcheck disable=SC2086
	"$wrapper" "-epitaph-method=$method" -shared -fPIC $how f.c -o libf.so
	strips libf.so
	"$wrapper" "-epitaph-method=$method" main.c -o uses ./libf.so.less
	[ "$(LD_LIBRARY_PATH=. ./uses)" = "8 5 -5" ]
}
for how in "-O2" "-O2 -static" "-Os -no-pie -fno-plt"; do each_method executable; done
for how in "-O2 -fno-plt" "-O2 -fuse-ld=lld" "-O2 -fuse-ld=mold"; do each_method library; done

# In place; a second time with other rules is as if it were the first; its mode stays.
export EPITAPH_CC=gcc
"$wrapper" -O2 f.c main.c -o prog && chmod 750 prog && cp prog whole
"$EPITAPH" strip-hooks prog -n list >said
grep -qx '4 functions lose [0-9]* hooks; .*' said
[ "$(stat -c %a prog)" = 750 ]
# Rights that a file gives stay its owner's, and do not become the caller's; its capabilities go, and that is said.
if [ "$(id -u)" -eq 0 ]; then
	cp whole theirs && chown 65533:65533 theirs && chmod 6755 theirs
	"$EPITAPH" strip-hooks theirs -n list -o mine >said
	[ "$(stat -c %u:%g:%a mine)" = 0:0:755 ]
	python3 -c 'import os, struct; os.setxattr("theirs", "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0))'
	chmod 6755 theirs
	"$EPITAPH" strip-hooks theirs -n list >said 2>errors
	[ "$(stat -c %u:%g:%a theirs)" = 65533:65533:6755 ]
	grep -q 'without the capabilities of theirs: setcap' errors
	[ "$(python3 -c 'import os; print(os.listxattr("theirs"))')" = '[]' ]
fi
echo loop >other
"$EPITAPH" strip-hooks prog -n other -o again >said
"$EPITAPH" strip-hooks whole -n other -o once >said
cmp again once
"$EPITAPH" strip-hooks prog -t 1000 -n list -d other >said && [ -z "$(calls prog | grep -v '^loop ')" ]
"$EPITAPH" strip-hooks prog -t 1000 >said && [ "$(calls prog | cut -d' ' -f1)" = loop ]
"$EPITAPH" strip-hooks prog -t 1000 --ignore-loops >said && [ -z "$(calls prog)" ] && [ "$(./prog)" = "8 5 -5" ]
# What is recorded by a program without any hooks left: nothing, and it runs all the same.
"$EPITAPH" strip-hooks -r prog && cmp prog whole

# A list: who has hooks, who would lose them; nothing is written.
"$EPITAPH" strip-hooks whole -l -n list >table
grep -Eq '^traced +[23] +[0-9]+\*  loop  ' table
grep -Eq '^not traced +[0-9]+ +[0-9]+   ext  \(list:1 says ext\)$' table
cmp whole prog

# Names of no function are printed and counted; without a symbol table only what is exported has a name.
echo "ext missing mis*ing" >bad
"$EPITAPH" strip-hooks whole --check -n bad 2>err && grep -q 'bad:1: missing is no function of whole' err &&
	grep -q '2 of 3 names are no function of whole' err
cmp whole prog
"$wrapper" -O2 -shared -fPIC f.c -o libf.so && strip libf.so && cp libf.so bare.so
"$EPITAPH" strip-hooks bare.so -n list 2>err >said && grep -q 'no .symtab' err && grep -q 'local is no function' err
[ "$(objdump -d --no-show-raw-insn bare.so | grep -c "call ")" -lt "$(objdump -d --no-show-raw-insn libf.so | grep -c "call ")" ] # hooks have no names there

fails() { # STATUS WORDS ARGUMENTS...
	local want=$1 words=$2 status=0
	shift 2
	"$EPITAPH" strip-hooks "$@" >out 2>err || status=$?
	[ $status = "$want" ] && grep -q "$words" err || { echo "$*: status $status"; cat err; exit 1; }
}
# A program that uses a hook in its own way keeps it, and is named: status 1.
cat >own.c <<'SRC'
void __fentry__(void);
void *address;
__attribute__((noinline)) void odd(void) { address = (void *)__fentry__; }
__attribute__((noinline)) void even(void) { __asm__ volatile(""); }
int main(void) { odd(); even(); return 0; }
SRC
"$wrapper" -O2 -no-pie own.c -o own && calls own >before
echo "odd even" >both
fails 1 'odd keeps its hooks: at 0x[0-9a-f]* a hook is used' own -n both
diff <(calls own) <(grep -v ^even before) && ./own

fails 64 'say which' whole
fails 64 'takes no lists' whole -r -n list
fails 64 'a number of instructions' whole -t x
fails 3 'No such file' nowhere -n list
fails 3 'nothere: No such file' whole -n nothere
fails 3 'no ELF file' list -n list
fails 2 'its hooks were not stripped' whole --restore
gcc -c main.c && fails 3 'neither an executable nor' main.o -n list
gcc -O2 f.c main.c -o plain && fails 2 'calls no hooks' plain -n list
cp bare.so none.so && strip --remove-section=.dynsym --strip-section-headers none.so 2>/dev/null && fails 2 'no names of functions' none.so -n list
# Damaged or changed since: refused, and not a byte is written.
cp whole changed && "$EPITAPH" strip-hooks changed -n list >said
at=$(readelf -SW changed | awk '/epitaph.stripped/ { for (i = 1; i < NF; i++) if ($i == "PROGBITS") print $(i + 2) }')
cp changed flipped && printf '\377' | dd of=flipped bs=1 seek=$((0x$at + 60)) conv=notrunc status=none && cp flipped kept
fails 3 'is damaged' flipped --restore && cmp flipped kept
cmp -l whole changed 2>/dev/null >differences || true
awk '$1 > 4096 { print $1; exit }' differences >where
cp changed patched && printf '\314' | dd of=patched bs=1 seek=$(($(cat where) - 1)) conv=notrunc status=none
fails 3 'was changed since' patched --restore
