/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ftrace_formats.c: where an event's fields are, from the texts that the kernel gives.
 * libtraceevent reads them; it was made for texts of a kernel, so what it gets is written anew here
 * from lines that look as they must.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <traceevent/event-parse.h>

#include "coredump/util/alloc.h"
#include "coredump/util/cursor.h"
#include "decoder/kernel/scheduling.h"

#define TEXT_MAX   16384u
#define FIELDS_MAX 64u
#define OFFSET_MAX 65536ul

static const struct {
	const char *name;
	const char *fields[EP_FORMAT_FIELDS];
} wanted[EP_FORMAT_KINDS] = {
	[EP_FORMAT_SWITCH] = {"sched_switch",
			      {"prev_pid", "prev_state", "next_pid", "prev_comm", "next_comm"}},
	[EP_FORMAT_WAKING] = {"sched_waking", {"pid", "comm"}},
	[EP_FORMAT_NEWTASK] = {"task_newtask", {"pid", "comm"}},
	[EP_FORMAT_RENAME] = {"task_rename", {"pid", "newcomm"}},
	[EP_FORMAT_SYS_ENTER] = {"sys_enter", {"id", "args"}},
	[EP_FORMAT_SYS_EXIT] = {"sys_exit", {"id", "ret"}},
	[EP_FORMAT_IRQ_ENTRY] = {"irq_handler_entry", {"irq"}},
	[EP_FORMAT_IRQ_EXIT] = {"irq_handler_exit", {"irq"}},
	[EP_FORMAT_SOFTIRQ_ENTRY] = {"softirq_entry", {"vec"}},
	[EP_FORMAT_SOFTIRQ_EXIT] = {"softirq_exit", {"vec"}},
	[EP_FORMAT_FAULT_USER] = {"page_fault_user", {"address"}},
	[EP_FORMAT_FAULT_KERNEL] = {"page_fault_kernel", {"address"}},
};

/* ---- lines that look as they must ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static bool is_word(const char *text)
{
	while (is_letter(*text))
		text++;
	return !*text;
}

/* Past a word that begins with a letter; NULL: there is none. */
static const char *after_word(const char *text)
{
	if (*text < 'A' || !is_letter(*text))
		return NULL;
	while (is_letter(*text))
		text++;
	return text;
}

/* "unsigned short common_type", "char comm[16]": two words or more, and an array's size.
 * libtraceevent leaks where it gives up on others. */
static bool is_declaration(const char *text)
{
	unsigned words = 1;
	size_t digits;

	text = after_word(text);
	for (; text && *text == ' '; words++)
		text = after_word(text + 1);
	if (!text || words < 2)
		return false;
	if (!*text)
		return true;
	digits = strspn(text + 1, "0123456789");
	return *text == '[' && text[1] != '0' && digits > 0 && digits < 5 &&
	       strcmp(text + 1 + digits, "]") == 0;
}

/* "__data_loc char[] name": a word that says where the text is. NULL: none. */
static const char *data_location(const char *declaration)
{
	const char *name = strrchr(declaration, ' ');

	return name && strncmp(declaration, "__data_loc ", 11) == 0 && is_word(name + 1) && name[1]
		       ? name + 1
		       : NULL;
}

static bool rewrite_field(const char *line, FILE *out)
{
	const char *location;
	char declaration[128], end = 0;
	unsigned long offset, size;
	int sign;

	if (sscanf(line, " field:%127[^;]; offset:%lu; size:%lu; signed:%d%c", declaration, &offset,
		   &size, &sign, &end) != 5 ||
	    end != ';' || offset > OFFSET_MAX || size > OFFSET_MAX)
		return false;
	location = data_location(declaration);
	if (!location && !is_declaration(declaration))
		return false;
	fprintf(out, "\tfield:%s%s;\toffset:%lu;\tsize:%lu;\tsigned:%d;\n",
		location ? "unsigned int " : "", location ? location : declaration, offset, size,
		sign != 0);
	return true;
}

