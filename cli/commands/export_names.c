/* SPDX-License-Identifier: BSD-2-Clause */
/* export_names.c: two tables: other names of formats, and formats that others write. */
#include "cli/commands/export_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/option.h"

/* The programs that read a format, and what else it is called there. */
static const struct {
	const char *name, *format;
} aliases[] = {
	{"folded", "collapsed"},
	{"stackcollapse", "collapsed"},
	{"collapse", "collapsed"},
	{"fold", "collapsed"},
	{"flame", "flamegraph"},
	{"flame-graph", "flamegraph"},
	{"pftrace", "perfetto"},
	{"perfetto-trace", "perfetto"},
	{"proto", "perfetto"},
	{"trace-event", "chrome"},
	{"chrome-json", "chrome"},
	{"catapult", "chrome"},
	{"chrome-tracing", "chrome"},
	{"chrometrace", "chrome"},
	{"tracing", "chrome"},
	{"viz", "viztracer"},
	{"vizviewer", "viztracer"},
	{"graphviz", "dot"},
	{"gv", "dot"},
	{"callgraph", "dot"},
	{"ndjson", "jsonl"},
	{"json-lines", "jsonl"},
	{"jsonlines", "jsonl"},
	{"csv", "tables"},
	{"table", "tables"},
	{"sql", "tables"},
	{"duckdb", "tables"},
	{"pandas", "tables"},
	{"clickhouse", "tables"},
	{"raw", "funtrace"},
	{"funtrace-raw", "funtrace"},
	{"htm", "html"},
	{"page", "html"},
	{"speed-scope", "speedscope"},
};

static const struct {
	const char *name, *instead;
} others[] = {
	{"json", "there are several formats in JSON: jsonl (a line a call), chrome, viztracer "
		 "(time lines), speedscope (profiles)"},
	{"parquet", "-f tables writes CSV, which DuckDB turns into Parquet by one line: "
		    "docs/tables.md"},
	{"sqlite", "-f tables writes CSV and schema.sql: docs/tables.md"},
	{"arrow", "-f tables writes CSV, which DuckDB and pandas read: docs/tables.md"},
	{"tsv", "epitaph replay --format=tsv writes it; -f tables writes CSV"},
	{"text", "epitaph replay writes it"},
	{"txt", "epitaph replay writes it"},
	{"png", "-f svg is a picture, which browsers and rsvg-convert read"},
	{"pdf", "-f svg is a picture, which browsers and rsvg-convert read"},
	{"pprof", "-f speedscope, flamegraph and collapsed are profiles"},
	{"callgrind", "-f dot has who called whom, -f speedscope is a profile"},
	{"gecko", "-f speedscope is a profile; profiler.firefox.com reads -f chrome"},
	{"firefox", "-f speedscope is a profile; profiler.firefox.com reads -f chrome"},
	{"ctf", "-f perfetto and chrome are time lines"},
};

static void plain_word(const char *name, char *out, size_t size)
{
	snprintf(out, size, "%s", name);
	for (; *out; out++)
		*out = *out == '_' || *out == ' ' ? '-' : (char)tolower((unsigned char)*out);
}

const char *ep_export_alias(const char *name)
{
	static char plain[64];

	plain_word(name, plain, sizeof(plain));
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
		if (!strcmp(aliases[i].name, plain))
			return aliases[i].format;
	return plain;
}

const char *ep_export_instead(const char *name)
{
	char plain[64];

	plain_word(name, plain, sizeof(plain));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(others[i].name, plain))
			return others[i].instead;
	return NULL;
}

struct nearest {
	const char *word; /* that was given */
	const char *format;
	size_t least;
};

static void compare(struct nearest *nearest, const char *word, const char *format)
{
	size_t apart = ep_word_distance(nearest->word, word);

	if (apart >= nearest->least)
		return;
	nearest->least = apart;
	nearest->format = format;
}

const char *ep_export_nearest(const char *name, const char *const *formats, size_t count)
{
	char plain[64];
	struct nearest nearest = {.word = plain, .least = 4};

	plain_word(name, plain, sizeof(plain));
	/* Of a short word, as many changed letters are another word. */
	if (strlen(plain) < 2 * nearest.least)
		nearest.least = strlen(plain) / 2 + 1;
	for (size_t i = 0; i < count; i++) {
		compare(&nearest, formats[i], formats[i]);
		for (size_t j = 0; j < sizeof(aliases) / sizeof(*aliases); j++)
			if (!strcmp(aliases[j].format, formats[i]))
				compare(&nearest, aliases[j].name, formats[i]);
	}
	return nearest.format;
}
