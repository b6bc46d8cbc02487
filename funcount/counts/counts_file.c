/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counts_file.c: counts as text, a line each: who counted, then each module and its calls. Lines
 * are checked by the last one, which holds their number and CRC, so that a file that was cut short
 * or changed is never added up.
 */
#include "funcount/counts/counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/cursor.h"
#include "coredump/find/root.h"

#define MAGIC   "epitaph-counts "
#define VERSION 1

/* ---- writing -------------------------------------------------------------- */

/* Blanks, control characters, non-ASCII and % as %xx. */
static void print_text(FILE *out, const char *name, const char *text)
{
	if (!*text)
		return;
	fprintf(out, " %s=", name);
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte <= ' ' || byte == '%' || byte >= 0x7f)
			fprintf(out, "%%%02x", byte);
		else
			fputc(byte, out);
	}
}

static void print_number(FILE *out, const char *name, uint64_t value)
{
	if (value)
		fprintf(out, " %s=%" PRIu64, name, value);
}

static void print_run(FILE *out, const struct ep_counts_run *run)
{
	fprintf(out, "run identity=%016" PRIx64, run->identity);
	print_number(out, "pid", run->pid);
	print_number(out, "start", run->start);
	print_number(out, "duration", run->duration);
	print_number(out, "cpu", run->cpu);
	print_number(out, "threads", run->threads);
	print_number(out, "memory", run->memory);
	print_number(out, "lost", run->lost);
	print_text(out, "host", run->host);
	print_text(out, "program", run->program);
	print_text(out, "incomplete", run->incomplete);
	fputc('\n', out);
}

static void print_module(FILE *out, const struct ep_counts_module *module)
{
	fputs("module", out);
	if (module->build_id_size)
		fputs(" build-id=", out);
	for (uint32_t i = 0; i < module->build_id_size; i++)
		fprintf(out, "%02x", module->build_id[i]);
	print_number(out, "executable", module->executable);
	print_text(out, "path", module->path);
	fputc('\n', out);
	for (size_t i = 0; i < module->entries.count; i++)
		fprintf(out, "%" PRIx64 " %" PRIu64 "\n", module->entries.list[i].address,
			module->entries.list[i].calls);
}

static void print_all(FILE *out, const struct ep_counts *counts)
{
	fprintf(out, MAGIC "%d\n", VERSION);
	for (size_t i = 0; i < counts->runs.count; i++)
		print_run(out, &counts->runs.list[i]);
	for (size_t i = 0; i < counts->modules.count; i++)
		print_module(out, &counts->modules.list[i]);
	if (counts->overflow)
		fputs("overflow\n", out);
}

static size_t lines_of(const char *bytes, size_t size)
{
	size_t lines = 0;

	for (size_t i = 0; i < size; i++)
		lines += bytes[i] == '\n';
	return lines;
}

int ep_counts_print(const struct ep_counts *counts, FILE *out)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *text = ep_open_memstream(&bytes, &size);
	bool good;

	print_all(text, counts);
	ep_close_memstream(text);
	good = fwrite(bytes, 1, size, out) == size &&
	       fprintf(out, "end %zu %08" PRIx32 "\n", lines_of(bytes, size),
		       ep_crc32(bytes, size)) > 0;
	free(bytes);
	return good ? 0 : -1;
}

/* ---- reading -------------------------------------------------------------- */

struct reader {
	struct ep_cursor cursor;
	struct ep_counts *counts;
	const char *name; /* of the file */
	size_t line;      /* 1, 2, 3 … */
	size_t module;    /* of the lines that follow */
	bool in_module;
	EP_ARRAY(char) text; /* the line, NUL terminated; words are cut out of it */
	struct ep_err *err;
};

static int corrupt(struct reader *reader, const char *what)
{
	return ep_fail(reader->err, EP_E_CORRUPT, ep_cursor_offset(&reader->cursor),
		       "%s: line %zu: %s", reader->name, reader->line, what);
}

