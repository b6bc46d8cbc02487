/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * contexts.c: setjmp and ucontext: a place in a call is saved, and gone on with
 * later. The buffer's address tells which was which; what is in it is libc's.
 * Called by x86_64/interpose.S before the real function; async-signal-safe as
 * that one is.
 */
#include <ucontext.h>

#include "runtime/interpose.h"
#include "runtime/mark.h"

static void save(uint64_t buffer)
{
	struct ep_mark mark;

	ep_mark_init(&mark, EP_MARK_SAVE);
	ep_mark_value(&mark, buffer);
	ep_mark_record(&mark);
}

static void resume(uint64_t buffer, uint64_t place)
{
	struct ep_mark mark;

	ep_mark_init(&mark, EP_MARK_RESUME);
	ep_mark_value(&mark, buffer);
	ep_mark_value(&mark, place - 1);
	ep_mark_record(&mark);
}

#define BEFORE(function, name, note)                                           \
	ep_any_fn ep_before_##function(uint64_t a, uint64_t b,                 \
				       uint64_t place);                        \
	ep_any_fn ep_before_##function(uint64_t a, uint64_t b, uint64_t place) \
	{                                                                      \
		(void)b;                                                       \
		note;                                                          \
		return ep_interpose_real(EP_REAL_##name, place);               \
	}

BEFORE(setjmp, setjmp, save(a))
BEFORE(_setjmp, _setjmp, save(a))
BEFORE(sigsetjmp, __sigsetjmp, save(a))
BEFORE(getcontext, getcontext, save(a))
BEFORE(longjmp, longjmp, resume(a, place))
BEFORE(_longjmp, _longjmp, resume(a, place))
BEFORE(siglongjmp, siglongjmp, resume(a, place))
BEFORE(longjmp_chk, __longjmp_chk, resume(a, place))

static void swap(uint64_t saved, uint64_t resumed, uint64_t place)
{
	struct ep_mark mark;

	ep_mark_init(&mark, EP_MARK_SWAP);
	ep_mark_value(&mark, saved);
	ep_mark_value(&mark, resumed);
	ep_mark_value(&mark, place - 1);
	ep_mark_record(&mark);
}

BEFORE(swapcontext, swapcontext, swap(a, b, place))
BEFORE(setcontext, setcontext, swap(0, a, place))

/* `function` runs in the context; uc_link, which must be set by now (POSIX), is
 * gone on with when it returns. */
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

BEFORE(makecontext, makecontext, fresh(a, b))
