/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redact_sched.c: names of threads in scheduling events, the program's and those of others on its
 * CPUs. All of them go: who is who stands in the table of threads. Layouts as in
 * decoder/kernel/ftrace_pages.c and perf_records.c.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/cursor.h"
#include "coredump/redact/redact_impl.h"
#include "coredump/util/alloc.h"

#define TEXTS_MAX    256u
#define COMMON       8u  /* bytes that each event begins with: type, flags, pid */
#define ENDING       24u /* sample_id_all with TID, TIME and CPU */
#define PAGE_HEAD    16u
#define COMMIT_MASK  0x0fffffffu
#define TYPE_PADDING 29u
#define CHAR_FIELDS  64u

/* A text of fixed size in events of that type. */
struct field {
	unsigned id, offset, size;
};

struct section {
	struct ep_redaction *r;
	uint64_t address, size;
	struct field fields[CHAR_FIELDS];
	unsigned field_count;
	unsigned ids[TEXTS_MAX]; /* events whose fields are known */
	unsigned id_count;
};

/* ---- where names are ---- */

static void field_read(struct section *section, const char *line, unsigned id)
{
	unsigned size, offset, bytes;

	if (sscanf(line, " field:char %*[a-z_][%u]; offset:%u; size:%u;", &size, &offset, &bytes) ==
		    3 &&
	    section->field_count < CHAR_FIELDS)
		section->fields[section->field_count++] = (struct field){id, offset, bytes};
}

/* A copy of one event's format file. */
static void format_read(struct section *section, char *text)
{
	char *save = NULL, *line = strtok_r(text, "\n", &save);
	unsigned id = 0;
	bool known = false;

	for (; line; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "ID: %u", &id) == 1)
			known = true;
		else if (known)
			field_read(section, line, id);
	}
	/* With no room left, no event of it is let through. */
	if (known && section->id_count < TEXTS_MAX && section->field_count < CHAR_FIELDS)
		section->ids[section->id_count++] = id;
}

static void formats_read(struct section *section, const struct ep_sched *head)
{
	struct ep_cursor cursor;
	struct ep_sched_format one;
	const uint8_t *bytes = NULL, *text;

	if (head->formats_offset < section->size &&
	    head->formats_used <= section->size - head->formats_offset)
		bytes = ep_gathered_at(section->r->gathered,
				       section->address + head->formats_offset, head->formats_used);
	if (!bytes)
		return;
	ep_cursor_init(&cursor, bytes, head->formats_used);
	while (ep_cursor_take(&cursor, &one, sizeof(one)) == EP_OK &&
	       ep_cursor_view(&cursor, &text, one.size) == EP_OK) {
		char *copy = ep_strndup((const char *)text, one.size);

		if (one.kind == EP_SCHED_EVENT)
			format_read(section, copy);
		free(copy);
		if (ep_cursor_skip(&cursor, -one.size & 7u))
			return;
	}
}

/* ---- data of the kernel's ---- */

static void redact_event(const struct section *section, uint8_t *event, size_t size)
{
	uint16_t id;
	bool known = false;

	if (size < COMMON)
		return;
	memcpy(&id, event, sizeof(id));
	for (unsigned i = 0; i < section->id_count; i++)
		known |= section->ids[i] == id;
	if (!known) {
		memset(event + COMMON, 0, size - COMMON);
		return;
	}
	for (unsigned i = 0; i < section->field_count; i++) {
		const struct field *field = &section->fields[i];

		if (field->id == id && field->offset <= size && field->size <= size - field->offset)
			memset(event + field->offset, 0, field->size);
	}
}

/* Bytes of the entry at `at` with its first word; 0: none, or the last. */
static size_t entry_size(const uint8_t *at, size_t left, size_t *head)
{
	uint32_t word, more = 0;

	if (left < 4)
		return 0;
	memcpy(&word, at, 4);
	*head = 4;
	if (word & 31 && (word & 31) < TYPE_PADDING)
		return 4 + 4 * (word & 31);
	if (left < 8 || ((word & 31) == TYPE_PADDING && word >> 5 == 0))
		return 0;
	memcpy(&more, at + 4, 4);
	*head = 8;
	if ((word & 31) == 0 || (word & 31) == TYPE_PADDING)
		return more < 4 || more > left ? 0 : 4 + ((more + 3) & ~3u);
	return 8;
}

