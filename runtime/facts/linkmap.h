/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linkmap.h: the dynamic linker's lists of what it has loaded (<link.h>, struct r_debug and
 * link_map), one of each namespace: new objects are at a list's end, others are taken out of it. It
 * is read without its lock, by system calls, so that nothing faults where another thread loads or
 * unloads; what does not fit together is not believed. Static memory: one caller at a time, who
 * blocks nothing. Async-signal-safe.
 */
#ifndef EPITAPH_LINKMAP_H
#define EPITAPH_LINKMAP_H

#include <stdbool.h>
#include <stdint.h>

/* An object: address in process - address in file, and where its dynamic section lies. */
struct ep_linked {
	uint64_t bias, dynamic;
	uint32_t index; /* of the caller's */
};

/* False: what came cannot be told. It sets the index. */
typedef bool ep_linked_come_fn(struct ep_linked *object);
typedef void ep_linked_go_fn(const struct ep_linked *object);

/*
 * Begins: the program's dynamic section has the way to the lists. All objects that are there now
 * are given to `known`, which sets their index. False: there are no lists (a static program), or
 * they do not fit together, or there is no memory; then ep_linkmap_look answers false, too.
 */
bool ep_linkmap_begin(uint64_t dynamic, uint64_t dynamic_size, ep_linked_come_fn *known);

/* What came since, and, if `gone`, what went. False: that cannot be told; begin again. */
bool ep_linkmap_look(ep_linked_come_fn *come, ep_linked_go_fn *gone);

#endif
