# SPDX-License-Identifier: BSD-2-Clause
# export -f tables: the calls that jsonl has; each query of docs/tables.md runs in DuckDB and finds what the program did; a
# folder appears whole or not at all, and nothing that is there goes but tables, when that is asked for.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/exports.bash"
(need_scheduling) >/dev/null && need_scheduling || sources=()
NAMES='calls.csv clickhouse.sql frames.csv functions.csv gaps.csv modules.csv notes.csv process.csv schema.sql spans.csv threads.csv waits.csv'

mkdir bin
"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls -I"$TOP/runtime" "$TOP/tests/programs/requests.c" -o bin/requests -lpthread
EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=${sources[0]:-off} crash core.requests "$PWD/bin/requests"
odd_program bin/odd
crash core.odd "$PWD/bin/odd" 12
traced story bin/story
crash core.story "$PWD/bin/story"

# ---- the rows ----

for name in requests odd story; do
	gives 0 "$EPITAPH" export -f tables -o "$name" core.$name
	gives 0 "$EPITAPH" export -f jsonl -o $name.jsonl core.$name
	[ "$(ls "$name" | xargs)" = "$NAMES" ] || say "$name has $(ls "$name" | xargs)"
	python3 "$TOP/tests/cli/lib/tables.py" "$name" $name.jsonl >difference || { say "$name:"; sed 's/^/	/' difference; }
done
[ "$(stat -c %a requests.jsonl odd | xargs)" = '600 700' ] && [ "$(stat -c %a odd/*.csv | sort -u)" = 600 ] || say 'others may read it'
for pair in zstd:zst gzip:gz; do
	gives 0 "$EPITAPH" export -f tables "--${pair%:*}" -o "${pair%:*}" core.odd
	for table in calls functions frames; do
		"${pair%:*}" -dc "${pair%:*}/$table.csv.${pair#*:}" | cmp -s - odd/$table.csv || say "${pair%:*}: another $table"
	done
done

# ---- the folder ----

same() { # FOLDER: is as it was when it was copied to FOLDER.bak
	diff -r "$1" "$1.bak" >/dev/null || say "$1 was changed by: ${*:2}"
}
refused() { # STATUS WORDS FOLDER OPTIONS...: and nothing is touched
	rm -rf "$3.bak"
	[ ! -e "$3" ] || cp -r "$3" "$3.bak"
	gives "$1" "$EPITAPH" export -f tables -o "${@:3}" core.odd
	has err "$2"
	[ -e "$3.bak" ] || [ ! -e "$3" ] || say "$3 was made"
	[ ! -e "$3" ] || same "${@:3}"
}
refused 64 'exists already; --overwrite' story
gives 64 "$EPITAPH" export -f tables -o story/ core.odd
echo mine >story/thesis.csv
refused 64 'other files in it (thesis.csv)' story
refused 64 'other files in it (thesis.csv)' story --overwrite
rm story/thesis.csv && mkdir story/gaps.csv.gz
refused 64 'other files in it (gaps.csv.gz)' story --overwrite
rmdir story/gaps.csv.gz
echo text >file
refused 64 'is no folder' file --overwrite
gives 64 "$EPITAPH" export -f tables --overwrite -o . core.odd
has err 'name a folder'
refused 3 'No such file' no/such
refused 2 'no call fits' story --overwrite '--function=no_such_*'
refused 2 'no call fits' new '--function=no_such_*'
gives 64 "$EPITAPH" export -f tables core.odd
has err '-o DIR'
gives 64 "$EPITAPH" export -f tables -z --zstd -o new core.odd
gives 64 "$EPITAPH" export -f jsonl --overwrite core.odd
has err 'for --format=tables only'
# No room: a file may have 1,024 bytes.
status=0
(trap '' XFSZ; ulimit -f 1; exec "$EPITAPH" export -f tables -o new core.odd) 2>err || status=$?
[ $status -eq 3 ] && [ ! -e new ] || say "no room: status $status, $(ls -d new* 2>&1)"
has err 'File too large'

