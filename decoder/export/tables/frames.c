/* SPDX-License-Identifier: BSD-2-Clause */
/* frames.c: the stacks of a core's threads, as rows. Of a live process, an arena's file or
 * a funtrace.raw there are none. */
#include <stdlib.h>

#include "decoder/export/tables/impl.h"
#include "decoder/names/modules.h"
#include "decoder/stack/frame.h"

#define FRAMES_MAX 100000 /* of a stack: any that ends by itself */

struct stacks {
	struct ep_tables *tables;
	struct ep_names *others; /* of the source's modules, for what the trace does not know */
	uint32_t tid;
	const struct ep_trace_thread *thread; /* NULL: was not traced */
	uint64_t frame;                       /* rows of the stack so far */
};

static const char *stop_word(enum ep_stack_end end)
{
	static const char *const words[] = {
		[EP_STACK_WHOLE] = "",
		[EP_STACK_LIMIT] = "limit",
		[EP_STACK_NOWHERE] = "nowhere",
		[EP_STACK_UNSAVED] = "unsaved",
		[EP_STACK_UNREADABLE] = "unreadable",
		[EP_STACK_REGISTERS] = "registers",
	};

	return words[end];
}

struct row {
	bool inlined;
	const char *name, *module;
	struct ep_line line;
};

static void write_row(struct stacks *stacks, const struct ep_frame *frame, const struct row *row,
		      const char *stop)
{
	struct ep_table_file *file = &stacks->tables->files[EP_TABLE_FRAMES];

	ep_table_uint(file, stacks->tid);
	if (stacks->thread)
		ep_table_uint(file, stacks->thread->serial);
	else
		ep_table_null(file, 1);
	ep_table_uint(file, stacks->frame++);
	ep_table_bool(file, row->inlined);
	ep_table_text(file, row->name);
	ep_table_text(file, row->module);
	ep_table_text(file, row->line.file);
	if (row->line.file && row->line.line)
		ep_table_uint(file, row->line.line);
	else
		ep_table_null(file, 1);
	ep_table_uint(file, frame->pc);
	if (frame->sp)
		ep_table_uint(file, frame->sp);
	else
		ep_table_null(file, 1);
	ep_table_bool(file, frame->signal);
	ep_table_bool(file, frame->guessed);
	ep_table_word(file, stop);
	ep_table_row(file);
}

/* The calls inlined there, innermost first, then the function itself. */
static void write_frame(struct stacks *stacks, const struct ep_frame *frame, const char *stop)
{
	struct ep_names *names = stacks->tables->export->names;
	const struct ep_function *function = ep_frame_function(names, stacks->others, frame);
	struct ep_inlined inlined[EP_INLINED_MAX];
	size_t count = frame->signal ? 0 : ep_frame_inlined(names, stacks->others, frame, inlined);
	struct row row = {.module = function->module};

	if (!frame->signal)
		row.line = ep_frame_line(names, stacks->others, frame);
	for (size_t i = 0; i < count; i++) {
		row.inlined = true;
		row.name = inlined[i].name;
		write_row(stacks, frame, &row, "");
		row.line = inlined[i].call;
	}
	row.inlined = false;
	row.name = frame->signal ? EP_SIGNAL_FRAME_NAME : function->name;
	write_row(stacks, frame, &row, stop);
}

static void write_stack(struct stacks *stacks, struct ep_unwinder *unwinder)
{
	struct ep_stack stack;

	if (!ep_unwind(unwinder, stacks->tid, FRAMES_MAX, &stack))
		return;
	stacks->frame = 0;
	for (size_t i = 0; i < stack.count; i++)
		write_frame(stacks, &stack.frames[i],
			    i + 1 == stack.count ? stop_word(stack.end) : "");
	ep_stack_deinit(&stack);
}

/* The one of that tid that was alive last; NULL. */
static const struct ep_trace_thread *trace_thread(const struct ep_trace *trace, uint32_t tid)
{
	const struct ep_trace_thread *best = NULL;

	for (size_t i = 0; i < trace->thread_count; i++)
		if (trace->threads[i].tid == tid &&
		    (!best || trace->threads[i].state != EP_THREAD_DEAD))
			best = &trace->threads[i];
	return best;
}

static void write_stacks(struct stacks *stacks, struct ep_unwinder *unwinder)
{
	const struct ep_export *export = stacks->tables->export;
	const struct ep_source_thread *threads;
	size_t count;

	threads = ep_source_threads(export->source, &count);
	for (size_t i = 0; i < count; i++) {
		stacks->tid = threads[i].tid;
		stacks->thread = trace_thread(export->trace, stacks->tid);
		if (!export->selection || !stacks->thread ||
		    ep_selection_wants_thread(export->selection, stacks->thread))
			write_stack(stacks, unwinder);
	}
}

void ep_tables_frames(struct ep_tables *tables)
{
	const struct ep_export *export = tables->export;
	struct stacks stacks = {.tables = tables};
	struct ep_unwinder *unwinder;
	struct ep_trace_module *modules;
	size_t count;

	if (!export->source || ep_source_kind(export->source) == EP_SOURCE_LIVE ||
	    ep_unwinder_create(&unwinder, export->source, export->trace, export->naming, NULL))
		return;
	modules = ep_modules_from_source(&count, export->source, export->trace);
	stacks.others = ep_names_create(modules, count, export->naming);
	write_stacks(&stacks, unwinder);
	ep_unwinder_destroy(unwinder);
	ep_names_destroy(stacks.others);
	free(modules);
}
