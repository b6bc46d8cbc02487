/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * site_bytes.h: the bytes of a running process's code that decide whether hooks are called. Its
 * threads run the code meanwhile; a page is read and written back at once.
 */
#ifndef EPITAPH_SITE_BYTES_H
#define EPITAPH_SITE_BYTES_H

#include "coredump/live/control.h"
#include "coredump/live/hook_sites.h"

/*
 * Makes each site, in order of place and looked at just before, what it is wanted to be: what goes
 * off entries first, what comes back returns first. Sites at which another byte lies by now become
 * held. *flipped grows by those that were changed. EP_E_PERMISSION: this kernel refuses.
 */
int ep_sites_flip(struct ep_control *control, struct ep_found_sites *sites, size_t *flipped,
		  struct ep_err *err);

#endif
