/* SPDX-License-Identifier: BSD-2-Clause */
/* head.c: which process it was, and how it ended. */
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>

#include "coredump/kinds/arena_file.h"
#include "decoder/report/model.h"
#include "decoder/report/life.h"

/* ---- the process ---- */

static void take_build_id(struct ep_report_head *head, const struct ep_trace_module *modules,
			  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!(modules[i].flags & EP_MODULE_EXECUTABLE))
			continue;
		for (uint32_t b = 0; b < modules[i].build_id_size; b++)
			snprintf(head->build_id + 2 * b, 3, "%02x", modules[i].build_id[b]);
		return;
	}
}

static void process_of_trace(struct ep_report_head *head, const struct ep_report *report)
{
	const struct ep_trace *trace = report->trace;
	const struct ep_trace_process *process = &trace->process;
	uint64_t end = ep_trace_realtime(trace, trace->last_tsc);

	take_build_id(head, trace->modules, trace->module_count);
	head->process_known = process->known;
	if (!process->known)
		return;
	head->program = process->executable;
	head->command = process->command_line;
	head->host = process->host;
	head->kernel = process->kernel;
	head->pid = process->pid;
	head->uid_known = ep_source_kind(report->source) != EP_SOURCE_FUNTRACE;
	head->uid = process->uid;
	head->started = process->start_realtime;
	if (!end || !trace->last_tsc)
		return;
	head->last_record = end;
	head->lived = ep_trace_ns(trace, process->start_tsc, trace->end.tsc);
}

static const struct ep_note *note_find(const struct ep_source *source, uint32_t type, size_t size)
{
	size_t count;
	const struct ep_note *notes = ep_source_notes(source, &count);

	for (size_t i = 0; i < count; i++)
		if (notes[i].type == type && notes[i].desc_size >= size &&
		    strcmp(notes[i].name, "CORE") == 0)
			return &notes[i];
	return NULL;
}

static void process_of_core(struct ep_report_head *head, const struct ep_report *report)
{
	const struct ep_note *note =
		note_find(report->source, NT_PRPSINFO, sizeof(struct elf_prpsinfo));
	struct elf_prpsinfo info;

	for (size_t i = 0; i < report->module_count; i++)
		if (report->modules[i].flags & EP_MODULE_EXECUTABLE)
			head->program = report->modules[i].path;
	take_build_id(head, report->modules, report->module_count);
	head->pid = (uint32_t)ep_source_pid(report->source);
	if (!note)
		return;
	static_assert(sizeof(head->words) > sizeof(info.pr_psargs), "cut");
	memcpy(&info, note->desc, sizeof(info));
	memcpy(head->words, info.pr_psargs, sizeof(info.pr_psargs));
	head->command = head->words;
	/* The last byte is a NUL: binfmt_elf.c, fill_psinfo. */
	head->command_cut = strlen(head->words) + 1 >= sizeof(info.pr_psargs);
	head->uid_known = true;
	head->uid = info.pr_uid;
}

/* ---- its end ---- */

static enum ep_report_end end_of(const struct ep_report *report, const struct ep_death *death)
{
	size_t threads;

	ep_source_threads(report->source, &threads);
	if (ep_source_kind(report->source) == EP_SOURCE_LIVE)
		return EP_REPORT_RUNS;
	if (ep_source_kind(report->source) == EP_SOURCE_FUNTRACE)
		return EP_REPORT_FUNTRACE;
	if (ep_source_arena_file(report->source))
		return EP_REPORT_ARENA;
	if (ep_source_snapshot_found(report->source) == EP_FOUND_FILE)
		return EP_REPORT_COPY;
	if (death->signal)
		return EP_REPORT_DIED;
	return threads ? EP_REPORT_ALIVE : EP_REPORT_NOTELESS;
}

