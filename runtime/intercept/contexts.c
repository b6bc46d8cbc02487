/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * contexts.c: setjmp, ucontext, vfork and forks that no handler of forks hears of: a place in a
 * call is saved, and gone on with later. The buffer's address tells which was which; what is in it
 * is libc's. Called by x86_64/interpose.S before the real function; async-signal-safe as that one
 * is.
 */
#include "runtime/intercept/contexts.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <ucontext.h>

#include "runtime/budget/budget.h"
#include "runtime/budget/marks.h"
#include "runtime/lib/interpose.h"
#include "runtime/lib/syscalls.h"
#include "runtime/record/mark.h"
#include "runtime/record/ring.h"
#include "runtime/record/stacks.h"

/* It is saved where it was saved, when those calls were open that are. */
static void save(uint64_t buffer)
{
	struct ep_quiet *quiet;
	struct ep_mark mark;

	if (ep_quiet_again(buffer))
		return;
	if (!ep_ring_recording())
		return;
	quiet = ep_quiet_here();
	if (quiet && ep_budget_thin && ep_quiet_has(quiet, buffer)) {
		ep_tls.quiet = ep_quiet_key(buffer);
		ep_quiet_spare(quiet, EP_MARK_NS);
		return;
	}
	ep_mark_init(&mark, EP_MARK_SAVE);
	ep_mark_value(&mark, buffer);
	ep_mark_record(&mark);
	if (!quiet)
		return;
	ep_quiet_add(quiet, buffer);
	ep_quiet_note(quiet, EP_MARK_NS);
	if (ep_budget_thin)
		ep_tls.quiet = ep_quiet_key(buffer);
}

/* Nothing was recorded since it was saved: what was open then is. */
static void resume(uint64_t buffer, uint64_t place)
{
	struct ep_quiet *quiet;
	struct ep_mark mark;
	bool same;

	if (ep_quiet_again(buffer))
		return;
	if (!ep_ring_recording())
		return;
	quiet = ep_quiet_here();
	same = quiet && ep_quiet_has(quiet, buffer);
	if (same && ep_budget_thin) {
		ep_tls.quiet = ep_quiet_key(buffer);
		ep_quiet_spare(quiet, EP_MARK_NS);
		return;
	}
	ep_mark_init(&mark, EP_MARK_RESUME);
	ep_mark_value(&mark, buffer);
	ep_mark_value(&mark, place - 1);
	ep_mark_record(&mark);
	if (!quiet)
		return;
	for (unsigned i = 0; i < EP_QUIET_BUFFERS && !same; i++)
		quiet->buffers[i] = 0;
	ep_quiet_note(quiet, EP_MARK_NS);
}

EP_BEFORE(setjmp, setjmp, save(a))
EP_BEFORE(_setjmp, _setjmp, save(a))
EP_BEFORE(sigsetjmp, __sigsetjmp, save(a))
EP_BEFORE(getcontext, getcontext, save(a))
EP_BEFORE(longjmp, longjmp, resume(a, place))
EP_BEFORE(_longjmp, _longjmp, resume(a, place))
EP_BEFORE(siglongjmp, siglongjmp, resume(a, place))
EP_BEFORE(longjmp_chk, __longjmp_chk, resume(a, place))

static void swap(uint64_t saved, uint64_t resumed, uint64_t place)
{
	struct ep_mark mark;

	if (!ep_ring_recording())
		return;
	ep_mark_init(&mark, EP_MARK_SWAP);
	ep_mark_value(&mark, saved);
	ep_mark_value(&mark, resumed);
	ep_mark_value(&mark, place - 1);
	ep_mark_record(&mark);
	ep_stack_is_marked(&ep_tls);
	ep_budget_mark(&ep_tls, EP_MARK_NS, 0);
}

EP_BEFORE(swapcontext, swapcontext, swap(a, b, place))
EP_BEFORE(setcontext, setcontext, swap(0, a, place))

