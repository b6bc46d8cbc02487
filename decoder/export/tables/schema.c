/* SPDX-License-Identifier: BSD-2-Clause */
/* schema.c: the columns of each table, and what is made from them: schema.sql, clickhouse.sql. */
#include "decoder/export/tables/impl.h"

#include <string.h>

#define NUMBER  "BIGINT"
#define ADDRESS "UBIGINT"
#define TEXT    "VARCHAR"
#define BOOLEAN "BOOLEAN"

static const struct ep_table_column process[] = {
	{"program", TEXT},
	{"command_line", TEXT},
	{"host", TEXT},
	{"kernel", TEXT},
	{"pid", NUMBER},
	{"zero_realtime_ns", NUMBER},
	{"last_ns", NUMBER},
	{"end_ns", NUMBER},
	{"clock_known", BOOLEAN},
	{"clock_error_ppb", NUMBER},
	{"scheduling", BOOLEAN},
	{"signal", NUMBER},
	{"died_tid", NUMBER},
	{"producer", TEXT},
	{NULL, NULL},
};

static const struct ep_table_column threads[] = {
	{"thread", NUMBER},        {"tid", NUMBER},        {"name", TEXT},
	{"ended", BOOLEAN},        {"whole", BOOLEAN},     {"first_ns", NUMBER},
	{"last_ns", NUMBER},       {"running_ns", NUMBER}, {"ready_ns", NUMBER},
	{"blocked_ns", NUMBER},    {"unknown_ns", NUMBER}, {"lost_records", NUMBER},
	{"missed_blocks", NUMBER}, {NULL, NULL},
};

static const struct ep_table_column modules[] = {
	{"path", TEXT},    {"build_id", TEXT},  {"start", ADDRESS},    {"end", ADDRESS},
	{"bias", ADDRESS}, {"load_ns", NUMBER}, {"unload_ns", NUMBER}, {NULL, NULL},
};

static const struct ep_table_column functions[] = {
	{"function", NUMBER}, {"name", TEXT},   {"symbol", TEXT},   {"module", TEXT},
	{"file", TEXT},       {"line", NUMBER}, {"start", ADDRESS}, {"end", ADDRESS},
	{"known", BOOLEAN},   {NULL, NULL},
};

static const struct ep_table_column calls[] = {
	{"thread", NUMBER},
	{"call", NUMBER},
	{"parent", NUMBER},
	{"depth", NUMBER},
	{"function", NUMBER},
	{"address", ADDRESS},
	{"begin_ns", NUMBER},
	{"end_ns", NUMBER},
	{"duration_ns", NUMBER},
	{"duration_least_ns", NUMBER},
	{"duration_most_ns", NUMBER},
	{"self_ns", NUMBER},
	{"begin_earliest_ns", NUMBER},
	{"begin_latest_ns", NUMBER},
	{"end_earliest_ns", NUMBER},
	{"end_latest_ns", NUMBER},
	{"running_ns", NUMBER},
	{"ready_ns", NUMBER},
	{"blocked_ns", NUMBER},
	{"unknown_ns", NUMBER},
	{"unsure_wait_ns", NUMBER},
	{"flags", TEXT},
	{NULL, NULL},
};

static const struct ep_table_column waits[] = {
	{"thread", NUMBER},       {"begin_ns", NUMBER}, {"end_ns", NUMBER}, {"duration_ns", NUMBER},
	{"state", TEXT},          {"how", TEXT},        {"ended", BOOLEAN}, {"call", NUMBER},
	{"function", NUMBER},     {"inside", BOOLEAN},  {"waker", TEXT},    {"waker_tid", NUMBER},
	{"waker_thread", NUMBER}, {"waker_name", TEXT}, {NULL, NULL},
};

static const struct ep_table_column notes[] = {
	{"thread", NUMBER},   {"time_ns", NUMBER}, {"earliest_ns", NUMBER}, {"latest_ns", NUMBER},
	{"kind", TEXT},       {"text", TEXT},      {"call", NUMBER},        {"function", NUMBER},
	{"address", ADDRESS}, {NULL, NULL},
};

static const struct ep_table_column spans[] = {
	{"thread", NUMBER}, {"span", NUMBER},        {"name", TEXT},  {"begin_ns", NUMBER},
	{"end_ns", NUMBER}, {"duration_ns", NUMBER}, {"flags", TEXT}, {NULL, NULL},
};

static const struct ep_table_column gaps[] = {
	{"thread", NUMBER}, {"begin_ns", NUMBER}, {"end_ns", NUMBER},
	{"lost", NUMBER},   {"why", TEXT},        {NULL, NULL},
};

static const struct ep_table_column frames[] = {
	{"tid", NUMBER}, {"thread", NUMBER}, {"frame", NUMBER},   {"inlined", BOOLEAN},
	{"name", TEXT},  {"module", TEXT},   {"file", TEXT},      {"line", NUMBER},
	{"pc", ADDRESS}, {"sp", ADDRESS},    {"signal", BOOLEAN}, {"guessed", BOOLEAN},
	{"stop", TEXT},  {NULL, NULL},
};

