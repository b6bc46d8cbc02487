#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A program with EPITAPH_OPTIONAL is built once and runs without the runtime, and
# with it; C and C++.
set -euo pipefail
source "$TOP/tests/cli/lib/core.bash"

cat >maybe.c <<'C'
#define EPITAPH_OPTIONAL
#include <epitaph.h>
#include <stdio.h>
int main(void)
{
	if (epitaph_present()) {
		epitaph_pause();
		epitaph_resume();
		epitaph_snapshot_free(epitaph_snapshot_take());
	}
	puts(epitaph_present() ? "present" : "absent");
	return 0;
}
C
cp maybe.c maybe.cc
for compiler in gcc g++; do
	source=maybe.c
	wrapper=epitaph-cc
	[ $compiler = gcc ] || source=maybe.cc wrapper=epitaph-c++
	$compiler -Wall -Wextra -Werror -I"$BUILD/include" $source -o plain
	[ "$(./plain)" = absent ] || fail "$compiler: present without it"
	[ "$(LD_PRELOAD=$LIB/libepitaph.so ./plain)" = present ] || fail "$compiler: absent, though preloaded"
	"$BIN/$wrapper" -Wall -Werror $source -o traced
	[ "$(./traced)" = present ] || fail "$compiler: absent, though linked"
done
clang -Wall -Wextra -Werror -I"$BUILD/include" maybe.c -o plain
[ "$(./plain)" = absent ] || fail "clang: present without it"
