/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entries.c: one thread's entries, in order of time, as records. An entry mostly is a record as it
 * stands. What is not: under XRay a return names the function that goes on, not the one that ends;
 * that is followed on a stack of open calls. Which calls a catch left is the decoder's to find out.
 */
#include <stdlib.h>
#include <string.h>

#include "coredump/funtrace/funtrace_impl.h"
#include "coredump/util/alloc.h"
#include "coredump/util/search.h"

#define NO_FUNCTION SIZE_MAX

struct call {
	uint64_t address;
	size_t function;
};

struct entries {
	struct ep_funtrace_writer writer;
	struct ep_funtrace_facts *facts;
	struct ep_funtrace_entry *list; /* ascending time */
	size_t count;
	/* only under XRay: */
	bool followed;
	uint64_t *functions; /* ascending addresses of calls, each once */
	size_t *open;        /* calls of each that are open */
	size_t function_count;
	struct call *stack; /* outermost first; room for all calls */
	size_t height;
	uint64_t expected; /* an address in the function that ends next, when no call is open; 0
			      unknown */
};

/* ---- in order of time ---- */

/* What lies from `start` on in order: its end. */
static size_t run_end(const struct ep_funtrace_entry *list, size_t start, size_t count)
{
	size_t end = start + 1;

	while (end < count && list[end].tsc >= list[end - 1].tsc)
		end++;
	return end;
}

static void merge(struct ep_funtrace_entry *out, const struct ep_funtrace_entry *a, size_t a_count,
		  const struct ep_funtrace_entry *b, size_t b_count)
{
	while (a_count || b_count) {
		bool first = !b_count || (a_count && a->tsc <= b->tsc);

		*out++ = first ? *a++ : *b++;
		a_count -= first;
		b_count -= !first;
	}
}

/* One round: neighbouring runs become one. Returns how many are left. */
static size_t merge_runs(struct ep_funtrace_entry *out, const struct ep_funtrace_entry *in,
			 size_t count)
{
	size_t runs = 0, at = 0;

	for (; at < count; runs++) {
		size_t middle = run_end(in, at, count);
		size_t end = middle < count ? run_end(in, middle, count) : count;

		merge(out + at, in + at, middle - at, in + middle, end - middle);
		at = end;
	}
	return runs;
}

/* A ring that wrapped is two runs, a racy one some more; entries of one time keep their order. */
static void sort(struct entries *entries)
{
	struct ep_funtrace_entry *other = ep_calloc(entries->count, sizeof(*other)), *swap;
	size_t runs = 2;

	while (runs > 1) {
		runs = merge_runs(other, entries->list, entries->count);
		swap = entries->list;
		entries->list = other;
		other = swap;
	}
	free(other);
}

/* ---- what the buffer has ---- */

static bool is_sensible(const struct ep_funtrace_entry *entry)
{
	uint64_t address = entry->code & ~EP_FUNTRACE_FLAGS;

	return entry->tsc != 0 && entry->tsc < EP_FUNTRACE_TSC_MAX && address >= EP_ESCAPE_LIMIT &&
	       address <= EP_ADDRESS_MASK;
}

