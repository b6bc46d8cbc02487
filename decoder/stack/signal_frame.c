/* SPDX-License-Identifier: BSD-2-Clause */
/* signal_frame.c: signal frames by their looks. Nothing of it is believed that does not agree with
 * the rest: a stack is full of what once was true. */
#include "decoder/stack/signal_frame.h"

#include <signal.h>
#include <string.h>
#include <sys/ucontext.h>

#define USER_CS  0x33
#define UC_FLAGS 0xf /* UC_FP_XSTATE … UC_STRICT_RESTORE_SS */
/* The state of the floating point unit lies above, with AMX 11 KiB of it. */
#define FLOATING_REACH UINT64_C(65536)

#define TRAP_PAGE_FAULT  14
#define ERROR_PROTECTION 1u /* Intel SDM 4.7: else no page is there */

/* As the kernel has it: its mask is 8 bytes. */
struct context {
	uint64_t flags, link;
	struct {
		uint64_t sp;
		uint32_t flags, pad;
		uint64_t size;
	} stack;
	uint64_t registers[NGREG];
	uint64_t floating, reserved[8];
	uint64_t mask;
};
static_assert(sizeof(struct context) == 304, "sigframe.h");

/* What the kernel writes of siginfo; it clears the rest. */
#define INFO_SIZE   128
#define INFO_FILLED 48

/* ---- the registers ---- */

static bool is_context(const struct context *context, uint64_t address)
{
	const uint64_t *registers = context->registers;

	return !(context->flags & ~(uint64_t)UC_FLAGS) && context->link == 0 &&
	       (registers[REG_CSGSFS] & 0xffff) == USER_CS && registers[REG_EFL] & 2 &&
	       registers[REG_EFL] < 1u << 22 && registers[REG_TRAPNO] < 32 &&
	       (context->floating == 0 ||
		(context->floating > address && context->floating - address < FLOATING_REACH));
}

static void copy_registers(struct ep_signal_frame *out, const struct context *context)
{
	static const struct {
		uint8_t from;
		uint16_t to;
	} map[] = {
#define REGISTER(from, to) {REG_##from, offsetof(struct user_regs_struct, to)}
		REGISTER(R8, r8),   REGISTER(R9, r9),      REGISTER(R10, r10), REGISTER(R11, r11),
		REGISTER(R12, r12), REGISTER(R13, r13),    REGISTER(R14, r14), REGISTER(R15, r15),
		REGISTER(RDI, rdi), REGISTER(RSI, rsi),    REGISTER(RBP, rbp), REGISTER(RBX, rbx),
		REGISTER(RDX, rdx), REGISTER(RAX, rax),    REGISTER(RCX, rcx), REGISTER(RSP, rsp),
		REGISTER(RIP, rip), REGISTER(EFL, eflags),
#undef REGISTER
	};
	char *to = (char *)&out->status.pr_reg;
	uint64_t none = UINT64_MAX;

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		memcpy(to + map[i].to, &context->registers[map[i].from], 8);
	memcpy(to + offsetof(struct user_regs_struct, orig_rax), &none, 8);
	out->pc = context->registers[REG_RIP];
	out->sp = context->registers[REG_RSP];
	if (context->registers[REG_TRAPNO] == TRAP_PAGE_FAULT &&
	    context->registers[REG_CR2] == out->pc)
		out->fetched = out->pc;
}

static int context_read(struct context *out, struct ep_source *source, uint64_t address)
{
	return ep_source_read(source, address, out, sizeof(*out), NULL, NULL) == EP_OK &&
			       is_context(out, address)
		       ? EP_OK
		       : EP_END;
}

int ep_signal_frame_read(struct ep_signal_frame *out, struct ep_source *source, uint64_t address)
{
	struct context context;

	if (context_read(&context, source, address))
		return EP_END;
	memset(out, 0, sizeof(*out));
	out->context = address;
	copy_registers(out, &context);
	return EP_OK;
}

struct ep_source_thread ep_signal_frame_thread(const struct ep_signal_frame *frame, uint32_t tid)
{
	struct user_regs_struct registers;

