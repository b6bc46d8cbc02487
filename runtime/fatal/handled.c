/* SPDX-License-Identifier: BSD-2-Clause */
/* handled.c: deaths that a handler was given, with their snapshots. */
#include "runtime/fatal/handled.h"

#include <stdint.h>
#include <ucontext.h>

#include "runtime/lib/files.h"
#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/record/thread.h"

#define INFO_FILLED 48  /* bytes of siginfo that the kernel writes */
#define CONTEXT     304 /* and of the ucontext: arch/x86/include/asm/sigframe.h */

enum state { FREE, RUNS, RETURNED };

struct handled {
	const void *thread; /* &ep_tls */
	uint32_t state;
	const ucontext_t *context; /* in the signal frame */
	uint64_t stack, stack_end; /* the alternate one, if it lies there */
	uint64_t cursor;           /* when the handler had returned */
	greg_t registers[NGREG];
	uint8_t info[INFO_FILLED];
};

static struct handled list[EP_HANDLED_MAX];
static uint32_t used;

void ep_handled_begin(const siginfo_t *info, const void *context)
{
	const ucontext_t *from = context;
	uint32_t number = __atomic_fetch_add(&used, 1, __ATOMIC_RELAXED);
	struct handled *one;
	uint64_t low = (uint64_t)from->uc_stack.ss_sp;

	if (number >= EP_HANDLED_MAX)
		return;
	one = &list[number];
	one->thread = &ep_tls;
	one->context = from;
	if ((uint64_t)from - low < from->uc_stack.ss_size) {
		one->stack = low;
		one->stack_end = low + from->uc_stack.ss_size;
	}
	ep_bytes_copy(one->registers, from->uc_mcontext.gregs, sizeof one->registers);
	ep_bytes_copy(one->info, info, sizeof one->info);
	__atomic_store_n(&one->state, RUNS, __ATOMIC_RELEASE);
}

void ep_handled_end(const void *context)
{
	for (unsigned i = 0; i < EP_HANDLED_MAX; i++) {
		struct handled *one = &list[i];

		if (one->state != RUNS || one->thread != &ep_tls || one->context != context)
			continue;
		one->cursor = ep_tls.cursor;
		one->state = RETURNED;
	}
}

void ep_handled_reset(void)
{
	if (used)
		ep_bytes_zero(list, sizeof list);
	used = 0;
}

/* ---- is it one of them? ---- */

/* A handler may change the registers that it returns to, but for these. */
static bool is_intact(const struct handled *one)
{
	static const uint8_t kept[] = {REG_CR2, REG_TRAPNO, REG_ERR, REG_RSP};
	struct {
		uint64_t restorer;
		union {
			ucontext_t context;
			uint8_t bytes[CONTEXT + INFO_FILLED];
		};
	} now;

	if (!ep_memory_read((uint64_t)one->context - 8, &now, 8 + CONTEXT + INFO_FILLED) ||
	    now.restorer != (uint64_t)ep_fatal_restorer ||
	    !ep_bytes_equal(now.bytes + CONTEXT, one->info, INFO_FILLED))
		return false;
	for (unsigned i = 0; i < sizeof kept; i++)
		if (now.context.uc_mcontext.gregs[kept[i]] != one->registers[kept[i]])
			return false;
	return true;
}

static bool is_inside(const struct handled *one, const ucontext_t *context)
{
	uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];

	return sp < (uint64_t)one->context && sp >= one->stack;
}

static bool is_own(const siginfo_t *info)
{
	return info->si_code <= 0 && info->si_pid == (pid_t)ep_syscall0(SYS_getpid);
}

/* The instruction again, with all registers as they were and nothing recorded since; or the signal
 * that the handler raised while it was blocked. */
static bool is_again(const struct handled *one, const siginfo_t *info, const ucontext_t *context)
{
	const siginfo_t *first = (const void *)one->info;

	if (first->si_code <= 0 || one->cursor != ep_tls.cursor)
		return false;
	for (int i = 0; i <= REG_EFL; i++)
		if (context->uc_mcontext.gregs[i] != one->registers[i])
			return false;
	return is_own(info) || (first->si_signo == info->si_signo &&
				first->si_code == info->si_code && first->si_addr == info->si_addr);
}

bool ep_handled_repeats(const siginfo_t *info, const void *context)
{
	for (unsigned i = 0; i < EP_HANDLED_MAX; i++) {
		const struct handled *one = &list[i];
		uint32_t state = __atomic_load_n(&one->state, __ATOMIC_ACQUIRE);
		bool own = one->thread == &ep_tls;

		if (state == RETURNED && own && is_again(one, info, context))
			return true;
		/* kill(): whoever does not block it takes it. */
		if (state == RUNS &&
		    (own ? is_inside(one, context) : info->si_code == SI_USER && is_own(info)) &&
		    is_intact(one))
			return true;
	}
	return false;
}
