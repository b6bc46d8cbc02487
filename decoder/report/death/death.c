/* SPDX-License-Identifier: BSD-2-Clause */
/* death.c: signals and codes as sigaction(2) has them; what an address is, by the core's segments,
 * mappings and stack pointers. */
#include "decoder/report/death/death.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "decoder/names/module_file.h"
#include "decoder/code/systemcall.h"
#include "decoder/stack/signal_frame.h"

#define REALTIME_MIN 32 /* the kernel's: signal(7) */
#define REALTIME_MAX 64

/* ---- tables ---- */

static const struct {
	int signal;
	const char *name, *words;
} signals[] = {
	{SIGHUP, "SIGHUP", "hangup"},
	{SIGINT, "SIGINT", "interrupt"},
	{SIGQUIT, "SIGQUIT", "quit, with a core"},
	{SIGILL, "SIGILL", "illegal instruction"},
	{SIGTRAP, "SIGTRAP", "trap"},
	{SIGABRT, "SIGABRT", "abort"},
	{SIGBUS, "SIGBUS", "bus error"},
	{SIGFPE, "SIGFPE", "arithmetic error"},
	{SIGKILL, "SIGKILL", "kill"},
	{SIGUSR1, "SIGUSR1", "user's signal 1"},
	{SIGSEGV, "SIGSEGV", "segmentation fault"},
	{SIGUSR2, "SIGUSR2", "user's signal 2"},
	{SIGPIPE, "SIGPIPE", "nobody reads the pipe"},
	{SIGALRM, "SIGALRM", "alarm"},
	{SIGTERM, "SIGTERM", "terminate"},
	{SIGSTKFLT, "SIGSTKFLT", "stack fault of a coprocessor"},
	{SIGXCPU, "SIGXCPU", "limit of processor time"},
	{SIGXFSZ, "SIGXFSZ", "limit of file size"},
	{SIGVTALRM, "SIGVTALRM", "timer of its own processor time"},
	{SIGPROF, "SIGPROF", "profiling timer"},
	{SIGIO, "SIGIO", "input or output is possible"},
	{SIGPWR, "SIGPWR", "power failure"},
	{SIGSYS, "SIGSYS", "bad system call"},
};

static const struct {
	int signal, code;
	const char *name, *words;
} codes[] = {
	{SIGSEGV, SEGV_MAPERR, "SEGV_MAPERR", "the address is not mapped"},
	{SIGSEGV, SEGV_ACCERR, "SEGV_ACCERR", "the mapping does not allow that access"},
	{SIGSEGV, 3, "SEGV_BNDERR", "out of bounds"},
	{SIGSEGV, 4, "SEGV_PKUERR", "denied by a protection key"},
	{SIGSEGV, 10, "SEGV_CPERR",
	 "a return address that is not the shadow stack's, or a jump to where none may go (CET)"},
	{SIGBUS, BUS_ADRALN, "BUS_ADRALN", "the address is not aligned"},
	{SIGBUS, BUS_ADRERR, "BUS_ADRERR", "no memory is behind the mapping"},
	{SIGBUS, BUS_OBJERR, "BUS_OBJERR", "hardware error"},
	{SIGBUS, 4, "BUS_MCEERR_AR", "broken memory was read"},
	{SIGFPE, FPE_INTDIV, "FPE_INTDIV",
	 "integer division by zero, or a quotient that does not fit"},
	{SIGFPE, FPE_INTOVF, "FPE_INTOVF", "integer overflow"},
	{SIGFPE, FPE_FLTDIV, "FPE_FLTDIV", "floating-point division by zero"},
	{SIGFPE, FPE_FLTOVF, "FPE_FLTOVF", "floating-point overflow"},
	{SIGFPE, FPE_FLTUND, "FPE_FLTUND", "floating-point underflow"},
	{SIGFPE, FPE_FLTRES, "FPE_FLTRES", "floating-point result is inexact"},
	{SIGFPE, FPE_FLTINV, "FPE_FLTINV", "invalid floating-point operation"},
	{SIGILL, ILL_ILLOPC, "ILL_ILLOPC", "illegal opcode"},
	{SIGILL, ILL_ILLOPN, "ILL_ILLOPN", "illegal operand"},
	{SIGILL, ILL_ILLADR, "ILL_ILLADR", "illegal addressing mode"},
	{SIGILL, ILL_ILLTRP, "ILL_ILLTRP", "illegal trap"},
	{SIGILL, ILL_PRVOPC, "ILL_PRVOPC", "privileged opcode"},
	{SIGTRAP, TRAP_BRKPT, "TRAP_BRKPT", "breakpoint"},
	{SIGTRAP, TRAP_TRACE, "TRAP_TRACE", "single step"},
	{SIGTRAP, 4, "TRAP_HWBKPT", "hardware breakpoint"},
	{SIGTRAP, 6, "TRAP_PERF", "an event of perf_event_open was counted"},
	{SIGSYS, 1, "SYS_SECCOMP", "denied by a seccomp filter"},
	{SIGSYS, 2, "SYS_USER_DISPATCH",
	 "handed to the process itself (PR_SET_SYSCALL_USER_DISPATCH)"},
};

