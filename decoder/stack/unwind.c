/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind.c: libdwfl's unwinder with our own modules, files and memory: memory that the core does
 * not hold is a fault with an address, never the bytes of another segment (libdwfl's own core
 * reader goes by p_memsz).
 */
#include "decoder/stack/unwind.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/snapshot/redacted.h"
#include "decoder/code/callsite.h"
#include "decoder/stack/signal_frame.h"
#include "decoder/stack/unwind_modules.h"

/* DWARF register numbers (psABI x86-64, figure 3.36). */
#define REGISTER_RSP   7
#define REGISTER_RIP   16
#define REGISTER_COUNT 17

#define ADDRESS_BITS 47 /* of a process: psABI x86-64, figure 3.4 */

struct ep_unwinder {
	struct ep_source *source;
	struct ep_unwind_modules modules;
	Elf *core;
	int core_fd;
	const struct ep_trace_stack *taken; /* by the threads themselves */
	size_t taken_count;
	/* of the stack being unwound */
	const struct ep_trace_stack *from; /* NULL: the core */
	struct ep_source_thread made;      /* of it, and its note: */
	struct elf_prstatus status;
	const struct ep_source_thread *thread;
	EP_ARRAY(struct ep_frame) frames;
	size_t limit;
	bool limited;
	size_t own;  /* frames that were left by hand, and libdwfl does not see */
	bool astray; /* the last frame is where no code can be */
	bool laid;   /* nobody called from its pc */
	size_t base; /* frames before those of this run of libdwfl's */
	struct ep_signal_frame
		resumed; /* and where it began; context 0: with the thread's registers */
	int fault;       /* EP_E_ since the last frame, 0 none */
	uint64_t fault_address;
	struct ep_frame_registers *wanted; /* of frame wanted_at; NULL: of none */
	size_t wanted_at;
};

/* ---- the process, for libdwfl ---- */

/* Threads are asked for by number only. */
static pid_t next_thread(Dwfl *dwfl, void *context, void **thread_context)
{
	(void)dwfl;
	(void)context;
	(void)thread_context;
	return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread_context)
{
	struct ep_unwinder *unwinder = context;

	(void)dwfl;
	*thread_context = unwinder;
	return unwinder->thread && unwinder->thread->tid == (uint32_t)tid;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *context)
{
	struct ep_unwinder *unwinder = context;
	const struct ep_trace_stack *from = unwinder->from;
	uint64_t value;
	int code;

	(void)dwfl;
	/* Later than the stack was taken, its memory is another. */
	if (from && from->size >= sizeof(value) && address >= from->address &&
	    address - from->address <= from->size - sizeof(value)) {
		memcpy(result, from->bytes + (address - from->address), sizeof(value));
		return true;
	}
	code = ep_source_read(unwinder->source, address, &value, sizeof(value), NULL, NULL);
	if (code != EP_OK) {
		unwinder->fault = code;
		unwinder->fault_address = address;
		return false;
	}
	*result = value;
	return true;
}

/* NT_PRSTATUS in the order of DWARF. */
static bool read_registers(const struct ep_source_thread *thread, Dwarf_Word out[REGISTER_COUNT])
{
	/* Indices into the kernel's user_regs_struct. */
	static const uint8_t order[REGISTER_COUNT] = {
		10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16,
	};
	struct user_regs_struct registers;
	uint64_t values[ELF_NGREG];

	static_assert(sizeof(registers) == sizeof(values), "x86-64");
	if (!ep_thread_registers(thread, &registers))
		return false;
	memcpy(values, &registers, sizeof(values));
	for (size_t i = 0; i < REGISTER_COUNT; i++)
		out[i] = values[order[i]];
	return true;
}

/* A call through a bad pointer leaves pc where no code is, and the caller's address on the stack:
 * no unwind information can know that, the fault does. */
static bool called_nowhere(const struct ep_unwinder *unwinder, uint64_t pc)
{
	struct ep_death death;

	if (ep_unwind_module_at(&unwinder->modules, pc))
		return false;
	if (unwinder->resumed.context)
		return pc < 4096 || unwinder->resumed.fetched == pc;
	ep_source_death(unwinder->source, &death);
	return pc < 4096 || (death.signal == SIGSEGV && death.has_siginfo &&
			     death.tid == unwinder->thread->tid && death.address == pc);
}

