/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c: a report as a page of text: its head and its end. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/snapshot/redacted.h"
#include "coredump/util/alloc.h"
#include "decoder/kernel/end.h"
#include "decoder/report/death/death.h"
#include "decoder/names/system_module.h"
#include "decoder/report/print/page.h"
#include "decoder/util/fit.h"

/* ---- fields ---- */

static void __attribute__((format(printf, 3, 4)))
field(struct ep_page *page, const char *name, const char *format, ...)
{
	va_list list;

	fprintf(page->out, "%s%-10s%s ", page->style->dim, name, page->style->plain);
	va_start(list, format);
	vfprintf(page->out, format, list);
	va_end(list);
	fputc('\n', page->out);
}

static void field_bytes(struct ep_page *page, const char *name, const char *text)
{
	char *shown = ep_page_escape(text);

	if (*shown)
		field(page, name, "%s", shown);
	free(shown);
}

/* ---- the process ---- */

static void print_command(struct ep_page *page, const struct ep_report_head *head)
{
	char *shown = ep_page_escape(head->command);

	if (*shown)
		field(page, "command", "%s%s", shown,
		      head->command_cut ? "… (the kernel keeps no more than 79 bytes)" : "");
	free(shown);
}

static void print_pid(struct ep_page *page, const struct ep_report_head *head)
{
	char *host = ep_page_escape(head->host);
	char user[EP_OWNER_TEXT_SIZE];

	ep_owner_text(&head->owner, user, sizeof(user));
	if (!head->pid && !head->process_known)
		;
	else
		field(page, "process", "pid %" PRIu32 "%s%s%s%s", head->pid, *user ? ", " : "",
		      user, *host ? ", on " : "", host);
	free(host);
}

static void print_machine(struct ep_page *page, const struct ep_report_head *head)
{
	const struct ep_machine *machine = &head->machine;
	char *kernel = ep_page_escape(head->kernel);
	char *platform = ep_page_escape(machine->platform);
	char version[32] = "";

	if (*kernel)
		snprintf(version, sizeof(version), "%.31s", kernel);
	else if (machine->kernel)
		snprintf(version, sizeof(version), "%u.%u.%u", machine->kernel >> 16,
			 machine->kernel >> 8 & 0xff, machine->kernel & 0xff);
	if (*platform)
		field(page, "machine", "%s%s%s, pages of %" PRIu64 " bytes", platform,
		      *version ? ", Linux " : "", version, machine->page_size);
	free(kernel);
	free(platform);
}

/* The moment of death, where it is known to be another one than the last record's. */
static void print_died_at(struct ep_page *page, const struct ep_report_head *head)
{
	const bool ended = head->end == EP_REPORT_DIED ||
			   (head->end == EP_REPORT_ARENA && head->life == EP_LIFE_ENDED);
	char text[EP_TIMETEXT_SIZE + 16], from[EP_TIMETEXT_SIZE], to[EP_TIMETEXT_SIZE];
	int64_t more = page->trace ? ep_end_uncertain(&page->trace->end) : 0;

	if (!ended || !head->last_record || !page->trace->end.source)
		return;
	if (!page->trace->end.later)
		field(page, "died", "%s, %s after its start", ep_timetext_clock(text, head->died),
		      ep_timetext(from, head->lived));
	else if (more > 0)
		field(page, "died", "%s to %s after its start", ep_timetext(from, head->lived),
		      ep_timetext(to, ep_ns_add(head->lived, more)));
	else
		field(page, "died", "%s after its start, or later", ep_timetext(from, head->lived));
}

static void print_process(struct ep_page *page, const struct ep_report_head *head)
{
	char text[EP_TIMETEXT_SIZE + 16], span[EP_TIMETEXT_SIZE];

	field_bytes(page, "program", head->program);
	if (!page->brief)
		field(page, "build-id", "%s", *head->build_id ? head->build_id : "none");
	print_command(page, head);
	print_pid(page, head);
	if (!page->brief)
		print_machine(page, head);
	if (head->last_record)
		field(page, "last seen", "%s, %s after its start",
		      ep_timetext_clock(text, head->last_record),
		      ep_timetext(span, head->recorded));
	print_died_at(page, head);
}

