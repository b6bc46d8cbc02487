# SPDX-License-Identifier: BSD-2-Clause
# A program that has put its code into other memory (huge pages of a memfd, of a file, of no name; with its ELF header or without)
# has its names in all of its history, and its whole stack, from a core and from a snapshot of it.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

traced remapped pie
traced remapped no-pie -no-pie
traced remapped packed -Wl,-z,noseparate-code
traced remapped static-pie -static-pie -DNO_DLOPEN -w
traced remapped untraced -fno-instrument-functions -epitaph-runtime=none

# stack FILE [STATUS]: its frames are the program's, all of them
stack() {
	local got
	gives "${2:-0}" "$EPITAPH" report "$1"
	got=$(sed -nE 's/^  #[0-9]+ +([a-z]+)\+.*/\1/p' out | tr '\n' ' ')
	[ "${got% }" = "inner outer serve main" ] || { say "$program $how $part: the stack of $1 is \"$got\""; grep -A9 '^thread' out; }
	hasnt out 'could not be followed'
}

dies() { # PROGRAM HOW PART [STATUS]
	program=$1 how=$2 part=$3
	crash core.now "$PWD/$1" "$2" "$3"
	stack core.now "${@:4}"
}

for run in 'pie memfd text' 'pie shared middle' 'pie zero text' 'pie file text' 'pie memfd all' 'pie anonymous all' \
	'no-pie memfd text' 'packed file text' 'packed anonymous middle' 'static-pie shared text' 'static-pie anonymous all'; do
	read -r program way <<<"$run"
	dies "$program" $way
	gives 0 "$EPITAPH" extract -o shot core.now
	stack shot
	# Each call has the name of its function, before and after.
	gives 0 "$EPITAPH" stats --csv core.now
	[ "$(awk -F, -v of="\"$program\"" 'NR > 1 && $2 != of || /"inner"/ && $4 != 511' out)" = "" ] ||
		{ say "$program $way: names"; cat out; }
done
# Without a trace the process's memory alone tells.
dies untraced memfd text 1
dies untraced shared text 1
dies untraced file text 1
[ $failures -eq 0 ]
