/* SPDX-License-Identifier: BSD-2-Clause */
/* fault.c: arch/x86/kernel/traps.c and arch/x86/mm/fault.c of Linux say which exception becomes
 * which signal and code; of a general protection fault neither the address nor the reason is in a
 * core. */
#include "decoder/report/death/fault.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

#include "coredump/snapshot/redacted.h"
#include "decoder/code/effects.h"
#include "decoder/code/instruction.h"
#include "decoder/code/systemcall.h"
#include "decoder/report/death/death.h"
#include "decoder/report/death/overflow.h"

#define NULL_PAGES UINT64_C(65536) /* vm.mmap_min_addr's usual value */
#define PAGE       UINT64_C(4096)
#define VSYSCALL   UINT64_C(0xffffffffff600000)
#define FRAME_MOST UINT64_C(65536) /* of a handler's frame: AMX has 11 KiB */
#define RED_ZONE   128u            /* psABI 3.2.2 */
#define FRAME_ROOM 4096u /* where AT_MINSIGSTKSZ does not say how large a signal's frame is */
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* What is looked at. */
struct look {
	struct ep_fault *out;
	const struct ep_evidence *evidence;
	struct ep_source *source;
	const struct ep_death *death;
	const struct ep_source_thread *thread; /* NULL, or with registers */
	bool has_all;                          /* registers, not pc and sp only */
	struct user_regs_struct registers;
	uint8_t code[EP_INSTRUCTION_MAX];
	size_t code_size;
	bool decoded;
	struct ep_effects effects;
};

static void __attribute__((format(printf, 4, 5)))
settle(struct look *look, const char *kind, bool likely, const char *format, ...)
{
	struct ep_fault *out = look->out;
	size_t used = strlen(out->text);
	va_list list;

	out->kind = kind;
	out->likely = likely;
	va_start(list, format);
	vsnprintf(out->text + used, sizeof(out->text) - used, format, list);
	va_end(list);
}

static void about(struct look *look, uint64_t address, const char *access)
{
	look->out->has_address = true;
	look->out->address = address;
	look->out->access = access;
}

/* ---- what is at the pc ---- */

static void look_at_code(struct look *look)
{
	const struct ep_evidence *evidence = look->evidence;
	uint64_t pc = look->thread->registers.pc;
	bool unread;

	/* It may end with its page. */
	for (size_t size = EP_INSTRUCTION_MAX; size && !look->code_size; size--)
		if (ep_evidence_code(evidence, pc, look->code, size))
			look->code_size = size;
	look->decoded =
		look->code_size &&
		ep_effects_read(&look->effects, look->source, pc, look->code, look->code_size,
				look->has_all ? &look->registers : NULL, &unread);
}

/* NULL unknown. */
static const char *way_name(const struct ep_access *access)
{
	return !access ? NULL : access->way == EP_ACCESS_WRITE ? "write" : "read";
}

static const char *way_words(const char *way)
{
	return !way ? "access to" : strcmp(way, "read") == 0 ? "read of" : "write to";
}

/* The access of the instruction that meets `address`. NULL: none does; *unknown: one may. */
static const struct ep_access *access_at(const struct look *look, uint64_t address, bool *unknown)
{
	*unknown = !look->decoded;
	for (unsigned i = 0; look->decoded && i < look->effects.access_count; i++) {
		const struct ep_access *access = &look->effects.accesses[i];

		if (!access->known)
			*unknown = true;
		else if (address - access->address < access->size)
			return access;
	}
	if (look->decoded && *unknown && look->effects.access_count == 1)
		return &look->effects.accesses[0];
	return NULL;
}

/* ---- stacks ---- */

static bool is_stack_overflow(const struct look *look, uint64_t address,
			      const struct ep_access *access)
{
	return look->thread &&
	       ep_stack_overflow(look->evidence, look->thread, look->has_all, address, access);
}

static void say_overflow(struct look *look, uint64_t address)
{
	about(look, address, look->out->access);
	settle(look, "stack-overflow", true,
	       "stack overflow, likely: address 0x%" PRIx64 " is at the stack pointer 0x%" PRIx64
	       ", below the end of the stack",
	       address, look->thread->registers.sp);
}

/* ---- SIGSEGV with an address ---- */