static void print_redaction(struct ep_page *page, const struct ep_report_head *head)
{
	char text[EP_REDACTED_TEXT_MAX];

	if (head->redacted)
		field(page, "left out", "%s, when the snapshot was made, as it was asked for",
		      ep_redacted_text(text, sizeof(text), head->redacted));
}

/* ---- its end ---- */

static void print_watchdog(struct ep_page *page, const struct ep_report_watchdog *watchdog)
{
	const struct ep_trace_watchdog *one = watchdog->watchdog;
	char deadline[EP_TIMETEXT_SIZE], ago[EP_END_AGO_SIZE], late[EP_TIMETEXT_SIZE];

	fprintf(page->out, "%swatchdog  %s %s: %sfed last by", page->style->dim, page->style->plain,
		one->name, one->paused ? "paused; " : "");
	fprintf(page->out, " thread %" PRIu32 " %s, %s before the end, deadline %s", one->fed_by,
		watchdog->fed_name, ep_end_ago_text(page->trace, one->fed_tsc, ago),
		ep_timetext(deadline, one->deadline));
	if (watchdog->late)
		fprintf(page->out, "; %s%s too late%s", page->style->warn,
			ep_timetext(late, watchdog->late), page->style->plain);
	if (one->misses && (!watchdog->late || one->misses > 1))
		fprintf(page->out, "; %" PRIu64 " misses", one->misses);
	if (one->misses && one->missed_by != one->fed_by)
		fprintf(page->out, ", the last by thread %" PRIu32 " %s", one->missed_by,
			watchdog->missed_name);
	fputc('\n', page->out);
}

static void print_watchdogs(struct ep_page *page)
{
	size_t count = page->report->watchdogs.count, most = page->shares.most[EP_SHARE_WATCHDOGS];

	for (size_t i = 0; i < count && i < most; i++)
		print_watchdog(page, &page->report->watchdogs.list[i]);
	if (count > most)
		fprintf(page->out, "           … %zu more watchdogs\n", count - most);
	page->shares.printed[EP_SHARE_WATCHDOGS] = count < most ? count : most;
}

/* With names as the page has them, where the stack settles it. */
static const char *because_text(const struct ep_page *page, const struct ep_report_cause *cause,
				const char *because)
{
	enum ep_cause_names names = page->look->full_names ? EP_CAUSE_FULL
				    : page->brief          ? EP_CAUSE_BARE
							   : EP_CAUSE_SHORT;

	return cause->code ? cause->text[names] : because;
}

/* What the handler made of it, in one line. */
static void print_then(struct ep_page *page, const struct ep_report_head *head)
{
	char name[128], where[48] = "its handler";

	ep_death_signal_text(name, sizeof(name), head->then.signal);
	if (head->then.tid != head->death.tid)
		snprintf(where, sizeof(where), "thread %" PRIu32, head->then.tid);
	field(page, "then", "%s in %s: %s", name, where,
	      because_text(page, &head->then_cause, head->then_because));
}

/* Of the thread that died; "" unknown, or further down the page. The caller frees it. */
static char *died_name(const struct ep_page *page)
{
	const struct ep_report *report = page->report;

	return page->brief && report->threads.count && report->threads.list[0].died
		       ? ep_page_escape(report->threads.list[0].name)
		       : ep_strdup("");
}

static void print_death(struct ep_page *page, const struct ep_report_head *head)
{
	const struct ep_instruction *instruction = &head->instruction;
	const char *registers = instruction->registers;
	char text[128], *name = died_name(page);

	ep_death_signal_text(text, sizeof(text), head->death.signal);
	fprintf(page->out, "%s%-10s %s%s in thread %" PRIu32 "%s%s\n", page->style->warn, "died of",
		text, page->style->plain, head->death.tid, *name ? " " : "", name);
	free(name);
	field_bytes(page, "because",
		    head->missed ? head->because : because_text(page, &head->cause, head->because));
	if (head->has_instruction)
		field(page, "at", "0x%" PRIx64 ": %s%s%s%s", head->thread->registers.pc,
		      instruction->text, *registers ? "  (" : "", registers, *registers ? ")" : "");
	ep_page_place(page, &page->report->place);
	if (head->has_then)
		print_then(page, head);
	if (head->has_abort_message)
		field_bytes(page, "abort message", head->abort_message.text);
}