	memcpy(&registers, &frame->status.pr_reg, sizeof(registers));
	return (struct ep_source_thread){
		.tid = tid,
		.has_registers = true,
		.registers = {registers.rip, registers.rsp, registers.rbp},
		.signal = frame->death.signal,
		.prstatus = (const uint8_t *)&frame->status,
		.prstatus_size = sizeof(frame->status),
	};
}

bool ep_thread_registers(const struct ep_source_thread *thread, struct user_regs_struct *out)
{
	size_t at = offsetof(struct elf_prstatus, pr_reg);

	if (!thread->prstatus || thread->prstatus_size < at + sizeof(*out))
		return false;
	memcpy(out, thread->prstatus + at, sizeof(*out));
	return true;
}

/* ---- what the kernel wrote of it ---- */

static void parse_info(struct ep_death *death, const uint8_t *bytes)
{
	int32_t words[8];

	memcpy(words, bytes, sizeof(words));
	death->signal = words[0];
	death->error = words[1];
	death->code = words[2];
	death->has_siginfo = true;
	if (death->code > 0) {
		memcpy(&death->address, bytes + 16, 8);
		return;
	}
	death->sender_pid = (uint32_t)words[4];
	death->sender_uid = (uint32_t)words[5];
}

/* Does the signal come of that trap? arch/x86/kernel/traps.c, mm/fault.c. */
static bool is_of_trap(const struct ep_death *death, const struct context *context)
{
	static const struct {
		uint8_t trap;
		int signals[2];
	} traps[] = {
		{0, {SIGFPE}},   {1, {SIGTRAP}},          {3, {SIGTRAP}},
		{4, {SIGSEGV}},  {5, {SIGSEGV}},          {6, {SIGILL}},
		{10, {SIGSEGV}}, {11, {SIGBUS, SIGSEGV}}, {12, {SIGBUS, SIGSEGV}},
		{13, {SIGSEGV}}, {14, {SIGSEGV, SIGBUS}}, {16, {SIGFPE}},
		{17, {SIGBUS}},  {19, {SIGFPE}},          {21, {SIGSEGV}},
	};
	uint64_t trap = context->registers[REG_TRAPNO];

	for (size_t i = 0; i < sizeof(traps) / sizeof(traps[0]); i++)
		if (traps[i].trap == trap &&
		    (traps[i].signals[0] == death->signal || traps[i].signals[1] == death->signal))
			return trap != TRAP_PAGE_FAULT || death->code == SI_KERNEL ||
			       death->address == context->registers[REG_CR2];
	return false;
}

bool ep_signal_of_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
	       signal == SIGTRAP;
}

/* Was it written for this signal? */
static bool is_info(const struct ep_death *death, const uint8_t *bytes,
		    const struct context *context)
{
	uint32_t pad;

	for (size_t i = INFO_FILLED; i < INFO_SIZE; i++)
		if (bytes[i])
			return false;
	memcpy(&pad, bytes + 12, 4);
	if (pad || death->signal < 1 || death->signal > 64 || death->error < 0)
		return false;
	return death->code <= 0 ? death->code > -64 && death->sender_pid < 1u << 22
	       : ep_signal_of_fault(death->signal) ? is_of_trap(death, context)
						   : true;
}

/* ---- what the registers say of it ---- */

/* x86 leaves the address behind a system call in rcx, and the flags in r11. */
static bool is_system_call(const struct context *context)
{
	const uint64_t *registers = context->registers;

	return registers[REG_RCX] == registers[REG_RIP] &&
	       registers[REG_R11] == (registers[REG_EFL] & ~UINT64_C(0x10000));
}

/* tgkill(pid, tid, signal), which raise and abort call; kill(pid, signal). */
static void explain_sent(struct ep_death *death, const struct context *context, uint32_t pid,
			 uint32_t tid)
{
	const uint64_t *registers = context->registers;
	uint64_t first = registers[REG_RDI], second = registers[REG_RSI];
	uint64_t third = registers[REG_RDX];

	if (!pid || first != pid || registers[REG_RAX] != 0)
		return;
	if (second == tid && third > 0 && third <= 64) {
		death->signal = (int)third;
		death->code = SI_TKILL;
	} else if (second > 0 && second <= 64) {
		death->signal = (int)second;
		death->code = SI_USER;
	}
	death->has_siginfo = death->signal != 0;
	death->sender_pid = pid;
}

