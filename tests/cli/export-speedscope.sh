# SPDX-License-Identifier: BSD-2-Clause
# speedscope imports what export writes for it, for Chrome's viewer and for flame graphs: the same calls, nested as they
# were, with the same weights, as replay has.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/exports.bash"
need_npm speedscope

imports_all() { # CORE
	gives 0 "$EPITAPH" replay --format=tsv "$1"
	mv out tsv
	gives 0 "$EPITAPH" export -o own.speedscope.json "$1"
	import own.speedscope.json imported
	agrees imported tsv imported
	gives 0 "$EPITAPH" export -f chrome -o chrome.json "$1"
	import chrome.json imported
	agrees imported tsv imported microseconds
	# Folded stacks have no order: only their sum, which is that of the profiles.
	gives 0 "$EPITAPH" export -f collapsed -o folded.txt "$1"
	import folded.txt imported
	got=$(awk -F '\t' '$1 == "profile" { print $3 }' imported)
	want=$(awk '{ n += $NF } END { print n }' folded.txt)
	[ "$got" = "$want" ] || say "speedscope sums $got up, not $want"
	[ "$(awk -F '\t' '$1 == "call" && $2 == 0' imported | wc -l)" -ge 1 ] || say 'no stacks'
}

traced story story
crash core.story "$PWD/story"
imports_all core.story
EPITAPH_TIMESTAMP_EVERY=64 crash core.sparse "$PWD/story"
imports_all core.sparse
odd_program odd
crash core.odd "$PWD/odd" 100
imports_all core.odd
# Deeper than speedscope's own recursion can go.
crash core.deep "$PWD/odd" 10000
gives 0 "$EPITAPH" replay --format=tsv core.deep
mv out tsv
gives 0 "$EPITAPH" export -o deep.speedscope.json core.deep
import deep.speedscope.json imported
agrees imported tsv imported
# Compressed, as it comes.
gives 0 "$EPITAPH" export -o own.speedscope.json.gz core.story
gives 0 "$EPITAPH" export -f speedscope core.story
gzip -dc own.speedscope.json.gz | cmp -s - out || say 'the compressed file is another'
exit $((failures != 0))
