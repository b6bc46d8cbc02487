#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# extract --redact: of a program with a secret in every place that a snapshot takes bytes from, none is left, whatever the source;
# the snapshot says what is missing, and calls, build-ids and function names are as before.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/secrets.bash"
trap 'kill -9 $process 2>/dev/null || true' EXIT
process=

redact() { # WORDS SOURCE [OPTIONS...]: into "redacted"
	local words=$1 source=$2
	shift 2
	rm -f redacted
	gives 0 "$EPITAPH" extract -q -o redacted --redact "$words" "$@" "$source"
}

dies() { # CORE [WORD]: it leaves it
	rm -f "Cwd$tail"/core*
	{ run_secrets >/dev/null 2>&1 || true; } 2>/dev/null
	mv "Cwd$tail"/core* "$1"
}

build_secrets
dies core
tells core "$main" "the core"
"$EPITAPH" extract -q -o plain core
tells plain "$main" "the snapshot"

# ---- each word: what it covers, and nothing else ----
# Functions have texts on their stacks and in vector registers as chance has it, so these go along.
redact cmdline,stacks core
tells redacted "Cwd Exe Prg Lib So Thr Gpr Span Note Abort Dog" cmdline
redact paths,stacks core
tells redacted "Argv Exe Prg Lib So Thr Gpr Span Note Abort Dog" "paths, with the command line,"
# What the C library said begins with the program's name.
redact cmdline,paths,stacks core
tells redacted "Prg Thr Gpr Span Note Abort Dog" cmdline,paths
redact notes,stacks core
tells redacted "Argv Cwd Exe Prg Lib So Gpr" notes
redact stacks core
tells redacted "Argv Cwd Exe Prg Lib So Thr Gpr Span Note Abort Dog" stacks
"$EPITAPH" extract -q -o again --no-stacks core
cmp redacted again || say "--no-stacks is another thing"
rm again
redact stacks,registers core
tells redacted "Argv Cwd Exe Prg Lib So Thr Span Note Abort Dog" registers
# Arguments and environment are on the first stack, whose top is kept here.
redact cmdline core
! LC_ALL=C grep -qaE "Argv$tail|Env$tail" redacted || say "they are left on the stack"
LC_ALL=C grep -qa "Stack$tail" redacted || say "no stack is left"
redact cmdline,paths,notes core --no-stacks
tells redacted "Gpr" "all but registers"
redact all core
tells redacted "" "all"
[ "$(stat -c %s redacted)" -gt 100000 ] || say "nothing is left in it"
gives 64 "$EPITAPH" extract -o nothing --redact cmdline,words core
has err "--redact=words: cmdline, paths, notes, stacks, registers, several with commas"
gives 64 "$EPITAPH" extract -o nothing --redact "" core

# ---- what is left out is said, and is no damage ----
gives 0 "$EPITAPH" info redacted
has out "left out   the command line, paths, what the program said, the stacks and registers, when the snapshot was made"
! grep -q ^program out || say "the program is told"
grep -qE '^lost +nothing' out || say "damage: $(grep -A3 '^lost' out)"
"$EPITAPH" info --json redacted >info.json
python3 - <<'END' || say 'the JSON does not say it'
import json
info = json.load(open("info.json"))
assert info["left_out"] == ["cmdline", "paths", "notes", "stacks", "registers"], info["left_out"]
assert not any(info["lost"].values()), info["lost"]
END
# The C library's file is not looked for by its name.
gives 1 "$EPITAPH" report --executable "${secrets[0]}" redacted
has out "left out   the command line, paths"
has out "the stacks were left out when the snapshot was made"
has out 'state      in tgkill(…)'
hasnt out damaged
"$EPITAPH" info core >out
hasnt out "left out"

