/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abortmessage.c: what the C library said before it aborted; glibc's include/stdlib.h, struct
 * abort_msg_s: the size of the mapping, then the text.
 */
#include "runtime/snapshot/abortmessage.h"

#include "runtime/lib/files.h"
#include "runtime/lib/interpose.h"

#define PAGE UINT64_C(4096)
#define MOST (UINT64_C(1) << 20)

static ep_any_fn variable; /* its address; NULL: there is none */

void ep_abort_message_start(void)
{
	ep_interpose_find(&variable, "__abort_msg", 0);
}

void ep_abort_message_ranges(void (*add)(uint64_t start, uint64_t end))
{
	uint64_t at = (uint64_t)variable, message;
	uint32_t size;

	if (!at || !ep_memory_read(at, &message, sizeof message) || !message || message % PAGE ||
	    !ep_memory_read(message, &size, sizeof size) || !size || size > MOST)
		return;
	add(at, at + sizeof message);
	add(message, message + size);
}
