/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * self.c: what a thread asks of the runtime for itself (epitaph.h). All of it is kept in the
 * thread's entry, which it gets here if it has none yet, and only the thread itself writes it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/epitaph.h"
#include "runtime/record/ring.h"
#include "runtime/record/thread.h"
#include "runtime/settings/settings.h"
#include "runtime/start.h"

#define PUBLIC     __attribute__((visibility("default")))
#define EVERY_MOST 64
#define RING_MOST  (UINT64_C(1) << 30)

static struct ep_thread *self(void)
{
	return ep_start() ? ep_thread_enter() : NULL;
}

static int failed(int error)
{
	errno = error;
	return -1;
}

/* ---- pausing ---- */

PUBLIC void epitaph_thread_pause(void)
{
	struct ep_thread *thread = self();

	if (!thread)
		return;
	__atomic_fetch_add(&thread->gate, 1, __ATOMIC_RELAXED);
	ep_tls.pauses = EP_PAUSES_UNKNOWN;
	ep_thread_gate();
	ep_ring_pause_here();
}

PUBLIC void epitaph_thread_resume(void)
{
	struct ep_thread *thread = self();

	if (!thread || !thread->gate)
		return;
	__atomic_fetch_sub(&thread->gate, 1, __ATOMIC_RELAXED);
	ep_thread_gate();
}

PUBLIC void epitaph_ignore_thread(void)
{
	if (self())
		ep_thread_ignore();
}

/* ---- settings ---- */

PUBLIC int epitaph_set_thread_ring(size_t bytes)
{
	struct ep_thread *thread;
	uint64_t size = EP_BLOCK_SIZE;

	if (bytes < EP_BLOCK_SIZE || bytes > RING_MOST)
		return failed(EINVAL);
	while (size < bytes)
		size *= 2;
	thread = self();
	if (!thread || thread->flags & EP_THREAD_IGNORED)
		return failed(ENODEV);
	if (!ep_thread_set_ring(size))
		return failed(ENOMEM);
	thread->flags &= ~EP_THREAD_WITHOUT_RING;
	ep_thread_gate();
	return 0;
}

PUBLIC int epitaph_set_thread_timing(unsigned every)
{
	struct ep_thread *thread;

	if (every > EVERY_MOST || every & (every - 1) || (every > 1 && ep_settings.min_duration))
		return failed(EINVAL);
	thread = self();
	if (!thread || thread->flags & EP_THREAD_IGNORED)
		return failed(ENODEV);
	thread->timing = every;
	return 0;
}
