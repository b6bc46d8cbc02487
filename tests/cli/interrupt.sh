#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Ctrl-C leaves no half file, where outputs lie aside with a name until they are whole: the signal comes just before they get
# theirs (tests/programs/interrupted.c), the process dies of it, and what was there before is as it was.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
traced story story
cc -O1 "$TOP/tests/programs/interrupted.c" -o interrupted
crash core "$PWD/story"
mkdir counts
cd counts
for run in 1 2; do
	{ EPITAPH_MODE=count ../story >/dev/null 2>&1 || true; } 2>/dev/null
done
cd ..
mapfile -t counts < <(printf '%s\n' "$PWD"/counts/*.counts)

# leaves FILE COMMAND...: interrupted, it leaves what was there: nothing, or FILE as it was.
leaves() {
	local file=$1 before
	shift
	for before in '' old; do
		rm -rf here && mkdir here
		[ -z "$before" ] || echo old >"here/$file"
		cd here
		status=0
		../interrupted "$@" >../there 2>../err || status=$?
		cd ..
		[ $status -eq 130 ] || say "$*: status $status: $(cat err)"
		[ "$(grep -c "^$file\." there)" -eq 1 ] || say "$*: nothing of it was aside: $(cat there)"
		[ "$(ls here)" = "${before:+$file}" ] || say "$*: left $(ls here)"
		[ -z "$before" ] || [ "$(cat "here/$file")" = old ] || say "$*: $file is another"
	done
}

leaves o.jsonl "$EPITAPH" export -o o.jsonl ../core
leaves o.json.gz "$EPITAPH" export -f chrome -o o.json.gz ../core
leaves small "$EPITAPH" extract -o small ../core
leaves sum "$EPITAPH" count merge -o sum "${counts[@]}"

# A folder of tables: the same, or it is whole.
rm -rf here && mkdir here && cd here
status=0
../interrupted "$EPITAPH" export -f tables -o tables ../core >../there 2>../err || status=$?
cd ..
[ $status -eq 130 ] || say "tables: status $status: $(cat err)"
[ "$(ls here)" = tables ] && [ -s here/tables/schema.sql ] || [ -z "$(ls here)" ] || say "tables: left $(ls here here/*)"

# Who ignores it goes on, as under nohup.
(trap '' INT TERM; exec "$EPITAPH" replay - <core >out 2>err) &
wait $! || [ $? -eq 1 ] || say "replay: $(cat err)"

[ $failures -eq 0 ]
