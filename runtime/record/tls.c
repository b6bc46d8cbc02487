/* SPDX-License-Identifier: BSD-2-Clause */
/* tls.c: thread-local memory, and what its owner may say of itself at any time. */
#include "runtime/record/tls.h"

#include <stddef.h>
#include <sys/prctl.h>

#include "runtime/arena/integrity.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"
#include "runtime/x86_64/offsets.h"

__thread struct ep_tls ep_tls;

static_assert(offsetof(struct ep_tls, cursor) == TLS_CURSOR, "offsets.h");
static_assert(offsetof(struct ep_tls, timing_mask) == TLS_TIMING, "offsets.h");
static_assert(offsetof(struct ep_tls, boundary_mask) == TLS_BOUNDARY, "offsets.h");
static_assert(offsetof(struct ep_tls, last_tsc) == TLS_LAST, "offsets.h");
static_assert(offsetof(struct ep_tls, gate) == TLS_GATE, "offsets.h");
static_assert(offsetof(struct ep_tls, thread) == TLS_THREAD, "offsets.h");
static_assert(offsetof(struct ep_thread, flags) == THREAD_FLAGS, "offsets.h");
static_assert(EP_THREAD_ASKED == THREAD_ASKED, "offsets.h");
static_assert(offsetof(struct ep_thread, stack_low) == THREAD_STACK_LOW, "offsets.h");
static_assert(offsetof(struct ep_thread, stack_high) == THREAD_STACK_HIGH, "offsets.h");
static_assert(offsetof(struct ep_tls, counters) == TLS_COUNTERS, "offsets.h");
static_assert(offsetof(struct ep_tls, counter_limit) == TLS_LIMIT, "offsets.h");

const uint32_t ep_shut_for_good = EP_GATE_STOPPED;
const uint32_t ep_faults_gate = 0;

void ep_thread_rename(const char *name)
{
	struct ep_thread *thread = ep_tls.thread;
	char taken[16] = "";

	if (!thread || ep_overwritten() || (!name && ep_jailed()))
		return;
	if (!name) {
		if (ep_syscall2(SYS_prctl, PR_GET_NAME, (long)taken) != 0)
			return;
		name = taken;
	}
	for (unsigned i = 0; i < sizeof(thread->name) - 1; i++) {
		thread->name[i] = *name;
		name += *name != 0;
	}
}
