# SPDX-License-Identifier: BSD-2-Clause
# exclude's three formats do what they say, by those who read them: epitaph-cc takes the hooks out of exactly the listed
# functions, gcc excludes exactly those of its own list (and what it hits beside is printed), the places are the definitions'.
# Predictions are those of arithmetic; bad input is refused with its place.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
counts=$TOP/tests/cli/lib/counts.py

cat >program.cc <<'EOF'
#include <cstdlib>
#define CALLED __attribute__((noinline, noclone))
namespace ns {
namespace {
CALLED int hidden(int x) { return x + 1; }
} // namespace
struct thing {
	CALLED int method(int x, unsigned long y) const { return x + (int)y; }
	CALLED int operator()(int x) { return x; }
};
template <class A, class B> CALLED A pick(A a, B b) { return b ? a : A(); }
} // namespace ns
extern "C" CALLED int hot(int x) { return x ^ 1; }
extern "C" CALLED int hotter(int x) { return x ^ 2; }
int main(int argc, char **)
{
	ns::thing thing;
	return hot(argc) + hotter(argc) + ns::hidden(argc) + thing.method(argc, 2) + thing(argc) + ns::pick<int, long>(argc, 3);
}
EOF
cat >costs <<'EOF'
[costs]
full = 10 ns
one-in-8 = 10 ns
one-in-64 = 10 ns
counting = 0 ns
clock-budget = 0%
EOF
"$BIN/epitaph-c++" -g -O1 program.cc -o program
"$counts" "$PWD/program" cpu=1000000000 hot=20000000 hotter=9000000 _ZN2ns12_GLOBAL__N_16hiddenEi=4000000 \
	_ZNK2ns5thing6methodEim=3000000 _ZN2ns5thingclEi=2000000 _ZN2ns4pickIilEET_S1_T0_=1000000 main=1 >counts

# 39,000,001 calls of 10 ns in a second are 39 %; without the first three 6 %.
gives 0 "$EPITAPH" exclude --costs=costs --budget=6.1% counts -o list
[ ! -s out ] || say 'printed beside -o'
has list 'overhead 39.0 %'
has list 'overhead 6.0 %'
has list '3 of 7 functions'
[ "$(sed 's/#.*//' list | xargs)" = 'hot hotter _ZN2ns12_GLOBAL__N_16hiddenEi' ] || { say 'another list'; cat list; }
# A function of 640 KiB that is in use makes each call 5 ns dearer: 39,000,001 of them 58.5 %.
sed 's/^clock/code-160k = 2 ns\ncode-640k = 5 ns\nclock/' costs >costs.wide
cat >wide.c <<'EOF'
__asm__(".globl wide; .type wide, @function; wide: .skip 655359, 0x90; ret; .size wide, .-wide");
int main(void) { return 0; }
EOF
gcc wide.c -o wide
"$counts" "$PWD/wide" cpu=1000000000 wide=39000000 >wide.counts
gives 0 "$EPITAPH" exclude --costs=costs.wide --budget=60% --cpu-seconds=1 wide.counts
has out '640 KiB of code make 99 % of the calls: a call costs 15.0 ns'
has out 'overhead 58.5 %'
# A ring of 64 KiB holds a sixteenth of a MiB's 65,024 calls: at 6 million in 1.06 s 718 us.
gives 0 "$EPITAPH" exclude --costs=costs --history=0.7ms --ring=64K counts
has out '3 of 7 functions'
has out '717.97'
gives 0 "$EPITAPH" exclude --costs=costs --history=0.8ms --ring=64K counts
has out '4 of 7 functions'
gives 0 "$EPITAPH" exclude --costs=costs --budget=20% --cpu-seconds=10 counts
has out '0 of 7 functions'
# Two runs: calls and time of both.
sed 's/00000000000000aa/00000000000000ab/' counts | sed '$d' >second
printf 'end %d %08x\n' "$(wc -l <second)" "$(python3 -c 'import zlib; print(zlib.crc32(open("second", "rb").read()))')" >>second
gives 0 "$EPITAPH" exclude --costs=costs --budget=6.1% counts second
has out '78,000,002 calls in 2.000 s'
gives 3 "$EPITAPH" exclude --costs=costs --budget=6.1% counts counts

# epitaph-cc takes the hooks out of these and of no others.
hooked() { # PROGRAM HOOK
	objdump -d --no-show-raw-insn "$1" | awk -v hook="$2" '/^[0-9a-f]+ <.*>:$/ { f = substr($2, 2, length($2) - 3) }
		index($0, "<" hook) && /call/ { print f }' | grep -E '^(hot|hotter|main|_ZN.*)$' | sort -u
}
"$BIN/epitaph-c++" -g -O1 -epitaph-no-trace=list program.cc -o filtered
hooked program __fentry__ >before
hooked filtered __fentry__ >after
[ "$(wc -l <before)" = 7 ] || { say 'not all were traced'; cat before; }
[ "$(comm -23 before after | sort)" = "$(sed 's/#.*//' list | xargs -n 1 | sort)" ] || { say 'the filter took others'; diff before after; }