static void redact_page(const struct section *section, uint8_t *data, size_t size)
{
	uint64_t commit = 0;
	uint8_t *at = data + PAGE_HEAD, *end;
	size_t head = 0, entry;

	if (size < PAGE_HEAD) {
		memset(data, 0, size);
		return;
	}
	memcpy(&commit, data + 8, sizeof(commit));
	commit &= COMMIT_MASK;
	end = at + (commit < size - PAGE_HEAD ? commit : size - PAGE_HEAD);
	while ((entry = entry_size(at, (size_t)(end - at), &head)) != 0 &&
	       entry <= (size_t)(end - at)) {
		uint32_t word;

		memcpy(&word, at, 4);
		if ((word & 31) == TYPE_PADDING)
			memset(at + head, 0, entry - head);
		else if ((word & 31) < TYPE_PADDING)
			redact_event(section, at + head, entry - head);
		at += entry;
	}
	memset(at, 0, size - (size_t)(at - data));
}

static void redact_perf(uint8_t *data, size_t size)
{
	struct perf_event_header header;
	size_t at = 0;

	while (size - at >= sizeof(header)) {
		uint8_t *body = data + at + sizeof(header);
		size_t rest;

		memcpy(&header, data + at, sizeof(header));
		if (header.size < sizeof(header) + ENDING || header.size > size - at)
			break;
		rest = header.size - sizeof(header) - ENDING;
		if (header.type == PERF_RECORD_COMM && rest > 8)
			memset(body + 8, 0, rest - 8);
		at += header.size;
	}
	memset(data + at, 0, size - at);
}

/* ---- chunks ---- */

/* Those that are whole, and nothing of what lies behind them. */
static void redact_segment(struct section *section, uint64_t offset, uint8_t *bytes, uint64_t size)
{
	uint64_t at = 0;

	while (size - at >= sizeof(struct ep_sched_chunk)) {
		struct ep_sched_chunk *chunk = (void *)(bytes + at);
		uint64_t data = ((uint64_t)chunk->size + 7) & ~UINT64_C(7);

		if (!chunk->check || data > size - at - sizeof(*chunk) ||
		    chunk->check != ep_sched_check(chunk, offset + at, section->r->identity))
			break;
		if (chunk->source == EP_SCHED_PERF)
			redact_perf((uint8_t *)(chunk + 1), chunk->size);
		else
			redact_page(section, (uint8_t *)(chunk + 1), chunk->size);
		chunk->check = ep_sched_check(chunk, offset + at, section->r->identity);
		at += sizeof(*chunk) + data;
	}
	memset(bytes + at, 0, size - at);
}

void ep_redact_sched(struct ep_redaction *r, uint64_t address, uint64_t size)
{
	struct section section = {.r = r, .address = address, .size = size};
	uint8_t *bytes = ep_gathered_at(r->gathered, address, sizeof(struct ep_sched));
	struct ep_sched head;
	uint64_t at, end;

	if (!bytes || size < sizeof(head)) {
		ep_gathered_wipe(r->gathered, address, size);
		return;
	}
	memcpy(&head, bytes, sizeof(head));
	formats_read(&section, &head);
	at = head.pool_offset;
	if (head.segment_size != EP_SCHED_SEGMENT || at > size || at % 8) {
		ep_gathered_wipe(r->gathered, address + sizeof(head), size - sizeof(head));
		return;
	}
	end = head.pool_size < size - at ? at + head.pool_size : size;
	for (; end - at >= EP_SCHED_SEGMENT; at += EP_SCHED_SEGMENT) {
		bytes = ep_gathered_at(r->gathered, address + at, EP_SCHED_SEGMENT);
		if (bytes)
			redact_segment(&section, at, bytes, EP_SCHED_SEGMENT);
		else
			ep_gathered_wipe(r->gathered, address + at, EP_SCHED_SEGMENT);
	}
	ep_gathered_wipe(r->gathered, address + at, size - at);
}
