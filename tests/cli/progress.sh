#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What takes more than a second says on a terminal how far it is, and wipes it; into a file it says nothing, and on stdout never.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/tui.bash"
traced story story
crash core "$PWD/story"
size=$(stat -c %s core)

# A core that comes by a pipe in pieces, with pauses of which three are more than a second.
cat >slowly <<'SLOWLY'
for part in 0 1 2 3 4 5 6 7; do
	dd if=core iflag=skip_bytes,count_bytes skip=$((SIZE / 8 * part)) count=$((part < 7 ? SIZE / 8 : SIZE)) bs=64K status=none
	sleep 0.4
done
SLOWLY
cat >watched <<'WATCHED'
bash slowly | "$EPITAPH" stats - >out
WATCHED
export SIZE=$size EPITAPH_TOOL=$EPITAPH
sed -i 's/\$EPITAPH/$EPITAPH_TOOL/' watched
rm -f seen
on_stderr() { # its stderr is the terminal
	terminals=$((terminals + 1))
	on_terminal -f /dev/null new-session -d -s tui -x 100 -y 10 \
		"env EPITAPH_TOOL='$EPITAPH_TOOL' SIZE=$SIZE bash watched; echo \$? >tui.ended.new; mv tui.ended.new tui.ended; sleep 60"
}
on_stderr
sees 'epitaph: reading the core: ' ' s left'
ends 0
screen
hasnt screen reading
has out fall
hasnt out reading

# Not a terminal.
gives 0 bash watched
[ ! -s err ] || say "stderr has $(cat err)"

[ $failures -eq 0 ]
