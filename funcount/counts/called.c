/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * called.c: counts by function. Every module is named on its own, at the addresses of its file:
 * modules of several machines may lie anywhere.
 */
#include "funcount/counts/called.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"

/* ---- stems --------------------------------------------------------------- */

size_t ep_symbol_stem(const char *symbol)
{
	return *symbol ? 1 + strcspn(symbol + 1, ".") : 0;
}

/* ---- functions ----------------------------------------------------------- */

static struct ep_trace_module module_of(const struct ep_counts_module *counted)
{
	size_t last = counted->entries.count;
	struct ep_trace_module module = {
		.end = last ? counted->entries.list[last - 1].address + 1 : 1,
		.flags = counted->executable ? EP_MODULE_EXECUTABLE : 0,
		.path = counted->path,
		.build_id_size = counted->build_id_size,
	};

	memcpy(module.build_id, counted->build_id, sizeof(module.build_id));
	return module;
}

static void add_entry(struct ep_called *called, size_t index,
		      const struct ep_counts_module *counted, const struct ep_counts_entry *entry)
{
	size_t count = called->function_count;
	struct ep_called_function *last = count ? &called->functions[count - 1] : NULL;
	const struct ep_function *function = ep_names_find(called->names[index], entry->address, 0);

	called->calls += entry->calls;
	if (!function->known)
		called->unknown += entry->calls;
	/* Entries ascend: a function's stand together. */
	if (last && last->function == function) {
		last->calls += entry->calls;
		return;
	}
	called->functions[called->function_count++] = (struct ep_called_function){
		.module = counted,
		.function = function,
		.line = ep_names_function_line(called->names[index], function),
		.calls = entry->calls,
	};
}

/* The program's own file is named by --executable; other modules' are not. */
static void name_module(struct ep_called *called, size_t index,
			const struct ep_counts_module *counted,
			const struct ep_names_options *options)
{
	struct ep_names_options own = options ? *options : (struct ep_names_options){0};

	if (!counted->executable)
		own.executable = NULL;
	called->modules[index] = module_of(counted);
	called->names[index] = ep_names_create(&called->modules[index], 1, &own);
	called->module_count++;
	for (size_t i = 0; i < counted->entries.count; i++)
		add_entry(called, index, counted, &counted->entries.list[i]);
}

static void name_all(struct ep_called *called, const struct ep_counts *counts,
		     const struct ep_names_options *options)
{
	size_t entries = 0;

	for (size_t i = 0; i < counts->modules.count; i++)
		entries += counts->modules.list[i].entries.count;
	called->names = ep_calloc(counts->modules.count, sizeof(void *));
	called->modules = ep_calloc(counts->modules.count, sizeof(*called->modules));
	called->functions = ep_calloc(entries, sizeof(*called->functions));
	called->groups = ep_calloc(entries, sizeof(*called->groups));
	for (size_t i = 0; i < counts->modules.count; i++)
		name_module(called, i, &counts->modules.list[i], options);
}

/* ---- groups -------------------------------------------------------------- */

static const char *key_of(const struct ep_called_function *called, size_t *length)
{
	const struct ep_function *function = called->function;
	const char *key = function->known ? function->symbol : function->name;

	*length = function->known ? ep_symbol_stem(key) : strlen(key);
	return key;
}

static int compare_keys(const struct ep_called_function *x, const struct ep_called_function *y)
{
	size_t left, right, least;
	const char *a = key_of(x, &left), *b = key_of(y, &right);
	int order;

	least = left < right ? left : right;
	order = strncmp(a, b, least);
	return order ? order : (left > right) - (left < right);
}

static int by_key(const void *a, const void *b)
{
	const struct ep_called_function *x = a, *y = b;
	int order = compare_keys(x, y);

	if (order)
		return order;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return (x->function->start > y->function->start) -
	       (x->function->start < y->function->start);
}

static int by_calls(const void *a, const void *b)
{
	const struct ep_called_group *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return strcmp(x->name, y->name);
}

static struct ep_called_group *add_group(struct ep_called *called, size_t first)
{
	const struct ep_called_function *function = &called->functions[first];
	struct ep_called_group *group = &called->groups[called->group_count];
	size_t length;
	const char *key = key_of(function, &length);

	*group = (struct ep_called_group){.name = ep_strndup(key, length),
					  .known = function->function->known,
					  .first = first};
	called->group_count++;
	return group;
}

static void group_all(struct ep_called *called)
{
	struct ep_called_group *group = NULL;

	qsort(called->functions, called->function_count, sizeof(*called->functions), by_key);
	for (size_t i = 0; i < called->function_count; i++) {
		struct ep_called_function *one = &called->functions[i];
		uint64_t size = one->function->end - one->function->start;

		if (!group || compare_keys(one - 1, one) != 0)
			group = add_group(called, i);
		group->count++;
		group->calls += one->calls;
		if (size > group->size)
			group->size = size;
	}
	qsort(called->groups, called->group_count, sizeof(*called->groups), by_calls);
	for (size_t i = 0; i < called->group_count; i++)
		for (size_t j = 0; j < called->groups[i].count; j++)
			called->functions[called->groups[i].first + j].group = (uint32_t)i;
}

/* ---- whole --------------------------------------------------------------- */

struct ep_called *ep_called_create(const struct ep_counts *counts,
				   const struct ep_names_options *options)
{
	struct ep_called *called = ep_calloc(1, sizeof(*called));

	name_all(called, counts, options);
	group_all(called);
	return called;
}

void ep_called_destroy(struct ep_called *called)
{
	if (!called)
		return;
	for (size_t i = 0; i < called->group_count; i++)
		free(called->groups[i].name);
	for (size_t i = 0; i < called->module_count; i++)
		ep_names_destroy(called->names[i]);
	free(called->names);
	free(called->modules);
	free(called->functions);
	free(called->groups);
	free(called);
}

bool ep_called_incomplete(const struct ep_called *called)
{
	for (size_t i = 0; i < called->module_count; i++)
		if (ep_names_incomplete(called->names[i]))
			return true;
	return false;
}

uint64_t ep_called_code(const struct ep_called *called)
{
	uint64_t calls = 0, bytes = 0;

	for (size_t i = 0; i < called->group_count && calls < called->calls - called->calls / 100;
	     i++) {
		calls += called->groups[i].calls;
		bytes += called->groups[i].size;
	}
	return bytes;
}

const char *ep_called_warning(const struct ep_called *called, size_t index)
{
	for (size_t i = 0; i < called->module_count; i++)
		for (size_t j = 0;; j++) {
			const char *warning = ep_names_warning(called->names[i], j);

			if (!warning)
				break;
			if (index-- == 0)
				return warning;
		}
	return NULL;
}