/* A snapshot does not have all segments, but all modules; in one that an older runtime wrote no
 * segment is executable, that of the kernel's code neither. */
static bool is_nowhere(const struct ep_unwinder *unwinder, uint64_t pc)
{
	const struct ep_unwind_module *module = ep_unwind_module_at(&unwinder->modules, pc);
	size_t count;
	const struct ep_segment *list = ep_source_segments(unwinder->source, &count);

	if (module && module->facts->flags & EP_MODULE_VDSO)
		return false;
	for (size_t i = 0; i < count; i++)
		if (pc >= list[i].address && pc - list[i].address < list[i].memory_size)
			return !(list[i].flags & PF_X);
	return !module;
}

static bool add_frame(struct ep_unwinder *unwinder, uint64_t pc, uint64_t sp, bool activation)
{
	unwinder->limited = unwinder->frames.count >= unwinder->limit;
	if (unwinder->limited)
		return false;
	*ep_array_add(&unwinder->frames) = (struct ep_frame){
		.pc = pc,
		.sp = sp,
		.activation = activation,
		.nowhere = is_nowhere(unwinder, pc - !activation),
	};
	return true;
}

/* Code that the core did not save is in the module's file. */
static bool code_read(struct ep_unwinder *unwinder, uint64_t address, uint8_t *code, size_t size)
{
	return ep_source_read(unwinder->source, address, code, size, NULL, NULL) == EP_OK ||
	       ep_unwind_code(unwinder->modules.dwfl, address, code, size);
}

/* A `ret` that took its address from a stack that was overwritten leaves it below the stack
 * pointer, where a call leaves nothing. Zero lies everywhere.
 */
static bool was_return(struct ep_unwinder *unwinder, uint64_t pc, uint64_t sp, uint64_t caller)
{
	uint8_t code[EP_CALLSITE_SIZE];
	Dwarf_Word below;

	return pc && memory_read(unwinder->modules.dwfl, sp - sizeof(below), &below, unwinder) &&
	       below == pc && code_read(unwinder, caller - sizeof(code), code, sizeof(code)) &&
	       ep_callsite_look(code, sizeof(code), caller, pc) != EP_CALLSITE_INDIRECT;
}

/* Leaves the frame of a call to nowhere, as `ret` would. */
static void return_by_hand(struct ep_unwinder *unwinder, Dwarf_Word registers[REGISTER_COUNT])
{
	Dwarf_Word caller;

	if (!memory_read(unwinder->modules.dwfl, registers[REGISTER_RSP], &caller, unwinder) ||
	    !ep_unwind_module_at(&unwinder->modules, caller - 1))
		return;
	unwinder->astray =
		was_return(unwinder, registers[REGISTER_RIP], registers[REGISTER_RSP], caller);
	if (unwinder->astray ||
	    !add_frame(unwinder, registers[REGISTER_RIP], registers[REGISTER_RSP], true))
		return;
	registers[REGISTER_RIP] = caller;
	registers[REGISTER_RSP] += 8;
	unwinder->own = 1;
}

/*
 * The hook of the return is called behind the epilogue, where gcc still has it that registers lie
 * below the stack pointer, as nothing but `ret` was to come; the call has written over the first of
 * them. All of them are back in their places by then, so the function is left as `ret` would.
 */
