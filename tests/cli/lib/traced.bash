# SPDX-License-Identifier: BSD-2-Clause
# traced.bash: traced programs for the tests of the command line, their cores, and what to say when something is not as it
# should be. Sourced.

ulimit -c unlimited
failures=0
# What ends a script under set -e says so.
trap 'echo "line $LINENO ends with $?: $BASH_COMMAND"' ERR

say() { # WORDS: one more failure
	failures=$((failures + 1))
	echo "$*"
}

traced() { # NAME OUTPUT [FLAGS...]: tests/programs/NAME.c, where each call is a call
	local name=$1 output=$2
	shift 2
	"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls "$@" "$TOP/tests/programs/$name.c" -o "$output" -lpthread
}

crash() { # CORE PROGRAM ARGUMENTS...: runs it, leaves its core as CORE
	local core=$1
	shift
	rm -rf crash.dir && mkdir crash.dir
	{ (cd crash.dir && exec "$@") >/dev/null 2>&1 || true; } 2>/dev/null
	mv crash.dir/core* "$core" 2>/dev/null || { echo "no core of $*"; exit 1; }
}

# gives STATUS COMMAND...: runs it into the files out and err; its status must be that.
gives() {
	local want=$1 got=0
	shift
	"$@" >out 2>err || got=$?
	[ $got -eq "$want" ] || { say "$*: status $got, not $want"; sed 's/^/	/' err; }
}

has() { # FILE WORDS: a line of FILE has the words
	grep -qF -- "$2" "$1" || { say "$1 has no \"$2\":"; head -40 "$1" | sed 's/^/	/'; }
}

hasnt() { # FILE WORDS
	! grep -qF -- "$2" "$1" || say "$1 has \"$2\""
}
