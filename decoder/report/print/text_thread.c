/* SPDX-License-Identifier: BSD-2-Clause */
/* text_thread.c: one thread on a page: heading, state, open calls, last calls. */
#include <inttypes.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/names/short_name.h"
#include "decoder/report/print/page.h"

/* ---- heading and state ---- */

static void print_history(struct ep_page *page, const struct ep_trace_thread *thread)
{
	char ago[2 * EP_END_AGO_SIZE], span[EP_TIMETEXT_SIZE];
	const struct ep_trace *trace = page->trace;

	if (!thread || thread->block_count == 0) {
		fprintf(page->out, ": no trace of it%s",
			thread && thread->flags & EP_THREAD_IGNORED ? " (it asked not to be traced)"
			: thread && thread->flags & EP_THREAD_WITHOUT_RING
				? " (EPITAPH_MEMORY was used up)"
			: thread && thread->state == EP_THREAD_DEAD
				? " is left (another thread got its ring)"
				: "");
		return;
	}
	fprintf(page->out, ": last record %s, ", ep_end_before_text(trace, thread->last_tsc, ago));
	fprintf(page->out, "history of %s%s",
		ep_timetext(span, ep_trace_ns(trace, thread->first_tsc, thread->last_tsc)),
		thread->from_start ? ", whole"
		: thread->forked   ? ", older is its parent's"
				   : ", older is overwritten");
}

static void print_heading(struct ep_page *page, const struct ep_report_thread *thread)
{
	char *shown = ep_page_escape(thread->name);

	fprintf(page->out, "\n%sthread %" PRIu32 "%s%s%s%s", page->bold, thread->tid,
		*shown ? " " : "", shown,
		thread->died    ? " died"
		: thread->ended ? " (ended)"
				: "",
		page->style->plain);
	free(shown);
	if (page->trace)
		print_history(page, thread->entry.trace);
	fputc('\n', page->out);
}

static void print_slice(struct ep_page *page, const struct ep_report_state *state)
{
	static const char *const words[] = {
		[EP_SLICE_RUNNING] = "ran",
		[EP_SLICE_READY] = "was ready to run and had no CPU",
		[EP_SLICE_BLOCKED] = "blocked",
	};
	const struct ep_slice *slice = state->slice;
	char text[EP_TIMETEXT_SIZE];

	fprintf(page->out, "%s for %s", words[slice->state], ep_timetext(text, state->ns));
	if (slice->state != EP_SLICE_RUNNING && state->ran) {
		fprintf(page->out, ", after it ran for %s", ep_timetext(text, state->ran_ns));
		slice = state->ran;
	}
	if (slice->state == EP_SLICE_RUNNING && slice->cpu != EP_SLICE_CPU_UNKNOWN)
		fprintf(page->out, "%s on CPU %u", slice == state->ran ? "" : ",", slice->cpu);
}

static void print_state(struct ep_page *page, const struct ep_report_state *state)
{
	char text[256];

	if (!state->inside && !state->slice)
		return;
	fputs("  state      ", page->out);
	if (state->slice)
		print_slice(page, state);
	if (state->inside)
		fprintf(page->out, "%s%s", state->slice ? ", in " : "in ",
			ep_systemcall_text(text, sizeof(text), &state->call));
	fputc('\n', page->out);
}

static void print_lock(struct ep_page *page, const struct ep_report_thread *thread)
{
	if (thread->wait.kind == EP_LOCK_NONE)
		return;
	fputs("  lock       ", page->out);
	ep_page_wait(page, &thread->wait, 1, thread->tid);
	fputc('\n', page->out);
}

/* A type is named as functions are, but for parameters, which are its own. */
static char *type_name(const struct ep_page *page, const char *type)
{
	return page->look->full_names ? ep_strdup(type) : ep_short_name(type);
}

static void print_where(struct ep_page *page, const char *before, const struct ep_function *where,
			const char *behind)
{
	char *name = ep_page_name(page, where->name);

	fprintf(page->out, "%s%s%s", before, name, behind);
	free(name);
}

static void print_uncaught(struct ep_page *page, const struct ep_exception *exception)
{
	char ago[EP_PAGE_AGO_SIZE], *type = NULL;

	if (exception->type)
		type = type_name(page, exception->type);
	fprintf(page->out, "  %suncaught   exception of %s%s%s", page->style->warn,
		type ? "type " : "unknown type", type ? type : "", page->style->plain);
	free(type);
	if (exception->where)
		print_where(page, ", thrown in ", exception->where, "");
	if (exception->where && exception->from && exception->from != exception->where)
		print_where(page, ", called by ", exception->from, ",");
	fprintf(page->out, " %s before the end\n", ep_page_ago(page, &exception->when, ago));
}

/* The thread that died, in full. */
static void print_died(struct ep_page *page, const struct ep_report_thread *thread)
{
	char *shown;

	if (thread->uncaught)
		print_uncaught(page, &thread->open.exception);
	if (!thread->unwound) {
		shown = ep_page_escape(thread->stackless);
		fprintf(page->out, "  %sno stack from the core: %s%s%s\n", page->style->warn, shown,
			thread->alignment.count ? "; these are the trace's open calls" : "",
			page->style->plain);
		free(shown);
	}
	ep_page_stack(page, thread);
}

