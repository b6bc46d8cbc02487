/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hook_sites.h: where a running process's code calls its hooks, looked at from outside
 * (runtime/site_code.h says what a site is). Needs no symbols: the process says where its hooks
 * are (struct ep_switches), and stubs on the way are known by their bytes.
 */
#ifndef EPITAPH_HOOK_SITES_H
#define EPITAPH_HOOK_SITES_H

#include "coredump/live/control.h"
#include "coredump/util/array.h"
#include "coredump/util/hash.h"
#include "runtime/format_switches.h"

enum ep_hook_role {
	EP_HOOK_NONE, /* it is no hook, and does not lead to one */
	EP_HOOK_OF_ENTRY,
	EP_HOOK_OF_RETURN,
	EP_HOOK_OF_SLED_ENTRY, /* that only sleds call (runtime/sled_code.h) */
	EP_HOOK_OF_SLED_RETURN,
};

struct ep_hook_target {
	uint64_t address;
	enum ep_hook_role role;
};

/* What was found out of targets of calls. */
struct ep_hook_finder {
	struct ep_control *control; /* borrowed */
	uint64_t hooks[EP_SWITCH_HOOKS];
	EP_ARRAY(struct ep_hook_target) targets;
	struct ep_hash by_address;
};

void ep_hook_finder_init(struct ep_hook_finder *finder, struct ep_control *control,
			 const uint64_t hooks[EP_SWITCH_HOOKS]);
void ep_hook_finder_deinit(struct ep_hook_finder *finder);

struct ep_found_site {
	uint64_t place; /* of the byte that decides */
	uint8_t kind;   /* EP_SITE_ */
	bool is_return;
	bool off;      /* what the byte says; unless … */
	bool held;     /* … a breakpoint's or a uprobe's int3 is in its place … */
	bool replaced; /* … or something else is */
	bool want_off; /* the caller's */
};

struct ep_found_sites {
	struct ep_found_site *list;
	size_t count, capacity;
};

/* Appends the sites of the code at [start, end), on or off. None where that is a stub, or cannot be
 * read. EP_E_CORRUPT: too long to be a function; EP_E_LIMIT: ep_control_limit. */
int ep_hook_sites_find(struct ep_hook_finder *finder, uint64_t start, uint64_t end,
		       struct ep_found_sites *out, struct ep_err *err);

/* Looks at sites that are known by place and kind, which are in order of place: `off`, `held`,
 * `replaced`. Nothing of it counts when ep_control_limit says so. */
void ep_hook_sites_look(struct ep_hook_finder *finder, struct ep_found_site *sites, size_t count);

#endif
