/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind.h: the stacks of a core's threads by libdwfl, through signal frames, from a full core or a
 * snapshot. Says why it stopped.
 */
#ifndef EPITAPH_UNWIND_H
#define EPITAPH_UNWIND_H

#include "coredump/memory/source.h"
#include "decoder/names/names.h"

/* As in gdb. */
#define EP_SIGNAL_FRAME_NAME "<signal handler called>"

struct ep_frame {
	uint64_t pc;     /* process virtual */
	uint64_t sp;     /* 0 unknown */
	bool activation; /* pc is exact (innermost, or below a signal frame); else it is a return
			    address: look up pc - 1 */
	bool guessed; /* found by the frame pointer alone, where the frame before it has no unwind
			 information: may be wrong */
	bool nowhere; /* no code is at its pc: it is in no module, and not in executable memory
			 either */
	bool signal; /* the kernel's: a handler was called here, and the frame outside of it is what
			was interrupted */
	uint64_t context; /* of a signal frame: where its ucontext is (signal_frame.h); 0 unknown */
};

/* Where the unwinder stopped. */
enum ep_stack_end {
	EP_STACK_WHOLE,   /* at the thread's start, or where a zero stands for it */
	EP_STACK_LIMIT,   /* at as many frames as were asked for */
	EP_STACK_NOWHERE, /* at a pc where no code is, or at memory that the process did not have:
			     what was followed is no stack */
	EP_STACK_UNSAVED, /* at memory that the core does not hold */
	EP_STACK_UNREADABLE, /* at code without unwind information, or a module without its file */
	EP_STACK_REGISTERS,  /* there are no registers */
};

struct ep_stack {
	struct ep_frame *frames; /* innermost first; owned */
	size_t count;
	enum ep_stack_end end;
	bool complete; /* EP_STACK_WHOLE */
	char why[256]; /* when not complete: the reason; "" */
};

struct ep_unwinder;

/* Only cores and snapshots: a live process is not stopped. Borrows `source`, and `trace`, whose
 * modules are taken where the core names none; may be NULL.
 */
int ep_unwinder_create(struct ep_unwinder **out, struct ep_source *source,
		       const struct ep_trace *trace, const struct ep_names_options *options,
		       struct ep_err *err);
void ep_unwinder_destroy(struct ep_unwinder *unwinder);

/* Stacks that threads took of themselves, for those of which the core has no registers.
 * Borrowed. */
void ep_unwinder_add_taken(struct ep_unwinder *unwinder, const struct ep_trace_stack *stacks,
			   size_t count);

/* Why debuginfod servers are asked no more, if the unwinder was the first to learn it, for nobody
 * else is told; *module: of which file it asked then. NULL: it was not. */
const char *ep_unwinder_unanswered(const struct ep_unwinder *unwinder, const char **module);

/* At most `limit` frames. True also with a partial stack; false: no such thread in the core. */
bool ep_unwind(struct ep_unwinder *unwinder, uint32_t tid, size_t limit, struct ep_stack *out);

/* The registers of one frame, numbered as in DWARF (psABI x86-64, figure 3.36); 16 is pc. */
#define EP_FRAME_REGISTERS 17u
struct ep_frame_registers {
	uint64_t values[EP_FRAME_REGISTERS];
	uint32_t known; /* a bit a register: what a callee may change is not */
	bool cfa_known;
	uint64_t cfa;          /* the stack pointer before the function was called */
	struct ep_frame outer; /* the caller's frame; pc 0: unknown */
};

/* Of frame `index` of the thread's stack. False: there is no such frame, or its registers are not
 * known (that of a call to where no code is). */
bool ep_unwind_registers(struct ep_unwinder *unwinder, uint32_t tid, size_t index,
			 struct ep_frame_registers *out);
void ep_stack_deinit(struct ep_stack *stack);

#endif
