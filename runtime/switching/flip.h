/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flip.h: one byte of code becomes another one, while threads run it. /proc/self/mem writes to
 * memory that the process itself cannot write to (kernels from 6.12 may be told to refuse:
 * proc_mem.force_override); else the page is made writable for the moment; else nothing can be
 * changed here. A page that was written to is a private copy from then on, as a debugger's
 * breakpoint makes one. Thread and signal safe; keeps errno.
 */
#ifndef EPITAPH_FLIP_H
#define EPITAPH_FLIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ep_flip {
	long fd;            /* of /proc/self/mem; negative: by mprotect */
	uint8_t has_tracer; /* of ep_flip_has_tracer: 0 not known yet, 1 no, 2 yes */
};

/* Whether code may be changed at all: false in a jail, under valgrind, and once the kernel has
 * refused both ways. Makes no system call that a filter could punish. */
bool ep_flip_possible(void);

/* How, as far as it is known (EP_FLIP_), and why not. */
uint32_t ep_flip_how(uint32_t *why_not);

/*
 * Calls run(flip, argument) with the way to the code open. By this thread, if the process has no
 * other one: else one that closes descriptors could close ours, and the next file to be opened be
 * written to; so in a process of more threads, or with no descriptor left, it is called by a
 * thread for the moment, with descriptors of its own. False: not possible, or not now. Who finds
 * another thread in here waits for it.
 */
typedef void (*ep_flip_fn)(struct ep_flip *flip, void *argument);
bool ep_flip_run(ep_flip_fn run, void *argument);

/* ns of CPU time that those threads have had so far, as far as their own clock shows it and with
 * what their beginning and end is estimated to take. */
uint64_t ep_flip_aside(void);

/* In a forked child. */
void ep_flip_reset(void);

/*
 * The byte at `place` becomes `to`; false: the kernel refuses. Whoever calls this has just seen
 * that a site is there, and no debugger's breakpoint, uprobe or other library. Between that look
 * and the change a debugger may write there: both are system calls of it and of ours, and it stops
 * the process for that.
 */
bool ep_flip_write(struct ep_flip *flip, uint64_t place, uint8_t to);

/* Whether a debugger is attached to the process; looked at once a run. */
bool ep_flip_has_tracer(struct ep_flip *flip);

/* Likewise `size` bytes of one page, of which only such bytes differ from what has just been seen
 * there. By the file alone; false: nothing was written. */
bool ep_flip_write_all(struct ep_flip *flip, uint64_t place, const void *bytes, size_t size);

#endif