# ---- functions: by the program that is named, or its build-id ----
calls() { "$EPITAPH" replay --format=tsv "$@" | awk -F'\t' '$1 == "B" { print $5, $8 }' | sort | uniq -c; }
calls core >wanted
[ "$(wc -l <wanted)" -ge 5 ] || say "the test itself: $(cat wanted)"
cmp wanted <(calls --executable "${secrets[0]}" redacted) || say "another trace by the program that is named"
id=$(readelf -n "${secrets[0]}" | awk '/Build ID/ { print $3 }')
mkdir -p "root/usr/lib/debug/.build-id/${id:0:2}"
cp "${secrets[0]}" "root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
cmp wanted <(calls --sysroot root redacted) || say "another trace by the build-id"
"$EPITAPH" info --modules redacted >out
has out "$id build-id:${id:0:16}"
has out "[vdso]"
gdb -q -batch -nx -ex 'info threads' -ex 'p $sp' "${secrets[0]}" redacted >gdb.txt 2>&1
[ "$(grep -c LWP gdb.txt)" -ge 2 ] && grep -q '^\$1 = (void \*) 0x7f' gdb.txt || say "gdb: $(cat gdb.txt)"

# Names that stand for others are the same for the same name, and others for others.
spans() { { "$EPITAPH" replay "$1" || true; } 2>/dev/null | grep -o 'span ~[^ ]* \(begins\|ends\)'; }
spans redacted >spans
[ "$(sort -u spans | wc -l)" = 4 ] && [ "$(cut -d' ' -f2 spans | sort -u | wc -l)" = 2 ] || say "spans: $(cat spans)"
"$EPITAPH" extract -q -o again --redact all core
! cmp -s spans <(spans again) || say "the key of the names is always the same"

# ---- sources: a stream, a compressed core, a snapshot, a redacted one, what was kept, an arena's file, a process ----
redact all - <core
tells redacted "" "a stream"
zstd -q -1 core -o core.zst
redact all core.zst
tells redacted "" "a compressed core"
redact all plain
tells redacted "" "a snapshot"
redact cmdline plain
mv redacted half
redact paths,notes,stacks half
"$EPITAPH" info redacted | grep -q 'left out   the command line, paths, what the program said and the stacks, when' ||
	say "what was left out before is forgotten"
tells redacted "Gpr" "a snapshot in two steps"
"$EPITAPH" extract -q -o again redacted
"$EPITAPH" info again | grep -q 'left out   the command line, paths' || say "a copy forgets what was left out"

gives 0 "$EPITAPH" extract -q -k 1 -o kept core
shows kept "Argv Cwd Exe Prg Lib So Thr Span Note" "what was kept"
gives 0 "$EPITAPH" extract -q -k 1 -o redacted --redact all core
tells redacted "" "what was kept, redacted,"
has <("$EPITAPH" info redacted) "left out   the command line"

rm -f "Cwd$tail"/*
(ulimit -c 0; EPITAPH_ON_CRASH=snapshot EPITAPH_OUTPUT=shot.core run_secrets >/dev/null 2>&1) 2>/dev/null || true
mv "Cwd$tail/shot.core" shot
shows shot "Argv Env Cwd Exe Prg Lib So Run Thr Heap Span Note Stack Dog" "what the process wrote itself"
redact all shot
tells redacted "" "that, redacted,"

mkdir "Fil$tail"
EPITAPH_FILE="$PWD/Fil$tail/arena" dies core.file
shows core.file "$all" "a core that leads to it"
mv "Fil$tail/arena" arena
shows arena "Argv Env Cwd Exe Prg Lib So Thr Span Note Dog" "the arena's file"
redact all arena
tells redacted "" "the arena's file, redacted,"
mv arena "Fil$tail/arena"
redact all core.file
tells redacted "" "a core that leads to it"

mkfifo ready
(cd "Cwd$tail" && exec env "Secret=Env$tail" "${secrets[@]}" stay) >ready &
process=$!
read -r line <ready
[ "$line" = ready ]
gives 0 "$EPITAPH" extract -q -o plain "$process"
shows plain "Argv Env Cwd Exe Prg Lib So Run Thr Heap Span Note Dog" "a process"
redact all "$process"
tells redacted "" "a process, redacted,"
gives 0 "$EPITAPH" control -q -o redacted --redact all "$process" snapshot
tells redacted "" "by epitaph control"
exit $((failures != 0))
