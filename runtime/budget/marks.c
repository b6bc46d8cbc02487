/* SPDX-License-Identifier: BSD-2-Clause */
/* marks.c: a thread's place says whether it recorded anything. */
#include "runtime/budget/marks.h"

#include <stddef.h>

#include "runtime/arena/arena.h"
#include "runtime/budget/budget.h"
#include "runtime/record/tls.h"

#define THREADS 8192
#define AT_ONCE 32 /* marks that were left out, told together */
#define MANY    1024

static struct ep_quiet threads[THREADS];

struct ep_quiet *ep_quiet_here(void)
{
	const struct ep_tls *tls = &ep_tls;
	uint64_t index = ((uint64_t)tls->thread - ep_truth.threads) / sizeof(struct ep_thread);
	struct ep_quiet *quiet;

	if (!tls->thread || index >= THREADS)
		return NULL;
	quiet = &threads[index];
	/* A cursor comes round again, a block's number does not. */
	if (quiet->cursor == tls->cursor && quiet->blocks == tls->thread->blocks &&
	    quiet->serial == tls->thread->serial &&
	    quiet->generation == (uint16_t)epitaph_root.generation)
		return quiet;
	*quiet = (struct ep_quiet){.spared = quiet->spared,
				   .spared_ns = quiet->spared_ns,
				   .serial = tls->thread->serial,
				   .generation = (uint16_t)epitaph_root.generation,
				   .cursor = tls->cursor,
				   .blocks = tls->thread->blocks};
	return quiet;
}

void ep_quiet_note(struct ep_quiet *quiet, uint64_t ns)
{
	ep_budget_mark(&ep_tls, ns, 0);
	quiet->cursor = ep_tls.cursor;
	quiet->blocks = ep_tls.thread->blocks;
}

/* Threads may write over each other's count: what is told are at least so many. */
void ep_quiet_count(void)
{
	static unsigned count;
	unsigned now = __atomic_load_n(&count, __ATOMIC_RELAXED) + 1;

	__atomic_store_n(&count, now % MANY, __ATOMIC_RELAXED);
	if (now >= MANY)
		ep_budget_mark(&ep_tls, (uint64_t)MANY * EP_MARK_NS, MANY);
}

void ep_quiet_spare(struct ep_quiet *quiet, uint64_t ns)
{
	quiet->spared_ns += ns;
	if (++quiet->spared < AT_ONCE)
		return;
	ep_budget_mark(&ep_tls, quiet->spared_ns, quiet->spared);
	quiet->spared = 0;
	quiet->spared_ns = 0;
}

bool ep_quiet_has(const struct ep_quiet *quiet, uint64_t buffer)
{
	for (unsigned i = 0; i < EP_QUIET_BUFFERS; i++)
		if (quiet->buffers[i] == buffer)
			return true;
	return false;
}

void ep_quiet_add(struct ep_quiet *quiet, uint64_t buffer)
{
	if (!ep_quiet_has(quiet, buffer))
		quiet->buffers[quiet->next++ % EP_QUIET_BUFFERS] = buffer;
}
