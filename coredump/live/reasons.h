/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reasons.h: why hooks of a running process are off: reasons of the process's own lie in its table
 * of sites, those from outside are pieces of code. As it was when it was read; both change
 * meanwhile.
 */
#ifndef EPITAPH_REASONS_H
#define EPITAPH_REASONS_H

#include <stdbool.h>

#include "coredump/live/control.h"
#include "coredump/live/switched.h"
#include "coredump/util/array.h"
#include "runtime/format_switches.h"

/* A row of the process's table, and where it is there. */
struct ep_site_row {
	struct ep_hook_site site;
	uint64_t address;
};

/* In order of place. */
struct ep_site_rows {
	struct ep_site_row *list;
	size_t count, capacity;
};

/* The table that the section's head names; zero-initialized before the first time. EP_E_CORRUPT,
 * EP_E_IO, EP_E_LIMIT. Freed by ep_array_deinit, also after an error. */
int ep_site_rows_read(struct ep_site_rows *rows, struct ep_control *control,
		      const struct ep_switches *head, struct ep_err *err);

struct ep_off_piece {
	uint64_t start, end;
};

struct ep_reasons {
	struct ep_site_rows rows;
	/* Code that is off from outside, in order; none overlap. */
	EP_ARRAY(struct ep_off_piece) pieces;
};

/* Likewise of both, of a section that was just read. */
int ep_reasons_read(struct ep_reasons *reasons, struct ep_control *control,
		    const struct ep_switched_list *list, struct ep_err *err);
void ep_reasons_deinit(struct ep_reasons *reasons);

/* Whether there is any for the site at `place` to be off. */
bool ep_reasons_off(const struct ep_reasons *reasons, uint64_t place);

#endif
