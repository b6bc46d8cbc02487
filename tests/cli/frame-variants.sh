#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Everything builds without a warning with gcc and with clang, and each sanitizer's build links.
# timeout: 600
set -euo pipefail
build() { # NAME VARIABLE...
	local name=$1
	shift
	make -s -j2 -C "$TOP" BUILD="$PWD/$name" "$@" all >"$name.log" 2>&1 || {
		tail -40 "$name.log"
		echo "does not build: $*"
		exit 1
	}
	"$name/bin/epitaph" --version >/dev/null
	rm -rf "$name"
}
build gcc CC=gcc CFLAGS='-O2 -Werror'
build clang CC=clang CFLAGS='-O1 -Werror'
build thread SAN=thread CFLAGS=-O0
build undefined SAN=undefined CFLAGS=-O0
# Flags of a traced or hardened build in CFLAGS don't reach the runtime.
build hardened CFLAGS='-O2 -pg -D_FORTIFY_SOURCE=2 -fstack-protector-strong' LDFLAGS=-pg