/* The next line without its end; EP_END: there is none. */
static int next_line(struct reader *reader)
{
	struct ep_cursor *cursor = &reader->cursor;
	const uint8_t *start = cursor->at, *end;
	size_t left = ep_cursor_left(cursor), length;

	if (!left)
		return EP_END;
	reader->line++;
	end = memchr(start, '\n', left);
	if (!end)
		return ep_fail(reader->err, EP_E_TRUNCATED, ep_cursor_offset(&reader->cursor),
			       "%s: cut off in line %zu", reader->name, reader->line);
	length = (size_t)(end - start);
	if (memchr(start, 0, length))
		return corrupt(reader, "a NUL byte");
	ep_array_reserve(&reader->text, length + 1);
	ep_cursor_take(cursor, reader->text.list, length);
	reader->text.list[length] = 0;
	return ep_cursor_skip(cursor, 1);
}

static int digit(char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : 99;
}

/* The whole of `text`, as print_… writes it; no sign, no blanks. */
static bool parse_number(const char *text, unsigned base, uint64_t *value)
{
	uint64_t number = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		unsigned one = (unsigned)digit(*text);

		if (one >= base || __builtin_mul_overflow(number, base, &number) ||
		    __builtin_add_overflow(number, one, &number))
			return false;
	}
	*value = number;
	return true;
}

/* In place; false: not %xx, or a NUL. */
static bool unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		unsigned high, low;

		if (*text != '%') {
			*to++ = *text;
			continue;
		}
		high = (unsigned)digit(text[1]);
		low = high < 16 ? (unsigned)digit(text[2]) : 99;
		if (high > 15 || low > 15 || !(high | low))
			return false;
		*to++ = (char)(high << 4 | low);
		text += 2;
	}
	*to = 0;
	return true;
}

/* Cuts the next NAME=VALUE off; false: no more. A word without = has an empty value. */
static bool next_field(char **at, char **name, char **value)
{
	char *word = strsep(at, " "), *equals;

	if (!word)
		return false;
	equals = strchr(word, '=');
	*name = word;
	*value = equals ? equals + 1 : word + strlen(word);
	if (equals)
		*equals = 0;
	return true;
}

struct number_field {
	const char *name;
	unsigned base;
	uint64_t *value;
};

struct text_field {
	const char *name;
	char **value;
};

static bool match_number(const struct number_field *fields, const char *name, const char *value,
			 bool *good)
{
	for (; fields->name; fields++)
		if (!strcmp(fields->name, name)) {
			*good = parse_number(value, fields->base, fields->value);
			return true;
		}
	return false;
}

static void match_text(const struct text_field *fields, const char *name, char *value, bool *good)
{
	for (; fields->name; fields++)
		if (!strcmp(fields->name, name)) {
			*good = unescape(value);
			*fields->value = value;
		}
}

/* Fields that a later version may have added are passed over. */
static bool parse_fields(char *at, const struct number_field *numbers,
			 const struct text_field *texts)
{
	char *name, *value;
	bool good = true;

	while (good && next_field(&at, &name, &value))
		if (!match_number(numbers, name, value, &good))
			match_text(texts, name, value, &good);
	return good;
}

static int read_run(struct reader *reader, char *at)
{
	struct ep_counts_run run = {0};
	uint64_t pid = 0;
	const struct number_field numbers[] = {
		{"identity", 16, &run.identity},
		{"pid", 10, &pid},
		{"start", 10, &run.start},
		{"duration", 10, &run.duration},
		{"cpu", 10, &run.cpu},
		{"threads", 10, &run.threads},
		{"memory", 10, &run.memory},
		{"lost", 10, &run.lost},
		{NULL, 0, NULL},
	};
	const struct text_field texts[] = {
		{"host", &run.host},
		{"program", &run.program},
		{"incomplete", &run.incomplete},
		{NULL, NULL},
	};

	if (!parse_fields(at, numbers, texts) || pid > UINT32_MAX)
		return corrupt(reader, "not a run");
	run.pid = (uint32_t)pid;
	return ep_counts_add_run(reader->counts, &run, reader->err);
}

/* Pairs of hexadecimal digits; the number of bytes, or -1. */
static int parse_build_id(const char *text, uint8_t *bytes)
{
	int count = 0;

	for (; *text; text += 2, count++) {
		unsigned high = (unsigned)digit(text[0]);
		unsigned low = high < 16 ? (unsigned)digit(text[1]) : 99;

		if (high > 15 || low > 15 || count == EP_BUILD_ID_MAX)
			return -1;
		bytes[count] = (uint8_t)(high << 4 | low);
	}
	return count;
}

