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

static void print_wait(struct ep_page *page, const struct ep_report_group *group)
{
	const struct ep_lock_wait *wait = &group->wait;
	bool died = wait->holder && wait->holder == page->report->head.death.tid;

	fprintf(page->out, " %swait%s for %s 0x%" PRIx64 "%s", page->style->warn,
		group->members.count > 1 ? "" : "s", wait->kind, wait->lock, page->style->plain);
	if (!wait->holder)
		return;
	fputs(", held by ", page->out);
	print_thread(page, wait->holder);
	fputs(died ? ", which died" : "", page->out);
}

static void print_held(struct ep_page *page, const struct ep_report_group *group)
{
	fprintf(page->out, "%s %shold%s a %s that %zu thread%s for%s",
		group->wait.lock ? ", and" : "", page->style->warn,
		group->members.count > 1 ? "" : "s", group->held_kind, group->waiters,
		group->waiters == 1 ? " waits" : "s wait", page->style->plain);
}

/* Where the innermost function is the C library's, it says what is waited for. */
static bool is_obvious(const struct ep_report_group *group)
{
	return group->functions.count && ep_module_is_system(group->functions.list[0]->in);
}

static void print_state(struct ep_page *page, const struct ep_report_group *group)
{
	const char *call = group->inside ? ep_systemcall_name(group->call) : NULL;

	if (group->wait.lock)
		print_wait(page, group);
	if (group->waiters)
		print_held(page, group);
	fputs(group->wait.lock || group->waiters ? ":" : "", page->out);
	if (group->inside && !group->wait.lock && !is_obvious(group))
		fprintf(page->out, " in system call %s,", call ? call : "?");
	if (group->known && !group->inside)
		fprintf(page->out, " run%s", group->members.count > 1 ? "" : "s");
	if (!group->wait.lock)
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
	char ago[EP_TIMETEXT_SIZE], text[EP_TIMETEXT_SIZE + 32];

	if (!page->trace || !last)
		return;
	snprintf(text, sizeof(text), "  [last call %s ago]",
		 ep_timetext(ago, ep_trace_ago(page->trace, last)));
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

static void print_deadlock(struct ep_page *page, const struct ep_report_groups *groups)
{
	size_t count = groups->deadlock.count;

	if (!count)
		return;
	fprintf(page->out, "  %sdeadlock%s: ", page->style->warn, page->style->plain);
	for (size_t i = 0; i <= count; i++) {
		print_thread(page, groups->deadlock.list[i % count]);
		if (i < count)
			fprintf(page->out, "%s waits for a lock of ", i ? ", which" : "");
	}
	fputc('\n', page->out);
}

void ep_page_groups(struct ep_page *page, size_t lines)
{
	const struct ep_report_groups *groups = &page->report->groups;
	size_t shown = groups->groups.count > lines ? lines - 1 : groups->groups.count, left = 0;
	bool others = page->report->threads.count > 0;

	if (!groups->threads)
		return;
	fprintf(page->out, "\n%s%zu %sthread%s%s (--all shows each)\n", page->bold, groups->threads,
		others ? "other " : "", groups->threads == 1 ? "" : "s", page->style->plain);
	print_deadlock(page, groups);
	for (size_t i = 0; i < shown; i++)
		print_group(page, &groups->groups.list[i]);
	for (size_t i = shown; i < groups->groups.count; i++)
		left += groups->groups.list[i].members.count;
	if (left)
		fprintf(page->out, "  … and %zu more threads, in %zu groups\n", left,
			groups->groups.count - shown);
	if (groups->not_looked)
		fprintf(page->out, "  … and %zu more, whose stacks were not looked at\n",
			groups->not_looked);
}
