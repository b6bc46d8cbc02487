#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# report --inlines: the calls that were inlined into the frames of the crashed stack, and where each was called, are gdb's, however
# the program and its debug information were built. Without the option nothing of them is told.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source=$TOP/tests/programs/inlined.cc
dies=inlined.cc:$(sed -n '/dies here \*\//=' "$source")

# Names without parameters, and the lines of those frames that lie in the program's own source; the innermost line apart, for
# which gdb goes by statements.
ours() {
	"$EPITAPH" report --inlines --no-demangle core | sed -nE 's/^  #[0-9]+ +(.*[^ ]) +[^ ]*\/(inlined\.cc:[0-9]+).*/\1 \2/p' |
		sed -E 's/ \(inlined\)//; s/\+0x[0-9a-f]+//' | c++filt -p | plain
}
gdbs() {
	gdb -nx -batch -ex bt "./$1" core 2>/dev/null | awk '/^#/ && $1 != last { last = $1; print }' |
		sed -nE 's/^#[0-9]+ +(0x[0-9a-f]+ in )?(.*) \(.*\) at .*\/(inlined\.cc:[0-9]+)$/\2 \3/p' | plain
}
plain() { # Of a lambda's operator and of its surroundings there are as many spellings as tools.
	sed -E 's/^.*operator\(\)(\([^ ]*\) const)?/operator()/; s/^inlined\.cc/\?/'
}
same() { # PROGRAM WORDS
	local program=$1 words=$2
	crash core "$PWD/$program"
	ours >ours
	gdbs "$program" >gdbs
	[ "$(wc -l <gdbs)" -ge 6 ] || { say "$words: gdb has no lines"; cat gdbs; return; }
	grep -q "put $dies" ours || { say "$words: it died elsewhere"; cat ours; }
	diff <(sed '1s/[0-9]*$//' gdbs) <(sed '1s/[0-9]*$//' ours) >why || { say "$words: gdb's and ours"; cat why; }
}

while read -r compiler flags; do
	# shellcheck disable=SC2086
	EPITAPH_CXX=$compiler "$BIN/epitaph-c++" -w -g -O2 $flags "$source" -o inlined
	same inlined "$compiler $flags"
done <<'END'
g++
g++ -gdwarf-4 -no-pie
g++ -gsplit-dwarf
g++ -gdwarf-4 -gsplit-dwarf
g++ -flto
clang++
clang++ -gdwarf-4 -O3
clang++ -gsplit-dwarf
clang++ -gdwarf-4 -gsplit-dwarf
clang++ -gz -Os
END

# Its common part in a file of its own; debug information apart, by link.
"$BIN/epitaph-c++" -g -O2 -Wl,--build-id "$source" -o inlined
cp inlined twin
dwz -m common.dwz inlined twin
same inlined "dwz -m"
objcopy --only-keep-debug inlined inlined.debug
strip inlined
objcopy --add-gnu-debuglink=inlined.debug inlined
same inlined "debug link and dwz -m"

gives 0 "$EPITAPH" report --all core
! grep -E '^  #.*\(inlined\)' out || say "frames of the stack were inlined, and nobody asked"
gives 0 "$EPITAPH" report --inlines --path-map="${source%/*}=/elsewhere" core
has out 'shop::visit(shop::shelf<int>&) (inlined)'
has out ' /elsewhere/inlined.cc:'
hasnt out "${source%/*}"

# Hooks before inlining: calls of inlined functions are in the trace, and stand beside their places on the stack.
"$BIN/epitaph-c++" -g -O2 -epitaph-method=finstrument "$source" -o before
crash core.before "$PWD/before"
gives 0 "$EPITAPH" report --inlines core.before
grep -qE 'shop::shelf<int>::put\(int, int\) \(inlined\).*called .* before the end' out || { say "a call beside its place"; cat out; }
[ $failures -eq 0 ]