static int read_module(struct reader *reader, char *at)
{
	static char none[] = "";
	uint8_t build_id[EP_BUILD_ID_MAX];
	uint64_t executable = 0;
	char *path = none, *id = none;
	const struct number_field numbers[] = {
		{"executable", 10, &executable},
		{NULL, 0, NULL},
	};
	const struct text_field texts[] = {
		{"path", &path},
		{"build-id", &id},
		{NULL, NULL},
	};
	int size, result;

	if (!parse_fields(at, numbers, texts))
		return corrupt(reader, "not a module");
	size = parse_build_id(id, build_id);
	if (size < 0)
		return corrupt(reader, "not a build-id");
	result = ep_counts_module(reader->counts, path, build_id, (size_t)size, &reader->module,
				  reader->err);
	if (result)
		return result;
	reader->in_module = true;
	reader->counts->modules.list[reader->module].executable |= executable != 0;
	return EP_OK;
}

static int read_entry(struct reader *reader, char *line)
{
	char *at = line;
	const char *first = strsep(&at, " ");
	uint64_t address, calls;

	if (!at || !parse_number(first, 16, &address) || !parse_number(at, 10, &calls))
		return corrupt(reader, "neither a call count nor anything else that is known here");
	if (!reader->in_module)
		return corrupt(reader, "a call count before the first module");
	ep_counts_add(reader->counts, reader->module, address, calls);
	return EP_OK;
}

static int read_line(struct reader *reader)
{
	char *at = reader->text.list;

	if (!strncmp(at, "run ", 4))
		return read_run(reader, at + 4);
	if (!strcmp(at, "module") || !strncmp(at, "module ", 7))
		return read_module(reader, at + strcspn(at, " "));
	if (!strcmp(at, "overflow")) {
		reader->counts->overflow = true;
		return EP_OK;
	}
	return read_entry(reader, at);
}

static int check_version(struct reader *reader)
{
	uint64_t version;

	if (!parse_number(reader->text.list + strlen(MAGIC), 10, &version))
		return corrupt(reader, "no version");
	return version == VERSION
		       ? EP_OK
		       : ep_fail(reader->err, EP_E_VERSION, 1,
				 "%s: counts of version %" PRIu64 "; this program reads version %d",
				 reader->name, version, VERSION);
}

/* `before`: what the last line vouches for. */
static int check_end(struct reader *reader, size_t before)
{
	char *at = reader->text.list + strlen("end ");
	const char *first = strsep(&at, " ");
	uint64_t lines, crc;

	if (!at || !parse_number(first, 10, &lines) || !parse_number(at, 16, &crc))
		return corrupt(reader, "not an end");
	if (lines != reader->line - 1 || crc != ep_crc32(reader->cursor.start, before))
		return corrupt(reader, "what is before it was changed: get the file again from "
				       "where it comes from");
	return ep_cursor_left(&reader->cursor) ? corrupt(reader, "something follows the end")
					       : EP_END;
}

/* EP_END at the file's end. */
static int read_next(struct reader *reader)
{
	size_t before = ep_cursor_offset(&reader->cursor);
	int result = next_line(reader);

	if (result == EP_END)
		return ep_fail(reader->err, EP_E_TRUNCATED, ep_cursor_offset(&reader->cursor),
			       "%s: cut off after line %zu", reader->name, reader->line);
	if (result)
		return result;
	if (reader->line == 1)
		return check_version(reader);
	return strncmp(reader->text.list, "end ", 4) ? read_line(reader)
						     : check_end(reader, before);
}

bool ep_counts_is_text(const void *bytes, size_t size)
{
	return size >= strlen(MAGIC) && !memcmp(bytes, MAGIC, strlen(MAGIC));
}

int ep_counts_parse(struct ep_counts **out, const void *text, size_t size, const char *name,
		    struct ep_err *err)
{
	struct reader reader = {.name = name, .err = err};
	int result = EP_OK;

	if (!ep_counts_is_text(text, size))
		return ep_fail(err, EP_E_FORMAT, 0, "%s: not a counts file", name);
	ep_cursor_init(&reader.cursor, text, size);
	reader.counts = ep_counts_create();
	while (!result)
		result = read_next(&reader);
	ep_array_deinit(&reader.text);
	if (result != EP_END) {
		ep_counts_destroy(reader.counts);
		return result;
	}
	ep_counts_settle(reader.counts);
	*out = reader.counts;
	return EP_OK;
}
