/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abortmessage.h: what the C library had to say before it aborted the process: a failed assertion,
 * "double free or corruption", "stack smashing detected". glibc keeps the text for debuggers behind
 * __abort_msg (since 2.4; its sysdeps/posix/libc_fatal.c): a pointer to pages of { uint32_t size;
 * text }.
 */
#ifndef EPITAPH_ABORTMESSAGE_H
#define EPITAPH_ABORTMESSAGE_H

#include "coredump/memory/source.h"

#define EP_ABORT_TEXT_MAX 4096u

struct ep_abort_message {
	uint64_t pointer; /* process virtual: of __abort_msg */
	uint64_t address; /* of the pages; their size in bytes */
	uint64_t size;
	char text[EP_ABORT_TEXT_MAX]; /* as it is, without its last newline; cut off where it is
					 longer */
};

/* False: the process said nothing, or it cannot be known (no glibc, its file is not here or of
 * another build, the pages were not saved). */
bool ep_abort_message_find(struct ep_abort_message *out, struct ep_source *source);

#endif
