/* SPDX-License-Identifier: BSD-2-Clause */
/* seeds_funtrace.c: writes the first inputs of fuzz_funtrace into the folder named: files of every
 * shape that the tests know. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_funtrace.h"

#define MAPS                                        \
	"400000-480000 r-xp 400000 0:0 0 /bin/a\n"  \
	"    480000-    500000 r-xp 0 0:0 0 /b c\n" \
	"500000-501000 r-xp 00001000 08:01 7 [vdso]\n"
#define HZ    UINT64_C(2000000000)
#define START UINT64_C(5000000000)
#define STEP  0x100

static const char *folder;

static void save(struct build_funtrace *b, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fwrite(b->bytes, 1, b->size, file) != b->size || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
	build_funtrace_destroy(b);
}

/* Calls and what ends them, by `ends`: one flag, or a mixture. */
static void fill(struct build_funtrace *b, unsigned events, uint64_t ends)
{
	uint64_t stack[32], tsc = START;
	unsigned height = 0;

	for (unsigned i = 0; i < events; i++) {
		tsc += i % 31 == 0 ? UINT64_C(1) << (i % 47) : 90 + i;
		if (height == 0 || (height < 32 && i % 7 < 4)) {
			stack[height++] = 0x401000 + i % 11 * STEP;
			build_funtrace_entry(b, stack[height - 1], tsc);
		} else if (i % 13 == 5 && height > 3) {
			height -= 2;
			build_funtrace_entry(b, (stack[height - 1] + 9) | BUILD_CATCH, tsc);
		} else {
			uint64_t at = stack[--height];

			if (ends == BUILD_RETURN_INTO)
				at = height ? stack[height - 1] + 17 : 0x480000;
			build_funtrace_entry(b, at | ends, tsc);
		}
	}
}

static void save_plain(const char *name, uint64_t ends)
{
	struct build_funtrace *b = build_funtrace_create();

	build_funtrace_begin(b, MAPS, HZ);
	build_funtrace_thread(b, 7, 7, "main");
	fill(b, 60, ends);
	build_funtrace_entry(b, 0, 0);
	build_funtrace_thread(b, 7, 8, "worker");
	fill(b, 30, ends);
	build_funtrace_end(b);
	save(b, name);
}

static void save_samples(void)
{
	static const char ids[] = "400000 0123456789abcdef\n480000 ff\n";
	struct build_funtrace *b = build_funtrace_create();

	for (unsigned i = 0; i < 3; i++) {
		build_funtrace_begin(b, i == 1 ? NULL : MAPS, HZ + i);
		build_funtrace_thread(b, 7, 7 + i, "main");
		fill(b, 5 + i, BUILD_RETURN);
		build_funtrace_chunk(b, "FTRACETX",
				     "a line\nmain-7 [000] d..2 1000000000100: "
				     "sched_switch: x\n",
				     56);
		if (i != 1)
			build_funtrace_end(b);
		build_funtrace_chunk(b, "BUILDIDS", ids, sizeof(ids) - 1);
		build_funtrace_chunk(b, "LATER ON", "what", 4);
	}
	save(b, "samples");
}

static void save_wrapped(void)
{
	struct build_funtrace *b = build_funtrace_create();
	uint8_t half[20 * 16];

	build_funtrace_begin(b, MAPS, HZ);
	build_funtrace_thread(b, 7, 7, "main");
	fill(b, 40, BUILD_RETURN);
	memcpy(half, b->bytes + b->size - sizeof(half), sizeof(half));
	memmove(b->bytes + b->size - sizeof(half), b->bytes + b->size - 2 * sizeof(half),
		sizeof(half));
	memcpy(b->bytes + b->size - 2 * sizeof(half), half, sizeof(half));
	build_funtrace_entry(b, UINT64_MAX, 77);
	build_funtrace_entry(b, 0x401000, UINT64_C(1) << 61);
	build_funtrace_chunk(b, "THREADID", "short", 5);
	save(b, "wrapped");
}

int main(int count, char **words)
{
	if (count != 2)
		return 64;
	folder = words[1];
	save_plain("plain", BUILD_RETURN);
	save_plain("xray", BUILD_RETURN_INTO);
	save_samples();
	save_wrapped();
	return 0;
}