/* It is at the address. */
static void explain_fetch(struct look *look, uint64_t address, const char *place)
{
	uint64_t after = 0;
	bool called = ep_source_read(look->source, look->thread->registers.sp, &after, 8, NULL,
				     NULL) == EP_OK &&
		      ep_was_called_from(look->evidence, after, address);

	about(look, address, "execute");
	if (address < NULL_PAGES)
		settle(look, "null-call", address != 0, "%s (0x%" PRIx64 ")",
		       called ? "call of a null function pointer"
			      : "jump by a null function pointer, likely",
		       address);
	else if (address - VSYSCALL < PAGE)
		settle(look, "bad-jump", false,
		       "jump to 0x%" PRIx64
		       ", into the vsyscall page, where this system has no such call",
		       address);
	else if (address >> 63)
		settle(look, "bad-jump", false,
		       "jump to 0x%" PRIx64 ", where no code is: an address of the kernel",
		       address);
	else if (look->death->code == SEGV_ACCERR)
		settle(look, "not-executable", false, "jump to 0x%" PRIx64 ", where no code is: %s",
		       address, place);
	else
		settle(look, "bad-jump", false, "jump to 0x%" PRIx64 ", where no code is: %s",
		       address, place);
}

static void explain_low(struct look *look, uint64_t address, const struct ep_access *access,
			const char *place)
{
	/* A field of nobody, an element of no array: the pointer itself was zero, or the sum is
	 * small. */
	if (address >= PAGE && access && access->known && access->base && access->base_value)
		settle(look, "wild-pointer", false,
		       "address 0x%" PRIx64 ", a small number in the place of a pointer, %s",
		       address, place);
	else
		settle(look, "null-pointer", true,
		       "null pointer dereference, likely: address 0x%" PRIx64 ", %s", address,
		       place);
}

static void explain_access(struct look *look, uint64_t address, const char *place)
{
	const struct ep_segment *segment = ep_evidence_segment(look->source, address);
	bool unknown;
	const struct ep_access *access = access_at(look, address, &unknown);
	const char *way = way_name(access), *words = way_words(way);
	char quoted[16];

	about(look, address, way);
	ep_death_quoted(address, quoted);
	if (address >> 63 && address - VSYSCALL < PAGE)
		settle(look, "kernel-address", false,
		       "%s address 0x%" PRIx64 ", in the vsyscall page, which can only be called",
		       words, address);
	else if (address >> 63 && access && access->stack)
		settle(look, "stack-pointer", false,
		       "the stack pointer is wild: rsp is 0x%" PRIx64 ", an address of the kernel",
		       access->base_value);
	else if (address >> 63)
		settle(look, "kernel-address", false,
		       "%s address 0x%" PRIx64
		       ", which is the kernel's: a pointer that is none, or a number below zero",
		       words, address);
	else if (is_stack_overflow(look, address, access))
		say_overflow(look, address);
	else if (access && access->stack && access->known &&
		 !(segment && segment->flags & (PF_R | PF_W | PF_X)))
		settle(look, "stack-pointer", false,
		       "the stack pointer is wild: rsp is 0x%" PRIx64 ", and address 0x%" PRIx64
		       "%s is %s",
		       access->base_value, address, quoted, place);
	else if (address < NULL_PAGES && look->death->code == SEGV_MAPERR)
		explain_low(look, address, access, place);
	else if (look->death->code == 4)
		settle(look, "protection-key", false, "%s address 0x%" PRIx64 ", %s", words,
		       address, place);
	else if (segment && !(segment->flags & (PF_R | PF_W | PF_X)))
		settle(look, "no-access", false, "%s address 0x%" PRIx64 ", %s", words, address,
		       place);
	else if (look->death->code == SEGV_ACCERR && segment && segment->flags & PF_R &&
		 !(segment->flags & PF_W))
		settle(look, "read-only", false, "%s address 0x%" PRIx64 ", %s", words, address,
		       place);
	else if (look->death->code == SEGV_MAPERR)
		settle(look, "not-mapped", false, "%s address 0x%" PRIx64 "%s, %s", words, address,
		       quoted, place);
	else
		settle(look, NULL, false, "%s address 0x%" PRIx64 ", %s", words, address, place);
}