static size_t code_read(struct ep_source *source, struct ep_names *names, struct ep_names *others,
			uint64_t pc, uint8_t *out, size_t size)
{
	size_t got = 0;

	ep_source_read(source, pc, out, size, &got, NULL);
	if (got < size && names)
		got = ep_names_code(names, pc, out, size);
	if (got < size && others)
		got = ep_names_code(others, pc, out, size);
	return got;
}

/* div and idiv: F6 and F7, /6 and /7 (Intel SDM 2). */
static bool is_division(const uint8_t *code, size_t size)
{
	size_t i = 0;

	while (i < size && (code[i] == 0x66 || (code[i] & 0xf0) == 0x40))
		i++;
	return i + 1 < size && (code[i] & 0xfe) == 0xf6 && (code[i + 1] & 0x30) == 0x30;
}

static bool is_of_file(const struct ep_source *source, uint64_t address)
{
	size_t count;
	const struct ep_mapping *list = ep_source_mappings(source, &count);

	for (size_t i = 0; i < count; i++)
		if (address >= list[i].start && address < list[i].end)
			return true;
	return false;
}

/* A trap is remembered until the next: of those that leave no trace in the registers only a page
 * fault is taken for the cause. */
static void explain_trap(struct ep_death *death, struct ep_source *source,
			 const struct context *context, const uint8_t *code, size_t size)
{
	const uint64_t *registers = context->registers;
	bool denied = registers[REG_ERR] & ERROR_PROTECTION;

	switch (registers[REG_TRAPNO]) {
	case 0:
		if (!is_division(code, size))
			return;
		death->signal = SIGFPE;
		death->code = FPE_INTDIV;
		death->address = registers[REG_RIP];
		break;
	case 6:
		death->signal = SIGILL;
		death->code = ILL_ILLOPN;
		death->address = registers[REG_RIP];
		break;
	case 13:
		death->signal = SIGSEGV;
		death->code = SI_KERNEL;
		break;
	case TRAP_PAGE_FAULT:
		death->signal = SIGSEGV;
		death->code = denied ? SEGV_ACCERR : SEGV_MAPERR;
		death->address = registers[REG_CR2];
		/* Mapped, and no memory came. */
		if (!denied && is_of_file(source, death->address)) {
			death->signal = SIGBUS;
			death->code = BUS_ADRERR;
		}
		break;
	default:
		return;
	}
	death->has_siginfo = true;
}

void ep_signal_frame_explain(struct ep_signal_frame *frame, struct ep_source *source,
			     struct ep_names *names, struct ep_names *others, uint32_t tid)
{
	uint8_t bytes[INFO_SIZE], code[8];
	struct context context;
	struct ep_death written = {.tid = tid}, found = written;
	size_t size;

	frame->death = written;
	if (context_read(&context, source, frame->context))
		return;
	if (ep_source_read(source, frame->context + sizeof(context), bytes, sizeof(bytes), NULL,
			   NULL) == EP_OK)
		parse_info(&written, bytes);
	if (written.has_siginfo && is_info(&written, bytes, &context)) {
		frame->death = written;
		return;
	}
	size = code_read(source, names, others, frame->pc, code, sizeof(code));
	if (is_system_call(&context))
		explain_sent(&found, &context, (uint32_t)ep_source_pid(source), tid);
	else
		explain_trap(&found, source, &context, code, size);
	frame->death = found;
}

bool ep_signal_is_first(const struct ep_death *death)
{
	static const int dumps[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGFPE,
				    SIGSEGV, SIGBUS, SIGSYS,  SIGXCPU, SIGXFSZ};

	/* Debuggers and snapshots are asked for by it. */
	if (death->signal == SIGTRAP && death->code <= 0)
		return false;
	for (size_t i = 0; i < sizeof(dumps) / sizeof(dumps[0]); i++)
		if (death->signal == dumps[i])
			return true;
	return false;
}
