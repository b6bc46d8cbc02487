/* SPDX-License-Identifier: BSD-2-Clause */
/* counts.c: modules are few and searched one by one; entries are gathered as they come, and sorted
 * once. */
#include "funcount/counts/counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct ep_counts *ep_counts_create(void)
{
	return calloc(1, sizeof(struct ep_counts));
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
	for (size_t i = 0; i < counts->module_count; i++) {
		free(counts->modules[i].path);
		free(counts->modules[i].entries);
	}
	for (size_t i = 0; i < counts->run_count; i++)
		deinit_run(&counts->runs[i]);
	free(counts->modules);
	free(counts->runs);
	free(counts);
}

/* Room for one more item of `size` bytes; the list, or NULL. */
static void *room(void *list, size_t count, size_t *capacity, size_t size)
{
	size_t wanted = *capacity ? 2 * *capacity : 8;
	void *grown;

	if (count < *capacity)
		return list;
	grown = reallocarray(list, wanted, size);
	if (grown)
		*capacity = wanted;
	return grown;
}

static int no_memory(struct ep_err *err)
{
	return ep_fail(err, EP_E_MEMORY, 0, "no memory for counts");
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

static int new_module(struct ep_counts *counts, const char *path, const void *build_id,
		      size_t build_id_size, struct ep_err *err)
{
	struct ep_counts_module *grown = room(counts->modules, counts->module_count,
					      &counts->module_capacity, sizeof(*grown));
	struct ep_counts_module module = {
		.path = strdup(path),
		.build_id_size = (uint32_t)build_id_size,
	};

	if (grown)
		counts->modules = grown;
	if (!grown || !module.path) {
		free(module.path);
		return no_memory(err);
	}
	if (build_id_size)
		memcpy(module.build_id, build_id, build_id_size);
	counts->modules[counts->module_count++] = module;
	return EP_OK;
}

/* The same file under several paths: which one is shown must not depend on the order. */
static int settle_path(struct ep_counts_module *module, const char *path, struct ep_err *err)
{
	char *other;

	if (strcmp(path, module->path) >= 0)
		return EP_OK;
	other = strdup(path);
	if (!other)
		return no_memory(err);
	free(module->path);
	module->path = other;
	return EP_OK;
}

int ep_counts_module(struct ep_counts *counts, const char *path, const void *build_id,
		     size_t build_id_size, size_t *out, struct ep_err *err)
{
	int result;

	if (build_id_size > EP_BUILD_ID_MAX)
		return ep_fail(err, EP_E_LIMIT, 0, "%s: a build-id of %zu bytes", path,
			       build_id_size);
	for (size_t i = 0; i < counts->module_count; i++)
		if (is_module(&counts->modules[i], path, build_id, build_id_size)) {
			*out = i;
			return settle_path(&counts->modules[i], path, err);
		}
	result = new_module(counts, path, build_id, build_id_size, err);
	if (!result)
		*out = counts->module_count - 1;
	return result;
}

int ep_counts_add(struct ep_counts *counts, size_t module, uint64_t address, uint64_t calls,
		  struct ep_err *err)
{
	struct ep_counts_module *to = &counts->modules[module];
	struct ep_counts_entry *grown =
		room(to->entries, to->entry_count, &to->entry_capacity, sizeof(*grown));

	if (!grown)
		return no_memory(err);
	to->entries = grown;
	to->entries[to->entry_count++] = (struct ep_counts_entry){address, calls};
	return EP_OK;
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
	struct ep_counts_entry *list = module->entries;
	size_t kept = 0;

	if (module->entry_count)
		qsort(list, module->entry_count, sizeof(*list), by_address);
	module->calls = 0;
	for (size_t i = 0; i < module->entry_count; i++) {
		module->calls = sum(module->calls, list[i].calls, overflow);
		if (kept && list[kept - 1].address == list[i].address)
			list[kept - 1].calls = sum(list[kept - 1].calls, list[i].calls, overflow);
		else if (list[i].calls)
			list[kept++] = list[i];
	}
	module->entry_count = kept;
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
	if (counts->module_count)
		qsort(counts->modules, counts->module_count, sizeof(*counts->modules), by_path);
	if (counts->run_count)
		qsort(counts->runs, counts->run_count, sizeof(*counts->runs), by_start);
	counts->calls = 0;
	for (size_t i = 0; i < counts->module_count; i++) {
		settle_module(&counts->modules[i], &counts->overflow);
		counts->calls = sum(counts->calls, counts->modules[i].calls, &counts->overflow);
	}
}

/* ---- runs ----------------------------------------------------------------- */

static const struct ep_counts_run *find_run(const struct ep_counts *counts, uint64_t identity)
{
	for (size_t i = 0; identity && i < counts->run_count; i++)
		if (counts->runs[i].identity == identity)
			return &counts->runs[i];
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
	return strdup(text ? text : "");
}

int ep_counts_add_run(struct ep_counts *counts, const struct ep_counts_run *run, struct ep_err *err)
{
	struct ep_counts_run *grown, copied = *run;

	if (find_run(counts, run->identity))
		return already_there(run, err);
	grown = room(counts->runs, counts->run_count, &counts->run_capacity, sizeof(*grown));
	if (grown)
		counts->runs = grown;
	copied.program = copy(run->program);
	copied.host = copy(run->host);
	copied.incomplete = copy(run->incomplete);
	if (!grown || !copied.program || !copied.host || !copied.incomplete) {
		deinit_run(&copied);
		return no_memory(err);
	}
	counts->runs[counts->run_count++] = copied;
	return EP_OK;
}

bool ep_counts_incomplete(const struct ep_counts *counts)
{
	for (size_t i = 0; i < counts->run_count; i++)
		if (*counts->runs[i].incomplete || counts->runs[i].lost)
			return true;
	return counts->overflow;
}

static uint64_t total(const struct ep_counts *counts, size_t field)
{
	uint64_t all = 0;
	bool overflow = false;

	for (size_t i = 0; i < counts->run_count; i++) {
		const char *run = (const char *)&counts->runs[i];
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
	into->modules[number].executable |= module->executable;
	for (size_t i = 0; i < module->entry_count && !result; i++)
		result = ep_counts_add(into, number, module->entries[i].address,
				       module->entries[i].calls, err);
	return result;
}

int ep_counts_merge(struct ep_counts *into, const struct ep_counts *from, struct ep_err *err)
{
	int result = EP_OK;

	for (size_t i = 0; i < from->run_count; i++)
		if (find_run(into, from->runs[i].identity))
			return already_there(&from->runs[i], err);
	for (size_t i = 0; i < from->run_count && !result; i++)
		result = ep_counts_add_run(into, &from->runs[i], err);
	for (size_t i = 0; i < from->module_count && !result; i++)
		result = merge_module(into, &from->modules[i], err);
	into->overflow |= from->overflow;
	ep_counts_settle(into);
	return result;
}

/* ---- looking -------------------------------------------------------------- */

/* Of the first entry at or behind `address`. */
static size_t lower_bound(const struct ep_counts_module *module, uint64_t address)
{
	size_t low = 0, high = module->entry_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (module->entries[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t ep_counts_at(const struct ep_counts_module *module, uint64_t address)
{
	size_t at = lower_bound(module, address);

	return at < module->entry_count && module->entries[at].address == address
		       ? module->entries[at].calls
		       : 0;
}

uint64_t ep_counts_between(const struct ep_counts_module *module, uint64_t start, uint64_t end)
{
	uint64_t calls = 0;
	bool overflow;

	for (size_t i = lower_bound(module, start);
	     i < module->entry_count && module->entries[i].address < end; i++)
		calls = sum(calls, module->entries[i].calls, &overflow);
	return calls;
}

const struct ep_counts_module *ep_counts_other_build(const struct ep_counts *counts,
						     const struct ep_counts_module *module)
{
	for (size_t i = 0; i < counts->module_count; i++)
		if (&counts->modules[i] != module && !strcmp(counts->modules[i].path, module->path))
			return &counts->modules[i];
	return NULL;
}