static void explain_address(struct look *look)
{
	uint64_t address = look->death->address, pc = 0;
	char place[512];

	/* The kernel has found a mapping, if it does not say otherwise. */
	ep_death_place_text(place, sizeof(place), look->source, address,
			    look->death->code != SEGV_MAPERR);
	if (look->thread)
		pc = look->thread->registers.pc;
	if (look->thread && pc == address) {
		explain_fetch(look, address, place);
		return;
	}
	/* An instruction of which only the first bytes are there. */
	if (look->thread && address % PAGE == 0 && address > pc &&
	    address - pc < EP_INSTRUCTION_MAX &&
	    (look->decoded ? look->effects.size > address - pc : look->code_size == address - pc)) {
		about(look, address, "execute");
		settle(look, "bad-jump", false,
		       "the code ends in the middle of an instruction: address 0x%" PRIx64 ", %s",
		       address, place);
		return;
	}
	explain_access(look, address, place);
}

/* ---- general protection, and what the kernel sends by itself ---- */

/* Is there memory for the frame of a handler at the stack pointer? arch/x86/kernel/signal.c */
static bool has_room(const struct look *look)
{
	uint64_t sp = look->thread->registers.sp, need = FRAME_ROOM, at;

	if (ep_source_kind(look->source) != EP_SOURCE_CORE)
		return true;
	ep_source_auxv(look->source, AT_MINSIGSTKSZ, &need);
	if (need > FRAME_MOST || sp < need + RED_ZONE)
		return sp >= need + RED_ZONE;
	for (at = (sp - need - RED_ZONE) & ~(PAGE - 1); at < sp - RED_ZONE; at += PAGE) {
		const struct ep_segment *segment = ep_evidence_segment(look->source, at);

		if (!segment || !(segment->flags & PF_W))
			return false;
	}
	return true;
}

static void explain_forced(struct look *look, int64_t call)
{
	const char *name = call >= 0 ? ep_systemcall_name((uint64_t)call) : NULL;
	char words[80] = "";

	if (call >= 0)
		snprintf(words, sizeof(words), ", at the end of system call %" PRId64 "%s%s%s",
			 call, name ? " (" : "", name ? name : "", name ? ")" : "");
	if (name && strcmp(name, "rt_sigreturn") == 0) {
		settle(look, "signal-return", false,
		       "rt_sigreturn could not use the signal frame at the stack pointer 0x%" PRIx64
		       ": it was overwritten, or is none",
		       look->thread->registers.sp - 8);
		return;
	}
	if (name && strncmp(name, "execve", 6) == 0) {
		settle(look, "exec", true,
		       "sent by the kernel: %s failed when the old program was gone already", name);
		return;
	}
	for (unsigned i = 0; look->decoded && call < 0 && i < look->effects.access_count; i++) {
		const struct ep_access *access = &look->effects.accesses[i];

		if (!access->known || !is_stack_overflow(look, access->address, access))
			continue;
		say_overflow(look, access->address);
		settle(look, "stack-overflow", true,
		       "; a signal's handler had no room on it (sigaltstack would be)");
		return;
	}
	if (!has_room(look))
		settle(look, "signal-frame", true,
		       "no room for the frame of a signal's handler, likely%s: the stack pointer "
		       "is 0x%" PRIx64 ", where it cannot be written",
		       words, look->thread->registers.sp);
	else
		settle(look, "kernel", false,
		       "sent by the kernel%s, and not for what this instruction does: a signal's "
		       "handler had no room for its frame on another stack, the frame that it "
		       "returned by was overwritten, or a restartable sequence (rseq) is not valid",
		       words);
}

static bool is_right_first(enum ep_right right)
{
	return right != EP_RIGHT_NONE && right != EP_RIGHT_SEGMENT && right != EP_RIGHT_VALUE;
}

