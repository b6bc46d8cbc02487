/* SPDX-License-Identifier: BSD-2-Clause */
/* effects.c: operands by libcapstone; implied memory, alignment and rights by tables of ours, where
 * libcapstone has none. */
#include "decoder/code/effects.h"

#include <stdio.h>
#include <string.h>

#include "decoder/code/disassembler.h"

#define STATE_MAX 16384u /* xsave's area: with AMX 11 KiB */

/* ---- registers ---- */

static const struct {
	x86_reg parts[5]; /* 64, 32, 16 bits, the low byte, the second one */
	const char *name;
	size_t offset;
} general[] = {
#define GENERAL(r64, r32, r16, r8, r8h, name)                                            \
	{                                                                                \
		{X86_REG_##r64, X86_REG_##r32, X86_REG_##r16, X86_REG_##r8, r8h}, #name, \
			offsetof(struct user_regs_struct, name)                          \
	}
	GENERAL(RAX, EAX, AX, AL, X86_REG_AH, rax),
	GENERAL(RBX, EBX, BX, BL, X86_REG_BH, rbx),
	GENERAL(RCX, ECX, CX, CL, X86_REG_CH, rcx),
	GENERAL(RDX, EDX, DX, DL, X86_REG_DH, rdx),
	GENERAL(RSI, ESI, SI, SIL, X86_REG_INVALID, rsi),
	GENERAL(RDI, EDI, DI, DIL, X86_REG_INVALID, rdi),
	GENERAL(RBP, EBP, BP, BPL, X86_REG_INVALID, rbp),
	GENERAL(RSP, ESP, SP, SPL, X86_REG_INVALID, rsp),
	GENERAL(R8, R8D, R8W, R8B, X86_REG_INVALID, r8),
	GENERAL(R9, R9D, R9W, R9B, X86_REG_INVALID, r9),
	GENERAL(R10, R10D, R10W, R10B, X86_REG_INVALID, r10),
	GENERAL(R11, R11D, R11W, R11B, X86_REG_INVALID, r11),
	GENERAL(R12, R12D, R12W, R12B, X86_REG_INVALID, r12),
	GENERAL(R13, R13D, R13W, R13B, X86_REG_INVALID, r13),
	GENERAL(R14, R14D, R14W, R14B, X86_REG_INVALID, r14),
	GENERAL(R15, R15D, R15W, R15B, X86_REG_INVALID, r15),
#undef GENERAL
};

bool ep_general_register(x86_reg reg, const struct user_regs_struct *registers, uint64_t *value,
			 const char **name, size_t *offset)
{
	static const uint64_t masks[] = {UINT64_MAX, UINT32_MAX, UINT16_MAX, UINT8_MAX, UINT8_MAX};

	for (size_t i = 0; reg != X86_REG_INVALID && i < sizeof(general) / sizeof(general[0]); i++)
		for (size_t part = 0; part < 5; part++) {
			if (general[i].parts[part] != reg)
				continue;
			if (name)
				*name = general[i].name;
			if (offset)
				*offset = general[i].offset;
			if (registers) {
				memcpy(value, (const char *)registers + general[i].offset, 8);
				*value = *value >> (part == 4 ? 8 : 0) & masks[part];
			}
			return true;
		}
	return false;
}

/* ---- rights ---- */

static enum ep_right right_of(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	switch (insn->id) {
	case X86_INS_HLT:
	case X86_INS_CLI:
	case X86_INS_STI:
	case X86_INS_CLTS:
	case X86_INS_INVD:
	case X86_INS_WBINVD:
	case X86_INS_INVLPG:
	case X86_INS_INVPCID:
	case X86_INS_LGDT:
	case X86_INS_LIDT:
	case X86_INS_LLDT:
	case X86_INS_LTR:
	case X86_INS_LMSW:
	case X86_INS_RDMSR:
	case X86_INS_WRMSR:
	case X86_INS_SYSRET:
	case X86_INS_SYSEXIT:
	case X86_INS_SWAPGS:
	case X86_INS_XSETBV:
	case X86_INS_XSAVES:
	case X86_INS_XSAVES64:
	case X86_INS_XRSTORS:
	case X86_INS_XRSTORS64:
		return EP_RIGHT_PRIVILEGED;
	case X86_INS_IN:
	case X86_INS_OUT:
	case X86_INS_INSB:
	case X86_INS_INSW:
	case X86_INS_INSD:
	case X86_INS_OUTSB:
	case X86_INS_OUTSW:
	case X86_INS_OUTSD:
		return EP_RIGHT_PORT;
	case X86_INS_INT:
		return EP_RIGHT_INTERRUPT;
	case X86_INS_LJMP:
	case X86_INS_LCALL:
	case X86_INS_RETF:
	case X86_INS_RETFQ:
	case X86_INS_IRET:
	case X86_INS_IRETD:
	case X86_INS_IRETQ:
	case X86_INS_LSS:
	case X86_INS_LFS:
	case X86_INS_LGS:
		return EP_RIGHT_SEGMENT;
	case X86_INS_RDTSC:
	case X86_INS_RDTSCP:
		return EP_RIGHT_TSC;
	case X86_INS_CPUID:
		return EP_RIGHT_CPUID;
	case X86_INS_RDPMC:
		return EP_RIGHT_COUNTER;
	case X86_INS_SGDT:
	case X86_INS_SIDT:
	case X86_INS_SLDT:
	case X86_INS_SMSW:
	case X86_INS_STR:
		return EP_RIGHT_TABLE;
	case X86_INS_LDMXCSR:
	case X86_INS_VLDMXCSR:
	case X86_INS_FXRSTOR:
	case X86_INS_FXRSTOR64:
	case X86_INS_XRSTOR:
	case X86_INS_XRSTOR64:
	case X86_INS_XGETBV:
	case X86_INS_WRFSBASE:
	case X86_INS_WRGSBASE:
		return EP_RIGHT_VALUE;
	default:
		break;
	}
	for (unsigned i = 0; i < x86->op_count; i++) {
		x86_reg reg = x86->operands[i].type == X86_OP_REG ? x86->operands[i].reg
								  : X86_REG_INVALID;

		if ((reg >= X86_REG_CR0 && reg <= X86_REG_CR15) ||
		    (reg >= X86_REG_DR0 && reg <= X86_REG_DR15))
			return EP_RIGHT_PRIVILEGED;
		if (i == 0 && (insn->id == X86_INS_MOV || insn->id == X86_INS_POP) &&
		    (reg == X86_REG_SS || reg == X86_REG_DS || reg == X86_REG_ES ||
		     reg == X86_REG_FS || reg == X86_REG_GS))
			return EP_RIGHT_SEGMENT;
	}
	return EP_RIGHT_NONE;
}

/* ---- memory ---- */

/* Behind prefixes: is it coded as VEX or EVEX, as AVX is? */
static bool is_vex(const cs_insn *insn)
{
	static const uint8_t prefixes[] = {0x66, 0xf2, 0xf3, 0x2e, 0x36, 0x3e,
					   0x26, 0x64, 0x65, 0x67, 0xf0};
	unsigned at = 0;

	while (at < insn->size && memchr(prefixes, insn->bytes[at], sizeof(prefixes)))
		at++;
	return at < insn->size &&
	       (insn->bytes[at] == 0xc4 || insn->bytes[at] == 0xc5 || insn->bytes[at] == 0x62);
}

static uint32_t vector_size(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	for (unsigned i = 0; i < x86->op_count; i++) {
		x86_reg reg = x86->operands[i].type == X86_OP_REG ? x86->operands[i].reg
								  : X86_REG_INVALID;

		if (reg >= X86_REG_XMM0 && reg <= X86_REG_XMM31)
			return 16;
		if (reg >= X86_REG_YMM0 && reg <= X86_REG_YMM31)
			return 32;
		if (reg >= X86_REG_ZMM0 && reg <= X86_REG_ZMM31)
			return 64;
	}
	return 0;
}

/* Intel's manual, volume 1, 15.7 and 14.9; volume 2 of each of these. */
static uint32_t alignment_of(const cs_insn *insn, uint32_t size)
{
	switch (insn->id) {
	case X86_INS_CMPXCHG16B:
	case X86_INS_FXSAVE:
	case X86_INS_FXSAVE64:
	case X86_INS_FXRSTOR:
	case X86_INS_FXRSTOR64:
		return 16;
	case X86_INS_XSAVE:
	case X86_INS_XSAVE64:
	case X86_INS_XSAVEC:
	case X86_INS_XSAVEC64:
	case X86_INS_XSAVEOPT:
	case X86_INS_XSAVEOPT64:
	case X86_INS_XRSTOR:
	case X86_INS_XRSTOR64:
		return 64;
	case X86_INS_VMOVAPS:
	case X86_INS_VMOVAPD:
	case X86_INS_VMOVDQA:
	case X86_INS_VMOVDQA32:
	case X86_INS_VMOVDQA64:
	case X86_INS_VMOVNTPS:
	case X86_INS_VMOVNTPD:
	case X86_INS_VMOVNTDQ:
	case X86_INS_VMOVNTDQA:
		return vector_size(insn) ? vector_size(insn) : 1;
	case X86_INS_MOVUPS:
	case X86_INS_MOVUPD:
	case X86_INS_MOVDQU:
	case X86_INS_LDDQU:
	case X86_INS_PCMPISTRI:
	case X86_INS_PCMPISTRM:
	case X86_INS_PCMPESTRI:
	case X86_INS_PCMPESTRM:
	case X86_INS_MASKMOVDQU:
		return 1;
	default:
		return !is_vex(insn) && size == 16 && vector_size(insn) == 16 ? 16 : 1;
	}
}

/* Instructions with an operand in memory that they do not access. */
static bool is_address_only(const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_LEA:
	case X86_INS_NOP:
	case X86_INS_UD0:
	case X86_INS_UD2B: /* ud1 */
	case X86_INS_PREFETCH:
	case X86_INS_PREFETCHNTA:
	case X86_INS_PREFETCHT0:
	case X86_INS_PREFETCHT1:
	case X86_INS_PREFETCHT2:
	case X86_INS_PREFETCHW:
	case X86_INS_INVLPG:
		return true;
	default:
		return false;
	}
}

