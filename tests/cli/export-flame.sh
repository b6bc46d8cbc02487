# SPDX-License-Identifier: BSD-2-Clause
# export -f flamegraph and svg: the frames of the folded stacks, whatever their names; a page that needs nothing else, and does in a
# browser what it says: shows all, finds, zooms.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/exports.bash"

odd_program odd
crash core.odd "$PWD/odd" 60
traced story story
crash core.story "$PWD/story"
for options in odd:--weight=calls odd: story:--weight=calls story:--merge-threads; do
	name=${options%%:*} option=${options#*:}
	gives 0 "$EPITAPH" export -o all.folded -f collapsed $option core.$name
	gives 0 "$EPITAPH" export -o page.html -f flamegraph $option core.$name
	gives 0 "$EPITAPH" export -o picture.svg $option core.$name
	python3 "$TOP/tests/cli/lib/flames.py" all.folded page.html picture.svg >difference || { say "$options:"; sed 's/^/	/' difference; }
done
# Deeper than any screen: cut where folded stacks are.
crash core.deep "$PWD/odd" 1200
gives 0 "$EPITAPH" export -o all.folded -f collapsed --weight=calls core.deep
gives 0 "$EPITAPH" export -o deep.html -f flamegraph --weight=calls core.deep
gives 0 "$EPITAPH" export -o deep.svg --weight=calls core.deep
python3 "$TOP/tests/cli/lib/flames.py" all.folded deep.html deep.svg >difference || { say "deep:"; sed 's/^/	/' difference; }
has deep.html '[deeper than 1000 frames]'

[ $failures -eq 0 ] || exit 1
command -v chromium >/dev/null || { echo 'chromium is not there (ci/install-deps gets it)'; exit 77; }
browser() { # ARGUMENTS...: a browser of our own, without its sandbox, which root may not use
	timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/browser" \
		--virtual-time-budget=3000 "$@" 2>browser.err
}
gives 0 "$EPITAPH" export -o calls.folded --weight=calls core.odd
gives 0 "$EPITAPH" export -o odd.html -f flamegraph --weight=calls core.odd
calls=$(awk '{ n += $NF } END { print n }' calls.folded)
outer=$(grep -c 'deep(int)' calls.folded)
# The script put into a link is what the page finds; the frames inside of others count once.
browser --dump-dom "file://$PWD/odd.html#n=2&s=DEEP(" >dom || { say 'no browser:'; tail -n 5 browser.err; }
has dom "$(($(wc -l <calls.folded) + $(cut -d';' -f1 calls.folded | sed 's/ [0-9]*$//' | sort -u | wc -l))) frames, $calls calls"
share=$(awk -v part="$outer" -v all="$calls" 'BEGIN { printf "%.2f", 100 * part / all }')
has dom "<span id=\"found\">$outer frames, $outer calls, $share %</span>"
has dom 'data-zoomed="main"'
hasnt dom '<script>x'
# And something can be seen: a picture of one colour would be a few kilobytes.
browser --window-size=1200,500 --screenshot="$PWD/odd.png" "file://$PWD/odd.html" >/dev/null || say 'no picture'
[ "$(stat -c %s odd.png 2>/dev/null || echo 0)" -gt 10000 ] || say 'the picture is empty'
exit $((failures != 0))
