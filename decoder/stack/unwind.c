/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind.c: libdwfl's unwinder with our own modules, files and memory: a file is used only when its
 * build-id is the process's, and memory that the core does not hold is a fault with an address,
 * never the bytes of another segment (libdwfl's own core reader goes by p_memsz).
 */
#include "decoder/stack/unwind.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "coredump/util/alloc.h"
#include "coredump/snapshot/redacted.h"
#include "decoder/code/callsite.h"
#include "decoder/names/module_file.h"
#include "decoder/names/modules.h"
#include "decoder/stack/unwind_code.h"
#include "decoder/stack/signal_frame.h"

/* DWARF register numbers (psABI x86-64, figure 3.36). */
#define REGISTER_RSP   7
#define REGISTER_RIP   16
#define REGISTER_COUNT 17

#define ADDRESS_BITS 47 /* of a process: psABI x86-64, figure 3.4 */

struct module {
	struct ep_unwinder *unwinder;
	const struct ep_trace_module *facts;
	struct ep_module_file file;
	void *memory; /* behind its image, when there is one */
	struct ep_unwind_hook hook;
	bool asked;    /* for its file */
	bool has_file; /* or an image */
};

struct ep_unwinder {
	struct ep_source *source;
	const struct ep_names_options *options;
	struct ep_trace_module *facts;
	struct module *modules; /* beside the facts */
	size_t count;
	Dwfl *dwfl;
	Elf *core;
	int core_fd;
	const struct ep_trace_stack *taken; /* by the threads themselves */
	size_t taken_count;
	bool prefer_taken;
	/* of the stack being unwound */
	const struct ep_trace_stack *from; /* NULL: the core */
	struct ep_source_thread made;      /* of it, and its note: */
	struct elf_prstatus status;
	const struct ep_source_thread *thread;
	struct ep_stack *stack;
	size_t room, limit;
	bool no_memory, limited;
	size_t own;                     /* frames that were left by hand, and libdwfl does not
					   see */
	bool astray;                    /* the last frame is where no code can be */
	size_t base;                    /* frames before those of this run of libdwfl's */
	struct ep_signal_frame resumed; /* and where it began; context 0: with
					   the thread's registers */
	int fault;                      /* EP_E_ since the last frame, 0 none */
	uint64_t fault_address;
};

/* ---- modules ---- */

static int keep_file(int fd, const char *path, char **file_name)
{
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy >= 0 && path)
		*file_name = strdup(path); /* libdwfl frees both */
	return copy;
}

static int find_elf(Dwfl_Module *dwfl_module, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	struct module *module = *userdata;
	int fd = -1;

	(void)dwfl_module;
	(void)name;
	(void)base;
	if (!module || module->asked)
		return -1;
	module->asked = true;
	if (!(module->facts->flags & EP_MODULE_VDSO)) {
		ep_module_file_open(&module->file, module->facts, module->unwinder->options);
		fd = keep_file(module->file.fd, module->file.path, file_name);
		ep_unwind_hook_find(&module->hook, module->file.elf);
		ep_unwind_hook_find(&module->hook, module->file.debug);
	}
	if (fd < 0)
		*elf = ep_module_image(module->facts, module->unwinder->source, &module->memory);
	module->has_file = fd >= 0 || *elf;
	return fd;
}