const struct ep_table_spec ep_table_specs[EP_TABLES] = {
	[EP_TABLE_PROCESS] = {"process", "one row: the process, and what times are counted from",
			      process},
	[EP_TABLE_THREADS] = {"threads", "the threads that were traced", threads},
	[EP_TABLE_MODULES] = {"modules", "the executable and its libraries", modules},
	[EP_TABLE_FUNCTIONS] = {"functions", "those that the other tables name", functions},
	[EP_TABLE_CALLS] = {"calls", "the calls, as they end", calls},
	[EP_TABLE_WAITS] = {"waits", "when threads were off their CPUs, and who woke them", waits},
	[EP_TABLE_NOTES] = {"notes", "notes, exceptions, longjmps, watchdogs", notes},
	[EP_TABLE_SPANS] = {"spans", "what lies between epitaph_mark_begin and _end", spans},
	[EP_TABLE_GAPS] = {"gaps", "where history is missing", gaps},
	[EP_TABLE_FRAMES] = {"frames", "the stacks of the threads when the process ended", frames},
};

/* ---- schema.sql ---- */

static void write_table(FILE *out, const struct ep_table_spec *spec)
{
	fprintf(out, "\n-- %s\nCREATE TABLE %s (\n", spec->what, spec->name);
	for (const struct ep_table_column *column = spec->columns; column->name; column++)
		fprintf(out, "\t\"%s\" %s%s\n", column->name, column->type,
			column[1].name ? "," : "");
	fputs(");\n", out);
}

static void write_load(FILE *out, const struct ep_table_spec *spec, const char *suffix)
{
	const char *compression = !strcmp(suffix, ".zst")  ? ", COMPRESSION zstd"
				  : !strcmp(suffix, ".gz") ? ", COMPRESSION gzip"
							   : "";

	fprintf(out,
		"COPY %s FROM '%s.csv%s' (FORMAT csv, HEADER, DELIMITER ',', QUOTE '\"', "
		"ESCAPE '\"'%s);\n",
		spec->name, spec->name, suffix, compression);
}

void ep_tables_schema(FILE *out, const char *suffix)
{
	fputs("-- The tables of epitaph " EP_VERSION
	      ", and what loads them; docs/tables.md has the columns. In this folder:\n"
	      "--\tduckdb trace.db <schema.sql\n"
	      "-- Times are ns since the first record; NULL is what is not known.\n",
	      out);
	for (unsigned i = 0; i < EP_TABLES; i++)
		write_table(out, &ep_table_specs[i]);
	fputs("\n-- The calls with their functions' names and places.\n"
	      "CREATE VIEW named_calls AS SELECT calls.*, name, module, file, line\n"
	      "\tFROM calls LEFT JOIN functions USING (\"function\");\n\n",
	      out);
	for (unsigned i = 0; i < EP_TABLES; i++)
		write_load(out, &ep_table_specs[i], suffix);
}

/* ---- clickhouse.sql ---- */

/* Of one of the four types above. */
static const char *clickhouse_type(const char *type)
{
	return !strcmp(type, NUMBER)    ? "Int64"
	       : !strcmp(type, ADDRESS) ? "UInt64"
	       : !strcmp(type, BOOLEAN) ? "Bool"
					: "String";
}

/* A view reads the file as it is. With the types, as ClickHouse finds out none in a table without
 * rows, and takes a text that looks like a date for one. */
static void write_view(FILE *out, const struct ep_table_spec *spec, const char *suffix)
{
	fprintf(out, "\n-- %s\nCREATE VIEW %s AS SELECT * FROM file('%s.csv%s', CSVWithNames, '\n",
		spec->what, spec->name, spec->name, suffix);
	for (const struct ep_table_column *column = spec->columns; column->name; column++)
		fprintf(out, "\t`%s` Nullable(%s)%s\n", column->name, clickhouse_type(column->type),
			column[1].name ? "," : "");
	fputs("');\n", out);
}

void ep_tables_clickhouse(FILE *out, const char *suffix)
{
	fputs("-- The tables of epitaph " EP_VERSION
	      ", for ClickHouse; docs/tables.md has the columns. In this folder:\n"
	      "--\tclickhouse local -q \"$(cat clickhouse.sql) SELECT ...\"\n",
	      out);
	for (unsigned i = 0; i < EP_TABLES; i++)
		write_view(out, &ep_table_specs[i], suffix);
	fputs("\n-- The calls with their functions' names and places.\n"
	      "CREATE VIEW named_calls AS SELECT calls.*, name, module, file, line\n"
	      "\tFROM calls LEFT JOIN functions USING (function);\n",
	      out);
}

bool ep_tables_is_file(const char *name)
{
	for (unsigned i = 0; i < EP_TABLES; i++) {
		const char *own = ep_table_specs[i].name;
		size_t length = strlen(own);

		if (strncmp(name, own, length) == 0 &&
		    (!strcmp(name + length, ".csv") || !strcmp(name + length, ".csv.zst") ||
		     !strcmp(name + length, ".csv.gz")))
			return true;
	}
	return !strcmp(name, "schema.sql") || !strcmp(name, "clickhouse.sql");
}