static void explain_right(struct look *look)
{
	const struct ep_effects *effects = &look->effects;
	const char *name = effects->name;

	switch (effects->right) {
	case EP_RIGHT_PRIVILEGED:
		settle(look, "privileged", false,
		       "%s is a privileged instruction, which is not allowed to a process", name);
		return;
	case EP_RIGHT_PORT:
		settle(look, "port", false,
		       "%s: the process is not allowed that port, or none (ioperm, iopl)", name);
		return;
	case EP_RIGHT_INTERRUPT:
		settle(look, "interrupt", false,
		       effects->vector == 0x80 ? "instruction int $0x%x is not allowed: this "
						 "kernel takes no 32-bit system "
						 "calls"
		       : effects->vector == 4  ? "overflow trap: instruction int $%x"
					       : "instruction int $0x%x: that interrupt is not "
						 "allowed to a process",
		       effects->vector);
		return;
	case EP_RIGHT_SEGMENT:
		settle(look, "segment", false,
		       "instruction %s loads a segment selector that is none, or is not allowed",
		       name);
		return;
	case EP_RIGHT_TSC:
		settle(look, "tsc", false,
		       "%s is not allowed in this process: prctl(PR_SET_TSC), or the system denies "
		       "it",
		       name);
		return;
	case EP_RIGHT_CPUID:
		settle(look, "cpuid", false,
		       "cpuid is not allowed in this process: arch_prctl(ARCH_SET_CPUID)");
		return;
	case EP_RIGHT_COUNTER:
		settle(look, "counter", false,
		       "%s: the process is not allowed to read that counter (or there is none)",
		       name);
		return;
	case EP_RIGHT_TABLE:
		settle(look, "privileged", false,
		       "instruction %s is not allowed to a process on this machine (UMIP)", name);
		return;
	case EP_RIGHT_VALUE:
		settle(look, "value", false,
		       "instruction %s was given a value that it does not allow (reserved bits, or "
		       "a "
		       "damaged area)",
		       name);
		return;
	case EP_RIGHT_NONE:
		return;
	}
}

static void explain_access_protection(struct look *look, const struct ep_access *access)
{
	uint64_t last = access->address + access->size - 1;
	uint64_t address = ep_is_canonical(access->address) ? last : access->address;
	const char *way = way_name(access);
	char quoted[16];

	about(look, address, way);
	ep_death_quoted(access->stack ? access->base_value : address, quoted);
	if (ep_is_canonical(address)) {
		look->out->address = access->address;
		settle(look, "misaligned", false,
		       "%s address 0x%" PRIx64
		       ", which is not aligned: %s takes multiples of %u only",
		       way_words(way), access->address, look->effects.name, access->alignment);
	} else if (access->stack) {
		settle(look, "stack-pointer", false,
		       "the stack pointer is wild: rsp is 0x%" PRIx64 "%s, a non-canonical address",
		       access->base_value, quoted);
	} else {
		settle(look, "non-canonical", false,
		       "%s 0x%" PRIx64 "%s, a non-canonical address: no valid pointer",
		       way_words(way), address, quoted);
	}
}

static bool is_bad_range(const struct ep_access *access)
{
	return access->known &&
	       (!ep_is_canonical(access->address) ||
		(access->size <= 64 && !ep_is_canonical(access->address + access->size - 1)));
}

