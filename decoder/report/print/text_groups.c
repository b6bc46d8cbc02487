/* SPDX-License-Identifier: BSD-2-Clause */
/* text_groups.c: the other threads: those that do the same in one line, who waits for whom first.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/names/system_module.h"
#include "decoder/report/print/page.h"
#include "decoder/util/fit.h"

#define NAME_MOST   24u /* columns of a function's name, where lines are narrow */
#define FRAMES_MOST 8u

/* ---- which threads ---- */

static size_t common_prefix(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] && a[i] == b[i])
		i++;
	return i;
}

/* "worker-*" of worker-1 and worker-2; "" where their names have nothing in common. */
static char *names_of(const struct ep_report_group *group)
{
	const char *first = group->members.list[0].name;
	size_t prefix = strlen(first);
	bool same = true;
	char *text, *shown;

	for (size_t i = 1; i < group->members.count; i++) {
		const char *name = group->members.list[i].name;
		size_t common = common_prefix(first, name);

		same &= strcmp(first, name) == 0;
		prefix = common < prefix ? common : prefix;
	}
	while (!same && prefix && first[prefix - 1] >= '0' && first[prefix - 1] <= '9')
		prefix--;
	text = ep_asprintf("%.*s%s", (int)prefix, first, same || !prefix ? "" : "*");
	shown = ep_page_escape(text);
	free(text);
	return shown;
}

static void print_who(struct ep_page *page, const struct ep_report_group *group)
{
	char *names = names_of(group);

	fprintf(page->out, "  %s", page->bold);
	if (group->members.count > 1)
		fprintf(page->out, "%zu threads%s%s%s", group->members.count, *names ? " (" : "",
			names, *names ? ")" : "");
	else
		fprintf(page->out, "thread %" PRIu32 "%s%s", group->members.list[0].tid,
			*names ? " " : "", names);
	fputs(page->style->plain, page->out);
	free(names);
}

static const char *name_of(const struct ep_page *page, uint32_t tid)
{
	const struct ep_trace_thread *trace = ep_evidence_trace_thread(page->report->evidence, tid);

	return trace ? trace->name : "";
}

/* ---- what they do ---- */

static void print_thread(struct ep_page *page, uint32_t tid)
{
	char *name = ep_page_escape(name_of(page, tid));

	fprintf(page->out, "thread %" PRIu32 "%s%s", tid, *name ? " " : "", name);
	free(name);
}

/* Who it is, if it can be said; "thread 4711 writer, which died". */
static void print_holder(struct ep_page *page, const struct ep_lock_wait *wait, uint32_t self)
{
	const struct ep_report *report = page->report;
	bool died = report->groups.died && wait->holder == report->groups.died;
	const struct ep_trace_thread *trace =
		ep_evidence_trace_thread(report->evidence, wait->holder);

	if (wait->holder == self) {
		fputs(", which it holds itself", page->out);
		return;
	}
	fputs(", held by ", page->out);
	if (wait->gone && !trace) {
		fprintf(page->out, "%" PRIu32 ", which is no thread of this process", wait->holder);
		return;
	}
	print_thread(page, wait->holder);
	fputs(wait->gone ? ", which has ended" : died ? ", which died" : "", page->out);
}

static void print_what(struct ep_page *page, const struct ep_lock_wait *wait)
{
	if (wait->kind == EP_LOCK_THREAD) {
		fputs("the end of ", page->out);
		print_thread(page, wait->holder);
		return;
	}
	fprintf(page->out, "%s 0x%" PRIx64, ep_lock_kind_text(wait->kind), wait->lock);
	if (wait->kind == EP_LOCK_CONDITION)
		fprintf(page->out, " with mutex 0x%" PRIx64, wait->mutex);
	if (wait->writes)
		fputs(" to write", page->out);
}

void ep_page_wait(struct ep_page *page, const struct ep_lock_wait *wait, size_t count,
		  uint32_t self)
{
	fprintf(page->out, "%swait%s%s for ", page->style->warn, count > 1 ? "" : "s",
		wait->likely ? ", likely," : "");
	print_what(page, wait);
	fputs(page->style->plain, page->out);
	if (wait->holder && wait->kind != EP_LOCK_THREAD)
		print_holder(page, wait, self);
	if (wait->readers)
		fprintf(page->out, ", held by %" PRIu32 " reader%s", wait->readers,
			wait->readers > 1 ? "s" : "");
	if (!wait->behind)
		return;
	fputs(", behind ", page->out);
	print_thread(page, wait->behind);
}

