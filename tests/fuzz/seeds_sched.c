/* SPDX-License-Identifier: BSD-2-Clause */
/* seeds_sched.c: writes the first inputs of fuzz_sched into the folder named: small sections of
 * scheduling events, of ftrace and of perf. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_sched.h"

#define START UINT64_C(5000000000)

static const char *folder;

/* The section up to its last chunk, its formats no longer than they are. */
static void save(struct build_sched *s, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fwrite(s->head, 1, s->at, file) != s->at || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
	build_arena_destroy(s->arena);
}

/* The formats lie right behind the head, and chunks behind them. */
static void begin(struct build_sched *s)
{
	uint8_t *base;

	build_sched_init(s, build_arena_create(NULL), START);
	base = (uint8_t *)s->head;
	memmove(base + 512, base + s->head->formats_offset, s->head->formats_used);
	s->head->formats_offset = 512;
	s->head->formats_size = s->head->formats_used;
	s->head->pool_offset = s->at = 512 + s->head->formats_used;
	memset(base + s->at, 0, 4096);
}

static void save_pages(const char *name)
{
	struct build_sched s;

	begin(&s);
	s.head->machine = 1;
	for (unsigned cpu = 0; cpu < 3; cpu++) {
		uint64_t tsc = START + cpu * 1000;

		build_sched_page(&s, tsc);
		for (unsigned i = 0; i < 8; i++) {
			build_sched_switch(&s, tsc += 500, 100 + i % 3, i % 3, 100 + (i + 1) % 3);
			build_sched_waking(&s, tsc += 100, 100, i * 8, 101);
			build_sched_enter(&s, tsc += 1u << (4 * i), 102, i, 7);
		}
		build_sched_flush(&s, cpu, cpu == 2);
	}
	save(&s, name);
}

static void save_records(void)
{
	struct build_sched s;
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
	} records[8];

	begin(&s);
	s.head->source = EP_SCHED_PERF;
	s.tsc = 2 * START;
	for (unsigned i = 0; i < 8; i++) {
		memset(&records[i], 0, sizeof(records[i]));
		records[i].header.type = PERF_RECORD_SWITCH;
		records[i].header.misc = i % 2 ? PERF_RECORD_MISC_SWITCH_OUT : 0;
		records[i].header.size = sizeof(records[i]);
		records[i].pid = 100;
		records[i].tid = 101 + i % 4 / 2;
		records[i].time = UINT64_C(6700000000) + i * 1000;
	}
	build_sched_chunk(&s, records, sizeof(records), 0, EP_SCHED_PERF);
	save(&s, "records");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 1;
	folder = argv[1];
	save_pages("pages");
	save_records();
	return 0;
}