static void tell_life(struct ep_report_head *head, const struct ep_report *report)
{
	const struct ep_arena_file *file = ep_source_arena_file(report->source);

	ep_life_state_text(head->state, sizeof(head->state), file, report->trace, report->ended);
	ep_life_cause_text(head->because, sizeof(head->because), file);
}

static bool is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
	       signal == SIGTRAP;
}

/* What the processor could not do. */
static void take_instruction(struct ep_report_head *head, struct ep_report *report)
{
	const struct ep_source_thread *thread = head->thread;

	head->has_instruction =
		is_fault(head->death.signal) && head->death.code > 0 && thread &&
		thread->has_registers &&
		(ep_instruction_read(&head->instruction, report->source, report->names,
				     thread->registers.pc, thread) == EP_OK ||
		 ep_instruction_read(&head->instruction, report->source, report->others,
				     thread->registers.pc, thread) == EP_OK);
}

static void tell_then(struct ep_report_head *head, struct ep_report *report, const char *said)
{
	const struct ep_source_thread *thread;
	struct ep_report_cause cause;

	head->has_then = true;
	ep_source_death(report->source, &head->then);
	thread = ep_report_core_thread(report, head->then.tid);
	ep_death_cause_text(head->then_because, sizeof(head->then_because), report->source,
			    &head->then, thread);
	ep_report_cause_init(&cause, report, &head->then, thread, 0, said);
	if (cause.code)
		snprintf(head->then_because, sizeof(head->then_because), "%s", cause.text);
}

static void tell_death(struct ep_report_head *head, struct ep_report *report)
{
	char text[EP_TIMETEXT_SIZE];
	const char *said;

	head->thread = report->first.found ? &report->first.thread
					   : ep_report_core_thread(report, head->death.tid);
	ep_death_cause_text(head->because, sizeof(head->because), report->source, &head->death,
			    head->thread);
	head->has_said = ep_abort_message_find(&head->said, report->source);
	said = head->has_said ? head->said.text : NULL;
	if (report->first.found)
		tell_then(head, report, said);
	/* What was said last is the last one's. */
	ep_report_cause_init(&head->cause, report, &head->death, head->thread, report->first.frame,
			     report->first.found ? NULL : said);
	if (head->cause.code)
		snprintf(head->because, sizeof(head->because), "%s", head->cause.text);
	head->missed = ep_report_missed(report, &head->death);
	if (head->missed)
		snprintf(head->because, sizeof(head->because),
			 "watchdog %s was not fed within its deadline of %s", head->missed->name,
			 ep_timetext(text, head->missed->deadline));
	take_instruction(head, report);
}

void ep_report_head_init(struct ep_report_head *head, struct ep_report *report)
{
	static const char *const words[] = {
		[EP_REPORT_RUNS] = "is running; it was not stopped, so its threads went "
				   "on while it was read",
		[EP_REPORT_FUNTRACE] = "unknown: a funtrace.raw tells neither how it ended "
				       "nor its stacks, but calls only",
		[EP_REPORT_COPY] = "not told: this is a copy of the file of "
				   "EPITAPH_FILE",
		[EP_REPORT_NOTELESS] = "unknown: the core's notes on its threads are lost",
		[EP_REPORT_ALIVE] = "did not die: a snapshot of a running "
				    "process, or a core without a signal",
		[EP_REPORT_ARENA] = "",
		[EP_REPORT_DIED] = "",
	};

	memset(head, 0, sizeof(*head));
	head->program = head->command = head->host = head->kernel = "";
	if (report->trace)
		process_of_trace(head, report);
	else
		process_of_core(head, report);
	ep_machine_read(&head->machine, report->source, report->modules, report->module_count);
	head->redacted = ep_source_redacted(report->source);
	ep_report_death(report, &head->death);
	head->end = end_of(report, &head->death);
	snprintf(head->state, sizeof(head->state), "%s", words[head->end]);
	if (head->end == EP_REPORT_ARENA)
		tell_life(head, report);
	if (head->end == EP_REPORT_DIED)
		tell_death(head, report);
}
