# SPDX-License-Identifier: BSD-2-Clause
# A program that runs over its own trace with a string: which blocks and records are gone is told, and what the text was, as it
# may be the very thing that killed the process; what lies outside of it is told as ever.
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

__attribute__((noinline)) void run_away(size_t from, size_t size)
{
	static const char words[] = "GET /index.html?\t";
	char *to = second_block() + from;

	for (size_t i = 0; i < size; i++)
		to[i] = words[i % 17];
}

int main(int count, char **words)
{
	for (int i = 0; i < 4000; i++)
		step();
	if (count > 2)
		run_away(strtoul(words[1], NULL, 0), strtoul(words[2], NULL, 0));
	abort();
}
END
"$BIN/epitaph-cc" -g -O1 -I"$TOP" runaway.c -o runaway

# Within one block: its header holds.
crash core.records env EPITAPH_TIMESTAMP_EVERY=1 "$PWD/runaway" 1003 300
gives 1 "$EPITAPH" report core.records
grep -qE '^  - 3[678] records look as if text was written over them' out || { say 'records'; cat out; }
# Bytes of the records before and after it may look like text, too.
grep -qE '^  - text that was written over the trace: ".{0,28}GET /index\.html\?\\x09GET /i' out || { say 'text'; cat out; }
hasnt out 'blocks of records are damaged'
grep -qE 'main\+.*called' out || say 'main is in flight all the same'

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
