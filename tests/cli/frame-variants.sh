#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Everything builds without a warning with clang, and under the thread sanitizer; `make check` itself builds with gcc, where a
# warning is an error, and under the two other sanitizers.
# timeout: 600
# nothing crashes
set -euo pipefail
builds() { # NAME VARIABLE-OR-GOAL...
	local name=$1
	shift
	make -s -j2 -C "$TOP" BUILD="$PWD/$name" "$@" >"$name.log" 2>&1 || {
		tail -40 "$name.log"
		echo "does not build: $*"
		exit 1
	}
}
build() { # NAME VARIABLE...
	builds "$@" all
	"$1/bin/epitaph" --version >/dev/null
	rm -rf "$1"
}
build clang CC=clang CFLAGS=-O0 WERROR=1
# The runtime is never sanitized: its objects are those of `make check`.
mkdir -p thread/obj
cp -a "$BUILD"/obj/{a,so} thread/obj/
# In a fresh tree, one thing after the other: what the wrapper runs is there before it is run.
builds thread -j1 SAN=thread CFLAGS=-O0 "$PWD/thread/obj/calibration/traced.o"
build thread SAN=thread CFLAGS=-O0
# Flags of a traced or hardened build in CFLAGS don't reach the runtime: the shared one links without what they call, and what
# would be run for the static one has none of them left.
hardened=(CFLAGS='-O1 -pg -D_FORTIFY_SOURCE=2 -fstack-protector-strong' LDFLAGS=-pg)
builds hardened "${hardened[@]}" "$PWD/hardened/lib/libepitaph.so"
make -n V=1 -C "$TOP" BUILD="$PWD/hardened" "${hardened[@]}" "$PWD/hardened/lib/libepitaph.a" | grep -F 'local-exec' >static
[ "$(wc -l <static)" -ge 50 ]
! grep -E ' -(p|pg) ' static
! grep -v 'fstack-protector-strong.*fno-stack-protector' static
