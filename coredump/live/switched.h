/* SPDX-License-Identifier: BSD-2-Clause */
/* switched.h: which functions of a process are switched off, and why: the section of its arena that
 * says so, read alone. */
#ifndef EPITAPH_SWITCHED_H
#define EPITAPH_SWITCHED_H

#include "coredump/find/root.h"
#include "runtime/format_switches.h"

/* EP_SECTION_SWITCHES as it is now. */
struct ep_switched_list {
	struct ep_switches head;
	uint64_t address;                  /* of the section, process virtual */
	uint32_t entry_size;               /* bytes of an entry */
	struct ep_switched *own, *control; /* of the process, and from outside; start 0: none */
	size_t own_count, control_count;
};

/* Of any source. EP_END: its runtime has no such section. EP_E_CORRUPT; or as ep_source_read. */
int ep_switched_read(struct ep_switched_list *out, struct ep_source *source,
		     const struct ep_root_found *found, struct ep_err *err);
void ep_switched_deinit(struct ep_switched_list *list);

/* Where an entry lies, by its number; those from outside begin at head.capacity. */
static inline uint64_t ep_switched_address(const struct ep_switched_list *list, uint64_t number)
{
	return list->address + sizeof(list->head) + number * list->entry_size;
}

#endif
