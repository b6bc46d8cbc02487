/* SPDX-License-Identifier: BSD-2-Clause */
/* waits.c: where threads waited, as epitaph stats --waits has it. */
#include <stdlib.h>
#include <string.h>

#include "cli/tui/stat_rows.h"
#include "cli/tui/tui.h"
#include "cli/tui/wait_rows.h"
#include "coredump/util/alloc.h"
#include "decoder/util/timetext.h"

enum { BY_TOTAL, BY_COUNT, BY_LONGEST, BY_NAME, ORDERS };

static const char *const order_words[ORDERS] = {"time", "number", "longest", "name"};

struct waits {
	struct ep_waits waits;
	struct ep_view_order order;
};

static struct waits *waits_of(const struct ep_view *view)
{
	return view->data;
}

static size_t count_rows(const struct ep_view *view)
{
	return waits_of(view)->waits.count;
}

static void draw(struct ep_view *view, size_t at, struct ep_row *line)
{
	ep_wait_row_draw(view->tui->session.trace, waits_of(view)->waits.list[at], line);
}

static void head(const struct ep_view *view, struct ep_row *line)
{
	(void)view;
	ep_wait_row_head(line);
}

static const char *text(struct ep_view *view, size_t at)
{
	return ep_wait_row_name(waits_of(view)->waits.list[at]);
}

static void title(const struct ep_view *view, struct ep_row *line)
{
	const struct waits *waits = waits_of(view);
	char waited[EP_TIMETEXT_SIZE], ready[EP_TIMETEXT_SIZE];

	if (!ep_stat_has_schedule(view->tui->session.trace))
		return;
	ep_row_format(line, EP_INK_BAR, "%s, and %s for a CPU, by %s%s",
		      ep_timetext(waited, waits->waits.total),
		      ep_timetext(ready, waits->waits.ready), order_words[waits->order.by],
		      waits->order.reverse ? ", reversed" : "");
}

/* ---- order ---- */

static int compare_by(const struct ep_wait *a, const struct ep_wait *b, unsigned by)
{
	switch (by) {
	case BY_COUNT:
		return (a->count < b->count) - (a->count > b->count);
	case BY_LONGEST:
		return (a->longest < b->longest) - (a->longest > b->longest);
	case BY_NAME:
		return strcmp(ep_wait_row_name(a), ep_wait_row_name(b));
	default:
		return (a->total < b->total) - (a->total > b->total);
	}
}

static int compare(const void *x, const void *y, void *context)
{
	const struct waits *waits = context;
	const struct ep_wait *a = *(struct ep_wait *const *)x, *b = *(struct ep_wait *const *)y;
	int order = compare_by(a, b, waits->order.by);

	if (order)
		return waits->order.reverse ? -order : order;
	return strcmp(ep_wait_row_name(a), ep_wait_row_name(b));
}

static bool key(struct ep_view *view, int pressed)
{
	struct waits *waits = waits_of(view);

	if (!ep_view_order_key(&waits->order, ORDERS, pressed))
		return false;
	if (waits->waits.count)
		qsort_r(waits->waits.list, waits->waits.count, sizeof(*waits->waits.list), compare,
			waits);
	ep_view_go(view, 0);
	return true;
}

static void close_waits(struct ep_view *view)
{
	ep_waits_deinit(&waits_of(view)->waits);
	free(view->data);
}

void ep_tui_waits_open(struct ep_view *view)
{
	const struct ep_session *session = &view->tui->session;
	struct waits *waits = ep_calloc(1, sizeof(*waits));
	struct ep_selection selection = ep_tui_selection(view->tui);

	view->data = waits;
	view->message = "No scheduling events were recorded (EPITAPH_SCHED).";
	if (!ep_stat_has_schedule(session->trace))
		return;
	view->message = "No thread waited.";
	ep_waits_create(&waits->waits, session->trace, session->names, &selection);
}

const struct ep_view_kind ep_tui_waits = {
	.name = "waits",
	.hints = "s S sort  r reverse",
	.rows = count_rows,
	.head = head,
	.draw = draw,
	.text = text,
	.key = key,
	.title = title,
	.close = close_waits,
};