static void print_end(struct ep_page *page, const struct ep_report_head *head)
{
	char silence[256];

	if (head->end == EP_REPORT_DIED) {
		print_death(page, head);
	} else {
		field(page, "state", "%s", head->state);
		if (head->because[0])
			field(page, "because", "%s", head->because);
	}
	if (page->trace && ep_end_text(&page->trace->end, silence, sizeof(silence)))
		field(page, "silence", "%s", silence);
	print_watchdogs(page);
}

static void print_head(struct ep_page *page, const struct ep_report_head *head)
{
	if (page->brief)
		print_end(page, head);
	print_process(page, head);
	print_redaction(page, head);
	if (!page->brief)
		print_end(page, head);
}

/* ---- a process that hung ---- */

/* A function as the page names it. */
static void print_name(struct ep_page *page, const struct ep_function *function)
{
	char *name = ep_page_name(page, function->name);

	fputs(name, page->out);
	free(name);
}

static void print_hung(struct ep_page *page, const struct ep_report_hung *hung)
{
	const struct ep_trace_thread *trace = hung->trace;
	char text[2 * EP_END_AGO_SIZE];

	fprintf(page->out, "%s%s%s thread %" PRIu32 " %s:", page->style->dim,
		hung->waits ? "waits     " : "runs      ", page->style->plain, hung->tid,
		hung->name);
	if (hung->has_call) {
		fprintf(page->out, " in %s", page->style->name);
		print_name(page, hung->call.function);
		fprintf(page->out, "%s for %s", page->style->plain,
			ep_page_ago(page, &hung->call.begin, text));
	}
	/* One that runs and calls nothing spins. */
	if (!hung->waits && trace && trace->block_count)
		fprintf(page->out, "%s last record %s", hung->has_call ? "," : "",
			ep_end_before_text(page->trace, trace->last_tsc, text));
	for (size_t i = 0; i < hung->function_count; i++) {
		fputs(i ? " < " : " (", page->out);
		print_name(page, hung->functions[i]);
	}
	fputs(hung->function_count ? ")\n" : "\n", page->out);
}

static void print_hang(struct ep_page *page, const struct ep_report_hang *hang)
{
	for (size_t i = 0; i < hang->count; i++)
		print_hung(page, &hang->list[i]);
	if (hang->left)
		fprintf(page->out, "           … %zu more threads\n", hang->left);
}

static void print_left(struct ep_page *page)
{
	const struct ep_report *report = page->report;

	if (report->threads_left)
		fprintf(page->out,
			"\n… and %zu more threads, and %zu that had ended: --all shows them\n",
			report->threads_left, report->ended_left);
	else if (report->ended_left)
		fprintf(page->out, "\n… and %zu thread%s that had ended: --all shows them\n",
			report->ended_left, report->ended_left == 1 ? "" : "s");
}

/* ---- the end of the page ---- */

static const char approximate[] =
	"~ marks a time that is known within an interval only: no clock was read at that moment "
	"(its place in the order is exact); > and ? one of which only the earliest moment is "
	"known, after the thread's last clock read";

static void print_warnings(struct ep_page *page)
{
	const struct ep_report *report = page->report;
	size_t count = report->warnings.count, most = page->shares.most[EP_SHARE_WARNINGS];

	if (count || page->approximate)
		fprintf(page->out, "\n%swarnings%s\n", page->bold, page->style->plain);
	for (size_t i = 0; i < count && i < most; i++)
		fprintf(page->out, "  - %s\n", report->warnings.list[i].text);
	if (count > most)
		fprintf(page->out, "  - … %zu more (--all shows them)\n", count - most);
	page->shares.printed[EP_SHARE_WARNINGS] = count < most ? count : most;
	if (page->approximate)
		fprintf(page->out, "  - %s\n",
			page->brief ? "~, > and ? mark times that are known roughly" : approximate);
}

static void print_kept(struct ep_page *page)
{
	size_t kept = page->report->kept;

	if (kept)
		fprintf(page->out,
			"\nkept in memory by the program: %zu snapshot%s (epitaph info lists, "
			"epitaph extract --kept saves)\n",
			kept, kept == 1 ? "" : "s");
}

/* ---- the whole ---- */

/* Lines go on this far to the right. */
#define INDENT 11u

/* What is printed until flush_part. */
static FILE *begin_part(struct ep_page *page, char **text, size_t *size)
{
	FILE *out = page->out;

	page->out = ep_open_memstream(text, size);
	return out;
}

