# SPDX-License-Identifier: BSD-2-Clause
# What cannot be read is refused by name, with the reason, and status 3; what is cut short is used as far as it goes, with
# status 1 and a word about it; an output that cannot be written is told. Never a crash, never an empty success.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
traced deaths deaths
EPITAPH_RING=64K crash core.whole "$PWD/deaths" null thread

commands=('report' 'info' 'info --json' 'replay' 'replay --format=tsv' 'export -f viztracer' 'extract -o snapshot')

# Not a core at all.
: >empty
echo 'a text' >text
head -c 100000 /dev/urandom >noise
head -c 40 core.whole >stump
mkdir folder
mkfifo pipe
cp deaths executable
for file in empty text noise stump folder pipe executable absent /dev/null; do
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086
		gives 3 timeout 20 "$EPITAPH" $command $file
		has err "$file"
		[ ! -s out ] || say "$command $file printed something"
		[ ! -e snapshot ] || say "$command $file left a snapshot"
	done
done
gives 3 "$EPITAPH" info 4194999 # no such process
has err 4194999
gives 3 "$EPITAPH" info pid:4194999

# A core cut short, from its last byte to its first: whole, partial, nothing found, or unreadable, always with the name.
size=$(stat -c %s core.whole)
seen=
for part in 1 2 5 10 20 40 60 80 90 95 99; do
	head -c $((size * part / 100)) core.whole >cut
	for command in "${commands[@]}"; do
		rm -f snapshot
		status=0
		# shellcheck disable=SC2086
		timeout 60 "$EPITAPH" $command cut >out 2>err || status=$?
		case $status in
		1 | 2 | 3)
			grep -q cut out err || say "$command of $part %: nothing names the file"
			grep -qE 'truncated|cut off|ends' out err || say "$command of $part %: not told to be truncated"
			;;
		*) say "$command of $part %: status $status" ;;
		esac
		[ "$command" != report ] || seen+="$status "
	done
done
# The arena comes first in a core: with most of it, there is much to tell.
[[ $seen == *'1 1 1 '* ]] || say "report's statuses from 1 % to 99 %: $seen"

# A whole one: complete, and nothing on stderr.
gives 0 "$EPITAPH" report core.whole
[ ! -s err ] || say 'report of a whole core complains'
gives 0 "$EPITAPH" replay core.whole
[ ! -s err ] || say 'replay of a whole core complains'

# stdout that takes nothing: told, status 3. A reader that goes away: quiet.
for command in report info 'info --json' replay 'replay --format=tsv' 'export -f viztracer' '--help' 'help' 'help replay'; do
	case $command in *help*) source= ;; *) source=core.whole ;; esac
	status=0
	# shellcheck disable=SC2086
	"$EPITAPH" $command $source >/dev/full 2>err || status=$?
	[ $status -eq 3 ] || say "$command >/dev/full: status $status"
	has err 'No space left'
	# shellcheck disable=SC2086
	{ "$EPITAPH" $command $source 2>err || true; } | head -c 1 >/dev/null || true
	[ ! -s err ] || { say "$command | head is not quiet:"; cat err; }
done
status=0
"$EPITAPH" --version >/dev/full 2>err || status=$?
[ $status -eq 3 ] || say "--version >/dev/full: status $status"

# extract: the file appears whole or not at all, and what is there stays.
echo mine >there
gives 64 "$EPITAPH" extract -o there core.whole
[ "$(cat there)" = mine ] || say 'extract wrote over a file'
gives 0 "$EPITAPH" extract --overwrite -o there core.whole
gives 0 "$EPITAPH" info there
gives 3 "$EPITAPH" extract -o no/such/there core.whole
(ulimit -f 64 && trap '' XFSZ && exec "$EPITAPH" extract -o small core.whole) >out 2>err && say 'a limit of 64 KiB was enough'
[ ! -e small ] || say 'half a snapshot is there'
[ -z "$(find . -name 'small*')" ] || say "something is left: $(find . -name 'small*')"
exit $((failures != 0))
