#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --sysroot: the files of a program that ran elsewhere (a container, another host) lie below a folder: names, lines and stacks are
# those of the place where it ran; files of another build there are refused, and said; the snapshot can be taken with it too.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

mkdir place
cat >place/library.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) void deep_inside(int n) { if (n == 3) abort(); }
void from_library(int n) { deep_inside(n); __asm__ volatile(""); }
END
cat >place/program.c <<'END'
void from_library(int n);
__attribute__((noinline)) static void turn(int n) { from_library(n); __asm__ volatile(""); }
int main(void) { for (int i = 0; i < 5; i++) turn(i); }
END
build() { # FLAGS...
	"$BIN/epitaph-cc" -g -O1 "$@" -shared -fPIC place/library.c -o place/libplace.so
	"$BIN/epitaph-cc" -g -O1 place/program.c -Lplace -lplace -Wl,-rpath,"$PWD/place" -o place/program
}
build
crash 134 place/program
"$EPITAPH" report core >here
"$EPITAPH" replay core >here.calls
grep -q 'deep_inside+0x.*place/library.c:2' here || { cat here; fail "no deep_inside where it ran"; }

# Gone from where it ran: addresses are left. The system's libraries are where they were.
root=$PWD/root
mkdir -p "$root$PWD" && mv place "$root$PWD/"
for library in $(ldd "$root$PWD/place/program" | grep -oE '/[^ ]*/(libc|ld-linux)[^ ]*'); do
	library=$(realpath "$library") # a core has the names behind all links
	mkdir -p "$root$(dirname "$library")"
	cp "$library" "$root$library"
done
"$EPITAPH" replay core >gone.calls 2>said || [ $? -eq 1 ]
! grep -q deep_inside gone.calls || fail "names without a file"
grep -q 'libplace.so+0x' gone.calls || { cat gone.calls; fail "no addresses either"; }

# Below the folder all is as it was.
for tool in report replay; do
	"$EPITAPH" $tool --sysroot="$root" core >there 2>said || { cat there said; fail "$tool --sysroot: not whole"; }
	wanted=here
	[ $tool = report ] || wanted=here.calls
	# glibc's debug files lie elsewhere: its own lines are no matter of this.
	diff <(grep -vE '^  #.*(nptl|csu|sysdeps|stdlib)/|libc.so|__' $wanted) \
		<(grep -vE '^  #.*(nptl|csu|sysdeps|stdlib)/|libc.so|__' there) || fail "$tool --sysroot: not as it was"
done
"$EPITAPH" extract -q --sysroot="$root" -o snapshot core
"$EPITAPH" replay --sysroot="$root" snapshot | cmp - here.calls || fail "the snapshot's names"

# Another build lies there: refused, and said.
(cd "$root$PWD" && build -DOTHER -O2)
status=0
"$EPITAPH" replay --sysroot="$root" core >other 2>said || status=$?
[ $status -eq 1 ] && grep -q 'build-id' said || { cat said; fail "another build: status $status"; }
! grep -q deep_inside other || fail "names of another build"
status=0
"$EPITAPH" replay --sysroot=/no/such/folder core >other 2>said || status=$?
[ $status -eq 1 ] || fail "no such folder: status $status"
