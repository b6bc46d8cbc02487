#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One core, and the program's file in every state it may be in at 3 a.m.: there, stripped, with a debug file, elsewhere, gone,
# replaced by another. The same calls each time; names only from the right file.
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"
export -n EPITAPH # to a traced program it is a setting

cat >work.cc <<'END'
#include <cstdlib>
#include <vector>
namespace shop {
template <class T> struct shelf {
	std::vector<T> items;
	__attribute__((noinline)) void put(const T &item)
	{
		if (items.size() > 100)
			abort();
		items.push_back(item);
	}
};
static __attribute__((noinline)) int count(const shelf<int> &s)
{
	return (int)s.items.size();
}
__attribute__((noinline)) int run(int n)
{
	shelf<int> s;
	for (int i = 0; i < n; i++)
		s.put(i);
	return count(s);
}
}
int main(int argc, char **)
{
	if (shop::run(argc + 4) == 5)
		abort();
	return 0;
}
END
"$BIN"/epitaph-c++ -O1 -g work.cc -o work
crash 134 ./work
cp work full

# The functions in the order of their calls, without times.
names() {
	"$EPITAPH" replay --format=tsv "$@" 2>warnings | grep -v '^#' | awk -F '\t' '$1 == "B" { print $8 }'
}
replay() { names core "$@"; }
expect() { # WORDS FILE: some line has the words
	grep -qF -- "$1" "$2" || { echo "no \"$1\" in $2:"; cat "$2"; exit 1; }
}
refuse() { # WORDS FILE
	! grep -qF -- "$1" "$2" || { echo "\"$1\" in $2:"; cat "$2"; exit 1; }
}

echo "there"
replay >there
[ ! -s warnings ]
for name in main 'shop::run(int)' 'shop::shelf<int>::put(int const&)' 'shop::count(shop::shelf<int> const&)'; do
	expect "$name" there
done
[ "$(grep -cF 'shop::shelf<int>::put' there)" -eq 5 ]
# Every name that is there, binutils has, too.
nm -C full >all
while read -r name; do
	grep -qF -- " $name" all || { echo "nm has no $name"; exit 1; }
done <there

echo "raw names"
replay --no-demangle >raw
c++filt <raw | cmp - there

echo "stripped"
strip -o work full
replay >stripped
refuse shop stripped
[ "$(wc -l <stripped)" -eq "$(wc -l <there)" ]
# Bounds are known all the same: five calls of one function.
[ "$(sort stripped | uniq -c | awk '$1 == 5' | wc -l)" -ge 1 ]

echo "debug file by build-id"
id=$(readelf -n full | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug full "debug/.build-id/${id:0:2}/${id:2}.debug"
replay --debug-path debug | cmp - there
[ ! -s warnings ]

echo "debug link"
objcopy --only-keep-debug full work.debug
objcopy --add-gnu-debuglink=work.debug work
replay | cmp - there
rm work.debug

echo "elsewhere"
rm work
replay -e full | cmp - there

echo "gone"
replay >gone || true
refuse shop gone
expect "work+0x" gone
expect "No such file" warnings

echo "another one"
sed 's/argc + 4/argc + 5/' work.cc >other.cc
"$BIN"/epitaph-c++ -O1 -g other.cc -o work
replay >another || true
refuse shop another
expect "$id" warnings
expect "$(readelf -n work | sed -n 's/.*Build ID: //p')" warnings

echo "another one, forced"
replay --force >forced || [ $? -eq 1 ] # names of another build: usable
expect shop forced
expect "used all the same" warnings