/* "holds a mutex that 12 threads wait for" */
static void print_held(struct ep_page *page, const struct ep_report_held *held)
{
	fprintf(page->out, "%sholds ", page->style->warn);
	if (held->locks > 1)
		fprintf(page->out, "%zu locks", held->locks);
	else
		fprintf(page->out, "a %s", ep_lock_kind_text(held->kind));
	fprintf(page->out, " that %zu thread%s for%s", held->waiters,
		held->waiters == 1 ? " waits" : "s wait", page->style->plain);
}

/* Where the innermost function is the C library's, it says what is waited for. */
static bool is_obvious(const struct ep_report_group *group)
{
	return group->functions.count && ep_module_is_system(group->functions.list[0]->in);
}

static void print_state(struct ep_page *page, const struct ep_report_group *group)
{
	const char *call = group->inside ? ep_systemcall_name(group->call) : NULL;

	bool waits = group->wait.kind != EP_LOCK_NONE, holds = group->held.waiters > 0;

	if (waits || holds)
		fputc(' ', page->out);
	if (waits)
		ep_page_wait(page, &group->wait, group->members.count, group->members.list[0].tid);
	if (holds) {
		fputs(waits ? ", and " : "", page->out);
		print_held(page, &group->held);
	}
	fputs(waits || holds ? ":" : "", page->out);
	if (group->inside && !waits && !is_obvious(group))
		fprintf(page->out, " in system call %s,", call ? call : "?");
	if (group->known && !group->inside && !waits)
		fprintf(page->out, " run%s", group->members.count > 1 ? "" : "s");
	if (!waits)
		fputs(" in", page->out);
}

/* ---- the stack ---- */

/* The latest record of all of them; 0 none. */
static uint64_t last_record(const struct ep_report_group *group)
{
	uint64_t last = 0;

	for (size_t i = 0; i < group->members.count; i++) {
		const struct ep_trace_thread *trace = group->members.list[i].trace;

		if (trace && trace->block_count && trace->last_tsc > last)
			last = trace->last_tsc;
	}
	return last;
}

/* A recursion is one name: "descend (29 times)". The caller frees it. */
static char *next_name(const struct ep_page *page, const struct ep_report_group *group, size_t *at)
{
	const struct ep_function *function = group->functions.list[*at];
	size_t times = 0;
	char *name, *text;

	while (*at < group->functions.count && group->functions.list[*at] == function) {
		times++;
		(*at)++;
	}
	name = ep_page_name(page, function->name);
	if (times == 1)
		return name;
	text = ep_asprintf("%s (%zu times)", name, times);
	free(name);
	return text;
}

/* As many functions as fit behind what stands in the line, at least two. */
static void print_functions(struct ep_page *page, const struct ep_report_group *group, size_t used)
{
	size_t count = group->functions.count, room = page->columns, at = 0, shown = 0;

	while (at < count && shown < FRAMES_MOST) {
		size_t next = at, width, most = room > NAME_MOST ? room / 3 : NAME_MOST;
		char *name = next_name(page, group, &next);
		char *cut = ep_fit_name(name, room ? most : EP_FIT_ALL);

		free(name);
		width = ep_fit_columns(cut) + (shown ? 3 : 1);
		if (room && shown >= 2 && used + width + 4 > room) {
			free(cut);
			break;
		}
		used += width;
		fprintf(page->out, "%s%s%s%s", shown++ ? " < " : " ", page->style->name, cut,
			page->style->plain);
		free(cut);
		at = next;
	}
	if (at < count || group->cut)
		fputs(" < …", page->out);
	if (!count)
		fputs(group->from_trace ? " nothing that is traced" : " nothing that is known",
		      page->out);
}

static void print_quiet(struct ep_page *page, const struct ep_report_group *group, size_t used)
{
	uint64_t last = last_record(group);
	char ago[EP_END_AGO_SIZE], text[EP_END_AGO_SIZE + 32];

	if (!page->trace || !last)
		return;
	snprintf(text, sizeof(text), "  [last call %s ago]",
		 ep_end_ago_text(page->trace, last, ago));
	if (!page->columns || used + ep_fit_columns(text) <= page->columns)
		fprintf(page->out, "%s%s%s", page->style->dim, text, page->style->plain);
}

/* One line, so that it is known what of it fits. */
static void print_group(struct ep_page *page, const struct ep_report_group *group)
{
	FILE *out = page->out;
	size_t size, used;
	char *line;

	page->out = ep_open_memstream(&line, &size);
	print_who(page, group);
	print_state(page, group);
	fflush(page->out);
	used = ep_fit_columns(line);
	print_functions(page, group, page->columns ? used % page->columns : used);
	fflush(page->out);
	print_quiet(page, group, ep_fit_columns(line));
	ep_close_memstream(page->out);
	page->out = out;
	fprintf(out, "%s\n", line);
	free(line);
}