static uint32_t size_of(const cs_insn *insn, const cs_x86_op *operand)
{
	switch (insn->id) {
	case X86_INS_FXSAVE:
	case X86_INS_FXSAVE64:
	case X86_INS_FXRSTOR:
	case X86_INS_FXRSTOR64:
		return 512;
	case X86_INS_XSAVE:
	case X86_INS_XSAVE64:
	case X86_INS_XSAVEC:
	case X86_INS_XSAVEC64:
	case X86_INS_XSAVEOPT:
	case X86_INS_XSAVEOPT64:
	case X86_INS_XRSTOR:
	case X86_INS_XRSTOR64:
		return STATE_MAX;
	case X86_INS_FNSAVE:
	case X86_INS_FRSTOR:
		return 108;
	case X86_INS_FNSTENV:
	case X86_INS_FLDENV:
		return 28;
	default:
		return operand->size ? operand->size : 64;
	}
}

static struct ep_access *add_access(struct ep_effects *out)
{
	static struct ep_access spare;
	struct ep_access *access =
		out->access_count < EP_ACCESSES_MAX ? &out->accesses[out->access_count++] : &spare;

	*access = (struct ep_access){.alignment = 1};
	return access;
}

/* libcapstone 4 is wrong about dozens (movnti, cmpxchg16b, vmovdqa). Where memory stands in the
 * place of the destination it is written, but for these; elsewhere it is read. */
