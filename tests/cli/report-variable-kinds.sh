# SPDX-License-Identifier: BSD-2-Clause
# Variables that no address leads to have their values all the same: each thread's own, calculated numbers of a type, vector
# registers, parts of registers, what a pointer without an address points at. What they must be stands in the programs.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

kinds() { # COMPILER LEVEL NUMBER FLAGS...: the page of the program's Nth end
	local source=variables_kinds.c program=kinds-$1-$2 standard=
	[[ $1 != *++* ]] || { source=variables_kinds_cxx.cc; standard=-std=c++17; }
	[ -e "$program" ] || "$1" -g $standard "$2" "${@:4}" "$TOP/tests/programs/$source" -o "$program"
	crash core "$PWD/$program" "$3"
	"$EPITAPH" report --all core >page || [ $? -eq 1 ]
}

types() { # "NAME TYPE"...: of the core
	"$EPITAPH" report --json core >report.json || [ $? -eq 1 ]
	python3 - "$@" <<'PYTHON' || say "other types than $*"
import json, sys
found = {v["name"]: v["type"] for v in json.load(open("report.json"))["place"]["variables"]}
wrong = [(name, found.get(name)) for name, kind in (word.split(" ", 1) for word in sys.argv[1:]) if found.get(name) != kind]
sys.exit(wrong and str(wrong) or 0)
PYTHON
}

for build in 'gcc -O0' 'gcc -O2' 'clang -O0' 'clang -O2'; do
	kinds $build 4
	has page 'counter = 7'
	has page 'second = 10}'
	has page 'shared = 10'
done
# clang 14 at -O2 says nothing of the wider ones.
if grep -qw avx2 /proc/cpuinfo; then
	for build in 'gcc -O0' 'gcc -O2' 'clang -O0'; do
		kinds $build 9
		has page 'ints = {3, 4, 5, 6, 7, 8, 9, 10}'
		has page 'more = {9, 12, 15, 18, 21, 24, 27, 30}'
	done
fi
# Arrays whose size is calculated; wide characters; integers of 16 bytes.
for build in 'gcc -O0' 'gcc -O2' 'clang -O0'; do
	kinds $build 8
	has page 'variable = {0, 1, 4, 9, 16}'
	has page 'table = {{0, 1, 2, 3, 4}, {10, 11, 12, 13, 14}}'
	kinds $build 6
	has page 'wide = L"w'$'\xc3\xa9''b"'
	has page 'sixteen = u"u16"'
	has page 'thirty_two = U"32"'
	has page $'letter = 233 L\'\xc3\xa9\''

	has page 'L"far '$'\xe2\x82\xac''"'
done
kinds gcc -O0 2
has page "wide = $(python3 -c 'print((2 << 100) + 5)')"
has page 'negative = -7'
# C++: pointers to members, and what the library holds.
for build in 'g++ -O0' 'clang++ -O0'; do
	kinds $build 0
	has page 'member = NULL'
	has page 'state = shop::Klass::State::Closed'
	has page 'color = shop::Color::Green'
	types 'other const shop::Klass &' 'given shop::Klass::Inner' 'member int shop::Klass::*' \
		'hidden shop::(anonymous namespace)::Hidden'
	grep -q 'function = 0x[0-9a-f]* <.*Klass::method' page || say "$build: a pointer to a member function: $(grep function page)"
	kinds $build 3
	has page 'maybe = std::optional = 4'
	has page 'nothing = std::optional = nothing'
	has page 'text = std::optional = "text"'
done
# A number that is told as one of another type; a constant; what the caller gave.
kinds gcc -O2 1
has page 'sum = 10.75'
has page 'arg b = 1.5  [as its caller gave it]'
kinds clang -O2 0
has page 'low = 15'
has page 'extended = -84'
# A pointer to what has no address.
kinds gcc -O2 3
has page 'pointer = <synthetic pointer>: {first = 22, second = 23}'
has page 'one = <synthetic pointer>: 66'
[ "$failures" -eq 0 ]
