/* SPDX-License-Identifier: BSD-2-Clause */
/* head.c: which process it was, and how it ended. */
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>

#include "coredump/snapshot/redacted.h"
#include "coredump/util/hex.h"
#include "decoder/report/death/death.h"
#include "decoder/report/life.h"
#include "decoder/report/parts.h"
#include "decoder/stack/signal_frame.h"
#include "decoder/util/timetext.h"

/* ---- the process ---- */

static void copy_build_id(struct ep_report_head *head, const struct ep_trace_module *modules,
			  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!(modules[i].flags & EP_MODULE_EXECUTABLE))
			continue;
		ep_hex(head->build_id, modules[i].build_id, modules[i].build_id_size);
		return;
	}
}

static void process_of_trace(struct ep_report_head *head, const struct ep_evidence *evidence)
{
	const struct ep_trace *trace = evidence->trace;
	const struct ep_trace_process *process = &trace->process;
	uint64_t end = ep_trace_realtime(trace, trace->last_tsc);

	copy_build_id(head, trace->modules, trace->module_count);
	head->process_known = process->known;
	if (!process->known)
		return;
	head->program = process->executable;
	head->command = process->command_line;
	head->host = process->host;
	head->kernel = process->kernel;
	head->pid = process->pid;
	head->started = process->start_realtime;
	if (!end || !trace->last_tsc)
		return;
	head->last_record = end;
	head->died = ep_trace_realtime(trace, trace->end.tsc);
	head->recorded = ep_trace_ns(trace, process->start_tsc, trace->last_tsc);
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

static void process_of_core(struct ep_report_head *head, const struct ep_evidence *evidence)
{
	const struct ep_note *note =
		note_find(evidence->source, NT_PRPSINFO, sizeof(struct elf_prpsinfo));
	struct elf_prpsinfo info;

	for (size_t i = 0; i < evidence->module_count; i++)
		if (evidence->modules[i].flags & EP_MODULE_EXECUTABLE)
			head->program = evidence->modules[i].path;
	copy_build_id(head, evidence->modules, evidence->module_count);
	head->pid = (uint32_t)ep_source_pid(evidence->source);
	if (!note)
		return;
	static_assert(sizeof(head->words) > sizeof(info.pr_psargs), "cut");
	memcpy(&info, note->desc, sizeof(info));
	memcpy(head->words, info.pr_psargs, sizeof(info.pr_psargs));
	head->command = head->words;
	/* The last byte is a NUL: binfmt_elf.c, fill_psinfo. */
	head->command_cut = strlen(head->words) + 1 >= sizeof(info.pr_psargs);
}

/* ---- its end ---- */

static enum ep_report_end end_of(const struct ep_evidence *evidence)
{
	size_t threads;

	ep_source_threads(evidence->source, &threads);
	if (ep_source_kind(evidence->source) == EP_SOURCE_LIVE)
		return EP_REPORT_RUNS;
	if (ep_source_kind(evidence->source) == EP_SOURCE_FUNTRACE)
		return EP_REPORT_FUNTRACE;
	if (ep_source_arena_file(evidence->source))
		return EP_REPORT_ARENA;
	if (ep_source_snapshot_found(evidence->source) == EP_FOUND_FILE)
		return EP_REPORT_COPY;
	if (evidence->death.signal)
		return EP_REPORT_DIED;
	return threads ? EP_REPORT_ALIVE : EP_REPORT_NOTELESS;
}

static void find_life(struct ep_report_head *head, const struct ep_evidence *evidence)
{
	const struct ep_arena_file *file = ep_source_arena_file(evidence->source);

	head->life = file->life;
	ep_life_state_text(head->state, sizeof(head->state), file, evidence->trace,
			   evidence->ended);
	ep_life_cause_text(head->because, sizeof(head->because), file);
}

/* What the processor could not do. */
static void find_instruction(struct ep_report_head *head, const struct ep_evidence *evidence)
{
	const struct ep_source_thread *thread = head->thread;

	head->has_instruction =
		ep_signal_of_fault(head->death.signal) && head->death.code > 0 && thread &&
		thread->has_registers &&
		(ep_instruction_read(&head->instruction, evidence->source, evidence->names,
				     thread->registers.pc, thread) == EP_OK ||
		 ep_instruction_read(&head->instruction, evidence->source, evidence->others,
				     thread->registers.pc, thread) == EP_OK);
}

static void find_then(struct ep_report_head *head, const struct ep_evidence *evidence,
		      const char *said)
{
	const struct ep_source_thread *thread;
	struct ep_report_cause *cause = &head->then_cause;
	struct ep_fault fault;

	head->has_then = true;
	ep_source_death(evidence->source, &head->then);
	thread = ep_source_thread(evidence->source, head->then.tid);
	ep_death_cause_text(head->then_because, sizeof(head->then_because), evidence, &head->then,
			    thread, &fault);
	ep_report_cause_init(cause, evidence, &head->then, thread, 0, said);
	if (cause->code)
		snprintf(head->then_because, sizeof(head->then_because), "%s",
			 cause->text[EP_CAUSE_FULL]);
}

static void find_death(struct ep_report_head *head, const struct ep_evidence *evidence)
{
	char text[EP_TIMETEXT_SIZE];
	const char *said;

	head->thread = evidence->first.found ? &evidence->first.thread
					     : ep_source_thread(evidence->source, head->death.tid);
	ep_death_cause_text(head->because, sizeof(head->because), evidence, &head->death,
			    head->thread, &head->fault);
	head->has_abort_message = ep_abort_message_find(&head->abort_message, evidence->source);
	said = head->has_abort_message ? head->abort_message.text : NULL;
	if (evidence->first.found)
		find_then(head, evidence, said);
	/* What was said last is the last one's. */
	ep_report_cause_init(&head->cause, evidence, &head->death, head->thread,
			     evidence->first.frame, evidence->first.found ? NULL : said);
	if (head->cause.code)
		snprintf(head->because, sizeof(head->because), "%s",
			 head->cause.text[EP_CAUSE_FULL]);
	head->missed = ep_report_missed(evidence);
	if (head->missed)
		snprintf(head->because, sizeof(head->because),
			 "watchdog %s was not fed within its deadline of %s", head->missed->name,
			 ep_timetext(text, head->missed->deadline));
	find_instruction(head, evidence);
}

void ep_report_head_init(struct ep_report_head *head, const struct ep_evidence *evidence)
{
	static const char *const words[] = {
		[EP_REPORT_RUNS] =
			"is running; it was not stopped, so its threads went on while it was read",
		[EP_REPORT_FUNTRACE] = ("unknown: a funtrace.raw tells neither how it ended nor "
					"its stacks, but calls only"),
		[EP_REPORT_COPY] = "unknown: this is a copy of the file of EPITAPH_FILE",
		[EP_REPORT_NOTELESS] = "unknown: the core's notes on its threads are lost",
		[EP_REPORT_ALIVE] =
			"did not die: a snapshot of a running process, or a core without a signal",
		[EP_REPORT_ARENA] = "",
		[EP_REPORT_DIED] = "",
	};

	memset(head, 0, sizeof(*head));
	head->program = head->command = head->host = head->kernel = "";
	if (evidence->trace)
		process_of_trace(head, evidence);
	else
		process_of_core(head, evidence);
	ep_owner_find(&head->owner, evidence->source, evidence->trace);
	ep_machine_read(&head->machine, evidence->source, evidence->modules,
			evidence->module_count);
	head->redacted = ep_source_redacted(evidence->source);
	head->death = evidence->death;
	head->end = end_of(evidence);
	snprintf(head->state, sizeof(head->state), "%s", words[head->end]);
	if (head->end == EP_REPORT_ARENA)
		find_life(head, evidence);
	if (head->end == EP_REPORT_DIED)
		find_death(head, evidence);
}
