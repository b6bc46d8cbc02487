/* SPDX-License-Identifier: BSD-2-Clause */
/* first_fault.c: looks for a signal frame on the stack, below it, and on those of other threads. */
#include "decoder/stack/first_fault.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A handler's frames, and those of a handler in it. */
#define FRAMES_MAX 4096
/* Of each thread, where another one than the core's may have been first. */
#define OTHER_FRAMES_MAX 64
/* Red zone, the floating point unit's state, the frame: how far below. */
#define DEAD_REACH 16384u

struct search {
	struct ep_first_fault *out;
	struct ep_source *source;
	struct ep_unwinder *unwinder;
	struct ep_names *names, *others;
	struct ep_death death; /* as the core says */
};

static void consider(struct search *search, const struct ep_signal_frame *signal, uint32_t tid,
		     size_t frame)
{
	struct ep_first_fault *out = search->out;

	out->signal = *signal;
	ep_signal_frame_explain(&out->signal, search->source, search->names, search->others, tid);
	out->found = ep_signal_is_first(&out->signal.death);
	out->thread = ep_signal_frame_thread(&out->signal, tid);
	out->frame = out->found ? frame : 0;
}

/* ---- on the stack ---- */

/* The outermost: handlers may be interrupted, too. */
static void look_at_stack(struct search *search, uint32_t tid, size_t limit)
{
	struct ep_signal_frame signal;
	struct ep_stack stack;

	if (!search->unwinder || !ep_unwind(search->unwinder, tid, limit, &stack))
		return;
	for (size_t i = stack.count; i-- > 0 && !search->out->found;)
		if (stack.frames[i].context &&
		    !ep_signal_frame_read(&signal, search->source, stack.frames[i].context))
			consider(search, &signal, tid, i + 1);
	ep_stack_deinit(&stack);
}

/* ---- below the stack pointer ---- */

static bool registers_of(const struct search *search, struct user_regs_struct *out)
{
	const struct ep_source_thread *thread = ep_source_thread(search->source, search->death.tid);

	return thread && thread->has_registers && ep_thread_registers(thread, out);
}

static bool same_place(const struct ep_signal_frame *signal, const struct user_regs_struct *now)
{
	struct user_regs_struct then;

	memcpy(&then, &signal->status.pr_reg, sizeof(then));
	return then.rip == now->rip && then.rsp == now->rsp && then.rbp == now->rbp &&
	       then.rax == now->rax && then.rbx == now->rbx && then.rcx == now->rcx &&
	       then.rdx == now->rdx && then.rsi == now->rsi && then.rdi == now->rdi &&
	       then.r8 == now->r8 && then.r9 == now->r9 && then.r10 == now->r10 &&
	       then.r11 == now->r11 && then.r12 == now->r12 && then.r13 == now->r13 &&
	       then.r14 == now->r14 && then.r15 == now->r15;
}

/* A signal that was raised in a handler which blocks it comes when the handler has returned, to the
 * very instruction that was interrupted. */
static void look_below(struct search *search)
{
	uint32_t tid = search->death.tid;
	struct user_regs_struct registers;
	struct ep_signal_frame signal;
	uint64_t from;

	if (!registers_of(search, &registers))
		return;
	from = registers.rsp & ~UINT64_C(7);
	for (uint64_t down = 8; down <= DEAD_REACH && down < from; down += 8) {
		if (ep_signal_frame_read(&signal, search->source, from - down) ||
		    !same_place(&signal, &registers))
			continue;
		consider(search, &signal, tid, 0);
		return;
	}
}

/* ---- in another thread ---- */

/* In tgkill(pid, tid, signal): it sent the signal to itself. */
static bool sent_to_itself(const struct search *search)
{
	struct user_regs_struct registers;

	return search->death.code == SI_TKILL && registers_of(search, &registers) &&
	       registers.rcx == registers.rip &&
	       registers.rdi == (uint64_t)ep_source_pid(search->source) &&
	       registers.rsi == search->death.tid;
}

/* A signal that is sent to the process while a handler blocks it comes to another thread. */
static void look_at_others(struct search *search)
{
	size_t count;
	const struct ep_source_thread *list = ep_source_threads(search->source, &count);

	for (size_t i = 0; i < count && !search->out->found; i++)
		if (list[i].tid != search->death.tid)
			look_at_stack(search, list[i].tid, OTHER_FRAMES_MAX);
}

/* ---- the whole ---- */

void ep_first_fault_find(struct ep_first_fault *out, struct ep_source *source,
			 struct ep_unwinder *unwinder, struct ep_names *names,
			 struct ep_names *others)
{
	struct search search = {out, source, unwinder, names, others, {0}};
	pid_t pid = ep_source_pid(source);
	bool own;

	memset(out, 0, sizeof(*out));
	ep_source_death(source, &search.death);
	if (!search.death.signal)
		return;
	own = search.death.has_siginfo && search.death.code <= 0 && pid &&
	      search.death.sender_pid == (uint32_t)pid;
	look_at_stack(&search, search.death.tid, FRAMES_MAX);
	if (!out->found && own)
		look_below(&search);
	if (!out->found && own && !sent_to_itself(&search))
		look_at_others(&search);
}
