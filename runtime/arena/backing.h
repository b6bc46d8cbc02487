/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backing.h: the file behind the arena (EPITAPH_FILE). It outlives the process, however that ends.
 * Invariants: a file appears under its name with a valid header and locked by its process; one that
 * a living process maps is never taken, one of a dead process never overwritten but renamed aside;
 * a process that cannot have a file has private memory instead.
 *
 * The lock (an OFD lock of the whole file) hangs on a descriptor that the program might close, so
 * it proves life when it is held and nothing when it is not: then pid and start time decide.
 */
#ifndef EPITAPH_BACKING_H
#define EPITAPH_BACKING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Makes a file of `size` bytes that has no name of its own yet, and locks it. A descriptor for
 * mapping it, constant until ep_backing_forget; -1: none is wanted or to be had (that was told on
 * stderr, once).
 */
int ep_backing_create(uint64_t size);

/*
 * The arena's first page is valid: gives the file the name by EPITAPH_FILE, puts a dead process's
 * file aside and drops the oldest of those. False: there is no file by that name of ours, and that
 * was told.
 */
bool ep_backing_name(void);

/* Takes a file without a name away. */
void ep_backing_drop(void);

/* In a forked child: the file is the parent's. True: the child may have one of its own, as the name
 * will be another. */
bool ep_backing_forget(void);

/* The arena lies in a file. */
bool ep_backing_on(void);

/* The file went out of use while the process runs: the arena is private now. */
void ep_backing_leave(void);

/* Device, inode, path of the file into epitaph_root; zeroes without one. */
void ep_backing_publish(void);

/*
 * Lets the file system allocate [address, address + size) of the mapping. False: it has no room;
 * then nothing of it is allocated, and no hook will touch it. Thread and signal safe.
 */
bool ep_backing_allocate(uint64_t address, uint64_t size);

/* Somebody has cut off the file before its first `size` bytes. */
bool ep_backing_cut(uint64_t size);

/* One line on stderr, in the whole life of this process. `error`: errno or 0. */
void ep_backing_complain(const char *words, long error);

#endif