/* Makes its lines fit. How many they are. */
static size_t end_part(struct ep_page *page, FILE *out, char **text, size_t indent)
{
	size_t lines;

	ep_close_memstream(page->out);
	page->out = out;
	lines = page->shares.tight ? ep_fit_cut_lines(out, *text, page->columns)
				   : ep_fit_lines(out, *text, page->columns, indent);
	free(*text);
	return lines;
}

/* The warnings come last, and are made first: the groups get what is left of the screen. How many
 * lines both are. */
static size_t print_end_of_page(struct ep_page *page, size_t used)
{
	char *warnings, *groups;
	size_t size, lines;
	FILE *out = begin_part(page, &warnings, &size), *buffer;

	print_left(page);
	print_warnings(page);
	print_kept(page);
	buffer = page->out;
	fflush(buffer);
	page->out = out;
	used += 2;
	for (const char *at = warnings; *at; at++)
		used += *at == '\n';
	out = begin_part(page, &groups, &size);
	ep_page_groups(page, used < EP_PAGE_LINES ? EP_PAGE_LINES - used : 0);
	lines = end_part(page, out, &groups, INDENT / 2);
	page->out = buffer;
	return lines + end_part(page, out, &warnings, INDENT / 2);
}

/* Where the program was built, by the innermost frame of its own. */
static const char *find_directory(const struct ep_report *report)
{
	for (size_t t = 0; t < report->threads.count; t++)
		for (size_t i = 0; i < report->threads.list[t].alignment.count; i++) {
			const struct ep_alignment_row *row =
				&report->threads.list[t].alignment.rows[i];

			if (row->line.directory && row->function &&
			    !ep_module_is_system(row->function->in))
				return row->line.directory;
		}
	return NULL;
}

/* The first lines of a part, where there is no room for all. How many. */
static size_t print_cut(FILE *out, const char *text, size_t lines, size_t most)
{
	size_t size = 0;

	for (size_t i = 0; i < most && text[size]; i++)
		size += strcspn(text + size, "\n") + 1;
	fwrite(text, 1, size, out);
	if (lines <= most)
		return lines;
	fprintf(out, "  … %zu more lines (--all shows them)\n", lines - most);
	return most + 1;
}

static void print_report(struct ep_page *page)
{
	const struct ep_report *report = page->report;

	print_head(page, &report->head);
	print_hang(page, &report->hang);
	if (!page->brief && report->groups.deadlocks.count) {
		fputc('\n', page->out);
		ep_page_deadlocks(page);
	}
	for (size_t i = 0; i < report->threads.count; i++)
		ep_page_thread(page, &report->threads.list[i]);
}

/* How many lines they are, of which *head before the groups. */
static size_t print_page(struct ep_page *page, size_t *head)
{
	size_t size, lines;
	char *text, *fitted;
	FILE *out = begin_part(page, &fitted, &size), *buffer = begin_part(page, &text, &size);

	print_report(page);
	lines = end_part(page, buffer, &text, INDENT);
	ep_close_memstream(buffer);
	page->out = out;
	*head = print_cut(out, fitted, lines, page->shares.head);
	free(fitted);
	return *head + print_end_of_page(page, *head);
}

/* Until it is no longer than a screen. */
static void print_screen(struct ep_page *page)
{
	size_t size, lines, head;
	FILE *out;
	char *text = NULL;

	do {
		free(text);
		memset(page->shares.printed, 0, sizeof(page->shares.printed));
		page->approximate = page->without_open = false;
		out = begin_part(page, &text, &size);
		lines = print_page(page, &head);
		ep_close_memstream(page->out);
		page->out = out;
	} while (ep_page_shares_shrink(&page->shares, lines, head));
	fputs(text, out);
	free(text);
}

void ep_report_print_text(const struct ep_report *report, FILE *out,
			  const struct ep_page_look *look)
{
	struct ep_page page = {
		.out = out,
		.report = report,
		.trace = report->trace,
		.look = look,
		.style = &look->style,
		.bold = look->bold,
		.columns = look->columns,
		.brief = report->limits.page,
		.directory = find_directory(report),
	};
	size_t head;

	ep_page_shares_init(&page.shares, page.brief);
	if (page.brief)
		print_screen(&page);
	else
		print_page(&page, &head);
}