static enum ep_access_way way_of(const cs_insn *insn, unsigned number)
{
	static const char *const readers[] = {
		"cmp",      "test",      "bt",        "push",    "call",       "jmp",   "div",
		"idiv",     "mul",       "imul",      "clflush", "clflushopt", "clwb",  "lgdt",
		"lidt",     "lldt",      "ltr",       "lmsw",    "verr",       "verw",  "xrstor",
		"xrstor64", "fxrstor",   "fxrstor64", "ldmxcsr", "vldmxcsr",   "ljmp",  "lcall",
		"cmpsb",    "cmpsw",     "cmpsd",     "cmpsq",   "outsb",      "outsw", "outsd",
		"xrstors",  "xrstors64", "vmptrld",   "vmclear", "ptwrite",    "invlpg"};
	static const char *const stores[] = {"fst",    "fstp",   "fist",    "fistp",  "fisttp",
					     "fbstp",  "fnst",   "fnstcw",  "fnstsw", "fnstenv",
					     "fnsave", "fxsave", "fxsave64"};
	const char *name = strrchr(insn->mnemonic, ' '); /* behind "lock", "rep" */

	name = name ? name + 1 : insn->mnemonic;
	if (insn->id == X86_INS_XCHG)
		return EP_ACCESS_WRITE;
	if (number)
		return EP_ACCESS_READ;
	if (name[0] == 'f') {
		for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++)
			if (strcmp(name, stores[i]) == 0)
				return EP_ACCESS_WRITE;
		return EP_ACCESS_READ;
	}
	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++)
		if (strcmp(name, readers[i]) == 0)
			return EP_ACCESS_READ;
	return EP_ACCESS_WRITE;
}

