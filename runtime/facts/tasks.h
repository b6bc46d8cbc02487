/* SPDX-License-Identifier: BSD-2-Clause */
/* tasks.h: the threads that the process has, by the kernel's word: traced ones and others, the
 * runtime's own among them. */
#ifndef EPITAPH_TASKS_H
#define EPITAPH_TASKS_H

#include <stdint.h>

/*
 * Calls for each thread with its tid as the process itself has it (gettid), whichever pid namespace
 * /proc is of. Where /proc knows nothing of the process these are the live threads of the arena:
 * traced ones. Returns how many there are; a NULL call only counts. Uses no thread-local memory.
 */
uint32_t ep_tasks_each(void (*call)(uint32_t tid));

#endif