/* "waits for a lock of thread 4712" */
static bool print_step(struct ep_page *page, uint32_t tid)
{
	const struct ep_lock_wait *wait = ep_report_groups_wait(&page->report->groups, tid);
	uint32_t whom = wait ? ep_lock_wait_whom(wait) : 0;

	if (whom == tid) {
		fprintf(page->out, " waits for a %s that it holds itself",
			ep_lock_kind_text(wait->kind));
		return wait->likely;
	}
	fprintf(page->out, " waits %s ",
		wait && wait->kind == EP_LOCK_THREAD ? "for the end of"
		: whom && whom == wait->behind       ? "behind"
						     : "for a lock of");
	print_thread(page, whom);
	return wait && wait->likely;
}

static void print_deadlock(struct ep_page *page, const struct ep_report_deadlock *deadlock)
{
	bool likely = false;

	fprintf(page->out, "  %sdeadlock%s: ", page->style->warn, page->style->plain);
	print_thread(page, deadlock->tids[0]);
	for (size_t i = 0; i < deadlock->count; i++) {
		fputs(i ? ", which" : "", page->out);
		likely |= print_step(page, deadlock->tids[i]);
	}
	fputs(likely ? " (likely)\n" : "\n", page->out);
}

/* The thread that died is above, but not what others have to do with it. */
static void print_died_lock(struct ep_page *page, const struct ep_report_groups *groups)
{
	const struct ep_lock_wait *wait = &groups->died_wait;
	bool waits = wait->kind != EP_LOCK_NONE, holds = groups->died_held.waiters > 0;

	if (!waits && !holds)
		return;
	fputs("  ", page->out);
	print_thread(page, groups->died);
	fputs(", which died, ", page->out);
	if (waits)
		ep_page_wait(page, wait, 1, groups->died);
	fputs(waits && holds ? ", and " : "", page->out);
	if (holds)
		print_held(page, &groups->died_held);
	fputc('\n', page->out);
}

#define DEADLOCKS_SHOWN 3u

void ep_page_deadlocks(struct ep_page *page)
{
	const struct ep_report_groups *groups = &page->report->groups;
	size_t count = groups->deadlocks.count;

	for (size_t i = 0; i < count && i < DEADLOCKS_SHOWN; i++)
		print_deadlock(page, &groups->deadlocks.list[i]);
	if (count > DEADLOCKS_SHOWN)
		fprintf(page->out, "  … and %zu more deadlocks\n", count - DEADLOCKS_SHOWN);
	if (page->brief)
		print_died_lock(page, groups);
}

/* What is no group. Returns its lines. */
static size_t print_first(struct ep_page *page)
{
	FILE *out = page->out;
	size_t size, lines;
	char *text;

	page->out = ep_open_memstream(&text, &size);
	ep_page_deadlocks(page);
	ep_close_memstream(page->out);
	page->out = out;
	fputs(text, out);
	for (lines = 0, size = 0; text[size]; size++)
		lines += text[size] == '\n';
	free(text);
	return lines + (page->report->groups.not_looked > 0);
}

void ep_page_groups(struct ep_page *page, size_t lines)
{
	const struct ep_report_groups *groups = &page->report->groups;
	size_t count = groups->groups.count, least = page->shares.most[EP_SHARE_GROUPS];
	size_t first, shown, left = 0;
	bool others = page->report->threads.count > 0;

	if (!groups->threads || !page->brief)
		return;
	fprintf(page->out, "\n%s%zu %sthread%s%s (--all shows each)\n", page->bold, groups->threads,
		others ? "other " : "", groups->threads == 1 ? "" : "s", page->style->plain);
	first = print_first(page) + page->shares.spare;
	lines = lines > first + least ? lines - first : least;
	shown = count > lines ? lines - 1 : count;
	for (size_t i = 0; i < shown; i++)
		print_group(page, &groups->groups.list[i]);
	for (size_t i = shown; i < count; i++)
		left += groups->groups.list[i].members.count;
	if (left)
		fprintf(page->out, "  … and %zu more threads, in %zu groups\n", left,
			count - shown);
	if (groups->not_looked)
		fprintf(page->out, "  … and %zu more, whose stacks were not looked at\n",
			groups->not_looked);
	page->shares.printed[EP_SHARE_GROUPS] = shown + (left > 0);
}
