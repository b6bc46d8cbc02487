/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_waits.c: calls that waited, most time first, and who ended it. */
#include "cli/commands/stats_waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decoder/util/timetext.h"

#define OUTSIDE "(outside of all known calls)"
#define UNKNOWN "(in which call is not known)"

#define COLUMNS_LIST(X)                                                                       \
	X(FUNCTION, EP_TEXT(name_of(wait->function)), .key = "function")                      \
	X(CALLER, EP_TEXT(name_of(wait->caller)), .key = "caller")                            \
	X(INSIDE, EP_TRUTH(wait->inside), .key = "inside", .not_in = EP_LAYOUT_CSV)           \
	X(WAITS, EP_COUNT(wait->count), .head = "waits", .key = "waits", .width = 10)         \
	X(OPEN, EP_COUNT(wait->open), .key = "open")                                          \
	X(TOTAL, EP_NS(wait->total), .head = "total", .key = "total_ns", .width = 12)         \
	X(LONGEST, EP_NS(wait->longest), .head = "longest", .key = "longest_ns", .width = 12) \
	X(KIND, EP_WORD(wait->waker_count ? kind_text(by) : ""), .key = "ended_by",           \
	  .not_in = EP_LAYOUT_JSON)                                                           \
	X(WAKER, EP_TEXT(waker), .key = "by", .not_in = EP_LAYOUT_JSON)                       \
	X(CSV_INSIDE, EP_TRUTH(wait->inside), .key = "inside", .not_in = EP_LAYOUT_JSON)      \
	X(CALL, EP_BEHIND(wait->inside && wait->function ? "somewhere inside " : "", call),   \
	  .head = "call < caller", .color = EP_CYAN)
EP_COLUMNS(COLUMNS_LIST);

static const char *name_of(const struct ep_function *function)
{
	return function ? function->name : "";
}

static void print_rest(const struct ep_wait *wait, const char *waker)
{
	if (wait->caller)
		printf(" < %s", wait->caller->name);
	if (wait->open)
		printf("  (%" PRIu64 " had not ended)", wait->open);
	if (wait->waker_count)
		printf("  ended by %s", waker);
	if (wait->waker_count > 1)
		printf(" (%" PRIu64 " times), and others", wait->wakers[0].count);
}

static void print_text_end(const struct ep_waits *waits)
{
	char total[EP_TIMETEXT_SIZE], ready[EP_TIMETEXT_SIZE];

	printf("\nAll threads together waited %s for something, and %s for a CPU.\n",
	       ep_timetext(total, waits->total), ep_timetext(ready, waits->ready));
	if (waits->inside)
		printf("Of it %s somewhere inside of the calls named: in which is not known, as "
		       "not every call has a time of its own.\n",
		       ep_timetext(total, waits->inside));
}

static const char *kind_text(const struct ep_slice *slice)
{
	static const char *const words[] = {
		[EP_WAKER_UNKNOWN] = "",
		[EP_WAKER_THREAD] = "thread",
		[EP_WAKER_IRQ] = "irq",
		[EP_WAKER_SOFT] = "softirq",
	};

	return words[slice->waker_kind];
}

static void json_waker(struct ep_json *json, const struct ep_trace *trace,
		       const struct ep_wait_waker *waker)
{
	const struct ep_task *task = ep_schedule_task(trace->schedule, waker->slice.waker);

	ep_json_object(json);
	ep_json_member_text(json, "kind", kind_text(&waker->slice));
	if (waker->slice.waker_kind == EP_WAKER_THREAD) {
		ep_json_member_uint(json, "tid", waker->slice.waker);
		ep_json_member_text(json, "thread", task ? task->name : "");
	}
	ep_json_member_uint(json, "waits", waker->count);
	ep_json_member_int(json, "total_ns", waker->total);
	ep_json_object_end(json);
}

static void json_wakers(struct ep_json *json, const struct ep_trace *trace,
			const struct ep_wait *wait)
{
	ep_json_member_array(json, "ended_by");
	for (size_t i = 0; i < wait->waker_count; i++)
		json_waker(json, trace, &wait->wakers[i]);
	ep_json_array_end(json);
}

static void print_row(struct ep_grid *grid, const struct ep_trace *trace,
		      const struct ep_wait *wait)
{
	const struct ep_slice *by = &wait->wakers[0].slice;
	char waker[128] = "";
	const char *call = wait->function ? wait->function->name : wait->inside ? UNKNOWN : OUTSIDE;
	const struct ep_cell cells[COLUMNS] = EP_CELLS(COLUMNS_LIST);

	if (wait->waker_count)
		ep_waker_text(waker, sizeof(waker), trace->schedule, by);
	ep_grid_row_begin(grid, cells);
	if (grid->layout == EP_LAYOUT_JSON)
		json_wakers(&grid->json, trace, wait);
	else if (grid->layout == EP_LAYOUT_TEXT)
		print_rest(wait, waker);
	ep_grid_row_end(grid);
}

void ep_waits_print(const struct ep_waits *waits, const struct ep_trace *trace,
		    const struct ep_table_form *form, const struct ep_patterns *functions)
{
	struct ep_grid grid;
	struct ep_json *json;
	uint64_t rows = 0;

	ep_grid_init(&grid, stdout, form->layout, columns, COLUMNS);
	json = ep_grid_object(&grid, "epitaph-waits");
	if (json) {
		ep_json_member_int(json, "waited_ns", waits->total);
		ep_json_member_int(json, "waited_for_cpu_ns", waits->ready);
		ep_json_member_int(json, "waited_inside_ns", waits->inside);
	}
	ep_grid_head(&grid, "waits");
	for (size_t i = 0; i < waits->count; i++) {
		const struct ep_wait *wait = waits->list[i];

		if (!ep_patterns_match(functions, name_of(wait->function)))
			continue;
		if (form->limit && rows++ == form->limit)
			break;
		print_row(&grid, trace, wait);
	}
	ep_grid_finish(&grid);
	if (form->layout == EP_LAYOUT_TEXT)
		print_text_end(waits);
}
