/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults.h: a handler of the program's own for a fatal signal may look at, and write over, any
 * memory. While one runs, each hook of its thread takes the slow path, where the memory is looked
 * at first (intact.h), and the drain of scheduling events sleeps. The runtime stands in front of
 * such handlers (fatal.c): x86_64/fatal.S becomes the handler, so nothing of ours is on its stack.
 */
#ifndef EPITAPH_FAULTS_H
#define EPITAPH_FAULTS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "runtime/record/tls.h"

/* The calling thread's handler begins; it lies below `context` on its stack. Signal safe. */
void ep_faults_begin(const ucontext_t *context);

/* A hook whose frame begins at `sp`, in a thread with ep_faults_gate: the handler is over. */
bool ep_faults_over(const struct ep_tls *tls, uint64_t sp);

/* Ends that state of the calling thread, whose gate is about to be another. False: it was not in
 * it. */
bool ep_faults_leave(struct ep_tls *tls);

/* A forked child: the threads are gone. */
void ep_faults_reset(void);

#endif