static void explain_protection(struct look *look)
{
	const struct ep_effects *effects = &look->effects;
	const bool bus = look->death->signal == SIGBUS;
	const struct ep_access *unknown = NULL;
	uint8_t before[2];
	uint64_t pc = look->thread ? look->thread->registers.pc : 0;
	char quoted[16];

	/* The kernel says so: of a thread that an exception stopped it is -1. */
	if (look->has_all && (int64_t)look->registers.orig_rax >= 0 &&
	    ep_evidence_code(look->evidence, pc - 2, before, 2) &&
	    ((before[0] == 0x0f && before[1] == 0x05) ||
	     (before[0] == 0xcd && before[1] == 0x80))) {
		explain_forced(look, (int64_t)look->registers.orig_rax);
		return;
	}
	if (look->thread && !ep_is_canonical(pc)) {
		about(look, pc, "execute");
		settle(look, "non-canonical", false,
		       "jump to 0x%" PRIx64 "%s, a non-canonical address", pc,
		       ep_death_quoted(pc, quoted));
		return;
	}
	if (!look->decoded) {
		settle(look, NULL, false,
		       bus ? "a fault of the stack segment: a stack pointer that is none "
			     "(non-canonical), "
			     "likely; the instruction is not known"
			   : "the processor does not say why, and the instruction is not known: a "
			     "pointer "
			     "that is none (non-canonical), a misaligned operand, or an "
			     "instruction that "
			     "is not allowed");
		return;
	}
	if (!bus && is_right_first(effects->right)) {
		explain_right(look);
		return;
	}
	for (unsigned i = 0; i < effects->access_count; i++) {
		if (is_bad_range(&effects->accesses[i])) {
			explain_access_protection(look, &effects->accesses[i]);
			return;
		}
		unknown = effects->accesses[i].known ? unknown : &effects->accesses[i];
	}
	for (unsigned i = 0; !bus && i < effects->access_count; i++)
		if (effects->accesses[i].known &&
		    effects->accesses[i].address % effects->accesses[i].alignment) {
			explain_access_protection(look, &effects->accesses[i]);
			return;
		}
	if (effects->branches && effects->target_known && !ep_is_canonical(effects->target)) {
		about(look, effects->target, "execute");
		settle(look, "non-canonical", false,
		       "jump to 0x%" PRIx64 "%s, a non-canonical address", effects->target,
		       ep_death_quoted(effects->target, quoted));
		return;
	}
	if (effects->right == EP_RIGHT_SEGMENT || effects->right == EP_RIGHT_VALUE) {
		explain_right(look);
		return;
	}
	if (unknown && unknown->alignment > 1)
		settle(look, NULL, false,
		       "%s: its address is not a multiple of %u, or one that cannot be "
		       "(non-canonical)",
		       effects->name, unknown->alignment);
	else if (unknown || (effects->branches && !effects->target_known))
		settle(look, unknown && unknown->stack ? "stack-pointer" : "non-canonical", true,
		       "the processor does not say which address: a pointer that is none "
		       "(non-canonical), likely");
	else if (bus)
		settle(look, NULL, false, "sent by the kernel: the reason is not known");
	else
		explain_forced(look, -1);
}

/* ---- SIGBUS ---- */

static void explain_alignment_check(struct look *look)
{
	const struct ep_effects *effects = &look->effects;

	for (unsigned i = 0; look->decoded && i < effects->access_count; i++) {
		const struct ep_access *access = &effects->accesses[i];
		const char *way = way_name(access);

		if (!access->known || access->size < 2 || access->size > 64 ||
		    !(access->address % (access->size < 16 ? access->size : 16)))
			continue;
		about(look, access->address, way);
		settle(look, "misaligned", false,
		       effects->locked ? "%s address 0x%" PRIx64
					 ", which is not aligned to its %u bytes: a locked "
					 "access over two lines of the cache (split lock), or the "
					 "AC flag is set"
				       : "%s address 0x%" PRIx64
					 ", which is not aligned to its %u bytes: the AC flag asks "
					 "for a check",
		       way_words(way), access->address, access->size);
		return;
	}
	settle(look, "misaligned", false,
	       "an address is not aligned: the AC flag asks for a check");
}

static void explain_bus(struct look *look)
{
	const struct ep_death *death = look->death;
	bool unknown;
	const char *way = way_name(access_at(look, death->address, &unknown));
	const struct ep_mapping *mapping = ep_evidence_mapping(look->source, death->address);
	char place[512];

	if (death->code == BUS_ADRALN) {
		explain_alignment_check(look);
		return;
	}
	about(look, death->address, way);
	if (death->code == BUS_ADRERR && mapping) {
		settle(look, "beyond-file", true,
		       "address 0x%" PRIx64 ", in %s, offset 0x%" PRIx64
		       ", beyond the end of that file, likely: it was cut, or never was so long",
		       death->address, mapping->path,
		       death->address - mapping->start + mapping->file_offset);
		return;
	}
	ep_death_place_text(place, sizeof(place), look->source, death->address, true);
	settle(look, death->code == BUS_ADRERR ? "no-memory" : NULL, false,
	       "address 0x%" PRIx64 ", %s", death->address, place);
}

/* ---- SIGFPE ---- */

