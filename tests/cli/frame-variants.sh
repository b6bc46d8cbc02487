#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Everything builds without a warning with gcc and with clang, and under the thread sanitizer (under the two others `make check`
# builds it anyway).
# timeout: 600
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
build gcc CC=gcc CFLAGS='-O2 -Werror'
build clang CC=clang CFLAGS='-O1 -Werror'
build thread SAN=thread CFLAGS=-O0
# Flags of a traced or hardened build in CFLAGS don't reach the runtime.
builds hardened CFLAGS='-O2 -pg -D_FORTIFY_SOURCE=2 -fstack-protector-strong' LDFLAGS=-pg \
	"$PWD/hardened/lib/libepitaph.a" "$PWD/hardened/lib/libepitaph.so"
