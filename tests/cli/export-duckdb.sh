# SPDX-License-Identifier: BSD-2-Clause
# DuckDB reads a jsonl file as it is: all columns, with their types, also those of lines that come after its sample of 20,480.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/exports.bash"
need_npm @duckdb/node-api

cat >late.cc <<'EOF'
#include <epitaph.h>
#include <stdlib.h>
__attribute__((noinline)) static void leaf(int i) { __asm__ volatile("" : : "r"(i)); }
__attribute__((noinline)) static void thrower() { throw 1; }
int main()
{
	for (int i = 0; i < 22000; i++)
		leaf(i);
	epitaph_note("late %d", 5);
	epitaph_mark_begin("span");
	try { thrower(); } catch (int) { }
	epitaph_mark_end("span");
	abort();
}
EOF
"$BIN/epitaph-c++" -g -O1 late.cc -o late
EPITAPH_TIMESTAMP_EVERY=1 EPITAPH_SCHED=off crash core.late "$PWD/late"
gives 0 "$EPITAPH" export -o late.jsonl core.late
asks() { # WANTED STATEMENT: the answer's rows, with blanks between them
	node "$TOP/tests/cli/lib/duckdb.js" "$NPM" "create table t as select * from 'late.jsonl'" "$2" >rows || true
	[ "$(sed 1d rows | xargs)" = "$1" ] || { say "$2"; cat rows; }
}
asks '22000' "select count(*) from t where function = 'leaf(int)' or function = 'leaf'"
asks 'late 5' "select text from t where point = 'note'"
asks '2' "select count(*) from t where point like 'span-%' and span = 0 and time_ns > 0"
asks 'thrower()' "select function from t where type = 'call' and list_contains(flags, 'unwound')"
asks 'BIGINT VARCHAR VARCHAR[] BIGINT' "select column_type from (describe t) where column_name in ('lost', 'why', 'flags', 'lines') order by column_name = 'lines', column_name = 'flags', column_name = 'why'"
asks "$(($(wc -l <late.jsonl) - 2))" 'select sum(lines) from t'
exit $((failures != 0))
