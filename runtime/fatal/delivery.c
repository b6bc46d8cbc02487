/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * delivery.c: where the kernel would have put a signal frame: Linux arch/x86/kernel/signal.c,
 * get_sigframe, and fpu/signal.c. A frame is moved only from an alternate stack to one in use,
 * below what lives there.
 */
#include "runtime/fatal/delivery.h"

#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/record/altstack.h"
#include "runtime/x86_64/emulator.h"

#define RED_ZONE 128
#define PAGE     UINT64_C(4096)

/* The floating point unit's state: as fxsave has it, or with more behind, of which the kernel says
 * the size (uapi/asm/sigcontext.h, _fpx_sw_bytes). */
#define FXSAVE      512
#define SW_RESERVED 464
#define MAGIC1      0x46505853u /* FP_XSTATE_MAGIC1 */
#define ALIGNED     UINT64_C(64)

/* Reserved, and neither written nor read by the kernel: whatever lay there. */
#define HIDDEN(context) ((context)->uc_mcontext.__reserved1[0])

static uint64_t floating_size(const void *floating)
{
	uint32_t words[2]; /* magic1, extended_size */

	if (!floating)
		return 0;
	ep_bytes_copy(words, (const char *)floating + SW_RESERVED, sizeof words);
	return words[0] == MAGIC1 ? words[1] : FXSAVE;
}

static bool is_on(const stack_t *stack, uint64_t at)
{
	uint64_t start = (uint64_t)stack->ss_sp;

	return at > start && at - start <= stack->ss_size;
}

/* A store of the kernel's, which says so where no memory is, and lets a stack grow. */
static bool is_writable(uint64_t at)
{
	return ep_syscall4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)at, 8) == 0;
}

static bool has_room(uint64_t low, uint64_t high)
{
	for (uint64_t at = high - 8; at > low; at -= PAGE)
		if (!is_writable(at & -UINT64_C(8)))
			return false;
	return is_writable(low);
}

static struct ep_handler_frame *move(const ucontext_t *context, uint64_t sp)
{
	const void *from = (const char *)context - EP_FRAME_CONTEXT;
	const void *floating = context->uc_mcontext.fpregs;
	uint64_t size = floating_size(floating), state, frame;
	ucontext_t *moved;

	state = size ? (sp - size) & -ALIGNED : sp;
	frame = ((state - sizeof(struct ep_handler_frame)) & -UINT64_C(16)) - 8;
	if (!has_room(frame, sp))
		return NULL;
	ep_bytes_copy((void *)frame, from, sizeof(struct ep_handler_frame));
	if (size) {
		ep_bytes_copy((void *)state, floating, size);
		moved = (ucontext_t *)(frame + EP_FRAME_CONTEXT);
		moved->uc_mcontext.fpregs = (void *)state;
	}
	return (struct ep_handler_frame *)frame;
}

/* valgrind's frames have a form of their own, and more in them. */
bool ep_delivery_frame(const ucontext_t *context, bool alternate, struct ep_handler_frame **frame)
{
	const stack_t *stack = &context->uc_stack;
	uint64_t here = (uint64_t)context - EP_FRAME_CONTEXT;
	uint64_t sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP] - RED_ZONE;

	if (!is_on(stack, here) || is_on(stack, sp) || (alternate && !ep_altstack_is_own(stack)) ||
	    ep_runs_on_valgrind())
		return true;
	*frame = move(context, sp);
	return *frame != NULL;
}

void ep_delivery_begin(ucontext_t *context)
{
	if (!ep_altstack_is_own(&context->uc_stack))
		return;
	HIDDEN(context) = (uint64_t)context->uc_stack.ss_sp;
	ep_altstack_hide(&context->uc_stack);
}

/* No system call asks for it, that a filter of the program's might trap: that would come back
 * here. */
void ep_delivery_end(ucontext_t *context)
{
	if (!context->uc_stack.ss_sp)
		ep_altstack_show(&context->uc_stack, HIDDEN(context));
}