/* ---- open calls and spans ---- */

static void print_open_calls(struct ep_page *page, const struct ep_report_thread *thread)
{
	const struct ep_open_calls *open = &thread->open;
	char ago[EP_PAGE_AGO_SIZE];

	if (!open->known)
		return;
	fputs(thread->ended ? "  ended in   " : "  open calls ", page->out);
	for (size_t i = 0; i < open->count; i++) {
		const struct ep_event *call = ep_open_calls_inner(open, i);

		if (i == page->report->limits.frames) {
			fprintf(page->out, " < … %zu more", open->count - i);
			break;
		}
		fprintf(page->out, "%s%s [%s]", i ? " < " : "", call->function->name,
			ep_page_ago(page, &call->begin, ago));
	}
	if (open->count == 0)
		fprintf(page->out, "nothing that %s",
			open->outermost_known ? "is traced" : "the trace knows");
	else if (!open->outermost_known)
		fprintf(page->out, " < (unknown: before the history)");
	fputc('\n', page->out);
}

/* Of many the latest. */
#define SPANS_SHOWN 8u

static void print_spans(struct ep_page *page, const struct ep_open_calls *open)
{
	char ago[EP_END_AGO_SIZE];

	if (!open->span_count)
		return;
	fprintf(page->out, "  in span    ");
	for (size_t i = 0; i < open->span_count && i < SPANS_SHOWN; i++)
		fprintf(page->out, "%s%s [%s]", i ? ", " : "", open->spans[i].name,
			ep_end_ago_text(page->trace, open->spans[i].since.best, ago));
	if (open->span_count > SPANS_SHOWN)
		fprintf(page->out, ", … %zu more", open->span_count - SPANS_SHOWN);
	fputc('\n', page->out);
}

/* ---- last calls ---- */

/* A page of one screen has the open calls in the stack of the thread that died. */
static bool is_repeated(const struct ep_page *page, const struct ep_event *event)
{
	return page->without_open && event->flags & EP_CALL_OPEN;
}

/* Does the call of event i end next, in the same line? */
static bool is_leaf(const struct ep_report_last *last, size_t i)
{
	return last->list[i].kind == EP_EVENT_BEGIN && i + 1 < last->count &&
	       last->list[i + 1].kind == EP_EVENT_END &&
	       last->list[i + 1].call == last->list[i].call;
}

/* The first event that is printed. */
static size_t first_shown(const struct ep_page *page, const struct ep_report_last *last)
{
	size_t i = last->count, lines = 0;

	if (!page->brief)
		return 0;
	for (; i > 0 && lines < page->shares.most[EP_SHARE_CALLS]; i--)
		lines += !is_repeated(page, &last->list[i - 1]) && !is_leaf(last, i - 1);
	while (i > 0 && is_leaf(last, i - 1))
		i--;
	return i;
}

static uint32_t least_depth(const struct ep_page *page, const struct ep_report_last *last,
			    size_t from)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = from; i < last->count; i++)
		if (last->list[i].kind != EP_EVENT_GAP && !is_repeated(page, &last->list[i]) &&
		    last->list[i].depth < least)
			least = last->list[i].depth;
	return least == UINT32_MAX ? 0 : least;
}

static void print_events(struct ep_page *page, const struct ep_report_last *last, size_t from)
{
	size_t *lines = &page->shares.printed[EP_SHARE_CALLS];
	struct ep_outbuf *out = ep_malloc(sizeof(*out));
	struct ep_replay replay;

	ep_outbuf_init(out, page->out);
	ep_replay_init(&replay, out, page->trace, page->style);
	replay.outdent = least_depth(page, last, from);
	for (size_t i = from; i < last->count; i++) {
		if (is_repeated(page, &last->list[i]))
			continue;
		*lines += !is_leaf(last, i);
		ep_replay_event(&replay, &last->list[i], NULL);
		page->approximate |= ep_replay_approximate(&last->list[i]);
	}
	ep_replay_end(&replay);
	ep_outbuf_finish(out);
	free(out);
}

/* As a tree; the outermost that is shown stands at the margin. */
static void print_last(struct ep_page *page, const struct ep_report_last *last)
{
	size_t from = first_shown(page, last), open = 0;

	for (size_t i = from; i < last->count; i++)
		open += is_repeated(page, &last->list[i]);
	if (open == last->count - from)
		return;
	fprintf(page->out, "  last calls %s(seconds before the end%s, duration, call)\n",
		page->without_open ? "that returned " : "",
		page->trace->end.tsc > page->trace->last_tsc ? "" : " of the trace");
	if (last->left && !page->brief)
		fprintf(page->out, "       … %zu outer open calls are left out …\n", last->left);
	print_events(page, last, from);
}

/* ---- the whole ---- */

void ep_page_thread(struct ep_page *page, const struct ep_report_thread *thread)
{
	print_heading(page, thread);
	print_state(page, &thread->state);
	if (!page->brief || !thread->died)
		print_lock(page, thread);
	if (thread->died)
		print_died(page, thread);
	else if (thread->unwound)
		ep_page_stack_line(page, thread);
	if (!thread->died && (!thread->ended || thread->open.count))
		print_open_calls(page, thread);
	print_spans(page, &thread->open);
	page->without_open = page->brief && thread->died;
	print_last(page, &thread->last);
}
