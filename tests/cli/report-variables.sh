# SPDX-License-Identifier: BSD-2-Clause
# The arguments and locals of the crashing frame are those of gdb's `info args` and `info locals`, of gcc and clang, C and C++,
# at each optimization; the source line stands between its neighbours; a snapshot without stacks or registers has none of it.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

same() { # PROGRAM FUNCTION LEAST: at least so many variables, and each is gdb's
	"$EPITAPH" report --json "core.$1" >"$1.json" || [ $? -eq 1 ]
	gdb -nx -batch -iex 'set debuginfod enabled off' -ex 'set print null-stop on' -ex 'set print elements 100' \
		-ex "frame function $2" -ex 'echo ==\n' -ex 'info args' -ex 'info locals' "./$1" "core.$1" >"$1.gdb" 2>/dev/null
	python3 "$TOP/tests/cli/lib/variables.py" "$1.json" "$1.gdb" "$3" || say "$1: other variables than gdb's"
}

for build in gcc-O0 gcc-O1 gcc-O2 clang-O0 clang-O1; do
	"${build%-*}" -g "-${build#*-}" "$TOP/tests/programs/variables.c" -o "c-$build"
	crash "core.c-$build" "$PWD/c-$build"
	same "c-$build" die 22
done
for build in g++-O0 g++-O2 clang++-O0; do
	"${build%-*}" -std=c++17 -g "-${build#*-}" "$TOP/tests/programs/variables_cxx.cc" -o "cxx-$build"
	crash "core.cxx-$build" "$PWD/cxx-$build"
	same "cxx-$build" shop::Cart::total 10
done

# DWARF 4, in a file of its own beside the program, and split.
gcc -g -gdwarf-4 -O1 "$TOP/tests/programs/variables.c" -o c-dwarf4
crash core.c-dwarf4 "$PWD/c-dwarf4"
same c-dwarf4 die 22
gcc -g -gsplit-dwarf -O1 "$TOP/tests/programs/variables.c" -o c-split
crash core.c-split "$PWD/c-split"
same c-split die 22

# The page: the line, one before, one after.
line=$(grep -n 'volatile int' "$TOP/tests/programs/variables.c" | cut -d: -f1)
"$EPITAPH" report --all core.c-gcc-O0 >page || [ $? -eq 1 ]
for number in $((line - 1)) $line $((line + 1)); do
	has page "$number  $(sed -n "${number}p" "$TOP/tests/programs/variables.c" | expand)"
done
grep -qE "^  .*> +$line  " page || say "the line is not marked"
has page 'flags = (F_A | F_C)'

# Where there is no source, and where it has no such line, is said.
mkdir moved
cp "$TOP/tests/programs/variables.c" moved/gone.c
(cd moved && gcc -g "$PWD/gone.c" -o ../gone)
crash core.gone "$PWD/gone"
echo 'int one;' >moved/gone.c
"$EPITAPH" report --all core.gone >page || [ $? -eq 1 ]
has page "moved/gone.c: it has no such line"
rm moved/gone.c
"$EPITAPH" report --all core.gone >page || [ $? -eq 1 ]
has page "moved/gone.c: No such file or directory"
has page 'argc = 0'
# A name that the debug information has no business with.
mkdir .hidden
cp "$TOP/tests/programs/variables.c" .hidden/key.c
gcc -g "$PWD/.hidden/key.c" -o hidden
crash core.hidden "$PWD/hidden"
"$EPITAPH" report --all core.hidden >page || [ $? -eq 1 ]
has page 'in a hidden folder'
hasnt page 'square = i * i;'

# What a redacted snapshot has left out is not shown as zeroes.
"$BIN/epitaph-cc" -g -O0 "$TOP/tests/programs/variables.c" -o traced-c
crash core.traced "$PWD/traced-c"
for words in stacks registers all; do
	"$EPITAPH" extract -q --redact "$words" -o "redacted.$words" core.traced || [ $? -eq 1 ]
	"$EPITAPH" report --json --executable "$PWD/traced-c" "redacted.$words" >redacted.json || [ $? -eq 1 ]
	python3 -c '
import json, sys
place = json.load(open("redacted.json")).get("place")
sys.exit(place is not None and (place["variables"] != [] or "left out when the snapshot was made" not in place["no_variables"]))' ||
		say "--redact $words: $(head -c 3000 redacted.json)"
done
"$EPITAPH" extract -q --redact cmdline -o redacted.cmdline core.traced || [ $? -eq 1 ]
"$EPITAPH" report --all redacted.cmdline >page || [ $? -eq 1 ]
has page 'table = {1, 2, 3, 4}'
has page 'name = 0x'
has page '<left out>'
hasnt page '"the name"'

[ "$failures" -eq 0 ]
