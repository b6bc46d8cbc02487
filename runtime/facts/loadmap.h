/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loadmap.h: which module lay where, and when. Read from /proc/self/maps by raw system calls, never
 * dl_iterate_phdr (it takes the loader's lock). Modules are added and marked unloaded, never
 * removed: an address is decoded by (address, time).
 */
#ifndef EPITAPH_LOADMAP_H
#define EPITAPH_LOADMAP_H

#include <stdint.h>

/* Who wants to hear of a module that has gone, or is back where it was before. Signal safe. */
struct ep_module;
struct ep_loadmap_watch {
	void (*goes)(const struct ep_module *module);
	void (*returns)(const struct ep_module *module);
};

/* Lays out the MODULES section and fills it. After the arena. `watch` may be NULL. */
void ep_loadmap_start(const struct ep_loadmap_watch *watch);

/*
 * In a forked child that has its parent's section, and as much mapped as that: it holds as it is,
 * and the next ep_loadmap_refresh looks if the parent's would have. Read anew where a thread was
 * reading it, or where a module of before the child was ever unloaded.
 */
void ep_loadmap_inherit(const struct ep_loadmap_watch *watch);

/* Something is mapped or unmapped, a library comes, a library goes: the next ep_loadmap_refresh
 * looks for all, or for that. Signal safe. */
void ep_loadmap_stale(void);
void ep_loadmap_loads(void);
void ep_loadmap_unloads(void);

/* Compares with the kernel's map when stale. Called by the slow path at block boundaries, after
 * dlopen, before a snapshot. One at a time: a caller that finds another in it goes on. Signal
 * safe. */
void ep_loadmap_refresh(void);

#endif
