# SPDX-License-Identifier: BSD-2-Clause
# Folded stacks as a flame graph: read by speedscope's importer, drawn by d3-flame-graph in a browser without a screen. The
# page then has a frame for each distinct stack, as wide as its share, with its name.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/exports.bash"
need_npm speedscope d3-flame-graph d3-selection
command -v chromium >/dev/null || { echo 'chromium is not there (ci/install-deps gets it)'; exit 77; }

browser() { # ARGUMENTS...: a browser of our own, without its sandbox, which root may not use
	timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$PWD/browser" \
		--virtual-time-budget=5000 "$@" 2>browser.err
}

odd_program odd
crash core.odd "$PWD/odd" 12
gives 0 "$EPITAPH" export -f collapsed --weight=calls -o calls.folded core.odd
import calls.folded imported
node "$TOP/tests/cli/lib/flamegraph.js" "$NPM" imported >graph.html
browser --dump-dom "file://$PWD/graph.html" >dom || { say 'no browser:'; tail -n 5 browser.err; }

# Each line is a stack that was called once; threads, and the whole, are frames, too.
stacks=$(wc -l <calls.folded) threads=3
frames=$(grep -o '<g [^>]*class="frame"' dom | wc -l)
[ "$frames" -eq $((stacks + threads + 1)) ] || say "$frames frames of $stacks stacks"
# 13 levels of deep(int), the outermost as wide as 13 calls of all.
all=$(awk '{ n += $NF } END { print n }' calls.folded)
width=$(grep -o '<g [^>]*name="deep(int)" class="frame"' dom | sed 's/.* width="\([0-9.]*\)".*/\1/' | sort -g | tail -n 1)
[ "$(grep -o '<g [^>]*name="deep(int)" class="frame"' dom | wc -l)" -eq 13 ] || say 'deep(int) has 13 levels'
awk -v width="$width" -v all="$all" 'BEGIN { want = 1150 * 13 / all; exit !(width - want < 1 && want - width < 1) }' ||
	say "deep(int) is $width wide"
for name in 'name="quo&quot;te\back' 'name="semi\x3bcolon\x3b"' 'name="by\xff\xfetes\x09tab\x1b[2J"' 'name="blank and\x0anewline 7"' \
	'name="box::operator()(int, int) const"'; do
	has dom "$name"
done
# And something can be seen: a picture of one colour would be a few kilobytes. On a busy machine the browser may take it before it
# has painted.
is_picture() { [ "$(stat -c %s graph.png 2>/dev/null || echo 0)" -gt 10000 ]; }
for _ in 1 2 3 4 5; do
	browser --window-size=1200,500 --screenshot="$PWD/graph.png" "file://$PWD/graph.html" >/dev/null || say 'no picture'
	! is_picture || break
done
is_picture || say 'the picture is empty'
exit $((failures != 0))
