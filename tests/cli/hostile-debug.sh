#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Debug files, with the right build-id, that were made to cost time or memory: strings that overlap, lists that many entries share,
# names that expand. Of 5 MB each; work and memory are linear in that. What fails takes ten times as much as is allowed here.
# sanitized only
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >main.c <<'END'
#include <stdlib.h>
void all(void);
int main(void) { all(); abort(); }
END
gcc -c "$TOP/tests/programs/many_functions.S" -o many.o
"$BIN/epitaph-cc" -O1 main.c many.o -o many
strip many
EPITAPH_MEMORY=4M EPITAPH_SCHED=off crash core "$PWD/many"
python3 "$TOP/tests/cli/lib/hostile_debug.py" files "$PWD/many" >names
[ "$(wc -l <names)" -ge 12 ] || say "too few files: $(cat names)"
while read -r name; do
	for words in 'report --inlines --all' stats; do
		got=0
		# The plain reader, as a sanitizer takes memory of its own.
		# shellcheck disable=SC2086
		(ulimit -t 10 -v 2000000 && exec "$BIN/epitaph" $words --debug-path="files/$name" core) >out 2>err || got=$?
		[ $got -le 1 ] || say "$name, $words: status $got, $(tail -1 err)"
	done
done <names
# What is right in such a file is used.
"$EPITAPH" stats --debug-path=files/symbols_that_expand core >out 2>err || true
grep -q 'f0001' out || say "no names: $(head -5 out)"
[ $failures -eq 0 ]