static void add_operand(struct ep_effects *out, const cs_insn *insn, unsigned number,
			const struct user_regs_struct *registers)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *operand = &x86->operands[number];
	const x86_op_mem *mem = &operand->mem;
	struct ep_access *access = add_access(out);
	uint64_t index = 0, base = 0;
	bool narrow = x86->addr_size == 4;

	access->way = way_of(insn, number);
	access->size = size_of(insn, operand);
	access->alignment = alignment_of(insn, access->size);
	access->by_stack = mem->base == X86_REG_RSP || mem->base == X86_REG_RBP ||
			   mem->base == X86_REG_ESP || mem->base == X86_REG_EBP;
	access->known = registers != NULL;
	if (mem->base == X86_REG_RIP || mem->base == X86_REG_EIP)
		base = insn->address + insn->size;
	else if (mem->base != X86_REG_INVALID)
		access->known =
			ep_general_register(mem->base, registers, &base, &access->base, NULL) &&
			access->known;
	/* riz, or a vector of addresses */
	if (mem->index != X86_REG_INVALID && mem->index != X86_REG_RIZ && mem->index != X86_REG_EIZ)
		access->known = ep_general_register(mem->index, registers, &index, NULL, NULL) &&
				access->known;
	access->base_value = base;
	access->address = base + index * (uint64_t)mem->scale + (uint64_t)mem->disp;
	/* Of `pop`, rsp is the one behind it. */
	if (insn->id == X86_INS_POP && mem->base == X86_REG_RSP)
		access->address += operand->size;
	if (narrow)
		access->address &= UINT32_MAX;
	/* A signal frame has no bases; the value of a thread that has none is 0, too. */
	if (mem->segment == X86_REG_FS || mem->segment == X86_REG_GS) {
		uint64_t segment = !registers                   ? 0
				   : mem->segment == X86_REG_FS ? registers->fs_base
								: registers->gs_base;

		access->by_stack = false;
		access->known = access->known && segment;
		access->address += segment;
	}
	/* A string of bits goes on to both sides. */
	if ((insn->id == X86_INS_BT || insn->id == X86_INS_BTS || insn->id == X86_INS_BTR ||
	     insn->id == X86_INS_BTC) &&
	    x86->operands[1].type == X86_OP_REG) {
		uint64_t bits = 0;
		uint32_t size = x86->operands[1].size;

		access->known =
			ep_general_register(x86->operands[1].reg, registers, &bits, NULL, NULL) &&
			access->known;
		access->address += (uint64_t)(size == 8   ? (int64_t)bits >> 6
					      : size == 4 ? (int32_t)bits >> 5
							  : (int16_t)bits >> 4) *
				   size;
		access->size = size;
	}
}

