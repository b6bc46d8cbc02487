# SPDX-License-Identifier: BSD-2-Clause
# tui.bash: a terminal that a test types on and looks at (tmux), for tests of epitaph tui. Sourced, after traced.bash.

# A server for each terminal: one that ends would take the next one's beginning with it. The name is short, as sockets' must be.
# An ordinary user's own shell may be one that lets nobody in.
export SHELL=/bin/sh
terminals=0
on_terminal() { tmux -S "t.$terminals" "$@"; }
end_terminal() { [ $terminals -eq 0 ] || on_terminal kill-server 2>/dev/null || true; }
trap end_terminal EXIT

# terminal WIDTH HEIGHT COMMAND...: runs it on a new terminal, its stderr in the file tui.err; at its end "ended with STATUS".
terminal() {
	local size=(-x "$1" -y "$2")
	shift 2
	end_terminal
	terminals=$((terminals + 1))
	rm -f tui.ended
	on_terminal -f /dev/null new-session -d -s tui "${size[@]}" \
		"$(printf '%q ' "$@") 2>tui.err; echo \$? >tui.ended.new; stty -a >tui.stty; mv tui.ended.new tui.ended; sleep 60" ||
		{ echo "tmux does not run"; exit 1; }
}

screen() { on_terminal capture-pane -p -t tui >screen; }

# sees WORDS...: soon all of them are on the screen.
sees() {
	local word i
	for word; do
		for ((i = 0; i < 200; i++)); do
			screen
			grep -qF -- "$word" screen && continue 2
			sleep 0.05
		done
		say "the screen has no \"$word\":"
		sed 's/^/	|/' screen
		return
	done
}
# soon COMMAND...: within ten seconds it holds: what is seen may be half of what is being drawn.
soon() {
	local i
	for ((i = 0; i < 200; i++)); do
		"$@" && return
		sleep 0.05
	done
	return 1
}
lacks() { screen && ! grep -qF -- "$1" screen; }
sees_not() { # WORDS: soon they are not on it, of a screen that was waited for
	soon lacks "$1" || { say "the screen has \"$1\":" && sed 's/^/	|/' screen; }
}
has_row() { screen && sed -n "$1p" screen | grep -qE -- "$2"; }
row() { # NUMBER PATTERN: soon that line of it is so
	soon has_row "$@" || { say "line $1 is not $2:" && sed 's/^/	|/' screen; }
}
has_drawn() { on_terminal capture-pane -p -e -t tui | grep -q -- "$1"; }
drawn() { # PATTERN: soon a line is so, with its escape sequences
	soon has_drawn "$1" || { say "no line is drawn as $1:" && on_terminal capture-pane -p -e -t tui | cat -v; }
}

presses() { # KEYS, as tmux names them
	on_terminal send-keys -t tui "$@"
}

ends() { # STATUS: soon it has ended with it
	local i
	for ((i = 0; i < 200; i++)); do
		[ -e tui.ended ] && break
		sleep 0.05
	done
	[ "$(cat tui.ended 2>/dev/null)" = "$1" ] || say "ended with $(cat tui.ended 2>/dev/null || echo nothing), not $1: $(cat tui.err)"
}