static void leave_hook(struct ep_unwinder *unwinder, Dwarf_Word registers[REGISTER_COUNT])
{
	uint64_t pc = registers[REGISTER_RIP];
	const struct ep_unwind_module *module = ep_unwind_module_opened(&unwinder->modules, pc);
	Dwarf_Word cfa, hooked, caller;

	if (!module ||
	    !ep_unwind_hook_cfa(unwinder->modules.dwfl, &module->hook, pc, registers[REGISTER_RSP],
				&cfa) ||
	    !memory_read(unwinder->modules.dwfl, cfa - 8, &hooked, unwinder) ||
	    !memory_read(unwinder->modules.dwfl, cfa, &caller, unwinder) ||
	    !ep_unwind_module_at(&unwinder->modules, hooked - 1) ||
	    !ep_unwind_module_at(&unwinder->modules, caller - 1) ||
	    !add_frame(unwinder, pc, registers[REGISTER_RSP], true))
		return;
	unwinder->own = 1;
	if (!add_frame(unwinder, hooked, cfa, false))
		return;
	unwinder->own = 2;
	registers[REGISTER_RIP] = caller;
	registers[REGISTER_RSP] = cfa + 8;
}

/* The sled of a return moves the stack pointer in its first instruction; by its unwind information,
 * which is that of a `ret`, it never does. */
