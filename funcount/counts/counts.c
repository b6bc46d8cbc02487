/* SPDX-License-Identifier: BSD-2-Clause */
/* counts.c: modules are few and searched one by one; entries are gathered as they come, and sorted
 * once. */
#include "funcount/counts/counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"

struct ep_counts *ep_counts_create(void)
{
	return ep_calloc(1, sizeof(struct ep_counts));
}

static void deinit_run(struct ep_counts_run *run)
{
	free(run->program);
	free(run->host);
	free(run->incomplete);
}

void ep_counts_destroy(struct ep_counts *counts)
{
	if (!counts)
		return;
	for (size_t i = 0; i < counts->modules.count; i++) {
		free(counts->modules.list[i].path);
		ep_array_deinit(&counts->modules.list[i].entries);
	}
	for (size_t i = 0; i < counts->runs.count; i++)
		deinit_run(&counts->runs.list[i]);
	ep_array_deinit(&counts->modules);
	ep_array_deinit(&counts->runs);
	free(counts);
}

/* ---- modules and calls ---------------------------------------------------- */

static bool is_module(const struct ep_counts_module *module, const char *path, const void *build_id,
		      size_t build_id_size)
{
	if (module->build_id_size != build_id_size)
		return false;
	return build_id_size ? !memcmp(module->build_id, build_id, build_id_size)
			     : !strcmp(module->path, path);
}

static void new_module(struct ep_counts *counts, const char *path, const void *build_id,
		       size_t build_id_size)
{
	struct ep_counts_module *module = ep_array_add(&counts->modules);

	module->path = ep_strdup(path);
	module->build_id_size = (uint32_t)build_id_size;
	if (build_id_size)
		memcpy(module->build_id, build_id, build_id_size);
}

/* The same file under several paths: which one is shown must not depend on the order. */
static void settle_path(struct ep_counts_module *module, const char *path)
{
	if (strcmp(path, module->path) >= 0)
		return;
	free(module->path);
	module->path = ep_strdup(path);
}

int ep_counts_module(struct ep_counts *counts, const char *path, const void *build_id,
		     size_t build_id_size, size_t *out, struct ep_err *err)
{
	if (build_id_size > EP_BUILD_ID_MAX)
		return ep_fail(err, EP_E_LIMIT, 0, "%s: a build-id of %zu bytes", path,
			       build_id_size);
	for (*out = 0; *out < counts->modules.count; ++*out)
		if (is_module(&counts->modules.list[*out], path, build_id, build_id_size)) {
			settle_path(&counts->modules.list[*out], path);
			return EP_OK;
		}
	new_module(counts, path, build_id, build_id_size);
	return EP_OK;
}

void ep_counts_add(struct ep_counts *counts, size_t module, uint64_t address, uint64_t calls)
{
	ep_array_push(&counts->modules.list[module].entries,
		      ((struct ep_counts_entry){address, calls}));
}

