#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that ran in a chroot of a mount namespace of its own, without /proc, at a path that outside is another program: the
# other one's names are never taken, and said; --sysroot and --debug-path (by build-id) find the right one.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"
unshare -m true 2>/dev/null || { echo "no mount namespaces here"; exit 77; }

place=$(mktemp -d "${TMPDIR:-/tmp}/place.XXXXXX") # the path of both
trap 'rm -rf "$place"' EXIT
cat >inside.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) void in_the_container(int n) { if (n == 3) abort(); }
int main(void) { for (int i = 0; i < 5; i++) { in_the_container(i); __asm__ volatile(""); } }
END
sed 's/in_the_container/on_the_host_only/' inside.c >outside.c
mkdir -p "root$place"
"$BIN/epitaph-cc" -g -O1 inside.c -o "root$place/app"
"$BIN/epitaph-cc" -g -O1 outside.c -o "$place/app"
ldd "$place/app" | grep -oE '/[^ ]+' | while read -r library; do
	mkdir -p "root$(dirname "$library")"
	cp -L "$library" "root$library"
done
status=0
(ulimit -c unlimited && exec unshare -m chroot root "$place/app") >/dev/null 2>&1 || status=$?
[ $status -eq 134 ] || fail "it ended with $status"
mv root/core* core || fail "no core: kernel.core_pattern is $(cat /proc/sys/kernel/core_pattern)"

# other_file COMMAND...: partial, as the file there is another one
other_file() {
	local status=0
	"$EPITAPH" "$@" core >page 2>said || status=$?
	[ $status -eq 1 ] || { cat page said; fail "$*: status $status"; }
	! grep -q 'on_the_host_only' page || { cat page; fail "$*: names of another program"; }
	! grep -q 'overwritten' page || { cat page; fail "$*: calls the stack overwritten"; }
	grep -q "build-id.*differs" page said || { cat page said; fail "$*: does not say that the file is another one"; }
}
# right COMMAND...: what ran is named, in the stack and in the calls
right() {
	"$EPITAPH" "$@" core >page 2>said || [ $? -eq 1 ]
	! grep -q 'on_the_host_only\|overwritten' page || { cat page; fail "$*: names of another program"; }
	grep -q 'in_the_container()' page || { cat page said; fail "$*: not named"; }
}
other_file report
other_file replay
right report --sysroot=root
grep -q '^  #.*in_the_container.*inside.c:2.*called' page || { cat page; fail "the stack and the trace do not agree"; }
right replay --sysroot=root
id=$(readelf -n "root$place/app" | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}"
cp "root$place/app" "debug/.build-id/${id:0:2}/${id:2}.debug"
right report --debug-path=debug
right replay --debug-path=debug