/* The field lines that follow "format:"; a blank line stands behind those that all events have. */
static bool rewrite_fields(char **next, FILE *out)
{
	unsigned fields = 0, blanks = 0;
	char *line;

	while ((line = strsep(next, "\n")) != NULL) {
		if (strncmp(line, "print fmt:", 10) == 0)
			return blanks == 2;
		if (!*line && ++blanks <= 2) {
			fputc('\n', out);
			continue;
		}
		if (!*line || blanks == 2 || ++fields > FIELDS_MAX || !rewrite_field(line, out))
			return false;
	}
	return false;
}

static bool rewrite(char *text, FILE *out)
{
	char name[64], line_end = 0;
	unsigned id;
	char *first = strsep(&text, "\n");
	char *second = strsep(&text, "\n");
	char *third = strsep(&text, "\n");

	if (!third || strcmp(third, "format:") != 0 ||
	    sscanf(first, "name: %63s%c", name, &line_end) != 1 || !is_word(name) ||
	    sscanf(second, "ID: %u%c", &id, &line_end) != 1 || id > UINT16_MAX)
		return false;
	fprintf(out, "name: %s\nID: %u\nformat:\n", name, id);
	if (!rewrite_fields(&text, out))
		return false;
	fputs("print fmt: \"\"\n", out);
	return true;
}

/* ---- by libtraceevent ---- */

static struct ep_format_field field_of(struct tep_event *event, const char *name)
{
	const struct tep_format_field *field = name ? tep_find_any_field(event, name) : NULL;

	if (!field || field->offset < 0 || field->size <= 0)
		return (struct ep_format_field){0, 0};
	return (struct ep_format_field){(uint32_t)field->offset, (uint32_t)field->size};
}

static void add_format(struct ep_formats *formats, struct tep_event *event)
{
	struct ep_format *format = &formats->list[formats->count];
	unsigned kind = EP_FORMAT_NONE + 1;

	while (kind < EP_FORMAT_KINDS &&
	       (!event->name || strcmp(event->name, wanted[kind].name) != 0))
		kind++;
	if (kind == EP_FORMAT_KINDS || formats->count == EP_FORMAT_KINDS)
		return;
	format->kind = kind;
	format->id = (uint32_t)event->id;
	format->type = field_of(event, "common_type");
	format->flags = field_of(event, "common_flags");
	format->pid = field_of(event, "common_pid");
	for (unsigned i = 0; i < EP_FORMAT_FIELDS; i++)
		format->fields[i] = field_of(event, wanted[kind].fields[i]);
	formats->count++;
}

static bool parse(struct ep_formats *formats, const char *text, size_t size)
{
	struct tep_handle *tep = tep_alloc();
	struct tep_event *event;

	if (!tep)
		return false;
	tep_set_long_size(tep, 8);
	tep_parse_event(tep, text, size, "sched");
	event = tep_get_first_event(tep);
	if (event)
		add_format(formats, event);
	tep_free(tep);
	return event != NULL;
}

static bool read_text(struct ep_formats *formats, const uint8_t *bytes, size_t size)
{
	char *copy = ep_strndup((const char *)bytes, size), *text;
	size_t length;
	FILE *out = ep_open_memstream(&text, &length);
	bool good = rewrite(copy, out);

	ep_close_memstream(out);
	good = good && parse(formats, text, length);
	free(text);
	free(copy);
	return good;
}

unsigned ep_formats_read(struct ep_formats *formats, const uint8_t *bytes, size_t size)
{
	struct ep_cursor cursor;
	struct ep_sched_format head;
	const uint8_t *text;
	unsigned bad = 0;

	formats->count = 0;
	ep_cursor_init(&cursor, bytes, size);
	while (ep_cursor_take(&cursor, &head, sizeof(head)) == EP_OK) {
		if (head.size > TEXT_MAX || ep_cursor_view(&cursor, &text, head.size) != EP_OK)
			return bad + 1;
		if (head.kind == EP_SCHED_EVENT)
			bad += !read_text(formats, text, head.size);
		if (ep_cursor_skip(&cursor, -head.size & 7u) != EP_OK)
			break;
	}
	return bad;
}