mkdir empty
for name in empty story link; do
	[ $name != link ] || ln -s empty link
	gives 0 "$EPITAPH" export -f tables --overwrite -o $name core.odd
	diff -r odd $name >/dev/null || say "$name is not what was exported"
done
[ -L link ] || say 'a link was replaced'
gives 0 "$EPITAPH" export -f tables --overwrite --gzip -o story core.odd
diff -r gzip story >/dev/null || say 'something of the tables before is left'
[ -z "$(find . -maxdepth 1 -name '*.??????')" ] || say "left behind: $(find . -maxdepth 1 -name '*.??????')"

# ---- DuckDB ----

[ -f "$NPM/@duckdb/node-api/package.json" ] || { [ $failures -eq 0 ] || exit 1; need_npm @duckdb/node-api; }
python3 - "$TOP/docs/tables.md" <<'END'
import re, sys
queries = re.findall(r"```sql\n(.*?)```", open(sys.argv[1], encoding="utf-8").read(), re.S)
assert len(queries) == 11, len(queries)
for number, query in enumerate(queries):
    open(f"query.{number}", "w", encoding="utf-8").write(query)
END
asks() { # FOLDER STATEMENT...: the rows of each into the files rows.0, rows.1 …, without those of the schema
	local folder=$1 number=0 one statements=()
	shift
	for one; do
		statements+=("select '== rows.$((number++))'" "$one")
	done
	(cd "$folder" && node "$TOP/tests/cli/lib/duckdb.js" "$NPM" "$(cat schema.sql)" "${statements[@]}") >all || { say "$folder:"; tail -n 5 all; }
	awk '/^== rows/ { file = $2; printf "" >file; next } file { print >file }' all
}
answers() { # NUMBER PATTERN: the query's rows, of which one is that
	grep -Eq -- "^$2\$" rows.$1 || { say "query $1 has no $2:"; head -20 rows.$1; }
}
T=$'\t' N='[0-9]+'
queries=()
for number in {0..10}; do queries+=("$(cat query.$number)"); done
asks requests "${queries[@]}"
answers 0 66 # 20 requests of 3 calls, 3 contenders, a holder, main and req_die
# How long things took is known from below only: a busy machine takes its time.
answers 1 "request${T}[0-9]{8,}${T}worker-1${T}request 13"
answers 2 "req_(lock|hold|fetch|handle)${T}1${T}[0-9]{8,}"
answers 3 "req_fetch${T}20${T}.*"
answers 3 "req_lock${T}3${T}.*"
answers 4 "req_fetch${T}$N${T}20${T}$N${T}[0-9]{8,}${T}[0-9.]+"
answers 8 "1${T}requests${T}main > req_die${T}.* < abort < req_die < main < .*"
answers 9 "20${T}$N${T}[1-7]"
answers 10 "$N${T}worker-0${T}true${T}0${T}0${T}0${T}$N${T}0${T}30"
if [ ${#sources[@]} -gt 0 ]; then
	answers 5 "req_fetch${T}$N${T}$N${T}$N${T}$N"
	awk -F'\t' '$1 == "req_fetch" && $4 + $5 < 30000000 { exit 1 }' rows.5 || { say 'request 13 slept 40 ms:'; cat rows.5; }
	answers 6 "req_lock${T}$N${T}$N${T}3"
fi
[ "${sources[0]:-}" != ftrace ] || answers 7 "(holder|contender)${T}contender${T}req_lock${T}[1-3]${T}$N"
# Types are as schema.sql has them, and texts as they were escaped.
asks odd "select name from functions where contains(name, 'quo')"
[ "$(cat rows.0)" = 'quo"te\back</script><script>x' ] || say "a name with quotes is $(cat rows.0)"
for packed in zstd gzip; do
	asks $packed 'select count(*) from calls'
	[ "$(cat rows.0)" = $(($(wc -l <odd/calls.csv) - 1)) ] || say "$packed tables have $(cat rows.0) calls"
done
exit $((failures != 0))