/* True: the ring's last entry was never used, so nothing was overwritten. */
static bool read_buffer(struct entries *entries, struct ep_cursor cursor)
{
	struct ep_funtrace_entry entry;
	bool whole = false;

	while (ep_cursor_take(&cursor, &entry, sizeof(entry)) == EP_OK) {
		whole = entry.tsc == 0 && entry.code == 0;
		if (whole)
			continue;
		if (!is_sensible(&entry)) {
			entries->facts->entries_refused++;
			continue;
		}
		entries->list[entries->count++] = entry;
		entries->followed |= (entry.code & EP_FUNTRACE_CATCH) == EP_FUNTRACE_RETURN_INTO;
	}
	entries->facts->entries += entries->count;
	return whole;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

static void follow(struct entries *entries)
{
	uint64_t *list = ep_calloc(entries->count, sizeof(*list));
	size_t calls = 0, kept = 0;

	for (size_t i = 0; i < entries->count; i++)
		if (!(entries->list[i].code & EP_FUNTRACE_CATCH))
			list[calls++] = entries->list[i].code & ~EP_FUNTRACE_FLAGS;
	qsort(list, calls, sizeof(*list), compare_addresses);
	for (size_t i = 0; i < calls; i++)
		if (!kept || list[kept - 1] != list[i])
			list[kept++] = list[i];
	entries->functions = list;
	entries->function_count = kept;
	entries->open = ep_calloc(kept, sizeof(*entries->open));
	entries->stack = ep_calloc(calls, sizeof(*entries->stack));
}

/* ---- following ---- */

/* Where the module begins that `address` lies in; 0: unknown. */
static uint64_t module_start(const struct ep_funtrace_content *content, uint64_t address)
{
	const struct ep_funtrace_module *list = content->modules.list;
	size_t behind = ep_partition_point(content->modules.count, i, list[i].start <= address);

	return behind && address < list[behind - 1].end ? list[behind - 1].start : 0;
}

/* The function that `address` lies in: by the symbols of its file; else as far as calls say, that
 * of the nearest call address at or below it in its module. */
static size_t function_at(const struct entries *entries, uint64_t address)
{
	uint64_t least = module_start(entries->writer.arena->content, address);
	const uint64_t *list = entries->functions;
	const struct ep_funtrace_codes *codes = entries->writer.arena->codes;
	size_t behind = ep_partition_point(entries->function_count, i, list[i] <= address);

	if (codes && codes->count) {
		size_t at = ep_partition_point(codes->count, i, codes->list[i].start <= address);
		const struct ep_funtrace_code *code = at ? &codes->list[at - 1] : NULL;

		/* A name is worth more: the address may be in a cold part, or in a function that is
		 * not traced. */
		if (code && address < code->end) {
			behind = ep_partition_point(entries->function_count, i,
						    list[i] < code->owner);
			return behind < entries->function_count && list[behind] < code->owner_end
				       ? behind
				       : NO_FUNCTION;
		}
	}
	return behind && list[behind - 1] >= least ? behind - 1 : NO_FUNCTION;
}

static void push(struct entries *entries, uint64_t address)
{
	const uint64_t *list = entries->functions;
	size_t function = ep_partition_point(entries->function_count, i, list[i] < address);

	entries->open[function]++;
	entries->stack[entries->height++] = (struct call){address, function};
}

/* Borrowed until the next push. */
static const struct call *pop(struct entries *entries)
{
	const struct call *call = &entries->stack[--entries->height];

	entries->open[call->function]--;
	return call;
}

/* Ends what is open above the innermost call of `function`, if there is one: the outermost of that;
 * NULL: nothing was. */
static const struct call *pop_above(struct entries *entries, size_t function)
{
	const struct call *last = NULL;

	while (function != NO_FUNCTION && entries->open[function] &&
	       entries->stack[entries->height - 1].function != function)
		last = pop(entries);
	return last;
}

/* `into`: an address in the function that goes on. The one that ends is the innermost open call,
 * unless its caller is another function that is open further out: a longjmp left what is between.
 */
static bool put_return_into(struct entries *entries, uint64_t into, uint64_t tsc)
{
	uint64_t ends = entries->expected;
	const struct call *last;

	entries->expected = into;
	if (entries->height)
		ends = pop(entries)->address;
	last = pop_above(entries, function_at(entries, into));
	if (last)
		ends = last->address;
	if (ends)
		return ep_funtrace_put(&entries->writer, ends, true, tsc);
	entries->facts->returns_unknown++;
	return true;
}

/* A return that is not of the innermost call ends the innermost of its function, if there is one.
 */
static void note(struct entries *entries, uint64_t address, uint64_t flags)
{
	size_t function;

	if (!flags) {
		push(entries, address);
		return;
	}
	function = function_at(entries, address);
	/* Where nothing is named, the nearest call may be another function's than a cold part's. */
	if (flags != EP_FUNTRACE_CATCH || entries->writer.arena->codes)
		pop_above(entries, function);
	if (flags == EP_FUNTRACE_RETURN && function != NO_FUNCTION && entries->open[function])
		pop(entries);
}

/* False: the arena is full. */
static bool put(struct entries *entries, const struct ep_funtrace_entry *entry)
{
	uint64_t address = entry->code & ~EP_FUNTRACE_FLAGS;
	uint64_t flags = entry->code & EP_FUNTRACE_CATCH;

	if (flags == EP_FUNTRACE_RETURN_INTO)
		return put_return_into(entries, address, entry->tsc);
	if (entries->followed)
		note(entries, address, flags);
	if (flags == EP_FUNTRACE_CATCH)
		return ep_funtrace_put_mark(&entries->writer, EP_MARK_CAUGHT, address, entry->tsc);
	if (flags == EP_FUNTRACE_RETURN && entry->code & EP_FUNTRACE_UNWOUND)
		return ep_funtrace_put_mark(&entries->writer, EP_MARK_LEFT, address, entry->tsc);
	return ep_funtrace_put(&entries->writer, address, flags == EP_FUNTRACE_RETURN, entry->tsc);
}

void ep_funtrace_entries(struct ep_funtrace_arena *arena, const struct ep_funtrace_buffer *buffer,
			 uint32_t serial, struct ep_funtrace_facts *facts)
{
	struct entries entries = {
		.facts = facts,
		.list = ep_malloc(ep_cursor_left(&buffer->entries)),
	};
	bool whole = read_buffer(&entries, buffer->entries);

	ep_funtrace_writer_init(&entries.writer, arena, serial, whole);
	sort(&entries);
	if (entries.followed)
		follow(&entries);
	for (size_t i = 0; i < entries.count; i++)
		if (!put(&entries, &entries.list[i])) {
			facts->entries_refused++;
			facts->entries--;
		}
	ep_funtrace_writer_end(&entries.writer, &buffer->id);
	free(entries.stack);
	free(entries.open);
	free(entries.functions);
	free(entries.list);
}
