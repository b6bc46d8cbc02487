#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# -epitaph-method=xray by clang, and clang 19 where there is one, at every optimization, linked in every way: each program crashes, and its core
# decodes to the log that the program kept. A host and what it opens tell the same calls as with the default method. A
# conditional tail call's flags stay, and calling conventions of their own keep their registers. Nothing of compiler-rt.
# timeout: 600
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/builds.bash"
export EPITAPH_BUDGET=none # everything is told

clangs=(clang)
! command -v clang-19 >/dev/null || clangs+=(clang-19)

# xray NAME CLANG FLAGS...: compiles, crashes, compares
xray() {
	local name=$1
	EPITAPH_CXX=$2 "$BIN/epitaph-c++" --driver-mode=g++ -epitaph-method=xray -DEVENTS=6000 "${@:3}" \
		"$TOP/tests/programs/truth.cc" -o "truth-$name" -lpthread >compiler.txt 2>&1 ||
		{ cat compiler.txt; fail "$name does not build"; }
	! nm "truth-$name" | grep -E ' (__xray_|_ZN6__xray)' || fail "$name: has something of compiler-rt"
	decoded "$name" leaves
}

for clang in "${clangs[@]}"; do
	for level in 0 1 2 3 s; do
		xray "$clang-O$level" "$clang" "-O$level"
	done
	xray "$clang-no-pie" "$clang" -O2 -no-pie -fno-pie
	xray "$clang-static" "$clang" -O2 -static
	xray "$clang-static-pie" "$clang" -O2 -static-pie -fPIE
	xray "$clang-frames" "$clang" -O2 -fno-omit-frame-pointer -fcf-protection=full
	xray "$clang-sections" "$clang" -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections
	xray "$clang-shared-runtime" "$clang" -O2 -epitaph-runtime=shared
done
xray lld clang -O2 -fuse-ld=lld -Wl,--gc-sections -ffunction-sections
xray lto clang -O2 -flto -fuse-ld=lld
xray gold clang -O2 -fuse-ld=gold

# ---- a host, a library that it links and one that it opens, against the default method
cat >part.c <<'SRC'
#define KEPT __attribute__((noinline))
static volatile int sink;
KEPT int NAME(leaf)(int n) { sink = n; return n + 1; }
KEPT int NAME(tail)(int n) { sink = n; return NAME(leaf)(n); }
KEPT int NAME(work)(int n) { int sum = NAME(tail)(n) + NAME(leaf)(n); return sum + (n ? NAME(work)(n - 1) : 0); }
SRC
cat >host.c <<'SRC'
#include <dlfcn.h>
#include <stdlib.h>
int linked_work(int n);
__attribute__((noinline)) static void last(void) { abort(); }
static int open_and_work(void)
{
	void *library = dlopen("./libopened.so", RTLD_NOW);
	int (*work)(int) = (int (*)(int))dlsym(library, "opened_work");
	int sum = work(3);
	dlclose(library);
	return sum;
}
int main(void)
{
	int sum = linked_work(3) + open_and_work() + open_and_work();
	if (sum)
		last();
	return sum;
}
SRC
calls() { # METHOD RUNTIME OUT
	local cc=("$BIN/epitaph-cc" -w "-epitaph-method=$1" "-epitaph-runtime=$2") result=0
	export EPITAPH_CC=clang
	"${cc[@]}" -O1 -fno-optimize-sibling-calls -fPIC -shared '-DNAME(n)=linked_##n' part.c -o liblinked.so
	"${cc[@]}" -O1 -fno-optimize-sibling-calls -fPIC -shared '-DNAME(n)=opened_##n' part.c -o libopened.so
	"${cc[@]}" -O1 host.c ./liblinked.so -ldl -o host
	! readelf -W --dyn-syms liblinked.so host | grep -E '(DEFAULT|PROTECTED).*xray_instr_map' ||
		fail "$1, $2: a module's list of sleds is to be had for others"
	strip libopened.so
	crash 134 ./host
	"$EPITAPH" replay --format=tsv core >tsv || result=$?
	[ $result -le 1 ] || fail "$1, $2: replay ends with $result"
	grep '^[BE]' tsv | cut -f1,7-9 >"$3"
	[ "$(grep -c '^B.*opened_leaf' "$3")" -eq 16 ] || { cat "$3"; fail "$1, $2: not 16 calls of opened_leaf"; }
}

