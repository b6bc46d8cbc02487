/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signal_frame.h: what the kernel puts on the stack before it calls a handler: the registers of the
 * interrupted code, and why it was interrupted. Linux arch/x86/include/asm/sigframe.h, struct
 * rt_sigframe; the siginfo is there only when the handler was installed with SA_SIGINFO, else the
 * processor's trap and the registers say which signal it was.
 *
 *   pretcode (the handler's return address) · ucontext · siginfo · fpstate
 *                                             ^ 304 bytes further
 */
#ifndef EPITAPH_SIGNAL_FRAME_H
#define EPITAPH_SIGNAL_FRAME_H

#include <sys/procfs.h>
#include <sys/user.h>

#include "coredump/memory/source.h"
#include "decoder/names/names.h"

struct ep_signal_frame {
	uint64_t context;           /* process virtual, of the ucontext */
	struct elf_prstatus status; /* of the interrupted code: pr_reg only */
	uint64_t pc, sp;            /* the same */
	uint64_t fetched;           /* where no instruction could be read; 0 none */
	struct ep_death death;      /* signal 0: it is not known which one it was */
};

/* The signal frame whose ucontext is at `context`. EP_END: there is none. */
int ep_signal_frame_read(struct ep_signal_frame *out, struct ep_source *source, uint64_t context);

/* Why it came; fills out->death. `names` and `others` know the code, each may be NULL; `tid` is the
 * thread's. */
void ep_signal_frame_explain(struct ep_signal_frame *frame, struct ep_source *source,
			     struct ep_names *names, struct ep_names *others, uint32_t tid);

/* The registers as those of a thread. Borrows `frame`. */
struct ep_source_thread ep_signal_frame_thread(const struct ep_signal_frame *frame, uint32_t tid);

/* The registers of a thread as the kernel has them; false: it has none. */
bool ep_thread_registers(const struct ep_source_thread *thread, struct user_regs_struct *out);

/* The processor's. */
bool ep_signal_of_fault(int signal);

/* Its default action is to dump core: what a handler of the program's does then is what came of
 * it. */
bool ep_signal_is_first(const struct ep_death *death);

#endif
