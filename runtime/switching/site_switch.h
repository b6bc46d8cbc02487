/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * site_switch.h: the sites of a piece of code go off or come back, for a reason: into the table,
 * then into the code. Of who has the turn (turn.h), with the section there.
 */
#ifndef EPITAPH_SITE_SWITCH_H
#define EPITAPH_SITE_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/switching/site_table.h"

/* Of a piece of code: how many sites were found, and of how many the code was changed. */
struct ep_site_switch_sum {
	uint64_t found, changed;
};

/* All of [start, end), added to *sum. Entries before returns when they go off, after them when they
 * come back. */
void ep_site_switch(struct ep_flip *flip, uint64_t start, uint64_t end, enum ep_site_reason reason,
		    bool off, struct ep_site_switch_sum *sum);

/* The site is in the table, and has no reason for that; NULL: there is no room for it. */
struct ep_hook_site *ep_site_switch_enter(const struct ep_place *place);

/* Its reasons say that it is off, ours or those from outside. */
bool ep_site_switch_is_off(const struct ep_hook_site *site);

/* The two halves of it for one site: it has the reason or has it no more, in the table alone (NULL:
 * there is no room for it) … */
struct ep_hook_site *ep_site_switch_note(const struct ep_place *place, enum ep_site_reason reason,
					 bool off);

/* … and its code becomes what its reasons say, ours and those from outside. True: it changed. */
bool ep_site_switch_apply(struct ep_flip *flip, struct ep_hook_site *site);

/* The numbers that readers want of the table, and how code is changed, go to the section. */
void ep_site_switch_publish(void);

#endif