const char *ep_death_signal_name(int signal)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signals[i].signal == signal)
			return signals[i].name;
	return NULL;
}

void ep_death_signal_text(char *out, size_t size, int signal)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signals[i].signal == signal) {
			snprintf(out, size, "%s (%s)", signals[i].name, signals[i].words);
			return;
		}
	if (signal >= REALTIME_MIN && signal <= REALTIME_MAX)
		snprintf(out, size, "signal %d (real-time)", signal);
	else
		snprintf(out, size, "signal %d", signal);
}

/* ---- addresses ---- */

/* The thread whose stack pointer lies in this segment; NULL: none. */
static const struct ep_source_thread *stack_owner(const struct ep_source *source,
						  const struct ep_segment *segment)
{
	size_t count;
	const struct ep_source_thread *list = ep_source_threads(source, &count);

	for (size_t i = 0; i < count; i++)
		if (list[i].has_registers && list[i].registers.sp >= segment->address &&
		    list[i].registers.sp - segment->address < segment->memory_size)
			return &list[i];
	return NULL;
}

static const char *access_text(const struct ep_segment *segment)
{
	switch (segment->flags & (PF_R | PF_W | PF_X)) {
	case 0:
		return "no access allowed (a guard page?)";
	case PF_R:
		return "read-only";
	case PF_R | PF_W:
		return "readable and writable, not executable";
	case PF_R | PF_X:
		return "code, not writable";
	case PF_R | PF_W | PF_X:
		return "readable, writable and executable";
	}
	return "of unusual access rights";
}

static void mapped_text(char *out, size_t size, const struct ep_source *source,
			const struct ep_segment *segment, uint64_t address)
{
	const struct ep_mapping *mapping = ep_evidence_mapping(source, address);
	const struct ep_source_thread *owner = stack_owner(source, segment);

	if (mapping)
		snprintf(out, size, "in %s, offset 0x%" PRIx64 ", %s", mapping->path,
			 address - mapping->start + mapping->file_offset, access_text(segment));
	else if (owner)
		snprintf(out, size, "in the stack of thread %" PRIu32 ", %s", owner->tid,
			 access_text(segment));
	else
		snprintf(out, size, "in memory without a file, %s", access_text(segment));
}

/* The nearest thing below, when it is close enough to mean something. */
#define NEAR (UINT64_C(1) << 20)

static void unmapped_text(char *out, size_t size, const struct ep_source *source, uint64_t address)
{
	size_t count;
	const struct ep_segment *list = ep_source_segments(source, &count);
	const struct ep_segment *below = NULL;
	const struct ep_mapping *mapping;
	uint64_t end;

	/* A snapshot has few of the process's segments. */
	if (ep_source_kind(source) == EP_SOURCE_SNAPSHOT)
		count = 0;
	for (size_t i = 0; i < count; i++)
		if (list[i].address + list[i].memory_size <= address)
			below = &list[i];
	end = below ? below->address + below->memory_size : 0;
	if (!below || address - end >= NEAR) {
		snprintf(out, size, "not mapped");
		return;
	}
	mapping = ep_evidence_mapping(source, end - 1);
	snprintf(out, size, "not mapped, %" PRIu64 " bytes above the end of %s", address - end,
		 mapping ? mapping->path : "memory without a file");
}

void ep_death_place_text(char *out, size_t size, const struct ep_source *source, uint64_t address,
			 bool mapped)
{
	const struct ep_segment *segment = ep_evidence_segment(source, address);
	const struct ep_mapping *mapping = ep_evidence_mapping(source, address);

	if (segment)
		mapped_text(out, size, source, segment, address);
	else if (mapping)
		snprintf(out, size, "in %s, offset 0x%" PRIx64, mapping->path,
			 address - mapping->start + mapping->file_offset);
	else if (mapped)
		snprintf(out, size, "in memory without a file");
	else
		unmapped_text(out, size, source, address);
}

/* ---- senders ---- */

/* What the kernel sends, by signal(7), setrlimit(2), setitimer(2), tty_io.c. It names the process
 * itself as the sender of some (kernel/signal.c, SEND_SIG_NOINFO). */
static const struct {
	int signal, code;
	const char *words;
} by_kernel[] = {
	{SIGPIPE, SI_USER, "it wrote to a pipe or socket that nobody reads"},
	{SIGXFSZ, SI_USER, "it wrote beyond its limit of file size (RLIMIT_FSIZE)"},
	{SIGXCPU, SI_KERNEL,
	 "its limit of processor time was reached (RLIMIT_CPU, or RLIMIT_RTTIME)"},
	{SIGALRM, SI_KERNEL, "a timer that it had set ran out (alarm, setitimer)"},
	{SIGVTALRM, SI_KERNEL, "a timer that it had set ran out (setitimer)"},
	{SIGPROF, SI_KERNEL, "a timer that it had set ran out (setitimer)"},
	{SIGINT, SI_KERNEL, "from its terminal (Ctrl-C)"},
	{SIGQUIT, SI_KERNEL, "from its terminal (Ctrl-\\)"},
	{SIGHUP, SI_KERNEL, "its terminal was closed, or hung up"},
	{SIGKILL, SI_KERNEL, "by the kernel: memory ran out, likely"},
};