/* A sum that does not fit stays at the most that does. */
static uint64_t sum(uint64_t a, uint64_t b, bool *overflow)
{
	uint64_t result;

	if (!__builtin_add_overflow(a, b, &result))
		return result;
	*overflow = true;
	return UINT64_MAX;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_address(const void *a, const void *b)
{
	const struct ep_counts_entry *x = a, *y = b;

	return compare(x->address, y->address);
}

static void settle_module(struct ep_counts_module *module, bool *overflow)
{
	struct ep_counts_entry *list = module->entries.list;
	size_t kept = 0;

	if (module->entries.count)
		qsort(list, module->entries.count, sizeof(*list), by_address);
	module->calls = 0;
	for (size_t i = 0; i < module->entries.count; i++) {
		module->calls = sum(module->calls, list[i].calls, overflow);
		if (kept && list[kept - 1].address == list[i].address)
			list[kept - 1].calls = sum(list[kept - 1].calls, list[i].calls, overflow);
		else if (list[i].calls)
			list[kept++] = list[i];
	}
	module->entries.count = kept;
}

static int by_path(const void *a, const void *b)
{
	const struct ep_counts_module *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	if (!order)
		order = (int)x->build_id_size - (int)y->build_id_size;
	return order ? order : memcmp(x->build_id, y->build_id, x->build_id_size);
}

static int by_start(const void *a, const void *b)
{
	const struct ep_counts_run *x = a, *y = b;
	int order = compare(x->start, y->start);

	if (!order)
		order = strcmp(x->host, y->host);
	if (!order)
		order = compare(x->pid, y->pid);
	return order ? order : compare(x->identity, y->identity);
}

void ep_counts_settle(struct ep_counts *counts)
{
	ep_array_sort(&counts->modules, by_path);
	ep_array_sort(&counts->runs, by_start);
	counts->calls = 0;
	for (size_t i = 0; i < counts->modules.count; i++) {
		settle_module(&counts->modules.list[i], &counts->overflow);
		counts->calls =
			sum(counts->calls, counts->modules.list[i].calls, &counts->overflow);
	}
}

/* ---- runs ----------------------------------------------------------------- */

static const struct ep_counts_run *find_run(const struct ep_counts *counts, uint64_t identity)
{
	for (size_t i = 0; identity && i < counts->runs.count; i++)
		if (counts->runs.list[i].identity == identity)
			return &counts->runs.list[i];
	return NULL;
}

static int already_there(const struct ep_counts_run *run, struct ep_err *err)
{
	return ep_fail(err, EP_E_MISMATCH, 0,
		       "the run of pid %u on %s (%016" PRIx64
		       ") is counted already: give each run once",
		       run->pid, run->host && *run->host ? run->host : "?", run->identity);
}

static char *copy(const char *text)
{
	return ep_strdup(text ? text : "");
}

int ep_counts_add_run(struct ep_counts *counts, const struct ep_counts_run *run, struct ep_err *err)
{
	struct ep_counts_run copied = *run;

	if (find_run(counts, run->identity))
		return already_there(run, err);
	copied.program = copy(run->program);
	copied.host = copy(run->host);
	copied.incomplete = copy(run->incomplete);
	ep_array_push(&counts->runs, copied);
	return EP_OK;
}

bool ep_counts_incomplete(const struct ep_counts *counts)
{
	for (size_t i = 0; i < counts->runs.count; i++)
		if (*counts->runs.list[i].incomplete || counts->runs.list[i].lost)
			return true;
	return counts->overflow;
}

static uint64_t total(const struct ep_counts *counts, size_t field)
{
	uint64_t all = 0;
	bool overflow = false;

	for (size_t i = 0; i < counts->runs.count; i++) {
		const char *run = (const char *)&counts->runs.list[i];
		uint64_t one = *(const uint64_t *)(const void *)(run + field);

		if (!one)
			return 0;
		all = sum(all, one, &overflow);
	}
	return all;
}

uint64_t ep_counts_duration(const struct ep_counts *counts)
{
	return total(counts, offsetof(struct ep_counts_run, duration));
}

uint64_t ep_counts_cpu(const struct ep_counts *counts)
{
	return total(counts, offsetof(struct ep_counts_run, cpu));
}

uint64_t ep_counts_memory(const struct ep_counts *counts)
{
	return total(counts, offsetof(struct ep_counts_run, memory));
}

/* ---- merging -------------------------------------------------------------- */

static int merge_module(struct ep_counts *into, const struct ep_counts_module *module,
			struct ep_err *err)
{
	size_t number;
	int result = ep_counts_module(into, module->path, module->build_id, module->build_id_size,
				      &number, err);

	if (result)
		return result;
	into->modules.list[number].executable |= module->executable;
	for (size_t i = 0; i < module->entries.count; i++)
		ep_counts_add(into, number, module->entries.list[i].address,
			      module->entries.list[i].calls);
	return EP_OK;
}

int ep_counts_merge(struct ep_counts *into, const struct ep_counts *from, struct ep_err *err)
{
	int result = EP_OK;

	for (size_t i = 0; i < from->runs.count; i++)
		if (find_run(into, from->runs.list[i].identity))
			return already_there(&from->runs.list[i], err);
	for (size_t i = 0; i < from->runs.count && !result; i++)
		result = ep_counts_add_run(into, &from->runs.list[i], err);
	for (size_t i = 0; i < from->modules.count && !result; i++)
		result = merge_module(into, &from->modules.list[i], err);
	into->overflow |= from->overflow;
	ep_counts_settle(into);
	return result;
}

/* ---- looking -------------------------------------------------------------- */

/* Of the first entry at or behind `address`. */
static size_t lower_bound(const struct ep_counts_module *module, uint64_t address)
{
	size_t low = 0, high = module->entries.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (module->entries.list[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t ep_counts_at(const struct ep_counts_module *module, uint64_t address)
{
	size_t at = lower_bound(module, address);

	return at < module->entries.count && module->entries.list[at].address == address
		       ? module->entries.list[at].calls
		       : 0;
}

uint64_t ep_counts_between(const struct ep_counts_module *module, uint64_t start, uint64_t end)
{
	uint64_t calls = 0;
	bool overflow;

	for (size_t i = lower_bound(module, start);
	     i < module->entries.count && module->entries.list[i].address < end; i++)
		calls = sum(calls, module->entries.list[i].calls, &overflow);
	return calls;
}

const struct ep_counts_module *ep_counts_other_build(const struct ep_counts *counts,
						     const struct ep_counts_module *module)
{
	for (size_t i = 0; i < counts->modules.count; i++)
		if (&counts->modules.list[i] != module &&
		    !strcmp(counts->modules.list[i].path, module->path))
			return &counts->modules.list[i];
	return NULL;
}
