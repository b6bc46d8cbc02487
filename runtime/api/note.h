/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * note.h: what the program says in its own history: notes and spans (epitaph.h). No memory is taken
 * and nothing is locked; a note's marks are built on the caller's stack and recorded as one piece.
 */
#ifndef EPITAPH_NOTE_H
#define EPITAPH_NOTE_H

#include <stdint.h>

#include "runtime/format.h"
#include "runtime/x86_64/variadic.h"

struct epitaph_note_site;

/* How a format's arguments are taken: nibbles, lowest first. Below 9 EP_NOTE_; a string's
 * precision, where the format has it, is in the three that follow.
 */
#define EP_TAKE_STRING_STAR  9 /* its precision is the argument before */
#define EP_TAKE_WIDE_STAR    10
#define EP_TAKE_STRING_FIXED 11
#define EP_TAKE_WIDE_FIXED   12
#define EP_TAKE_MORE         14 /* the rest is not recorded */
#define EP_TAKE_END          15

/* Never 0. Async-signal-safe, like all here. */
uint64_t ep_note_arguments(const char *format);

/* The marks of a note. */
struct ep_note_builder {
	unsigned count; /* words */
	unsigned head;  /* index of the present mark's */
	uint64_t words[EP_NOTE_MARKS * (1 + EP_MARK_DATA_MAX)];
};
void ep_program_note(struct ep_note_builder *note, const char *format, uint64_t arguments,
		     struct ep_variadic *list, uint64_t at);

/* From note.S; `site` NULL: the format is not always the same. */
void ep_note(struct epitaph_note_site *site, const char *format, struct ep_variadic *list,
	     uint64_t at);

#endif
