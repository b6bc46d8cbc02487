/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.h: a page of code whose hooks go off, or come back, all at once: one by one each takes two
 * system calls. The page is read again just before it is written back: where somebody has changed
 * it meanwhile, a debugger or a uprobe, or a debugger is attached, nothing is written, and its
 * sites are to be switched one by one (flip.h). One user at a time; signal safe.
 */
#ifndef EPITAPH_WINDOW_H
#define EPITAPH_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/switching/flip.h"
#include "runtime/switching/site.h"

#define EP_WINDOW_SIZE  4096u
#define EP_WINDOW_SITES (EP_WINDOW_SIZE / EP_SITE_CODE_SIZE + 1)

/* The sites that begin in [start, end), EP_WINDOW_SIZE bytes at most, of code that goes on up to
 * `last`. The list is valid until the next call; NULL: it cannot be read. */
const struct ep_place *ep_window_open(uint64_t start, uint64_t end, uint64_t last, size_t *count);

/* The same, of those only that begin at `places`, `known` addresses in [start, end), in order. */
const struct ep_place *ep_window_open_at(uint64_t start, uint64_t end, uint64_t last,
					 const uint64_t *places, size_t known, size_t *count);

/* Those of them that `spares` are none of the list from now on; how many are left. */
size_t ep_window_spare(bool (*spares)(const struct ep_place *place));

/* All of those go off, or come back; *changed: of how many the code did. False: it is to be done
 * site by site; where the code goes away meanwhile, some may have been written. */
bool ep_window_switch(struct ep_flip *flip, bool off, size_t *changed);

#endif