static void undo_sled(struct ep_unwinder *unwinder, Dwarf_Word registers[REGISTER_COUNT])
{
	static const uint8_t moved[] = {0x83, 0xc4, 0x80, 0xe8}; /* behind 48 or 4a: sled_code.h */
	uint8_t code[1 + sizeof(moved)];

	if (code_read(unwinder, registers[REGISTER_RIP] + 1 - sizeof(code), code, sizeof(code)) &&
	    (code[0] == 0x48 || code[0] == 0x4a) && memcmp(code + 1, moved, sizeof(moved)) == 0)
		registers[REGISTER_RSP] += 128;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	struct ep_unwinder *unwinder = context;
	struct ep_source_thread interrupted = ep_signal_frame_thread(&unwinder->resumed, 0);
	Dwarf_Word registers[REGISTER_COUNT];

	if (!read_registers(unwinder->resumed.context ? &interrupted : unwinder->thread, registers))
		return false;
	if (called_nowhere(unwinder, registers[REGISTER_RIP]))
		return_by_hand(unwinder, registers);
	else
		leave_hook(unwinder, registers);
	undo_sled(unwinder, registers);
	return dwfl_thread_state_registers(thread, 0, REGISTER_COUNT, registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

/* ---- stacks ---- */

/* The caller of the frame before was found by the frame pointer alone. */
static bool is_guessed(const struct ep_unwinder *unwinder, const struct ep_frame *before)
{
	return !ep_unwind_modules_know(&unwinder->modules,
				       before->activation ? before->pc : before->pc - 1);
}

/*
 * A return address that is a function's first byte, behind no call, was laid on the stack by hand:
 * makecontext does so with what is to run when a fiber's function returns. The stack begins there,
 * and the frame pointer leads from it into the one of who made it.
 */
static bool was_laid(struct ep_unwinder *unwinder, const struct ep_frame *frame)
{
	uint8_t code[EP_CALLSITE_SIZE];

	return !frame->activation && ep_unwind_modules_know(&unwinder->modules, frame->pc) &&
	       !ep_unwind_modules_know(&unwinder->modules, frame->pc - 1) &&
	       code_read(unwinder, frame->pc - sizeof(code), code, sizeof(code)) &&
	       ep_callsite_look(code, sizeof(code), frame->pc, 0) == EP_CALLSITE_NONE;
}

static void take_registers(struct ep_unwinder *unwinder, Dwfl_Frame *frame)
{
	struct ep_frame_registers *out = unwinder->wanted;
	Dwarf_Word value;

	if (!out || unwinder->frames.count != unwinder->wanted_at + 1)
		return;
	for (unsigned i = 0; i < EP_FRAME_REGISTERS; i++) {
		if (dwfl_frame_reg(frame, i, &value) != 0)
			continue;
		out->values[i] = value;
		out->known |= 1u << i;
	}
	/* libdw (0.188) takes rax for a register that a call leaves alone, where it means rbx. */
	if (unwinder->wanted_at > 0 && !unwinder->frames.list[unwinder->wanted_at].activation)
		out->known &= ~1u;
}

static int on_frame(Dwfl_Frame *frame, void *context)
{
	struct ep_unwinder *unwinder = context;
	size_t own = unwinder->base + unwinder->own;
	struct ep_frame *last;
	Dwarf_Word sp = 0;
	Dwarf_Addr pc;
	bool activation;

	/* This looks for the next frame already: what fails here is why there is none. */
	unwinder->fault = 0;
	if (!dwfl_frame_pc(frame, &pc, &activation))
		return DWARF_CB_ABORT;
	if (dwfl_frame_reg(frame, REGISTER_RSP, &sp) != 0)
		sp = 0;
	/* libdwfl takes its first frame for the innermost. */
	if (unwinder->own && unwinder->frames.count == own)
		activation = false;
	if (!add_frame(unwinder, pc, sp, activation))
		return DWARF_CB_ABORT;
	take_registers(unwinder, frame);
	last = &unwinder->frames.list[unwinder->frames.count - 1];
	if (unwinder->frames.count > own + 1)
		last->guessed = is_guessed(unwinder, last - 1);
	/* What the frame pointer alone leads to is no caller where no code is. */
	unwinder->laid = last->guessed && was_laid(unwinder, last - 1);
	if (last->guessed && (last->nowhere || unwinder->laid)) {
		unwinder->frames.count--;
		return DWARF_CB_ABORT;
	}
	/* Nothing is known of what is outside of it. */
	unwinder->astray |= pc >> ADDRESS_BITS != 0;
	return unwinder->astray ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* ---- signal frames ---- */

/* libdwfl takes both a signal frame and what was interrupted for activations. */
static void mark_signals(struct ep_unwinder *unwinder)
{
	size_t count = unwinder->frames.count;
	struct ep_signal_frame signal;

	for (size_t i = 1; i < count; i++) {
		struct ep_frame *frame = &unwinder->frames.list[i], *next = frame + 1;

		frame->signal = frame->activation && !frame[-1].signal;
		if (frame->signal && !unwinder->from &&
		    ep_signal_frame_read(&signal, unwinder->source, frame->sp) == EP_OK &&
		    (i + 1 == count || (next->pc == signal.pc && next->sp == signal.sp)))
			frame->context = frame->sp;
	}
}

/* Where libdwfl does not come through a signal frame: no unwind information is behind the handler's
 * return address, or the signal came where no code is. */
static bool resume(struct ep_unwinder *unwinder)
{
	size_t count = unwinder->frames.count;
	struct ep_signal_frame signal;
	struct ep_frame *last;
	bool nowhere;

	if (unwinder->from || count < 2 || unwinder->limited)
		return false;
	last = &unwinder->frames.list[count - 1];
	nowhere = last[-1].context && !ep_unwind_module_at(&unwinder->modules, last->pc);
	if (ep_signal_frame_read(&signal, unwinder->source,
				 nowhere ? last[-1].context : last->sp) ||
	    signal.context == unwinder->resumed.context)
		return false;
	if (nowhere)
		unwinder->frames.count--;
	else
		last->signal = last->activation = true;
	unwinder->resumed = signal;
	unwinder->base = unwinder->frames.count;
	unwinder->own = 0;
	unwinder->fault = 0;
	return true;
}

static uint64_t last_pc(const struct ep_stack *stack)
{
	const struct ep_frame *last = &stack->frames[stack->count - 1];

	return last->activation ? last->pc : last->pc - 1;
}

static enum ep_stack_end end_of(const struct ep_unwinder *unwinder, const struct ep_stack *stack)
{
	const struct ep_unwind_module *module;

	if (unwinder->limited)
		return EP_STACK_LIMIT;
	if (!stack->count)
		return unwinder->fault ? EP_STACK_UNSAVED : EP_STACK_REGISTERS;
	if (stack->frames[stack->count - 1].nowhere)
		return EP_STACK_NOWHERE;
	module = ep_unwind_module_at(&unwinder->modules, last_pc(stack));
	if (!module || (module->asked && !module->has_file))
		return EP_STACK_UNREADABLE;
	if (unwinder->fault == EP_E_UNMAPPED)
		return EP_STACK_NOWHERE;
	return unwinder->fault ? EP_STACK_UNSAVED : EP_STACK_UNREADABLE;
}

/* Why no frame came after the last one. */
static void explain(const struct ep_unwinder *unwinder, struct ep_stack *stack, const char *message)
{
	uint64_t pc = stack->count ? last_pc(stack) : 0;
	const struct ep_unwind_module *module =
		stack->count ? ep_unwind_module_at(&unwinder->modules, pc) : NULL;
	const char *name = module ? ep_path_base(module->facts->path) : "";
	size_t size = sizeof(stack->why);

	pc += stack->count && !stack->frames[stack->count - 1].activation;
	if (stack->end == EP_STACK_LIMIT)
		snprintf(stack->why, size, "limit of %zu frames reached", unwinder->limit);
	else if (ep_source_redacted(unwinder->source) & EP_REDACTED_STACKS)
		snprintf(stack->why, size, "the stacks were left out when the snapshot was made");
	else if (module && module->asked && !module->has_file)
		snprintf(stack->why, size, "pc 0x%" PRIx64 ": %.200s", pc,
			 module->file.warning[0] ? module->file.warning : "no file of its module");
	else if (unwinder->laid)
		snprintf(stack->why, size,
			 "pc 0x%" PRIx64 " in %s was not called: a stack of makecontext's "
			 "begins there",
			 pc, name);
	else if (stack->count && !module)
		snprintf(stack->why, size, "pc 0x%" PRIx64 " is in no module", pc);
	else if (unwinder->fault)
		snprintf(stack->why, size, "memory at 0x%" PRIx64 ": %s", unwinder->fault_address,
			 ep_error_text(unwinder->fault));
	else if (!stack->count)
		snprintf(stack->why, size, "no registers in the core (%s)", message);
	else
		snprintf(stack->why, size, "no unwind information for pc 0x%" PRIx64 " in %s (%s)",
			 pc, name, message);
}

void ep_unwinder_add_taken(struct ep_unwinder *unwinder, const struct ep_trace_stack *stacks,
			   size_t count)
{
	unwinder->taken = stacks;
	unwinder->taken_count = count;
}

const char *ep_unwinder_unanswered(const struct ep_unwinder *unwinder, const char **module)
{
	const struct ep_unwind_modules *modules = &unwinder->modules;

	for (size_t i = 0; i < modules->count; i++)
		if (modules->list[i].file.unanswered) {
			*module = ep_path_base(modules->facts[i].path);
			return modules->list[i].file.unanswered;
		}
	return NULL;
}

/* Chooses where the thread's registers and stack come from. */
static void choose_thread(struct ep_unwinder *unwinder, uint32_t tid)
{
	const struct ep_trace_stack *from = NULL;

	unwinder->thread = ep_source_thread(unwinder->source, tid);
	if (unwinder->thread && !unwinder->thread->has_registers)
		unwinder->thread = NULL;
	unwinder->from = NULL;
	if (unwinder->thread)
		return;
	for (size_t i = 0; i < unwinder->taken_count; i++)
		if (unwinder->taken[i].tid == tid)
			from = &unwinder->taken[i];
	if (!from)
		return;
	memcpy(unwinder->status.pr_reg, from->registers, sizeof(from->registers));
	unwinder->made = (struct ep_source_thread){
		.tid = tid,
		.has_registers = true,
		.prstatus = (const uint8_t *)&unwinder->status,
		.prstatus_size = sizeof(unwinder->status),
	};
	unwinder->thread = &unwinder->made;
	unwinder->from = from;
}

static void forget_last(struct ep_unwinder *unwinder)
{
	memset(&unwinder->frames, 0, sizeof(unwinder->frames));
	unwinder->fault = 0;
	unwinder->limited = unwinder->astray = unwinder->laid = false;
	unwinder->own = unwinder->base = 0;
	unwinder->resumed.context = 0;
}

bool ep_unwind(struct ep_unwinder *unwinder, uint32_t tid, size_t limit, struct ep_stack *out)
{
	const char *message = NULL;
	int result;

	choose_thread(unwinder, tid);
	if (!unwinder->thread)
		return false;
	forget_last(unwinder);
	unwinder->limit = limit;
	do {
		result = dwfl_getthread_frames(unwinder->modules.dwfl, (pid_t)tid, on_frame,
					       unwinder);
		message = result ? dwfl_errmsg(-1) : NULL;
		mark_signals(unwinder);
	} while (resume(unwinder));
	*out = (struct ep_stack){
		.frames = unwinder->frames.list,
		.count = unwinder->frames.count,
		.complete = result == 0 && unwinder->fault == 0,
	};
	if (!out->complete) {
		out->end = end_of(unwinder, out);
		explain(unwinder, out, message ? message : "no reason told");
	}
	return true;
}

/* A caller's stack pointer is where its call has left it (psABI x86-64, section 3.2.2); where the
 * stack does not tell who that was, unwind information does. */
static void find_cfa(struct ep_unwinder *unwinder, const struct ep_stack *stack, size_t index,
		     struct ep_frame_registers *out)
{
	const struct ep_frame *frame = &stack->frames[index];

	if (stack->count > index + 1) {
		out->outer = frame[1];
		out->cfa = frame[1].sp;
		out->cfa_known = out->cfa != 0;
	} else {
		out->cfa_known =
			ep_unwind_cfa(unwinder->modules.dwfl, frame->pc - !frame->activation,
				      out->values, out->known, &out->cfa);
	}
}

bool ep_unwind_registers(struct ep_unwinder *unwinder, uint32_t tid, size_t index,
			 struct ep_frame_registers *out)
{
	struct ep_stack stack;
	bool done;

	*out = (struct ep_frame_registers){0};
	unwinder->wanted = out;
	unwinder->wanted_at = index;
	done = ep_unwind(unwinder, tid, index + 2, &stack);
	unwinder->wanted = NULL;
	if (!done)
		return false;
	if (stack.count > index)
		find_cfa(unwinder, &stack, index, out);
	ep_stack_deinit(&stack);
	return out->known != 0;
}

void ep_stack_deinit(struct ep_stack *stack)
{
	free(stack->frames);
	*stack = (struct ep_stack){0};
}

/* ---- the whole ---- */

/* libdwfl wants a file to learn the architecture from: the core itself. */
static int attach(struct ep_unwinder *unwinder, struct ep_err *err)
{
	const char *path = ep_source_path(unwinder->source);
	pid_t pid = ep_source_pid(unwinder->source);

	unwinder->core_fd = ep_source_file(unwinder->source);
	if (unwinder->core_fd < 0)
		return ep_fail(err, EP_E_IO, 0, "%s: %m", path);
	elf_version(EV_CURRENT);
	unwinder->core = elf_begin(unwinder->core_fd, ELF_C_READ, NULL);
	if (!unwinder->core || !dwfl_attach_state(unwinder->modules.dwfl, unwinder->core,
						  pid > 0 ? pid : 1, &thread_callbacks, unwinder))
		return ep_fail(err, EP_E_CORRUPT, 0, "%s: unwinder: %s", path, dwfl_errmsg(-1));
	return EP_OK;
}

int ep_unwinder_create(struct ep_unwinder **out, struct ep_source *source,
		       const struct ep_trace *trace, const struct ep_names_options *options,
		       struct ep_err *err)
{
	struct ep_unwinder *unwinder;
	int code;

	if (!ep_source_path(source))
		return ep_fail(err, EP_E_USAGE, 0,
			       "stacks need a core: a live process is not stopped");
	unwinder = ep_calloc(1, sizeof(*unwinder));
	unwinder->core_fd = -1;
	unwinder->source = source;
	code = ep_unwind_modules_init(&unwinder->modules, source, trace, options, err);
	if (code == EP_OK)
		code = attach(unwinder, err);
	if (code != EP_OK) {
		ep_unwinder_destroy(unwinder);
		return code;
	}
	*out = unwinder;
	return EP_OK;
}

void ep_unwinder_destroy(struct ep_unwinder *unwinder)
{
	if (!unwinder)
		return;
	ep_unwind_modules_deinit(&unwinder->modules);
	elf_end(unwinder->core);
	if (unwinder->core_fd >= 0)
		close(unwinder->core_fd);
	free(unwinder);
}
