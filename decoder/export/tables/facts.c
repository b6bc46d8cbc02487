/* SPDX-License-Identifier: BSD-2-Clause */
/* facts.c: the process, its threads, modules and functions: what the rows of the stream
 * refer to. */
#include "decoder/export/tables/impl.h"

#include "coredump/memory/source.h"
#include "decoder/kernel/schedule.h"

static void known_uint(struct ep_table_file *file, uint64_t value)
{
	if (value)
		ep_table_uint(file, value);
	else
		ep_table_null(file, 1);
}

/* A time; 0: not known. */
static void known_time(struct ep_tables *tables, struct ep_table_file *file, uint64_t tsc)
{
	if (tsc)
		ep_table_int(file, ep_tables_ns(tables, tsc));
	else
		ep_table_null(file, 1);
}

static void write_process(struct ep_tables *tables)
{
	struct ep_table_file *file = &tables->files[EP_TABLE_PROCESS];
	const struct ep_trace *trace = tables->export->trace;
	struct ep_death death = {0};

	if (tables->export->source)
		ep_source_death(tables->export->source, &death);
	ep_table_text(file, trace->process.executable);
	ep_table_text(file, trace->process.command_line);
	ep_table_text(file, trace->process.host);
	ep_table_text(file, trace->process.kernel);
	known_uint(file, trace->process.pid);
	known_uint(file, ep_trace_realtime(trace, trace->first_tsc));
	known_time(tables, file, trace->last_tsc);
	known_time(tables, file, trace->end.tsc);
	ep_table_bool(file, trace->clock.known);
	ep_table_uint(file, trace->clock.error_ppb);
	ep_table_bool(file, trace->schedule && trace->schedule->first < trace->schedule->last);
	known_uint(file, (uint64_t)death.signal);
	known_uint(file, death.tid);
	ep_table_text(file, "epitaph " EP_VERSION);
	ep_table_row(file);
}

static void write_thread(struct ep_tables *tables, const struct ep_trace_thread *thread)
{
	struct ep_table_file *file = &tables->files[EP_TABLE_THREADS];
	const struct ep_trace *trace = tables->export->trace;
	const struct ep_task *task = ep_schedule_task(trace->schedule, thread->tid);
	struct ep_slice_times times;

	ep_table_uint(file, thread->serial);
	known_uint(file, thread->tid);
	ep_table_text(file, thread->name);
	ep_table_bool(file, thread->state == EP_THREAD_DEAD);
	ep_table_bool(file, thread->from_start);
	ep_table_int(file, ep_tables_ns(tables, thread->first_tsc));
	ep_table_int(file, ep_tables_ns(tables, thread->last_tsc));
	if (ep_task_times(trace, task, thread->first_tsc, thread->last_tsc, &times)) {
		ep_table_int(file, times.running);
		ep_table_int(file, times.ready);
		ep_table_int(file, times.blocked);
		ep_table_int(file, times.unknown);
	} else {
		ep_table_null(file, 4);
	}
	ep_table_uint(file, thread->lost_records);
	ep_table_uint(file, thread->blocks_missed);
	ep_table_row(file);
}

static void write_module(struct ep_tables *tables, const struct ep_trace_module *module)
{
	struct ep_table_file *file = &tables->files[EP_TABLE_MODULES];
	char id[2 * EP_BUILD_ID_MAX + 1] = "";

	for (uint32_t i = 0; i < module->build_id_size && i < EP_BUILD_ID_MAX; i++)
		snprintf(id + 2 * i, 3, "%02x", module->build_id[i]);
	ep_table_text(file, module->path);
	/* 1234e5 is a number to who guesses types. */
	ep_table_text(file, id);
	ep_table_uint(file, module->start);
	ep_table_uint(file, module->end);
	ep_table_uint(file, module->bias);
	known_time(tables, file, module->load_tsc);
	known_time(tables, file, module->unload_tsc);
	ep_table_row(file);
}

static void write_function(struct ep_tables *tables, const struct ep_function *function)
{
	struct ep_table_file *file = &tables->files[EP_TABLE_FUNCTIONS];
	struct ep_line line = ep_names_function_line(tables->export->names, function);

	ep_table_uint(file, function->id);
	ep_table_text(file, function->name);
	ep_table_text(file, function->symbol);
	ep_table_text(file, function->module);
	ep_table_text(file, line.file);
	known_uint(file, line.file ? line.line : 0);
	ep_table_uint(file, function->start);
	known_uint(file, function->end > function->start ? function->end : 0);
	ep_table_bool(file, function->known);
	ep_table_row(file);
}

void ep_tables_facts(struct ep_tables *tables)
{
	const struct ep_trace *trace = tables->export->trace;

	write_process(tables);
	for (size_t i = 0; i < trace->thread_count; i++)
		if (trace->threads[i].block_count)
			write_thread(tables, &trace->threads[i]);
	for (size_t i = 0; i < trace->module_count; i++)
		write_module(tables, &trace->modules[i]);
	for (size_t i = 0; i < tables->functions.count; i++)
		if (tables->functions.list[i])
			write_function(tables, tables->functions.list[i]);
}
