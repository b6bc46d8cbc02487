/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * site_table.h: the sites that were ever switched, with the reasons for which they are off (struct
 * ep_hook_site), in memory of its own outside of the arena, which no core holds. One writer at a
 * time, who has the turn (turn.h); `epitaph control` changes reasons and code meanwhile.
 */
#ifndef EPITAPH_SITE_TABLE_H
#define EPITAPH_SITE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/switching/flip.h"
#include "runtime/switching/site.h"

enum ep_site_reason { EP_OFF_ALL, EP_OFF_NAME, EP_OFF_BUDGET };

/* The table as the section's head names it: all 0 before the first ep_site_note. */
struct ep_hook_site *ep_site_table(uint64_t *count);

/* The site in the table, entered now if it is new; NULL: no memory, or the table is full. */
struct ep_hook_site *ep_site_note(const struct ep_place *place);

/* The site in the table; NULL: it is not there. */
struct ep_hook_site *ep_site_find(uint64_t place);

/* Where the table has sites in [start, end), a page at the most, by address; how many, or more than
 * `most`: then `places` has some of them. */
size_t ep_site_places(uint64_t start, uint64_t end, uint64_t *places, size_t most);

/* All sites of the page of code that holds `address` are in the table; or it is not known any more
 * (of all pages), as modules came or went. What is known of it may be forgotten at any time. Thread
 * safe. */
void ep_site_page_note(uint64_t address);
bool ep_site_page_is_known(uint64_t address);
void ep_site_page_forget(uint64_t address);
void ep_site_pages_forget(void);

void ep_site_set(struct ep_hook_site *site, enum ep_site_reason reason, bool off);

/* The reasons say that it is off, ours or those from outside. */
bool ep_site_is_off(const struct ep_hook_site *site, bool (*is_off_outside)(uint64_t place));

/* The code becomes what the reasons say, also those from outside (`is_off_outside` of its place);
 * true: a byte was changed. */
bool ep_site_apply(struct ep_flip *flip, struct ep_hook_site *site,
		   bool (*is_off_outside)(uint64_t place));

/* The same of one whose code was seen a moment ago: without another look at it. */
bool ep_site_apply_seen(struct ep_flip *flip, struct ep_hook_site *site, bool seen_off,
			bool (*is_off_outside)(uint64_t place));

/* Sites in [start, end) are no more. */
void ep_site_forget(uint64_t start, uint64_t end);

/* Pages of code that were written to. */
uint32_t ep_site_pages(void);

#endif