static const char *kernel_words(const struct ep_source *source, const struct ep_death *death)
{
	pid_t self = ep_source_pid(source);

	if (death->code == SI_USER && (!self || death->sender_pid != (uint32_t)self))
		return NULL;
	for (size_t i = 0; i < sizeof(by_kernel) / sizeof(*by_kernel); i++)
		if (by_kernel[i].signal == death->signal && by_kernel[i].code == death->code)
			return by_kernel[i].words;
	return NULL;
}

static void sender_text(char *out, size_t size, const struct ep_source *source,
			const struct ep_death *death)
{
	pid_t self = ep_source_pid(source);

	if (death->code == SI_TIMER)
		snprintf(out, size, "a timer that it had made ran out (timer_create)");
	else if (death->sender_pid == 0)
		snprintf(out, size, "sent by the kernel, or from another pid namespace");
	else if (self && death->sender_pid == (uint32_t)self && death->signal == SIGABRT)
		snprintf(out, size,
			 "the process aborted itself: abort(), a failed assertion, an uncaught "
			 "exception or a check of the C library");
	else if (self && death->sender_pid == (uint32_t)self)
		snprintf(out, size, "the process sent it to itself");
	else
		snprintf(out, size, "sent by pid %" PRIu32 " of uid %" PRIu32, death->sender_pid,
			 death->sender_uid);
}

static void call_text(char *out, size_t size, uint32_t call)
{
	const char *name = ep_systemcall_name(call);

	snprintf(out, size, "system call %" PRIu32 "%s%s%s", call, name ? " (" : "",
		 name ? name : "", name ? ")" : "");
}

static const char *code_words(const struct ep_death *death, const char **name)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i].signal == death->signal && codes[i].code == death->code) {
			*name = codes[i].name;
			return codes[i].words;
		}
	*name = NULL;
	return NULL;
}

const char *ep_death_code_name(const struct ep_death *death)
{
	/* For any signal: siginfo.h. */
	static const struct {
		int code;
		const char *name;
	} senders[] = {
		{SI_USER, "SI_USER"},   {SI_KERNEL, "SI_KERNEL"}, {SI_QUEUE, "SI_QUEUE"},
		{SI_TIMER, "SI_TIMER"}, {SI_MESGQ, "SI_MESGQ"},   {SI_ASYNCIO, "SI_ASYNCIO"},
		{SI_SIGIO, "SI_SIGIO"}, {SI_TKILL, "SI_TKILL"},
	};
	const char *name;

	code_words(death, &name);
	for (size_t i = 0; !name && i < sizeof(senders) / sizeof(*senders); i++)
		if (senders[i].code == death->code)
			name = senders[i].name;
	return name;
}

bool ep_death_has_address(const struct ep_death *death)
{
	return (death->signal == SIGSEGV || death->signal == SIGBUS) && death->code > 0 &&
	       death->code != SI_KERNEL;
}

void ep_death_cause_text(char *out, size_t size, const struct ep_evidence *evidence,
			 const struct ep_death *death, const struct ep_source_thread *thread,
			 struct ep_fault *fault)
{
	const struct ep_source *source = evidence->source;
	const char *name, *words;
	char call[128] = "";

	*fault = (struct ep_fault){0};
	out[0] = '\0';
	if (!death->has_siginfo) {
		snprintf(out, size, "the core does not say why (no siginfo)");
		return;
	}
	if (kernel_words(source, death)) {
		snprintf(out, size, "%s", kernel_words(source, death));
		return;
	}
	if (death->code <= 0) {
		sender_text(out, size, source, death);
		return;
	}
	if (ep_signal_of_fault(death->signal)) {
		ep_fault_explain(fault, evidence, death, thread);
		snprintf(out, size, "%s", fault->text);
		return;
	}
	words = code_words(death, &name);
	if (death->signal == SIGSYS && words)
		call_text(call, sizeof(call), death->call);
	if (death->code == SI_KERNEL)
		snprintf(out, size, "sent by the kernel");
	else if (words)
		snprintf(out, size, "%s%s%s (%s)", call, *call ? "; " : "", words, name);
	else
		snprintf(out, size, "code %d", death->code);
}

const char *ep_death_code_words(const struct ep_death *death)
{
	const char *name;

	return code_words(death, &name);
}

const char *ep_death_quoted(uint64_t address, char out[16])
{
	char text[9] = "";
	size_t length = 0;

	memcpy(text, &address, sizeof(address));
	while (length < 8 && text[length] >= ' ' && text[length] <= '~')
		length++;
	out[0] = '\0';
	/* Zeroes may be behind it, nothing else. */
	if (length >= 2 && (length == 8 || !(address >> 8 * length)))
		snprintf(out, 16, " (\"%.8s\")", text);
	return out;
}
