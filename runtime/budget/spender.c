/* SPDX-License-Identifier: BSD-2-Clause */
/* spender.c: a table by the thread's place in the table of threads. */
#include "runtime/budget/spender.h"

#include <stddef.h>

#include "runtime/arena/integrity.h"
#include "runtime/arena/root.h"

#define THREADS 8192

static struct ep_spender spenders[THREADS];

struct ep_spender *ep_spender_of(const struct ep_tls *tls)
{
	uint64_t index = ((uint64_t)tls->thread - ep_truth.threads) / sizeof(struct ep_thread);
	uint16_t generation = (uint16_t)epitaph_root.generation;
	struct ep_spender *spender;

	if (!tls->thread || index >= THREADS)
		return NULL;
	spender = &spenders[index];
	if (spender->serial != tls->thread->serial || spender->generation != generation)
		*spender = (struct ep_spender){.serial = tls->thread->serial,
					       .generation = generation};
	return spender;
}
