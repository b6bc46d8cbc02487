# SPDX-License-Identifier: BSD-2-Clause
# A program that runs over its own trace with a string: which blocks and records are gone is told, and what the text was, as it
# may be the very thing that killed the process; nothing of it is taken for calls, and what lies outside of it is told as ever.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >runaway.c <<'END'
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/format.h"

extern struct ep_root epitaph_root;
static volatile int sink;
__attribute__((noinline)) void step(void) { sink++; }

/* Of the only thread: it is full. */
static char *second_block(void)
{
	const struct ep_arena *arena = (const void *)(uintptr_t)epitaph_root.arena_address;

	for (unsigned i = 0; i < EP_SECTION_MAX; i++)
		if (arena->sections[i].type == EP_SECTION_RINGS)
			return (char *)(uintptr_t)(epitaph_root.arena_address + arena->sections[i].offset) + EP_BLOCK_SIZE;
	abort();
}

__attribute__((noinline)) void run_away(size_t from, size_t size, const char *words)
{
	char *to = second_block() + from;

	for (size_t i = 0; i < size; i++)
		to[i] = words[i % strlen(words)];
}

int main(int count, char **words)
{
	for (int i = 0; i < 4000; i++)
		step();
	if (count > 2)
		run_away(strtoul(words[1], NULL, 0), strtoul(words[2], NULL, 0), count > 3 ? words[3] : "GET /index.html?\t");
	abort();
}
END
"$BIN/epitaph-cc" -g -O1 -I"$TOP" runaway.c -o runaway

# Within one block: its header holds. Byte 1003 is in record 121 of it, 1302 in 158.
crash core.records env EPITAPH_TIMESTAMP_EVERY=1 "$PWD/runaway" 1003 300
gives 1 "$EPITAPH" report core.records
has out '  - 38 records look as if text was written over them: they are left out'
# Bytes of the records before and after it may look like text, too.
grep -qE '^  - text that was written over the trace: ".{0,28}GET /index\.html\?\\x09GET /i' out || { say 'text'; cat out; }
hasnt out 'blocks of records are damaged'
grep -qE 'main\+.*called' out || say 'main is open all the same'

# All commands leave out the same 38, which are 19 calls and their returns, and say where.
gives 1 "$EPITAPH" replay core.records
[ "$(grep -c -- '--- 38 records lost: overwritten by text ".*GET /' out)" = 1 ] || { say 'the gap in replay'; grep -n -- --- out; }
[ "$(grep -c 'step();' out)" = 3981 ] || say "replay: $(grep -c 'step();' out) calls of step"
has err '38 records look as if text was written over them'
gives 1 "$EPITAPH" replay --format=tsv core.records
[ "$(cut -f8 out | sort -u | tr '\n' ' ')" = '- function main run_away step ' ] || { say 'functions'; cut -f8 out | sort | uniq -c; }
gives 1 "$EPITAPH" stats core.records
grep -qE '^ +3981 .* step$' out || { say 'stats'; cat out; }
has out 'History is missing in 1 places'
gives 1 "$EPITAPH" info --json core.records
python3 - out <<'END' || say 'info --json'
import json, sys
lost = json.load(open(sys.argv[1]))["lost"]
sys.exit(not (lost["records_text"] == 38 and lost["blocks_torn"] == 0 and lost["holes"] == 0))
END
gives 1 "$EPITAPH" export -o calls.jsonl core.records
gives 1 "$EPITAPH" export --format=chrome -o trace.json core.records
python3 - <<'END' || say 'exports'
import json
lines = [json.loads(line) for line in open("calls.jsonl")]
gaps = [line for line in lines if line["type"] == "gap"]
assert len(gaps) == 1 and gaps[0]["lost"] == 38 and 'overwritten by text "' in gaps[0]["why"], gaps
assert {line["function"] for line in lines if line["type"] == "call"} == {"main", "run_away", "step"}
gaps = [e for e in json.load(open("trace.json"))["traceEvents"] if e.get("cat") == "gap"]
assert len(gaps) == 1 and "GET /index.html" in gaps[0]["args"]["why"], gaps
END

# With what JSON has marks for, near the end: the report's last calls have it, too.
crash core.quotes env EPITAPH_TIMESTAMP_EVERY=1 "$PWD/runaway" $((14 * 4096 + 1600)) 80 '"\'
gives 1 "$EPITAPH" report --json --last=150 core.quotes
python3 - "$TOP/docs/report.schema.json" out <<'END' || { say 'gap of the JSON'; grep -o '"last_calls.*' out; }
import json, sys
import jsonschema
schema, report = (json.load(open(f)) for f in sys.argv[1:3])
jsonschema.Draft202012Validator(schema).validate(report)
gaps = [e for e in report["threads"][0]["last_calls"] if e["type"] == "gap"]
assert len(gaps) == 1, gaps
assert gaps[0]["reasons"] == ["text"] and gaps[0]["lost"] == 10 and '"\\"\\' in gaps[0]["text"], gaps
END

# Over the beginning of the next one.
crash core.blocks env EPITAPH_TIMESTAMP_EVERY=1 "$PWD/runaway" 4000 5000
gives 1 "$EPITAPH" report core.blocks
has out '2 blocks of records are damaged'
has out '2 of these look as if text was written over them'
grep -qE '^  - text that was written over the trace: ".{0,28}GET /index\.html\?\\x09GET ' out || { say 'text of blocks'; cat out; }
python3 - "$("$EPITAPH" report --json core.blocks || true)" <<'END' || say 'warnings of the JSON'
import json, sys
codes = [w["code"] for w in json.loads(sys.argv[1])["warnings"]]
sys.exit(not {"torn-blocks", "text-over-blocks", "text-over-records", "text"} <= set(codes))
END

# Nothing of the kind where nothing was overwritten.
crash core.sound "$PWD/runaway"
gives 0 "$EPITAPH" report core.sound
hasnt out 'text was written'
exit $((failures != 0))