for runtime in static shared; do
	calls after-inlining $runtime wanted
	calls xray $runtime told
	diff -u wanted told || fail "$runtime: not the calls of the default method"
done

# ---- conditional tail calls (-Os), and conventions that keep what others do not
cat >odd.c <<'SRC'
#include <stdlib.h>
#define KEPT __attribute__((noinline))
static volatile int sink;
KEPT void done(void) { sink++; }
KEPT void perhaps(int n) { if (n) done(); }
KEPT int less(int a, int b) { if (a < b) done(); return a; }
__attribute__((noinline, preserve_most)) void most(long *p) { *p += 1; done(); }
/* r10 is most()'s to keep; what it does with r11 is its own affair. */
KEPT int kept(void)
{
	register long r10 __asm__("r10") = 0x1234567890;
	long n = 1, *p = &n;

	__asm__ volatile("sub $128, %%rsp; call most; add $128, %%rsp" : "+D"(p), "+r"(r10) : : "r11", "memory", "cc");
	return r10 == 0x1234567890 && n == 2;
}
int main(void)
{
	for (int i = 0; i < 3000; i++) {
		sink = 0;
		perhaps(0);
		if (sink || (perhaps(1), sink != 1) || less(2, 1) != 2 || sink != 1 || less(1, 2) != 1 || sink != 2)
			return 1;
		if (!kept())
			return 2;
	}
	abort();
}
SRC
for clang in "${clangs[@]}"; do
	EPITAPH_CC=$clang "$BIN/epitaph-cc" -epitaph-method=xray -Os -w odd.c -o odd
	for every in 1 8; do
		EPITAPH_RING=16K EPITAPH_TIMESTAMP_EVERY=$every crash 134 ./odd
	done
	result=0
	"$EPITAPH" replay --last=40 --format=tsv core >tsv || result=$?
	for name in perhaps less most kept done; do
		grep -q "^B.*	$name	" tsv || { cat tsv; fail "$clang: no call of $name"; }
	done
done

# ---- a return behind an instruction whose last byte is 0, which is also what decides in a tail call's sled
cat >ends.c <<'SRC'
#include <epitaph.h>
#include <stdlib.h>
static long sums[2];
KEPT void ends(long n) { sums[0] += n; }
KEPT void follows(long n) { sums[1] += 2 * n; }
int main(void)
{
	long want = 0;

	for (int turn = 0; turn < 200; turn++) {
		if (turn % 2)
			epitaph_untrace("ends");
		else
			epitaph_trace("ends");
		for (long i = 0; i < 10; i++) {
			ends(i);
			follows(i);
			want += i;
		}
		if (sums[0] != want || sums[1] != 2 * want)
			return 1;
	}
	abort();
}
SRC
for clang in "${clangs[@]}"; do
	EPITAPH_CC=$clang "$BIN/epitaph-cc" -epitaph-method=xray -O2 -DKEPT='__attribute__((noinline))' ends.c -o ends
	objdump -d ends | grep -A12 '<ends>:' | grep -B1 '	c3  ' | grep -q ' 00 *	' || fail "$clang: no 0 stands before the return"
	crash 134 ./ends
done

# ---- what there is not
! EPITAPH_CC=gcc "$BIN/epitaph-cc" -epitaph-method=xray odd.c -o odd 2>err || fail "gcc has sleds"
grep -q 'error: -epitaph-method=xray needs clang' err || fail "gcc: $(cat err)"
echo done >list
! EPITAPH_CC=clang "$BIN/epitaph-cc" -epitaph-method=xray -epitaph-no-trace=list odd.c -o odd 2>err || fail "sleds were filtered"
grep -q 'error: -epitaph-method=xray takes no lists' err || fail "lists: $(cat err)"