static void add_stack(struct ep_effects *out, const struct user_regs_struct *registers,
		      enum ep_access_way way, int64_t from, uint32_t size, bool by_frame)
{
	struct ep_access *access = add_access(out);

	access->way = way;
	access->known = registers != NULL;
	access->base = by_frame ? "rbp" : "rsp";
	access->base_value = !registers ? 0 : by_frame ? registers->rbp : registers->rsp;
	access->address = access->base_value + (uint64_t)from;
	access->size = size;
	access->stack = !by_frame;
	access->by_stack = true;
}

/* What lies at the stack pointer, and is named by no operand. */
static void add_implied(struct ep_effects *out, const cs_insn *insn,
			const struct user_regs_struct *registers)
{
	uint32_t size = insn->detail->x86.prefix[2] == 0x66 ? 2 : 8;

	switch (insn->id) {
	case X86_INS_PUSH:
	case X86_INS_PUSHF:
	case X86_INS_PUSHFQ:
		add_stack(out, registers, EP_ACCESS_WRITE, -(int64_t)size, size, false);
		return;
	case X86_INS_ENTER:
		/* Of deeper levels it copies the outer frames' pointers. */
		if ((insn->detail->x86.operands[1].imm & 31) > 1)
			add_stack(out, registers, EP_ACCESS_READ, -8, 8, true);
		add_stack(out, registers, EP_ACCESS_WRITE, -8, 8, false);
		return;
	case X86_INS_CALL:
		add_stack(out, registers, EP_ACCESS_WRITE, -8, 8, false);
		return;
	case X86_INS_POP:
	case X86_INS_POPF:
	case X86_INS_POPFQ:
		add_stack(out, registers, EP_ACCESS_READ, 0, size, false);
		return;
	case X86_INS_RET:
		add_stack(out, registers, EP_ACCESS_READ, 0, 8, false);
		return;
	case X86_INS_RETF:
	case X86_INS_RETFQ:
		add_stack(out, registers, EP_ACCESS_READ, 0, 16, false);
		return;
	case X86_INS_IRET:
	case X86_INS_IRETD:
	case X86_INS_IRETQ:
		add_stack(out, registers, EP_ACCESS_READ, 0, 40, false);
		return;
	case X86_INS_LEAVE:
		add_stack(out, registers, EP_ACCESS_READ, 0, 8, true);
		return;
	case X86_INS_XLATB: {
		struct ep_access *access;

		if (out->access_count)
			return;
		access = add_access(out);
		access->way = EP_ACCESS_READ;
		access->size = 1;
		access->base = "rbx";
		access->known = registers != NULL;
		access->base_value = registers ? registers->rbx : 0;
		access->address = access->base_value + (registers ? registers->rax & 0xff : 0);
		return;
	}
	default:
		return;
	}
}

/* ---- targets, divisors ---- */

static void find_target(struct ep_effects *out, struct ep_source *source, const cs_insn *insn,
			csh handle, const struct user_regs_struct *registers)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *operand = &x86->operands[0];

	/* The selector is what counts. */
	if (out->right == EP_RIGHT_SEGMENT)
		return;
	if (insn->id != X86_INS_RET && !ep_disassembler.cs_insn_group(handle, insn, CS_GRP_JUMP) &&
	    !ep_disassembler.cs_insn_group(handle, insn, CS_GRP_CALL))
		return;
	out->branches = true;
	if (insn->id == X86_INS_RET || (x86->op_count == 1 && operand->type == X86_OP_MEM)) {
		const struct ep_access *access = &out->accesses[0];

		out->target_known = out->access_count && access->known &&
				    ep_source_read(source, access->address, &out->target, 8, NULL,
						   NULL) == EP_OK;
	} else if (x86->op_count == 1 && operand->type == X86_OP_REG) {
		out->target_known = registers && ep_general_register(operand->reg, registers,
								     &out->target, NULL, NULL);
	} else if (x86->op_count == 1 && operand->type == X86_OP_IMM) {
		out->target_known = true;
		out->target = (uint64_t)operand->imm;
	}
}

