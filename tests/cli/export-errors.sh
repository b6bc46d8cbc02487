# SPDX-License-Identifier: BSD-2-Clause
# export: what is not understood gets 64 and a word that helps; a file appears whole or not at all, whatever the format; a
# reader that goes away is no error, a full disk is.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
traced story story
crash core.story "$PWD/story"
formats='html viztracer chrome perfetto jsonl collapsed speedscope dot funtrace flamegraph svg'

gives 64 "$EPITAPH" export -f flowers core.story
has err flowers
for format in $formats; do has err $format; done
# Names that people try, whatever their letters; and what comes nearest.
for pair in folded:collapsed Collapsed:collapsed ndjson:jsonl graphviz:dot trace_event:chrome flame:flamegraph; do
	gives 0 "$EPITAPH" export -f "${pair%:*}" core.story
	mv out alias
	gives 0 "$EPITAPH" export -f "${pair#*:}" core.story
	cmp -s out alias || say "${pair%:*} is no ${pair#*:}"
done
for pair in colapsed:collapsed tabels:tables flamegrph:flamegraph graphvis:dot vistracer:viztracer; do
	gives 64 "$EPITAPH" export -f "${pair%:*}" core.story
	has err "did you mean ${pair#*:}?"
done
gives 64 "$EPITAPH" export -f parquet core.story
has err docs/tables.md
gives 64 "$EPITAPH" export -f xyz core.story
hasnt err 'did you mean'
gives 64 "$EPITAPH" export core.story
has err 'formats are:'
# One that another program reads as JSON, too, is not guessed.
gives 64 "$EPITAPH" export -o calls.json core.story
gives 64 "$EPITAPH" export -o .dot core.story
for given in chrome:--sources=. speedscope:--weight=calls dot:--merge-threads viztracer:--min-percent=3; do
	gives 64 "$EPITAPH" export -f "${given%%:*}" "${given#*:}" core.story
	option=${given#*:}
	has err "${option%%=*} is for --format="
done
gives 64 "$EPITAPH" export -f collapsed --weight=stones core.story
has err 'self-time or calls'
for percent in -1 101 x '' 5x; do
	gives 64 "$EPITAPH" export -f dot --min-percent="$percent" core.story
	has err 'a number from 0 to 100'
done

# The end of the file's name tells the format; --format tells it better.
for pair in html:a.html html:a.htm jsonl:calls.jsonl jsonl:calls.ndjson collapsed:a.folded collapsed:a.collapsed speedscope:a.speedscope.json \
	svg:a.svg dot:a.dot dot:a.gv perfetto:a.pftrace perfetto:a.perfetto-trace funtrace:a.raw; do
	gives 0 "$EPITAPH" export -o "${pair#*:}" core.story
	gives 0 "$EPITAPH" export -f "${pair%%:*}" core.story
	cmp -s out "${pair#*:}" || say "${pair#*:} is no ${pair%%:*}"
done
gives 0 "$EPITAPH" export -f chrome -o calls.dot core.story
gives 0 "$EPITAPH" export -f chrome -o - core.story
cmp -s out calls.dot || say '--format counts less than the name'
# Compressed: by the name, by the option, to a file and a pipe.
gives 0 "$EPITAPH" export -o calls.jsonl.gz core.story
gzip -dc calls.jsonl.gz | cmp -s - calls.jsonl || say '.gz: another text'
gives 0 "$EPITAPH" export -f jsonl --gzip core.story
gzip -dc out | cmp -s - calls.jsonl || say '--gzip: another text'
gives 0 "$EPITAPH" export -z -o calls.jsonl.zipped -f jsonl core.story
cmp -s calls.jsonl.zipped calls.jsonl.gz || say '-z and .gz differ'

for format in $formats; do
	for gzip in '' --gzip; do
		gives 3 "$EPITAPH" export -f $format $gzip -o /dev/full core.story
		has err '/dev/full: No space left'
		status=0
		"$EPITAPH" export -f $format $gzip core.story >/dev/full 2>err || status=$?
		[ $status -eq 3 ] || say "$format $gzip into a full disk: $status"
		has err 'No space left'
		gives 3 "$EPITAPH" export -f $format $gzip -o no/such/folder core.story
		echo old >kept
		gives 2 "$EPITAPH" export -f $format $gzip -o kept --function='no_such_*' core.story
		has err 'no call fits'
		[ "$(cat kept)" = old ] || say "$format $gzip: a file was replaced by nothing"
		gives 2 "$EPITAPH" export -f $format $gzip --function='no_such_*' core.story
		[ -n "$gzip" ] || [ ! -s out ] || say "$format: nothing is something"
		rm -f kept
	done
	# Over a file that is there: the new one, whole.
	echo old >kept
	gives 0 "$EPITAPH" export -f $format -o kept core.story
	gives 0 "$EPITAPH" export -f $format core.story
	cmp -s out kept || say "$format: -o and stdout differ"
	[ "$(stat -c %a kept)" = 600 ] || say "$format: others may read it"
	# A reader that wants no more.
	{ "$EPITAPH" export -f $format core.story 2>err || echo $? >status; } | head -c 1 >/dev/null
	[ ! -s err ] || { say "$format into a closed pipe:"; cat err; }
done
[ -z "$(find . -name '*.aside' -o -name 'kept.*')" ] || say 'something was left behind'
exit $((failures != 0))
