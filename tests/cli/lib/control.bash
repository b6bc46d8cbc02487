# SPDX-License-Identifier: BSD-2-Clause
# control.bash: a program that obeys words on its standard input, and epitaph control of it. Sourced, after core.bash; who begins
# the program opens descriptor 5 to it and 6 from it.
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off

ask() { # WORD: one word to it, and its answer
	echo "$1" >&5
	read -r word <&6
}
control() { # STATUS ARGUMENTS...
	local want=$1 got=0
	shift
	"$epitaph" control "$@" >said 2>err || got=$?
	[ $got = "$want" ] || fail "control $*: status $got, not $want: $(cat said err)"
}
