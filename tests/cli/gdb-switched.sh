#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What was switched off is told by each of gdb's commands, of a core and of a live process: how many functions, since when and
# by whom; and by info --json, as docs/info.schema.json has it.
set -euo pipefail
source "$TOP/tests/cli/lib/gdb.bash"
source "$TOP/tests/cli/lib/exports.bash"
need_npm ajv
trap 'kill -9 $process 2>/dev/null || true' EXIT
process=
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off
export EPITAPH_SCHED=off EPITAPH_BUDGET=none

# Two functions are off when it dies (switched_open.c).
"$BIN/epitaph-cc" -O1 -g "$TOP/tests/programs/switched_open.c" -o prog
crash ./prog - dead
# all_tell WHERE SAVED WORDS FUNCTION GDB'S ARGUMENTS...
all_tell() {
	local where=$1 saved=$2 words=$3 function=$4 command
	shift 4
	for command in report stack replay stats; do
		in_gdb -ex "set width 0" -ex "epitaph $command" "$@" >out || say "$where: $command: $(cat gdb.err)"
		# Lines of the page are broken where the terminal ends.
		tr -s ' \n' ' ' <out | cat - gdb.err | grep -Eq "not traced .*: $words \($function" ||
			{ say "$where: $command does not tell it"; cat out gdb.err; }
	done
	in_gdb -ex 'epitaph info' "$@" >out || say "$where: info: $(cat gdb.err)"
	grep -Eq "^off +$words" out || { say "$where: info does not tell it"; cat out; }
	in_gdb -ex 'epitaph save saved' "$@" >out || say "$where: save: $(cat gdb.err)"
	grep -Eq "; $saved switched off$" out || { say "$where: save does not tell it"; cat out; }
	"$epitaph" info saved | grep -Eq "^off +$words" || say "$where: the snapshot does not hold it"
}
all_tell core '2 functions were' '2 functions' '(outer|last)' -c dead

mkfifo in out.of
"$BIN/epitaph-cc" -O1 "$TOP/tests/programs/switched.c" -o switched
./switched <in >out.of 2>/dev/null &
process=$!
exec 5>in 6<out.of
read -r word <&6
in_gdb -ex 'epitaph save saved' -p "$process" >out || say "nothing off: $(cat gdb.err)"
! grep -q 'switched off' out || say "it says that something is off, and nothing is"
"$epitaph" control "$process" untrace step >/dev/null
all_tell live '1 function was' '1 function' step -p "$process"
"$epitaph" control "$process" hooks >hooks
grep -Eq '^off +control .* step ' hooks || say "it is on after gdb has looked"

# Times of a snapshot count back to when it was taken.
"$epitaph" control saved hooks >hooks
grep -Eq '^off +control +[0-9.]+ [mu]?s ' hooks || { say "since when: "; cat hooks; }

"$epitaph" control "$process" off >/dev/null
in_gdb -ex 'epitaph save saved' -p "$process" >out || say "all off: $(cat gdb.err)"
grep -q '; everything was switched off$' out || { say "that everything is off is not told"; cat out; }

# ---- for programs: each kind of source
valid() { # SOURCE: its info --json is what the schema says; it stays in the file info.json
	"$epitaph" info --json "$1" >info.json 2>/dev/null || [ $? = 1 ] || say "info of $1"
	node "$TOP/tests/cli/lib/validate.js" "$NPM" "$TOP/docs/info.schema.json" info.json || say "info --json of $1"
}
valid dead
python3 - <<'PY' || say "info of the core"
import json
s = json.load(open("info.json"))["switching"]
assert (s["functions_off"], s["functions_off_name"], s["functions_off_control"], s["budget_ppm"]) == (2, 2, 0, 0), s
assert not s["all_off"] and "all_off_ago_ns" not in s, s
PY
valid saved
python3 - <<'PY' || say "info of the snapshot"
import json
s = json.load(open("info.json"))["switching"]
assert s["all_off"] and s["all_off_ago_ns"] > 0 and s["all_off_count"] == 1 and s["functions_off_control"] == 1, s
PY
valid "$process"
exec 5>&-
wait "$process" || say "it ended with $?"
# A schema that takes anything would do so here, too.
python3 -c 'import json; i = json.load(open("info.json")); i["switching"]["functions_off"] = "two"; json.dump(i, open("info.json", "w"))'
! node "$TOP/tests/cli/lib/validate.js" "$NPM" "$TOP/docs/info.schema.json" info.json >/dev/null || say "the schema takes words for numbers"
env EPITAPH_FILE=file ./prog >/dev/null 2>&1 || true
valid file
exit $((failures > 0))
