/* SPDX-License-Identifier: BSD-2-Clause */
/* build_counts.c: counts for tests. */
#include "tests/unit/build_counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(bool good, const struct ep_err *err)
{
	if (good)
		return;
	fprintf(stderr, "build_counts: %s\n", err->text);
	abort();
}

size_t build_counts_module(struct ep_counts *counts, const char *path, uint8_t id, size_t id_size)
{
	uint8_t bytes[EP_BUILD_ID_MAX];
	struct ep_err err = {0};
	size_t number = 0;

	memset(bytes, id, sizeof(bytes));
	need(ep_counts_module(counts, path, bytes, id_size, &number, &err) == 0, &err);
	return number;
}

void build_counts_add(struct ep_counts *counts, size_t module, uint64_t address, uint64_t calls)
{
	ep_counts_add(counts, module, address, calls);
}

void build_counts_run(struct ep_counts *counts, uint64_t identity, uint64_t duration)
{
	char program[] = "/bin/program", host[] = "here";
	struct ep_err err = {0};
	struct ep_counts_run run = {
		.identity = identity,
		.program = program,
		.host = host,
		.pid = 7,
		.start = 1000 + identity,
		.duration = duration,
		.cpu = duration,
		.threads = 1,
	};

	need(ep_counts_add_run(counts, &run, &err) == 0, &err);
}

char *build_counts_text(const struct ep_counts *counts, size_t *size)
{
	struct ep_err err = {.text = "no text"};
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	need(out && ep_counts_print(counts, out) == 0 && fclose(out) == 0, &err);
	return text;
}

struct ep_counts *build_counts_parse(const char *text, size_t size)
{
	struct ep_err err = {0};
	struct ep_counts *counts = NULL;

	need(ep_counts_parse(&counts, text, size, "test", &err) == 0, &err);
	return counts;
}