/* `function` runs in the context; uc_link, which must be set by now (POSIX), is gone on with when
 * it returns. */
static void fresh(uint64_t buffer, uint64_t function)
{
	const ucontext_t *context = (const ucontext_t *)buffer;
	struct ep_mark mark;

	ep_mark_init(&mark, EP_MARK_FRESH);
	ep_mark_value(&mark, buffer);
	ep_mark_value(&mark, (uint64_t)context->uc_link);
	ep_mark_value(&mark, function);
	ep_mark_record(&mark);
}

EP_BEFORE(makecontext, makecontext, fresh(a, b))

/* ---- vfork --------------------------------------------------------------- */

/*
 * What a parent needs to go on, while its child writes on its stack: of each that waits, in
 * whatever thread. Not thread-local: what is, has no room.
 */
#define PARENTS 32

struct parent {
	uint64_t place; /* return address */
	uint64_t rbx;
	uint32_t taken; /* tid of whom; 0: free */
};
static_assert(offsetof(struct parent, place) == 0 && offsetof(struct parent, rbx) == 8,
	      "interpose.S");

static struct parent parents[PARENTS];

struct vfork_call {
	ep_any_fn real;
	struct parent *parent; /* NULL: as if we were not there */
};

static void *no_vfork(void)
{
	errno = ENOSYS;
	return (void *)-1L;
}

static struct parent *parent_take(void)
{
	uint32_t tid = (uint32_t)ep_syscall0(SYS_gettid);

	for (unsigned i = 0; i < PARENTS; i++) {
		uint32_t nobody = 0;

		if (__atomic_compare_exchange_n(&parents[i].taken, &nobody, tid, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &parents[i];
	}
	return NULL;
}

void ep_vfork_reset(uint32_t except)
{
	ep_stack_vforks = 0;
	for (unsigned i = 0; i < PARENTS; i++)
		if (parents[i].taken != except)
			parents[i].taken = 0;
		else if (except)
			ep_stack_vforks = 1;
}

struct vfork_call ep_before_vfork(uint64_t stack, uint64_t place, ep_any_fn given);
void ep_after_vfork(struct parent *parent, uint64_t stack);

/* In the parent. The child's calls are recorded as this thread's own. `given`: the real one, NULL
 * as elsewhere. */
struct vfork_call ep_before_vfork(uint64_t stack, uint64_t place, ep_any_fn given)
{
	ep_any_fn real = given ? given : ep_interpose_known(EP_REAL_vfork, place);
	struct vfork_call call = {real, real ? parent_take() : NULL};

	if (!real)
		call.real = no_vfork;
	if (call.parent) {
		__atomic_fetch_add(&ep_stack_vforks, 1, __ATOMIC_RELAXED);
		save(stack);
	}
	return call;
}

/* In the parent again, or for the first time: it failed. */
void ep_after_vfork(struct parent *parent, uint64_t stack)
{
	struct ep_mark mark;

	__atomic_store_n(&parent->taken, 0, __ATOMIC_RELEASE);
	__atomic_fetch_sub(&ep_stack_vforks, 1, __ATOMIC_RELAXED);
	ep_mark_init(&mark, EP_MARK_PARENT);
	ep_mark_value(&mark, stack);
	ep_mark_record(&mark);
}

/* ---- forks that call no handlers ----------------------------------------- */

ep_any_fn ep_before__Fork(uint64_t a, uint64_t b, uint64_t place);

ep_any_fn ep_before__Fork(uint64_t a, uint64_t b, uint64_t place)
{
	ep_any_fn real = ep_interpose_known(EP_REAL__Fork, place);

	(void)a, (void)b;
	ep_ring_look_soon();
	return real ? real : no_vfork;
}

EP_BEFORE(clone, clone, ep_ring_recording() ? ep_stack_expect(&ep_tls, b) : (void)0;
	  ep_ring_look_soon())
