#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# epitaph tui on a terminal, typed on and looked at: each screen has what the command of its name prints, trees fold, tables
# are sorted, search finds, small terminals and other sizes are filled, and what is no terminal is refused with what to use
# instead.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/tui.bash"
traced story story
# On a busy machine it waits enough to have scheduling events.
EPITAPH_SCHED=off EPITAPH_TIMESTAMP_EVERY=1 crash core "$PWD/story"

# ---- no terminal, or one that cannot do it: what to use instead, and nothing is opened
gives 64 "$EPITAPH" tui core
has err 'stdout is no terminal'
has err 'epitaph report core'
terminal 100 20 env TERM=dumb "$EPITAPH" tui no-such-core
ends 64
has tui.err 'cannot move its cursor'
terminal 100 20 env -u TERM "$EPITAPH" tui core
ends 64
has tui.err 'TERM is not set'
terminal 100 20 "$EPITAPH" tui no-such-core
ends 3
has tui.err no-such-core

# ---- each screen
gives 0 "$EPITAPH" stats --json core
python3 - >stats <<'PYTHON'
import json
for f in json.load(open("out"))["functions"]:
    print(f["function"], f["calls"])
PYTHON
terminal 120 30 "$EPITAPH" tui core
sees '1 threads' 'died' 'story  fall < last'
presses 3
sees 'selfv'
row 12 '[a-z]'
while read -r name calls; do
	grep -qE "^ .* $calls .*$name" screen || { say "functions: no $name with $calls calls" && cat screen; }
done <stats
# The longest of its own first, and by name when that is asked for.
row 3 ' slow$'
presses S
sees 'namev'
row 3 ' fall '
presses r
sees 'name^'
row 3 ' thrower$'
presses 5
sees '-0.000000000 ' 'fall() { /* did not return */'
presses 6
sees 'died of    SIGABRT'
presses 4
sees 'No scheduling events'
presses h
sees 'Moving, as in less'
presses q
sees 'No scheduling events'

# ---- the tree: folded, unfolded, searched
presses 2
sees '- main' '  thrower' '+ recursive'
presses g C
sees '+ main'
sees_not slow
presses Enter
sees '- main' '+ jumps'
sees_not thrower
presses / t h r o Enter
sees 'not found: thro'
presses E
sees '    thrower'
sees_not '+ '
presses / t h r o Enter u c
sees '+ jumps'
# Its own sum: slow is what main spent its time in.
presses g l
drawn $'\e\[[0-9;]*7m.*slow'
presses 3
sees 'name^'
presses / f i r s t Enter Enter
sees '2 tree' '- first'

# ---- of one thread; another size; less than there is room for
presses 1
sees 'fall < last'
presses Enter
sees '5 calls'
presses 2
sees 'of ' '- main'
presses a
on_terminal resize-window -t tui -x 40 -y 10
sees '2 tree' 'main'
screen
[ "$(wc -l <screen)" -eq 10 ] || say "$(wc -l <screen) lines of 10"
presses 1 3
sees leaf
for size in '1 1' '3 2' '20 3' '300 80'; do
	read -r width height <<<"$size"
	on_terminal resize-window -t tui -x "$width" -y "$height"
	presses 1 2 3 4 5 6 j / q q q Enter
done
sees 'not found: qqq'
presses Q
ends 0
[ ! -s tui.err ] || say "stderr: $(cat tui.err)"
grep -qE '(^| )icanon' tui.stty && grep -qE '(^| )echo ' tui.stty || say "the terminal was not given back: $(cat tui.stty)"

# ---- Ctrl-C gives the terminal back, too
terminal 80 24 "$EPITAPH" tui core
sees '1 threads'
presses C-c
for ((i = 0; i < 100; i++)); do [ -e tui.ended ] && break; sleep 0.05; done
grep -qE '(^| )icanon' tui.stty || say 'the terminal was not given back after Ctrl-C'

# ---- colours, unless they are not wanted
terminal 100 20 env -u NO_COLOR TERM=screen-256color "$EPITAPH" tui core
sees 'fall < last'
drawn $'\e\[[0-9;]*36m'
presses Q
terminal 100 20 env NO_COLOR=1 TERM=screen-256color "$EPITAPH" tui core
sees 'fall < last'
on_terminal capture-pane -p -e -t tui >plain
! grep -q $'\e\[[0-9;]*3[0-7]m' plain || say 'colours, though NO_COLOR is set'
presses Q
ends 0

[ $failures -eq 0 ]
