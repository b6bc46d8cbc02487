#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The terminal is given back as it was, whatever ends epitaph tui: its modes, its cursor, the screen before, the mouse; also by a
# fault of its own, and while it is suspended. Without a terminal it ends, and does not go round for ever.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/tui.bash"
traced story story
crash core "$PWD/story"
# A fault of a sanitized one is the sanitizer's to handle, unless it is told not to.
export ASAN_OPTIONS=handle_segv=0:handle_abort=0:detect_leaks=0
ulimit -c 0

cat >begin <<'BEGIN'
echo before
echo $$ >pid
exec "$EPITAPH_TOOL" tui core
BEGIN
export EPITAPH_TOOL=$EPITAPH
flags() { on_terminal display-message -p -t tui 'alternate #{alternate_on} cursor #{cursor_flag} mouse #{mouse_any_flag} keypad #{keypad_flag}'; }
is_back() { [ "$(flags)" = 'alternate 0 cursor 1 mouse 0 keypad 0' ]; }

for signal in INT TERM HUP QUIT SEGV ABRT; do
	terminal 80 24 bash begin
	sees '1 threads'
	presses M
	sees 'with Shift'
	[ "$(flags)" = 'alternate 1 cursor 0 mouse 1 keypad 1' ] || say "before: $(flags)"
	kill -$signal "$(cat pid)"
	ends $((128 + $(kill -l $signal)))
	soon is_back || say "SIG$signal: $(flags)"
	grep -qE '(^| )icanon' tui.stty && grep -qE '(^| )echo ' tui.stty || say "SIG$signal: $(cat tui.stty)"
	sees before
	lacks '1 threads' || say "SIG$signal: the screen is still there"
done

# ---- Ctrl-Z, and back
terminal 80 24 sh -c 'exec bash --norc -i 2>&1'
presses -l 'PS1=prompt:; unset HISTFILE; "$EPITAPH_TOOL" tui core'
presses Enter
sees '1 threads'
presses M
sees 'with Shift'
presses C-z
sees Stopped
soon is_back || say "suspended: $(flags)"
presses -l 'fg'
presses Enter
sees '1 threads'
presses 6
sees 'died of'
[ "$(flags)" = 'alternate 1 cursor 0 mouse 1 keypad 1' ] || say "after fg: $(flags)"
presses Q
sees prompt:
soon is_back || say "after its end: $(flags)"

# ---- the terminal goes away, and the signal for that is ignored
terminal 80 24 bash -c 'trap "" HUP; source begin'
sees '1 threads'
pid=$(cat pid)
on_terminal kill-server
gone() { ! kill -0 "$pid" 2>/dev/null; }
soon gone || { say 'it goes on without a terminal' && kill -9 "$pid"; }

[ $failures -eq 0 ]
