/* SPDX-License-Identifier: BSD-2-Clause */
/* impl.h: what the files of the tables share. */
#ifndef EPITAPH_TABLES_IMPL_H
#define EPITAPH_TABLES_IMPL_H

#include "coredump/util/hash.h"
#include "decoder/export/tables/table_file.h"
#include "decoder/export/tables/tables.h"

enum ep_table {
	EP_TABLE_PROCESS,
	EP_TABLE_THREADS,
	EP_TABLE_MODULES,
	EP_TABLE_FUNCTIONS,
	EP_TABLE_CALLS,
	EP_TABLE_WAITS,
	EP_TABLE_NOTES,
	EP_TABLE_SPANS,
	EP_TABLE_GAPS,
	EP_TABLE_FRAMES,
	EP_TABLES
};

extern const struct ep_table_spec ep_table_specs[EP_TABLES];

struct ep_tables {
	const struct ep_export *export;
	bool leaves_out; /* of calls that are open at one time */
	struct ep_table_file files[EP_TABLES];
	EP_ARRAY(const struct ep_function *) functions; /* by id; NULL: not met */
	struct ep_hash by_tid;                          /* of the trace's threads */
};

/* schema.sql and clickhouse.sql, of CSV files whose names end so behind ".csv". */
void ep_tables_schema(FILE *out, const char *suffix);
void ep_tables_clickhouse(FILE *out, const char *suffix);

/* A row of the stream's tables; a sink's `event` of a struct ep_tables. */
int ep_tables_event(void *context, const struct ep_event *event,
		    const struct ep_nest_thread *thread);

/* What is no part of the stream, after it. */
void ep_tables_facts(struct ep_tables *tables);
/* The stacks of the threads, as they were when the process ended. */
void ep_tables_frames(struct ep_tables *tables);

/* ns since the trace's first record. */
static inline int64_t ep_tables_ns(const struct ep_tables *tables, uint64_t tsc)
{
	const struct ep_trace *trace = tables->export->trace;

	return ep_trace_ns(trace, trace->first_tsc, tsc);
}

#endif