static void explain_division(struct look *look)
{
	const struct ep_effects *effects = &look->effects;
	const char *name = effects->divisor_name ? effects->divisor_name : "the divisor in memory";
	const struct user_regs_struct *registers = &look->registers;
	const uint64_t mask = UINT64_MAX >> ((64 - 8 * effects->operand_size) & 63);
	const bool negative = effects->is_signed && effects->divisor >> 63;

	if (!look->decoded || !effects->divides || !effects->divisor_known)
		settle(look, NULL, false,
		       "integer division by zero, or a quotient that does not fit");
	else if (!effects->divisor)
		settle(look, "division-by-zero", false, "integer division by zero: %s is 0", name);
	else if (effects->operand_size == 1)
		settle(look, "division-overflow", false,
		       "the quotient of an integer division does not fit: 0x%" PRIx64
		       " by %s, which is 0x%" PRIx64,
		       (uint64_t)(registers->rax & UINT16_MAX), name, effects->divisor);
	else
		settle(look, "division-overflow", false,
		       "the quotient of an integer division does not fit: 0x%" PRIx64 ":%0*" PRIx64
		       " by %s, which is %s0x%" PRIx64,
		       (uint64_t)(registers->rdx & mask), (int)effects->operand_size * 2,
		       (uint64_t)(registers->rax & mask), name, negative ? "-" : "",
		       negative ? -effects->divisor : effects->divisor);
}

/* The x87 unit faults at its next instruction, and keeps where it was. */
static void explain_floating(struct look *look, const char *words)
{
	struct ep_instruction before;
	struct user_fpregs_struct floating;
	const struct ep_note *notes;
	const struct ep_evidence *evidence = look->evidence;
	bool x87 = look->decoded &&
		   (look->effects.name[0] == 'f' || strcmp(look->effects.name, "wait") == 0);
	size_t count;

	settle(look, "floating-point", false, "%s", words);
	if (!x87)
		return;
	settle(look, "floating-point", false, ", by an x87 instruction before this one");
	notes = ep_source_notes(look->source, &count);
	for (size_t i = 0; !evidence->first.found && i < count; i++) {
		if (notes[i].type != NT_FPREGSET || strcmp(notes[i].name, "CORE") != 0 ||
		    notes[i].desc_size < sizeof(floating))
			continue;
		memcpy(&floating, notes[i].desc, sizeof(floating));
		if (floating.rip && (ep_instruction_read(&before, look->source, evidence->names,
							 floating.rip, NULL) == EP_OK ||
				     ep_instruction_read(&before, look->source, evidence->others,
							 floating.rip, NULL) == EP_OK))
			settle(look, "floating-point", false, ": 0x%" PRIx64 ": %s",
			       (uint64_t)floating.rip, before.text);
		return;
	}
}

/* ---- SIGILL, SIGTRAP ---- */

static void explain_illegal(struct look *look)
{
	static const char *const of_kernel[] = {
		"clac",     "stac",     "monitor", "mwait",   "rsm",     "getsec",  "vmcall",
		"vmlaunch", "vmresume", "vmxoff",  "vmxon",   "vmread",  "vmwrite", "vmptrld",
		"vmptrst",  "vmclear",  "invept",  "invvpid", "sysexit", "sysret",  "vmrun",
		"vmload",   "vmsave",   "stgi",    "clgi",    "skinit",  "invlpga", "vmmcall"};
	char bytes[3 * 8 + 1] = "";

	for (size_t i = 0; i < look->code_size && i < 8; i++)
		snprintf(bytes + 3 * i, 4, "%02x ", look->code[i]);
	if (!look->code_size)
		settle(look, NULL, false,
		       "an instruction that the processor does not know; its bytes "
		       "are not known");
	else if (!look->decoded)
		settle(look, "no-instruction", true,
		       "the bytes %sare no instruction that is known: data, overwritten code, or "
		       "one of "
		       "a newer processor",
		       bytes);
	else if (look->effects.is_trap)
		settle(look, "trap", false,
		       "%s, an instruction that traps on purpose: __builtin_trap, a sanitizer, or "
		       "a path "
		       "that the compiler took for unreachable",
		       look->effects.name);
	else
		settle(look, "unknown-instruction", false,
		       "instruction %s: this processor does not have it in this form, or the "
		       "system has "
		       "not switched it on",
		       look->effects.name);
	for (size_t i = 0; look->decoded && i < sizeof(of_kernel) / sizeof(*of_kernel); i++)
		if (strcmp(look->effects.name, of_kernel[i]) == 0) {
			look->out->text[0] = '\0';
			settle(look, "privileged", false,
			       "%s is a privileged instruction, which is not allowed to a process",
			       look->effects.name);
		}
}

