# SPDX-License-Identifier: BSD-2-Clause
# The page of report is 50 lines, also where variables, frames, threads and warnings are too many together: each has a share,
# and what is left out is counted.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

most=50
libraries=(l_a l_b l_c l_d l_e l_f l_g l_h l_i l_j)
list=
for library in "${libraries[@]}"; do
	"$BIN/epitaph-cc" -g -O1 -shared -fPIC -DLIBRARY="$library" "$TOP/tests/programs/crowded.c" -o "lib$library.so"
	list+=" X($library)"
done
"$BIN/epitaph-cc" -g -O1 "-DLIBRARIES(X)=$list" "$TOP/tests/programs/crowded.c" -o crowded -L. "${libraries[@]/#/-l}" \
	-Wl,-rpath,"$PWD" -lpthread
crash core.crowded "$PWD/crowded"
# A warning for each of them.
rm lib*.so

"$EPITAPH" report --all core.crowded >all 2>err || [ $? -eq 1 ]
warnings=$(sed -n '/^warnings/,$p' all | grep -c '^  - ')
variables=$(sed -n '/^in  /,/^program\|^then\|^silence\|^$/p' all | grep -cE '^  (arg|   ) [a-z_0-9]+ = ')
[ "$warnings" -ge 10 ] || say "only $warnings warnings"
[ "$variables" -ge 39 ] || say "only $variables variables"

# What is shown and what is said to be left out are all that there is.
adds_up() # shown left whole what
{
	[ $(($1 + ${2:-0})) -eq "$3" ] || { say "columns $columns: $1 + ${2:-0} $4, of $3"; cat page; }
}

for columns in 0 80 100 200; do
	COLUMNS=$columns
	[ "$columns" -gt 0 ] && export COLUMNS || unset COLUMNS
	"$EPITAPH" report core.crowded >page 2>err || [ $? -eq 1 ]
	lines=$(wc -l <page)
	[ "$lines" -le $most ] || { say "columns $columns: $lines lines"; cat page; }
	for words in '^died of    SIGSEGV' '^in         #0 crash ' '^  >  .*nowhere = 1' '^program ' 'frames are left out \(--all shows' \
		'^  last calls that returned' '^99 other threads' '^warnings'; do
		grep -qE "$words" page || { say "columns $columns: no \"$words\""; cat page; }
	done
	adds_up "$(grep -cE '^  (arg|   ) [a-z_0-9]+ = ' page)" "$(sed -nE 's/^  … ([0-9]+) more variables \(--all shows them\)/\1/p' page)" \
		"$variables" variables
	shown=$(sed -nE 's/^  ([0-9]+) threads .*/\1/p' page | awk '{ sum += $1 } END { print sum + 0 }')
	adds_up "${shown:-0}" "$(sed -nE 's/^  … and ([0-9]+) more threads, in .*/\1/p' page)" 99 threads
	sed -n '/^warnings/,$p' page >end
	grep -qE '^  - … [0-9]+ more \(--all shows them\)' end || { say "columns $columns: warnings are not counted"; cat page; }
	shown=$(grep -cE '^  - [^…]' end)
	grep -q 'mark times that are known' end && shown=$((shown - 1))
	whole=$warnings
	grep -q '^  - ~ marks' all && whole=$((warnings - 1))
	adds_up "$shown" "$(sed -nE 's/^  - … ([0-9]+) more \(--all.*/\1/p' end)" "$whole" warnings
done
exit $((failures != 0))
