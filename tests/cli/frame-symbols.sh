#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What a traced program is made of: libc and nothing else, no executable stack, and every name that the shared runtime
# exports is exported by a traced executable too, so that the libraries it loads find the hooks.
set -euo pipefail

needed() { readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }
names() { nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort -u; }

libraries=$(needed "$LIB/libepitaph.so")
[ "$libraries" = libc.so.6 ] || { echo "libepitaph.so needs $libraries"; exit 1; }

echo 'int main(void) { return 0; }' >main.c
"$BIN/epitaph-cc" main.c -o traced
[ "$(needed traced)" = libc.so.6 ]

names "$LIB/libepitaph.so" >shared
names traced >static
for hook in __fentry__ __return__ __cyg_profile_func_enter __cyg_profile_func_exit epitaph_root; do
	grep -qx "$hook" shared
done
missing=$(comm -23 shared static)
[ -z "$missing" ] || { echo "a traced executable doesn't export: $missing"; exit 1; }

# A program that was linked without us asks for the C library's __cyg_profile_func_enter@GLIBC_2.2.5; under LD_PRELOAD ours
# answers only if our names have no version of their own.
! readelf -VW "$LIB/libepitaph.so" | grep -q 'Version definition'

# Nothing internal gets out, and nothing that could clash with the program's names.
internal=$(grep -E '^ep_|^EP_' shared || true)
[ -z "$internal" ] || { echo "internal names are exported: $internal"; exit 1; }
clashing=$(nm -g --defined-only "$LIB/libepitaph.a" | awk 'NF == 3 { print $3 }' |
	grep -vE '^(epitaph_|__fentry__$|__return__$|(__wrap_)?__cyg_profile_func_)' | grep -vxFf shared || true)
[ -z "$clashing" ] || { echo "libepitaph.a defines more than the shared runtime exports: $clashing"; exit 1; }

for file in "$LIB/libepitaph.so" traced; do
	readelf -lW "$file" | grep GNU_STACK | grep -q 'RW ' || { echo "$file: executable stack"; exit 1; }
	! readelf -lW "$file" | grep -q RWE
	! readelf -dW "$file" | grep -q TEXTREL
done

# Thread-local memory of the shared runtime must fit where dlopen keeps room.
tls=$(readelf -lW "$LIB/libepitaph.so" | awk '$1 == "TLS" { print $6 }')
[ $((${tls:-0})) -le 64 ] || { echo "thread-local memory: $tls bytes"; exit 1; }
