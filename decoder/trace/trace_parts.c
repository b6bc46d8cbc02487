/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_parts.c: what the trace keeps of its sections' words, and what it says of them. */
#include "decoder/trace/trace_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"

#define WARNINGS_MAX 64u /* then one that says so */

void ep_trace_warn(struct ep_trace *trace, const char *format, ...)
{
	char text[512] = "more warnings are left out";
	va_list list;

	if (trace->warning_count > WARNINGS_MAX)
		return;
	if (trace->warning_count < WARNINGS_MAX) {
		va_start(list, format);
		vsnprintf(text, sizeof(text), format, list);
		va_end(list);
	}
	if (!trace->warnings)
		trace->warnings = ep_calloc(WARNINGS_MAX + 1, sizeof(*trace->warnings));
	trace->warnings[trace->warning_count++] = ep_strdup(text);
}

/* `text` is from malloc. */
static const char *keep(struct ep_trace *trace, char *text)
{
	ep_array_push(&trace->texts, text);
	return text;
}

const char *ep_trace_keep(struct ep_trace *trace, const void *bytes, size_t length)
{
	return keep(trace, ep_strndup(bytes, length));
}

const char *ep_trace_keep_text(struct ep_trace *trace, const void *bytes, size_t length)
{
	return keep(trace, ep_utf8_escape(bytes, length));
}

const uint8_t *ep_trace_string(const struct ep_trace *trace, const struct ep_trace_section *section,
			       struct ep_string string)
{
	if (string.offset > section->size || string.length > section->size - string.offset)
		return NULL;
	return ep_trace_view(trace, section->offset + string.offset, string.length);
}

const void *ep_trace_section_bytes(const struct ep_trace *trace, uint32_t type, uint32_t entry_size,
				   struct ep_section *section)
{
	uint32_t count = trace->arena.section_count;

	for (uint32_t i = 0; i < count && i < EP_SECTION_MAX; i++) {
		*section = trace->arena.sections[i];
		if (section->type != type)
			continue;
		if (section->offset % 64 || section->entry_size < entry_size ||
		    section->entry_size % 8 || section->entry_size > 65536)
			return NULL;
		return ep_trace_view(trace, section->offset, section->size);
	}
	return NULL;
}