static void explain_trap(struct look *look)
{
	uint64_t pc = look->thread ? look->thread->registers.pc : 0;
	uint8_t before[2] = {0}, at = 0;
	bool one = look->thread && ep_evidence_code(look->evidence, pc - 1, &before[1], 1);

	if (one)
		ep_evidence_code(look->evidence, pc - 2, before, 2);
	if (look->thread)
		ep_evidence_code(look->evidence, pc, &at, 1);
	if (look->death->code == SI_KERNEL && one &&
	    (before[1] == 0xcc || (before[0] == 0xcd && before[1] == 3)))
		settle(look, "breakpoint", false,
		       "breakpoint: int3 before this instruction (a trap of the program's own, or "
		       "a "
		       "debugger's that was left)");
	else if (look->death->code == TRAP_BRKPT && one && before[1] == 0xf1)
		settle(look, "breakpoint", false, "breakpoint: int1 before this instruction");
	/* Under KVM on some processors of AMD the program counter stays where it was. */
	else if (look->death->code == TRAP_BRKPT && at == 0xf1)
		settle(look, "breakpoint", false, "breakpoint: int1");
	else if (look->death->code == TRAP_TRACE)
		settle(look, "single-step", false, "single step: the TF flag is set");
	else if (look->death->code == 4)
		settle(look, "watchpoint", false,
		       "a hardware breakpoint or watchpoint was reached (perf_event_open, a "
		       "debugger)");
	else if (look->death->code == SI_KERNEL)
		settle(look, NULL, false,
		       "sent by the kernel: no breakpoint is before this instruction");
}

/* ---- the whole ---- */

void ep_fault_explain(struct ep_fault *out, const struct ep_evidence *evidence,
		      const struct ep_death *death, const struct ep_source_thread *thread)
{
	struct look look = {
		.out = out, .evidence = evidence, .source = evidence->source, .death = death};
	const char *words, *name = ep_death_code_name(death);

	*out = (struct ep_fault){0};
	if (thread && thread->has_registers) {
		look.thread = thread;
		look.has_all = ep_thread_registers(thread, &look.registers) &&
			       !(ep_source_redacted(evidence->source) & EP_REDACTED_REGISTERS);
		look_at_code(&look);
	}
	words = ep_death_code_words(death);
	if (death->code == SI_KERNEL && (death->signal == SIGSEGV || death->signal == SIGBUS)) {
		explain_protection(&look);
		return;
	}
	if (ep_death_has_address(death)) {
		if (death->signal == SIGBUS)
			explain_bus(&look);
		else if (death->code <= 4)
			explain_address(&look);
	} else if (death->signal == SIGFPE && death->code == FPE_INTDIV) {
		explain_division(&look);
	} else if (death->signal == SIGFPE && words) {
		explain_floating(&look, words);
	} else if (death->signal == SIGILL && death->code == ILL_ILLOPN) {
		explain_illegal(&look);
	} else if (death->signal == SIGTRAP) {
		explain_trap(&look);
	}
	if (!*out->text && death->code == SI_KERNEL) {
		settle(&look, NULL, false, "sent by the kernel");
	} else if (!*out->text) {
		if (words)
			settle(&look, NULL, false, "%s", words);
	} else if (words &&
		   (!out->kind || strcmp(out->kind, "not-executable") == 0 ||
		    strcmp(out->kind, "protection-key") == 0 ||
		    strcmp(out->kind, "read-only") == 0 || strcmp(out->kind, "no-access") == 0 ||
		    strcmp(out->kind, "no-memory") == 0) &&
		   !(death->signal == SIGSEGV && death->code == SEGV_MAPERR) &&
		   (death->signal == SIGSEGV || death->signal == SIGBUS)) {
		/* What the place says already is not said twice. */
		settle(&look, out->kind, out->likely, "; %s", words);
	}
	if (death->code == SI_KERNEL)
		return;
	if (name)
		settle(&look, out->kind, out->likely, "%s(%s)", *out->text ? " " : "", name);
	else
		settle(&look, out->kind, out->likely, "%scode %d", *out->text ? "; " : "",
		       death->code);
}
