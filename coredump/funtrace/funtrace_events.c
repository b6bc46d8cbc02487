/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * funtrace_events.c: one thread's entries, in order of time, as records. An entry mostly is a
 * record as it stands. What is not: under XRay a return tells the function that goes on, not the
 * one that ends; and a catch does not tell which calls an exception left. Both are followed on a
 * stack of open calls.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/funtrace/funtrace_impl.h"

#define NO_FUNCTION SIZE_MAX

struct call {
	uint64_t address;
	size_t function;
	bool unwound; /* logs a return of its own when an exception leaves it */
};

struct events {
	struct ep_funtrace_writer writer;
	struct ep_funtrace_facts *facts;
	struct ep_funtrace_entry *list; /* ascending time */
	size_t count;
	/* only where it is needed: */
	bool followed;
	uint64_t *functions; /* ascending addresses of calls, each once */
	size_t *open;        /* calls of each that are open */
	size_t function_count;
	struct call *stack; /* outermost first; room for all calls */
	size_t height;
	uint64_t expected; /* an address in the function that ends next, when
			      no call is open; 0 unknown */
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
static bool sort(struct events *events)
{
	struct ep_funtrace_entry *other = malloc((events->count + 1) * sizeof(*other)), *swap;
	size_t runs = 2;

	if (!other)
		return false;
	while (runs > 1) {
		runs = merge_runs(other, events->list, events->count);
		swap = events->list;
		events->list = other;
		other = swap;
	}
	free(other);
	return true;
}

/* ---- taking them in ---- */

static bool is_sensible(const struct ep_funtrace_entry *entry)
{
	uint64_t address = entry->code & ~EP_FUNTRACE_FLAGS;

	return entry->tsc != 0 && entry->tsc < EP_FUNTRACE_TSC_MAX && address >= EP_ESCAPE_LIMIT &&
	       address <= EP_ADDRESS_MASK;
}

/* *whole: the ring's last entry was never used, so nothing was overwritten. */
static void take_entries(struct events *events, struct ep_cursor cursor, bool *whole)
{
	struct ep_funtrace_entry entry;

	*whole = false;
	while (ep_cursor_take(&cursor, &entry, sizeof(entry)) == EP_OK) {
		uint64_t flags = entry.code & EP_FUNTRACE_CATCH;

		*whole = entry.tsc == 0 && entry.code == 0;
		if (*whole)
			continue;
		if (!is_sensible(&entry)) {
			events->facts->entries_refused++;
			continue;
		}
		events->list[events->count++] = entry;
		events->followed |= flags == EP_FUNTRACE_CATCH || flags == EP_FUNTRACE_RETURN_INTO;
	}
	events->facts->entries += events->count;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

static bool follow(struct events *events)
{
	size_t calls = 0, kept = 0;
	uint64_t *list;

	if (!events->followed)
		return true;
	events->writer.arena->followed = true;
	list = malloc((events->count + 1) * sizeof(*list));
	events->functions = list;
	events->open = calloc(events->count + 1, sizeof(*events->open));
	events->stack = malloc((events->count + 1) * sizeof(*events->stack));
	if (!list || !events->open || !events->stack)
		return false;
	for (size_t i = 0; i < events->count; i++)
		if (!(events->list[i].code & EP_FUNTRACE_CATCH))
			list[calls++] = events->list[i].code & ~EP_FUNTRACE_FLAGS;
	qsort(list, calls, sizeof(*list), compare_addresses);
	for (size_t i = 0; i < calls; i++)
		if (!kept || list[kept - 1] != list[i])
			list[kept++] = list[i];
	events->function_count = kept;
	return true;
}

/* ---- following ---- */

/* Where the module begins that `address` lies in; 0: unknown. */
static uint64_t module_start(const struct ep_funtrace_arena *arena, uint64_t address)
{
	size_t i = ep_funtrace_module_at(arena->modules, arena->module_count, address);

	return i == SIZE_MAX ? 0 : arena->modules[i].start;
}

/* The nearest call address in [least, address]. */
static size_t nearest(const struct events *events, uint64_t address, uint64_t least)
{
	size_t low = 0, high = events->function_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (events->functions[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && events->functions[low - 1] >= least ? low - 1 : NO_FUNCTION;
}

/*
 * The function that `address` lies in, as far as calls tell: that of the nearest call address at or
 * below it in its module, unless another piece of code begins between the two: then the piece
 * tells, being the cold part of a function that was called, or of none. *unnamed (may be NULL):
 * nothing tells what it is.
 */
static size_t owner(const struct events *events, uint64_t address, bool *unnamed)
{
	const struct ep_funtrace_arena *arena = events->writer.arena;
	size_t near = nearest(events, address, module_start(arena, address));
	enum ep_funtrace_parent what;
	uint64_t piece, low, high;

	if (near != NO_FUNCTION && events->functions[near] == address)
		return near;
	piece = ep_funtrace_piece(arena->code, address);
	if (!piece || (near != NO_FUNCTION && events->functions[near] >= piece))
		return near;
	what = ep_funtrace_parent(arena->code, piece, &low, &high);
	if (unnamed)
		*unnamed = what == EP_FUNTRACE_UNNAMED;
	return what == EP_FUNTRACE_PARENT ? nearest(events, high - 1, low) : NO_FUNCTION;
}

static bool is_open(const struct events *events, size_t function)
{
	return function != NO_FUNCTION && events->open[function] != 0;
}

static void push(struct events *events, uint64_t address, bool unwound)
{
	size_t function = owner(events, address, NULL);

	events->open[function]++;
	events->stack[events->height++] = (struct call){address, function, unwound};
}

/* Borrowed until the next push. */
static const struct call *pop(struct events *events)
{
	const struct call *call = &events->stack[--events->height];

	events->open[call->function]--;
	return call;
}

static const struct call *top(const struct events *events)
{
	return &events->stack[events->height - 1];
}

/* Above the call that catches, those are left that do not tell so themselves (funtrace2viz pops
 * them in the same way). When the one that catches is not among them, nothing is known. */
static int take_catch(struct events *events, uint64_t address, uint64_t tsc)
{
	bool unnamed = false, known;
	size_t function = owner(events, address, &unnamed);
	int rc = EP_OK;

	known = is_open(events, function);
	events->facts->catches_unnamed += unnamed;

	while (known && rc == EP_OK && top(events)->function != function && !top(events)->unwound)
		rc = ep_funtrace_put_mark(&events->writer, EP_MARK_LEFT, pop(events)->address, tsc);
	return rc ? rc : ep_funtrace_put_mark(&events->writer, EP_MARK_CAUGHT, address, tsc);
}

/* `into`: an address in the function that goes on. The one that ends is the innermost open call,
 * unless its caller is another function that is open further out: a longjmp left what is
 * between. */
static int take_return_into(struct events *events, uint64_t into, uint64_t tsc)
{
	size_t function = owner(events, into, NULL);
	uint64_t ends = events->expected;

	events->expected = into;
	if (events->height)
		ends = pop(events)->address;
	while (is_open(events, function) && top(events)->function != function)
		ends = pop(events)->address;
	if (ends)
		return ep_funtrace_put(&events->writer, ends, true, tsc);
	events->facts->returns_unknown++;
	return EP_OK;
}

/* Keeps the stack for what needs it. A return that is not of the innermost call ends the innermost
 * of its function, if there is one. */
static void note(struct events *events, const struct ep_funtrace_entry *entry, uint64_t address,
		 bool is_return)
{
	size_t function;

	if (!events->followed)
		return;
	if (!is_return) {
		push(events, address, entry->code & EP_FUNTRACE_UNWOUND);
		return;
	}
	function = owner(events, address, NULL);
	if (!is_open(events, function))
		return;
	while (pop(events)->function != function)
		;
}

static int take(struct events *events, const struct ep_funtrace_entry *entry)
{
	uint64_t address = entry->code & ~EP_FUNTRACE_FLAGS;
	uint64_t flags = entry->code & EP_FUNTRACE_CATCH;
	bool is_return = flags == EP_FUNTRACE_RETURN;

	if (flags == EP_FUNTRACE_CATCH)
		return take_catch(events, address, entry->tsc);
	if (flags == EP_FUNTRACE_RETURN_INTO)
		return take_return_into(events, address, entry->tsc);
	note(events, entry, address, is_return);
	return ep_funtrace_put(&events->writer, address, is_return, entry->tsc);
}

int ep_funtrace_events(struct ep_funtrace_arena *arena, const struct ep_funtrace_buffer *buffer,
		       uint32_t serial, struct ep_funtrace_facts *facts, struct ep_err *err)
{
	size_t room = ep_cursor_left(&buffer->entries);
	struct events events = {.facts = facts, .list = malloc(room + 1)};
	int rc = EP_E_MEMORY;
	bool whole;

	if (events.list) {
		take_entries(&events, buffer->entries, &whole);
		ep_funtrace_writer_init(&events.writer, arena, serial, whole);
		if (sort(&events) && follow(&events))
			rc = EP_OK;
	}
	for (size_t i = 0; rc == EP_OK && i < events.count; i++) {
		rc = take(&events, &events.list[i]);
		if (rc == EP_E_LIMIT) {
			facts->entries_refused++;
			facts->entries--;
			rc = EP_OK;
		}
	}
	if (rc == EP_OK)
		ep_funtrace_writer_end(&events.writer, &buffer->id);
	free(events.stack);
	free(events.open);
	free(events.functions);
	free(events.list);
	return rc ? ep_fail(err, EP_E_MEMORY, 0, "out of memory") : EP_OK;
}