static void find_divisor(struct ep_effects *out, struct ep_source *source, csh handle,
			 const cs_insn *insn, const struct user_regs_struct *registers)
{
	const cs_x86_op *operand = &insn->detail->x86.operands[0];
	uint64_t sign;

	out->divides = insn->id == X86_INS_DIV || insn->id == X86_INS_IDIV;
	if (!out->divides || insn->detail->x86.op_count != 1)
		return;
	out->is_signed = insn->id == X86_INS_IDIV;
	out->operand_size = operand->size;
	if (operand->type == X86_OP_REG) {
		out->divisor_name = ep_disassembler.cs_reg_name(handle, operand->reg);
		out->divisor_known = registers && ep_general_register(operand->reg, registers,
								      &out->divisor, NULL, NULL);
	} else if (out->access_count && operand->size <= 8) {
		out->divisor_known = out->accesses[0].known &&
				     ep_source_read(source, out->accesses[0].address, &out->divisor,
						    operand->size, NULL, NULL) == EP_OK;
	}
	sign = UINT64_C(1) << ((8u * operand->size - 1) & 63);
	if (out->is_signed && out->divisor_known)
		out->divisor = (out->divisor ^ sign) - sign;
}

/* ---- the whole ---- */

bool ep_effects_read(struct ep_effects *out, struct ep_source *source, uint64_t pc,
		     const uint8_t *code, size_t size, const struct user_regs_struct *registers,
		     bool *unread)
{
	cs_insn *insn;
	csh handle;

	*out = (struct ep_effects){0};
	*unread = ep_disassembler_open(&handle, NULL) != EP_OK;
	if (*unread)
		return false;
	/* rdpkru, wrpkru: libcapstone 4 does not know these. */
	if (size >= 3 && code[0] == 0x0f && code[1] == 0x01 && (code[2] & ~1) == 0xee) {
		out->size = 3;
		snprintf(out->name, sizeof(out->name), "%s", code[2] & 1 ? "wrpkru" : "rdpkru");
		out->right = EP_RIGHT_VALUE;
		ep_disassembler.cs_close(&handle);
		return true;
	}
	if (ep_disassembler.cs_disasm(handle, code, size, pc, 1, &insn) != 1) {
		ep_disassembler.cs_close(&handle);
		return false;
	}
	out->size = insn->size;
	snprintf(out->name, sizeof(out->name), "%s", insn->mnemonic);
	out->right = right_of(insn);
	out->is_trap =
		insn->id == X86_INS_UD2 || insn->id == X86_INS_UD2B || insn->id == X86_INS_UD0;
	out->locked = insn->detail->x86.prefix[0] == X86_PREFIX_LOCK;
	if (out->right == EP_RIGHT_INTERRUPT && insn->detail->x86.op_count)
		out->vector = (uint8_t)insn->detail->x86.operands[0].imm;
	for (unsigned i = 0; i < insn->detail->x86.op_count && !is_address_only(insn); i++)
		if (insn->detail->x86.operands[i].type == X86_OP_MEM) {
			/* A string of no length is not looked at. */
			if ((insn->detail->x86.prefix[0] == X86_PREFIX_REP ||
			     insn->detail->x86.prefix[0] == X86_PREFIX_REPNE) &&
			    registers && !registers->rcx && !vector_size(insn))
				continue;
			add_operand(out, insn, i, registers);
		}
	add_implied(out, insn, registers);
	find_target(out, source, insn, handle, registers);
	find_divisor(out, source, handle, insn, registers);
	ep_disassembler.cs_free(insn, 1);
	ep_disassembler.cs_close(&handle);
	return true;
}