static int find_debuginfo(Dwfl_Module *dwfl_module, void **userdata, const char *name,
			  Dwarf_Addr base, const char *file_name, const char *link, GElf_Word crc,
			  char **debug_name)
{
	struct module *module = *userdata;

	(void)dwfl_module;
	(void)name;
	(void)base;
	(void)file_name;
	(void)link;
	(void)crc;
	if (!module || !module->asked)
		return -1;
	return keep_file(module->file.debug_fd, module->file.debug_path, debug_name);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static int report_modules(struct ep_unwinder *unwinder, struct ep_err *err)
{
	uint64_t end = 0;

	dwfl_report_begin(unwinder->dwfl);
	for (size_t i = 0; i < unwinder->count; i++) {
		struct ep_trace_module *facts = &unwinder->facts[i];
		struct module *module = &unwinder->modules[i];
		Dwfl_Module *dwfl_module;
		void **userdata;

		*module = (struct module){
			.unwinder = unwinder, .facts = facts, .file = {.fd = -1, .debug_fd = -1}};
		/* libdwfl wants them apart. */
		if (facts->start < end || facts->end <= facts->start)
			continue;
		dwfl_module =
			dwfl_report_module(unwinder->dwfl, facts->path, facts->start, facts->end);
		if (!dwfl_module)
			continue;
		end = facts->end;
		dwfl_module_info(dwfl_module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
		*userdata = module;
	}
	if (dwfl_report_end(unwinder->dwfl, NULL, NULL) != 0)
		return ep_fail(err, EP_E_CORRUPT, 0, "unwinder: %s", dwfl_errmsg(-1));
	return EP_OK;
}

static const struct module *module_at(const struct ep_unwinder *unwinder, uint64_t address)
{
	for (size_t i = 0; i < unwinder->count; i++)
		if (address >= unwinder->facts[i].start && address < unwinder->facts[i].end)
			return &unwinder->modules[i];
	return NULL;
}

/* ---- the process, for libdwfl ---- */

static const struct ep_source_thread *thread_of(const struct ep_unwinder *unwinder, uint32_t tid)
{
	size_t count;
	const struct ep_source_thread *list = ep_source_threads(unwinder->source, &count);

	for (size_t i = 0; i < count; i++)
		if (list[i].tid == tid)
			return &list[i];
	return NULL;
}

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
static bool take_registers(const struct ep_source_thread *thread, Dwarf_Word out[REGISTER_COUNT])
{
	/* Indices into the kernel's user_regs_struct. */
	static const uint8_t order[REGISTER_COUNT] = {
		10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16,
	};
	size_t at = offsetof(struct elf_prstatus, pr_reg);
	uint64_t registers[ELF_NGREG];

	if (!thread->prstatus || thread->prstatus_size < at + sizeof(registers))
		return false;
	memcpy(registers, thread->prstatus + at, sizeof(registers));
	for (size_t i = 0; i < REGISTER_COUNT; i++)
		out[i] = registers[order[i]];
	return true;
}

/* A call through a bad pointer leaves pc where no code is, and the caller's address on the stack:
 * no unwind information can know that, the fault does. */
static bool called_nowhere(const struct ep_unwinder *unwinder, uint64_t pc)
{
	struct ep_death death;

	if (module_at(unwinder, pc))
		return false;
	if (unwinder->resumed.context)
		return pc < 4096 || unwinder->resumed.fetched == pc;
	ep_source_death(unwinder->source, &death);
	return pc < 4096 || (death.signal == SIGSEGV && death.has_siginfo &&
			     death.tid == unwinder->thread->tid && death.address == pc);
}

/* A snapshot does not have all segments, but all modules. */
static bool is_nowhere(const struct ep_unwinder *unwinder, uint64_t pc)
{
	size_t count;
	const struct ep_segment *list = ep_source_segments(unwinder->source, &count);

	for (size_t i = 0; i < count; i++)
		if (pc >= list[i].address && pc - list[i].address < list[i].memory_size)
			return !(list[i].flags & PF_X);
	return !module_at(unwinder, pc);
}

static bool add_frame(struct ep_unwinder *unwinder, uint64_t pc, uint64_t sp, bool activation)
{
	struct ep_stack *stack = unwinder->stack;
	struct ep_frame *grown;

	unwinder->limited = stack->count >= unwinder->limit;
	if (unwinder->limited)
		return false;
	if (stack->count == unwinder->room) {
		unwinder->room = unwinder->room ? 2 * unwinder->room : 64;
		grown = realloc(stack->frames, unwinder->room * sizeof(*grown));
		unwinder->no_memory = !grown;
		if (!grown)
			return false;
		stack->frames = grown;
	}
	stack->frames[stack->count++] = (struct ep_frame){
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
	       ep_unwind_code(unwinder->dwfl, address, code, size);
}

/* A `ret` that took its address from a stack that was overwritten leaves it below the stack
 * pointer, where a call leaves nothing. Zero lies everywhere.
 */
static bool was_return(struct ep_unwinder *unwinder, uint64_t pc, uint64_t sp, uint64_t caller)
{
	uint8_t code[EP_CALLSITE_SIZE];
	Dwarf_Word below;

	return pc && memory_read(unwinder->dwfl, sp - sizeof(below), &below, unwinder) &&
	       below == pc && code_read(unwinder, caller - sizeof(code), code, sizeof(code)) &&
	       ep_callsite_look(code, sizeof(code), caller, pc) != EP_CALLSITE_INDIRECT;
}

/* Leaves the frame of a call to nowhere, as `ret` would. */
static void return_by_hand(struct ep_unwinder *unwinder, Dwarf_Word registers[REGISTER_COUNT])
{
	Dwarf_Word caller;

	if (!memory_read(unwinder->dwfl, registers[REGISTER_RSP], &caller, unwinder) ||
	    !module_at(unwinder, caller - 1))
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

/* libdwfl asks for a module's file when it wants it. */
static bool file_opened(struct ep_unwinder *unwinder, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, pc);
	GElf_Addr bias;

	return module && dwfl_module_getelf(module, &bias);
}

/*
 * The hook of the return is called behind the epilogue, where gcc still has it that registers lie
 * below the stack pointer, as nothing but `ret` was to come; the call has written over the first of
 * them. All of them are back in their places by then, so the function is left as `ret` would.
 */
static void leave_hook(struct ep_unwinder *unwinder, Dwarf_Word registers[REGISTER_COUNT])
{
	uint64_t pc = registers[REGISTER_RIP];
	const struct module *module = module_at(unwinder, pc);
	Dwarf_Word cfa, hooked, caller;

	if (!module || !file_opened(unwinder, pc) ||
	    !ep_unwind_hook_cfa(unwinder->dwfl, &module->hook, pc, registers[REGISTER_RSP], &cfa) ||
	    !memory_read(unwinder->dwfl, cfa - 8, &hooked, unwinder) ||
	    !memory_read(unwinder->dwfl, cfa, &caller, unwinder) ||
	    !module_at(unwinder, hooked - 1) || !module_at(unwinder, caller - 1) ||
	    !add_frame(unwinder, pc, registers[REGISTER_RSP], true))
		return;
	unwinder->own = 1;
	if (!add_frame(unwinder, hooked, cfa, false))
		return;
	unwinder->own = 2;
	registers[REGISTER_RIP] = caller;
	registers[REGISTER_RSP] = cfa + 8;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
	struct ep_unwinder *unwinder = context;
	struct ep_source_thread interrupted = ep_signal_frame_thread(&unwinder->resumed, 0);
	Dwarf_Word registers[REGISTER_COUNT];

	if (!take_registers(unwinder->resumed.context ? &interrupted : unwinder->thread, registers))
		return false;
	if (called_nowhere(unwinder, registers[REGISTER_RIP]))
		return_by_hand(unwinder, registers);
	else
		leave_hook(unwinder, registers);
	return dwfl_thread_state_registers(thread, 0, REGISTER_COUNT, registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

/* ---- stacks ---- */

static bool has_frame(Dwarf_CFI *cfi, uint64_t address)
{
	Dwarf_Frame *frame;

	if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame) != 0)
		return false;
	free(frame);
	return true;
}

/* Does unwind information say where the caller of this frame is? If not, libdwfl follows %rbp. */
static bool has_unwind_information(const struct ep_unwinder *unwinder, const struct ep_frame *frame)
{
	uint64_t pc = frame->activation ? frame->pc : frame->pc - 1;
	Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, pc);
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;

	if (!module)
		return false;
	cfi = dwfl_module_eh_cfi(module, &bias);
	if (has_frame(cfi, pc - bias))
		return true;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	return has_frame(cfi, pc - bias);
}

static int take_frame(Dwfl_Frame *frame, void *context)
{
	struct ep_unwinder *unwinder = context;
	struct ep_stack *stack = unwinder->stack;
	size_t own = unwinder->base + unwinder->own;
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
	if (unwinder->own && stack->count == own)
		activation = false;
	if (!add_frame(unwinder, pc, sp, activation))
		return DWARF_CB_ABORT;
	/* Nothing is known of what is outside of it. */
	unwinder->astray |= pc >> ADDRESS_BITS != 0;
	if (unwinder->astray)
		return DWARF_CB_ABORT;
	if (stack->count > own + 1)
		stack->frames[stack->count - 1].guessed =
			!has_unwind_information(unwinder, &stack->frames[stack->count - 2]);
	return DWARF_CB_OK;
}

/* ---- signal frames ---- */

/* libdwfl takes both a signal frame and what was interrupted for activations. */
static void mark_signals(struct ep_unwinder *unwinder)
{
	struct ep_stack *stack = unwinder->stack;
	struct ep_signal_frame signal;

	for (size_t i = 1; i < stack->count; i++) {
		struct ep_frame *frame = &stack->frames[i], *next = frame + 1;

		frame->signal = frame->activation && !frame[-1].signal;
		if (frame->signal && !unwinder->from &&
		    ep_signal_frame_read(&signal, unwinder->source, frame->sp) == EP_OK &&
		    (i + 1 == stack->count || (next->pc == signal.pc && next->sp == signal.sp)))
			frame->context = frame->sp;
	}
}

/* Where libdwfl does not come through a signal frame: no unwind information is behind the handler's
 * return address, or the signal came where no code is. */
static bool resume(struct ep_unwinder *unwinder)
{
	struct ep_stack *stack = unwinder->stack;
	struct ep_signal_frame signal;
	struct ep_frame *last;
	bool nowhere;

	if (unwinder->from || stack->count < 2 || unwinder->limited)
		return false;
	last = &stack->frames[stack->count - 1];
	nowhere = last[-1].context && !module_at(unwinder, last->pc);
	if (ep_signal_frame_read(&signal, unwinder->source,
				 nowhere ? last[-1].context : last->sp) ||
	    signal.context == unwinder->resumed.context)
		return false;
	if (nowhere)
		stack->count--;
	else
		last->signal = last->activation = true;
	unwinder->resumed = signal;
	unwinder->base = stack->count;
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
	const struct module *module;

	if (unwinder->limited)
		return EP_STACK_LIMIT;
	if (!stack->count)
		return unwinder->fault ? EP_STACK_UNSAVED : EP_STACK_REGISTERS;
	if (stack->frames[stack->count - 1].nowhere)
		return EP_STACK_NOWHERE;
	module = module_at(unwinder, last_pc(stack));
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
	const struct module *module = stack->count ? module_at(unwinder, pc) : NULL;
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
	for (size_t i = 0; i < unwinder->count; i++)
		if (unwinder->modules[i].file.unanswered) {
			*module = ep_path_base(unwinder->facts[i].path);
			return unwinder->modules[i].file.unanswered;
		}
	return NULL;
}

void ep_unwinder_prefer_taken(struct ep_unwinder *unwinder, bool prefer)
{
	unwinder->prefer_taken = prefer;
}

/* Chooses where the thread's registers and stack come from. */
static void choose_thread(struct ep_unwinder *unwinder, uint32_t tid)
{
	const struct ep_trace_stack *from = NULL;

	unwinder->thread = thread_of(unwinder, tid);
	if (unwinder->thread && !unwinder->thread->has_registers)
		unwinder->thread = NULL;
	unwinder->from = NULL;
	if (unwinder->thread && !unwinder->prefer_taken)
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

int ep_unwind(struct ep_unwinder *unwinder, uint32_t tid, size_t limit, struct ep_stack *out,
	      struct ep_err *err)
{
	struct ep_stack stack = {0};
	const char *message = NULL;
	int result;

	choose_thread(unwinder, tid);
	if (!unwinder->thread)
		return EP_END;
	unwinder->stack = &stack;
	unwinder->limit = limit;
	unwinder->room = 0;
	unwinder->fault = 0;
	unwinder->no_memory = unwinder->limited = false;
	unwinder->own = 0;
	unwinder->astray = false;
	unwinder->base = 0;
	unwinder->resumed.context = 0;
	do {
		result = dwfl_getthread_frames(unwinder->dwfl, (pid_t)tid, take_frame, unwinder);
		message = result ? dwfl_errmsg(-1) : NULL;
		mark_signals(unwinder);
	} while (!unwinder->no_memory && resume(unwinder));
	if (unwinder->no_memory) {
		ep_stack_deinit(&stack);
		return ep_fail(err, EP_E_MEMORY, 0, "unwinder: out of memory");
	}
	stack.complete = result == 0 && unwinder->fault == 0;
	if (!stack.complete) {
		stack.end = end_of(unwinder, &stack);
		explain(unwinder, &stack, message ? message : "no reason told");
	}
	*out = stack;
	return EP_OK;
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
	if (!unwinder->core || !dwfl_attach_state(unwinder->dwfl, unwinder->core, pid > 0 ? pid : 1,
						  &thread_callbacks, unwinder))
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
			       "stacks need a core: a live process is not "
			       "stopped");
	unwinder = calloc(1, sizeof(*unwinder));
	if (!unwinder)
		return ep_fail(err, EP_E_MEMORY, 0, "unwinder: out of memory");
	unwinder->core_fd = -1;
	unwinder->source = source;
	unwinder->options = options;
	unwinder->facts = ep_modules_from_source(&unwinder->count, source, trace);
	unwinder->modules = ep_calloc(unwinder->count, sizeof(*unwinder->modules));
	unwinder->dwfl = dwfl_begin(&callbacks);
	code = unwinder->dwfl ? report_modules(unwinder, err)
			      : ep_fail(err, EP_E_MEMORY, 0, "unwinder: out of memory");
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
	if (unwinder->dwfl)
		dwfl_end(unwinder->dwfl);
	elf_end(unwinder->core);
	if (unwinder->core_fd >= 0)
		close(unwinder->core_fd);
	for (size_t i = 0; unwinder->modules && i < unwinder->count; i++) {
		ep_module_file_close(&unwinder->modules[i].file);
		free(unwinder->modules[i].memory);
	}
	free(unwinder->modules);
	free(unwinder->facts);
	free(unwinder);
}
