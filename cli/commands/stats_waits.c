/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_waits.c: calls that waited, most time first, and who ended it. */
#include "cli/commands/stats_waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/say.h"
#include "decoder/util/json.h"
#include "decoder/util/timetext.h"

#define OUTSIDE "(outside of all known calls)"
#define UNKNOWN "(in which call is not known)"

static const char *name_of(const struct ep_function *function)
{
	return function ? function->name : "";
}

static void print_wakers(const struct ep_waits *waits, const struct ep_trace *trace,
			 const struct ep_wait *wait)
{
	const struct ep_wait_waker *most = &wait->wakers[0];
	char text[128];

	(void)waits;
	if (wait->waker_count == 0)
		return;
	printf("  ended by %s", ep_waker_text(text, sizeof(text), trace->schedule, &most->slice));
	if (wait->waker_count > 1)
		printf(" (%" PRIu64 " times), and others", most->count);
}

static void print_row(const struct ep_waits *waits, const struct ep_trace *trace,
		      const struct ep_wait *wait)
{
	char total[EP_TIMETEXT_SIZE], longest[EP_TIMETEXT_SIZE];

	printf("%10" PRIu64 " %12s %12s  %s%s%s%s", wait->count, ep_timetext(total, wait->total),
	       ep_timetext(longest, wait->longest),
	       wait->inside && wait->function ? "somewhere inside " : "", ep_color(EP_CYAN),
	       wait->function ? wait->function->name
	       : wait->inside ? UNKNOWN
			      : OUTSIDE,
	       ep_color(EP_PLAIN));
	if (wait->caller)
		printf(" < %s", wait->caller->name);
	if (wait->open)
		printf("  (%" PRIu64 " had not ended)", wait->open);
	print_wakers(waits, trace, wait);
	putchar('\n');
}

static void print_text_head(void)
{
	printf("%s%10s %12s %12s  call < caller%s\n", ep_color(EP_BOLD), "waits", "total",
	       "longest", ep_color(EP_PLAIN));
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

static void csv_row(const struct ep_trace *trace, const struct ep_wait *wait)
{
	const struct ep_slice *by = &wait->wakers[0].slice;
	char text[128] = "";

	if (wait->waker_count)
		ep_waker_text(text, sizeof(text), trace->schedule, by);
	ep_csv_field(stdout, name_of(wait->function));
	putchar(',');
	ep_csv_field(stdout, name_of(wait->caller));
	printf(",%" PRIu64 ",%" PRIu64 ",%" PRId64 ",%" PRId64 ",%s,", wait->count, wait->open,
	       wait->total, wait->longest, wait->waker_count ? kind_text(by) : "");
	ep_csv_field(stdout, text);
	printf(",%d\n", wait->inside);
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

static void json_row(struct ep_json *json, const struct ep_trace *trace, const struct ep_wait *wait)
{
	ep_json_object(json);
	ep_json_member_text(json, "function", name_of(wait->function));
	ep_json_member_text(json, "caller", name_of(wait->caller));
	ep_json_member_bool(json, "inside", wait->inside);
	ep_json_member_uint(json, "waits", wait->count);
	ep_json_member_uint(json, "open", wait->open);
	ep_json_member_int(json, "total_ns", wait->total);
	ep_json_member_int(json, "longest_ns", wait->longest);
	ep_json_member_array(json, "ended_by");
	for (size_t i = 0; i < wait->waker_count; i++)
		json_waker(json, trace, &wait->wakers[i]);
	ep_json_array_end(json);
	ep_json_object_end(json);
	ep_json_newline(json);
}

static void json_head(struct ep_json *json, const struct ep_waits *waits)
{
	ep_json_init(json, stdout);
	ep_json_object(json);
	ep_json_member_text(json, "format", "epitaph-waits");
	ep_json_member_uint(json, "version", 1);
	ep_json_member_int(json, "waited_ns", waits->total);
	ep_json_member_int(json, "waited_for_cpu_ns", waits->ready);
	ep_json_member_int(json, "waited_inside_ns", waits->inside);
	ep_json_member_array(json, "waits");
	ep_json_newline(json);
}

static void json_end(struct ep_json *json)
{
	ep_json_array_end(json);
	ep_json_object_end(json);
	ep_json_newline(json);
	/* Why stdout failed is reported once, at the end. */
	ep_json_finish(json);
}

void ep_waits_print(const struct ep_waits *waits, const struct ep_trace *trace,
		    const struct ep_table_form *form, const struct ep_patterns *functions)
{
	const enum ep_layout layout = form->layout;
	struct ep_json json;
	uint64_t rows = 0;

	if (layout == EP_LAYOUT_JSON)
		json_head(&json, waits);
	else if (layout == EP_LAYOUT_CSV)
		printf("function,caller,waits,open,total_ns,longest_ns,ended_by,by,inside\n");
	else
		print_text_head();
	for (size_t i = 0; i < waits->count; i++) {
		const struct ep_wait *wait = waits->list[i];

		if (!ep_patterns_match(functions, name_of(wait->function)))
			continue;
		if (form->limit && rows++ == form->limit)
			break;
		if (layout == EP_LAYOUT_JSON)
			json_row(&json, trace, wait);
		else if (layout == EP_LAYOUT_CSV)
			csv_row(trace, wait);
		else
			print_row(waits, trace, wait);
	}
	if (layout == EP_LAYOUT_JSON)
		json_end(&json);
	else if (layout == EP_LAYOUT_TEXT)
		print_text_end(waits);
}
