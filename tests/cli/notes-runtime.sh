#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Notes of the runtime: the compiler checks them, they need no tracing and no runtime, a call with a note in it is kept, and
# neither 100,000 signals nor forks while others note tear one.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

# ---- compilers ----

cat >wrong.c <<'C'
#include <epitaph.h>
int main(void) { epitaph_note("%d", "text"); return 0; }
C
cat >right.c <<'C'
#define EPITAPH_OPTIONAL
#include <epitaph.h>
#include <stdio.h>
int main(void)
{
	int evaluated = 0;
	epitaph_note("plain");
	epitaph_note("%d %s", ++evaluated, "x");
	if (evaluated)
		epitaph_note("in an if");
	else
		puts("absent");
	return 0;
}
C
cp wrong.c wrong.cc && cp right.c right.cc
for compiler in gcc g++ clang; do
	end=c && [ $compiler != g++ ] || end=cc
	! $compiler -Wformat -Werror -I"$BUILD/include" -c wrong.$end -o wrong.o 2>err || fail "$compiler takes %d for a text"
	grep -q 'format' err || fail "$compiler: $(cat err)"
	$compiler -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$BUILD/include" right.$end -o right
	[ "$(./right)" = absent ] || fail "$compiler: without the runtime"
	[ -z "$(LD_PRELOAD=$LIB/libepitaph.so ./right)" ] || fail "$compiler: with the runtime preloaded"
done
cat >inside.cc <<'C'
#include <epitaph.h>
#include <stdlib.h>
template <class T> struct box { T value; void tell() { epitaph_note("box of %d", (int)value); } };
inline void in_line(int n) { auto lambda = [=] { epitaph_note("lambda %d", n); }; lambda(); }
int main() { box<int>{1}.tell(); box<char>{2}.tell(); in_line(3); abort(); }
C
for flags in "-O0" "-O2 -flto" "-O2 -std=c++11 -fno-pie -no-pie"; do
	"$BIN/epitaph-c++" -Wall -Wextra -Wpedantic -Werror $flags inside.cc -o inside
	crash 134 ./inside
	"$EPITAPH" replay --format=tsv core | awk -F'\t' 'sub(/^note /, "", $11) {print $11}' >got
	printf 'box of 1\nbox of 2\nlambda 3\n' | diff - got || fail "g++ $flags"
done
# C++98 has no variadic macros.
! g++ -std=c++98 -Wformat -Werror -I"$BUILD/include" -c wrong.cc -o wrong.o 2>err || fail "C++98 takes %d for a text"
cat >old.cc <<'C'
#include <epitaph.h>
#include <stdlib.h>
int main() { epitaph_note("%s %d", "old", 98); abort(); }
C
"$BIN/epitaph-c++" -std=c++98 -Wall -Wextra -Wpedantic -Werror old.cc -o old
crash 134 ./old
"$EPITAPH" replay core | grep -q -- '-- old 98$' || fail "C++98"
# No hooks at all, linked statically: notes only.
cat >plain.c <<'C'
#include <epitaph.h>
#include <stdlib.h>
int main(void) { epitaph_note("%s %.1f %d", "static", 0.5, 7); abort(); }
C
gcc -O2 -static -I"$BUILD/include" plain.c -o plain "$LIB/libepitaph.a"
crash 134 ./plain
"$EPITAPH" replay core | grep -q -- '-- static 0.5 7$' || fail "a static program without hooks"

# ---- a call that has a note in it is not a short one ----

cat >short.c <<'C'
#include <epitaph.h>
#include <stdlib.h>
__attribute__((noinline)) static void quiet(void) { __asm__ volatile(""); }
__attribute__((noinline)) static void noting(void) { epitaph_note("kept"); __asm__ volatile(""); }
__attribute__((noinline)) static void outer(void) { noting(); __asm__ volatile(""); }
int main(void) { for (int i = 0; i < 10; i++) { quiet(); if (i % 5 == 0) outer(); } abort(); }
C
"$BIN/epitaph-cc" -O1 short.c -o short
EPITAPH_MIN_DURATION=1s crash 134 ./short
"$EPITAPH" replay --format=tsv core | awk -F'\t' '!/^#/ {print $1, $8, $11}' | sort | uniq -c | awk '{$1 = $1; print}' >got
sort >want <<'END'
1 B main did-not-return
2 B noting -
2 B outer -
2 E noting -
2 E outer -
2 P noting note kept
END
sort got | diff want - || fail "short calls around notes"

# ---- storms and forks ----

"$BIN/epitaph-cc" -O2 -I"$TOP" -pthread "$TOP/tests/programs/remarks.c" -o remarks
EPITAPH_RING=4M crash 134 ./remarks storm
[ "$(info 'info["lost"]["blocks_torn"] + info["lost"]["blocks_backward"] + info["lost"]["blocks_duplicate"]')" = 0 ] ||
	fail "$(info 'info["lost"]')"
"$EPITAPH" replay --format=tsv core >tsv || [ $? -eq 1 ]
awk -F'\t' '
$1 == "P" && $11 ~ /^note [0-9]+ is twice [0-9]+$/ {
	split($11, w, " ")
	if (w[5] != 2 * w[2]) bad++
	if ($5 in last && w[2] != last[$5] + 1 && !gap[$5]) lost += w[2] - last[$5] - 1
	last[$5] = w[2]; gap[$5] = 0; notes++; next
}
$1 == "P" && $11 == "note signal 10 in a handler" { handlers++; next }
# A handler may hit the thread while it clears the block that the handler then enters: some words are lost, and missed.
$1 == "P" && /<\?>/ { lost++; next }
$1 == "P" { bad++; print > "/dev/stderr" }
$1 == "G" { gap[$5] = 1; gaps++ }
END { print notes + 0, handlers + 0, bad + 0, lost + 0, gaps + 0 }' tsv >counts
read -r notes handlers bad lost gaps <counts
[ "$bad" = 0 ] || fail "$bad notes are torn"
[ "$notes" -gt 10000 ] && [ "$handlers" -gt 100 ] || fail "only $notes notes, $handlers of handlers"
# A few of 90,000: most of them where a signal has waited for a thread that was preempted as it entered a block, so that there are
# more on a busy machine (14 gaps were seen there).
[ "$lost" -le 60 ] && [ "$gaps" -le 60 ] || fail "$lost notes lost, $gaps gaps"

crash 0 ./remarks forks
"$EPITAPH" replay --format=tsv core >tsv || [ $? -eq 1 ]
awk -F'\t' '$1 == "P" {print $11}' tsv | sed 's/^note //' >got
grep -v '^child 199 ' got >strange || true
[ ! -s strange ] || fail "in the child's history: $(head -3 strange)"
# As much as its ring holds, to the end, in order.
awk '$3 != last + 1 && NR > 1 {exit 1} {last = $3} END {exit last != 599 || NR < 500}' got || fail "the child's notes: $(tail -3 got)"
