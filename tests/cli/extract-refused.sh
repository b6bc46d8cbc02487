#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What is no core is called by its name, with what to do next, and leaves no file behind.
# leaks
set -euo pipefail
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off
refused() { # WORDS STATUS SOURCE
	local status=0
	"$epitaph" extract -o out.core "$3" >stdout.txt 2>stderr.txt || status=$?
	[ "$status" -eq "$2" ] || { echo "$3: status $status, not $2"; cat stderr.txt; exit 1; }
	grep -qF -- "$1" stderr.txt || { echo "$3: no '$1' in:"; cat stderr.txt; exit 1; }
	grep -qF -- "$3" stderr.txt || { echo "$3 is not named in:"; cat stderr.txt; exit 1; }
	[ ! -e out.core ] && [ ! -s stdout.txt ] || { echo "$3: something was written"; exit 1; }
}
: >empty
echo 'core of the matter' >words.txt
mkdir folder
head -c 5000 /dev/zero >zeroes
refused empty 3 empty
refused 'a text file' 3 words.txt
refused 'a directory' 3 folder
refused 'not an ELF core' 3 zeroes
refused 'an executable, not a core' 3 "$epitaph"
refused 'No such file' 3 absent
# Inside of a compressed file too.
for tool in gzip xz zstd; do
	"$tool" -qk words.txt zeroes
	end=$(sed 's/gzip/gz/;s/zstd/zst/' <<<"$tool")
	refused 'a text file' 3 "words.txt.$end"
	refused 'not an ELF core' 3 "zeroes.$end"
done

# A core of a program that was not traced.
cat >plain.c <<'END'
#include <stdlib.h>
int main(void) { abort(); }
END
cc -o plain plain.c
ulimit -c unlimited
./plain 2>/dev/null || true
core=$(ls core core.* 2>/dev/null | head -n 1) || true
[ -n "$core" ] || exit 0
refused 'not built with epitaph-cc' 2 "$core"