# gcc excludes these, and hotter because of hot, which is printed.
gives 0 "$EPITAPH" exclude --costs=costs --budget=40% counts
gives 0 "$EPITAPH" exclude --costs=costs --budget=20% -f gcc counts -o option
has err 'gcc finds "hot" also in the names of 1 other called functions: hotter'
g++ -O1 -finstrument-functions -c program.cc -o all.o
g++ -O1 -finstrument-functions "$(cat option)" -c program.cc -o some.o
lost() { comm -23 <(hooked_o all.o) <(hooked_o "$1") | xargs; }
hooked_o() { objdump -dr --no-show-raw-insn "$1" | awk '/^[0-9a-f]+ <.*>:$/ { f = substr($2, 2, length($2) - 3) }
	/__cyg_profile_func_enter/ { print f }' | sort -u; }
[ "$(lost some.o)" = 'hot hotter' ] || say "gcc excluded $(lost some.o) by $(cat option)"
for name in hidden method operator pick; do
	case $name in
	hidden) symbol=_ZN2ns12_GLOBAL__N_16hiddenEi ;;
	method) symbol=_ZNK2ns5thing6methodEim ;;
	operator) symbol=_ZN2ns5thingclEi ;;
	pick) symbol=_ZN2ns4pickIilEET_S1_T0_ ;;
	esac
	"$counts" "$PWD/program" cpu=1000000000 $symbol=9000000 main=1 >one
	gives 0 "$EPITAPH" exclude --costs=costs --budget=1% -f gcc one -o option
	[ ! -s err ] || { say "$name: warned of others"; cat err; }
	g++ -O1 -finstrument-functions "$(cat option)" -c program.cc -o some.o
	[ "$(lost some.o)" = "$symbol" ] || say "gcc excluded $(lost some.o) by $(cat option)"
done

# The places are where the definitions begin.
gives 0 "$EPITAPH" exclude --costs=costs --budget=3.1% -f source counts
for name in hot hotter hidden method; do
	line=$(grep -nE "CALLED int $name\(" program.cc | cut -d: -f1)
	grep -qE "program.cc:$line: NOFUNTRACE .*$name" out || { say "no place of $name at $line"; cat out; }
done
gives 0 "$EPITAPH" exclude --costs=costs --budget=3.1% -f json counts
python3 - <<'PYTHON' || say 'the JSON'
import json
data = json.load(open("out"))
assert data["met"] and data["before"]["calls"] == 39000001 and data["after"]["calls"] == 3000001, data
assert [f["calls"] for f in data["functions"]] == [20000000, 9000000, 4000000, 3000000]
assert abs(data["before"]["overhead_percent"] - 39) < 0.01
PYTHON

# What is kept bounds what can be met; a name of no function is warned of.
gives 1 "$EPITAPH" exclude --costs=costs --budget=10% --keep='ho*' --keep=nobody counts
has err '29,000,000 calls are of functions that --keep names'
has err 'nobody'
has out 'the limits are not met'
! sed 's/#.*//' out | grep -q hot || say 'a kept function was listed'
echo 'hot # the path' >keep.list
gives 0 "$EPITAPH" exclude --costs=costs --budget=21.1% --keep=keep.list counts
[ "$(sed 's/#.*//' out | xargs)" = 'hotter _ZN2ns12_GLOBAL__N_16hiddenEi _ZNK2ns5thing6methodEim _ZN2ns5thingclEi' ] || { say 'keep.list'; cat out; }

# Of another build, names would be wrong: nothing is listed, the reason printed.
cp program other && "$BIN/epitaph-c++" -g -O0 program.cc -o program
gives 1 "$EPITAPH" exclude --costs=costs --budget=10% counts
has err 'build-id'
[ -z "$(sed 's/#.*//' out | xargs)" ] || { say 'listed by another build'; cat out; }
gives 0 "$EPITAPH" exclude --costs=costs --budget=10% --executable=other counts
has out hotter

gives 64 "$EPITAPH" exclude counts
gives 64 "$EPITAPH" exclude --budget=2 counts
gives 64 "$EPITAPH" exclude --budget=-2% counts
gives 64 "$EPITAPH" exclude --history=5 counts
gives 64 "$EPITAPH" exclude --budget=2% --ring=x counts
gives 64 "$EPITAPH" exclude --budget=2% --timestamp-every=3 counts
gives 64 "$EPITAPH" exclude --budget=2% --format=x counts
gives 64 "$EPITAPH" exclude --budget=2% --cpu-seconds=0 counts
gives 3 "$EPITAPH" exclude --budget=2% --costs=nosuch counts
gives 3 "$EPITAPH" exclude --budget=2% nosuch
sed 's/20000000/20000001/' counts >damaged
gives 3 "$EPITAPH" exclude --budget=2% damaged
printf '[costs]\nfull = fast\n' >bad
gives 3 "$EPITAPH" exclude --budget=2% --costs=bad counts
has err 'bad:2:8:'
gives 3 "$EPITAPH" exclude --costs=costs --budget=2% counts -o no/such/folder/list

# Names in lists that no function of a program has, by file and line; nothing else is done.
printf 'hot\n# hotter is not here\nhoter\n' >names
printf '_ZNK2ns5thing*\nnone*\n' >more
cp list list.before
gives 0 "$EPITAPH" exclude --check=program names more
[ ! -s out ] || { say 'printed by --check'; cat out; }
has err 'names:3: hoter is no function of program'
has err 'more:2: none* is no function of program'
has err '2 of 4 names are no function of program'
hasnt err 'names:1'
hasnt err 'more:1'
gives 0 "$EPITAPH" exclude --check=program list
[ ! -s err ] || { say 'names that are there'; cat err; }
strip -o stripped program
gives 2 "$EPITAPH" exclude --check=stripped names
has err 'it has no .symtab'
head -c 3000 program >cut
gives 3 "$EPITAPH" exclude --check=cut names
has err 'cut off'
gives 3 "$EPITAPH" exclude --check=names names
has err 'no ELF file'
gives 3 "$EPITAPH" exclude --check=program nosuch
gives 3 "$EPITAPH" exclude --check=nosuch names
gives 64 "$EPITAPH" exclude --check=program names -o written
has err 'no other option'
[ ! -e written ] && cmp -s list list.before || say '--check wrote a file'
[ "$failures" = 0 ]
