/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_parts.h: what the files that take an arena apart share. Each part reads its section, keeps
 * what is right, and says what is not by ep_trace_warn.
 */
#ifndef EPITAPH_TRACE_PARTS_H
#define EPITAPH_TRACE_PARTS_H

#include "decoder/trace/trace.h"

/* A copy that lives as long as the trace, up to the first NUL. */
const char *ep_trace_keep(struct ep_trace *trace, const void *bytes, size_t length);

/* The same made fit to be shown: ep_utf8_escape's. */
const char *ep_trace_keep_text(struct ep_trace *trace, const void *bytes, size_t length);

/* The bytes of a string of a section; NULL when they are not all there. */
const uint8_t *ep_trace_string(const struct ep_trace *trace, const struct ep_trace_section *section,
			       struct ep_string string);

/* The bytes of the first section of that type, as far as it says, all of them in the image;
 * *section is what the arena says. NULL: none, or it makes no sense (an entry is at least
 * entry_size bytes, a multiple of 8, at most 64 KiB). */
const void *ep_trace_section_bytes(const struct ep_trace *trace, uint32_t type, uint32_t entry_size,
				   struct ep_section *section);

void ep_trace_read_process(struct ep_trace *trace, const struct ep_trace_section *section);
void ep_trace_read_clock(struct ep_trace *trace, const struct ep_trace_section *section);
void ep_trace_read_modules(struct ep_trace *trace, const struct ep_trace_section *section);
void ep_trace_read_threads(struct ep_trace *trace, const struct ep_trace_section *section);
/* Also the stacks that were taken at a miss. */
void ep_trace_read_watchdogs(struct ep_trace *trace);
/* How far threads were, and when. */
void ep_trace_read_looks(struct ep_trace *trace);
/* Functions that were switched. */
void ep_trace_read_switches(struct ep_trace *trace);
void ep_trace_free_switches(struct ep_trace *trace);
/* After the threads: gives them their blocks. Without a section every page of the image is looked
 * at. */
void ep_trace_read_blocks(struct ep_trace *trace, const struct ep_trace_section *section);

/* Most records are sorted out by a byte that ASCII does not have, or by having no stamp. */
static inline bool ep_trace_may_be_text(uint64_t record)
{
	return !(record & UINT64_C(0x8080808080808080)) && record >> 56;
}

/* Does a block whose check word fails begin like text? */
bool ep_trace_begins_as_text(struct ep_trace *trace, const struct ep_block *block);
/* Text over the records of blocks that hold: once these are in order and have modules to be
 * compared with, before anybody reads records. */
void ep_trace_find_overwritten(struct ep_trace *trace);

#endif
