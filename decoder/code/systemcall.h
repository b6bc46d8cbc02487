/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * systemcall.h: the system call that a thread of a core is in, from its registers: no event is
 * needed for it. x86-64.
 */
#ifndef EPITAPH_SYSTEMCALL_H
#define EPITAPH_SYSTEMCALL_H

#include "coredump/memory/source.h"

struct ep_systemcall {
	uint64_t number;
	uint64_t arguments[6];
	bool redacted; /* the arguments were left out, and are told as … */
};

/* False: it is in none, or has no registers. A thread is in one when the instruction before its pc
 * is `syscall` and the kernel says which one it was (orig_rax: -1 for a thread that an exception or
 * interrupt stopped). */
bool ep_systemcall_of(struct ep_source *source, const struct ep_source_thread *thread,
		      struct ep_systemcall *out);

/* "futex"; NULL: unknown to the headers that this was built with. */
const char *ep_systemcall_name(uint64_t number);

/* "futex(0x7f31c0, 128, 2, 0)": as many arguments as it takes, six where that is not known; small
 * ones decimal. Returns `out`. */
const char *ep_systemcall_text(char *out, size_t size, const struct ep_systemcall *call);

#endif
