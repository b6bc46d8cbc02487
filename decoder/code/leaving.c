/* SPDX-License-Identifier: BSD-2-Clause */
/* leaving.c: bytes first, as nearly no function jumps so; then instructions. */
#include "decoder/code/leaving.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/code/hooks.h"
#include "runtime/sled_code.h"

#define CODE_MAX 65536u
#define NEAR     6u  /* instructions from the load of the stack pointer to the jump */
#define TAKEN    12u /* … from where the jump's target was made */

static struct ep_leaving_code *code_of(struct ep_leaving *leaving, uint32_t id)
{
	while (leaving->codes.count <= id)
		*ep_array_add(&leaving->codes) = (struct ep_leaving_code){0};
	return &leaving->codes.list[id];
}

/* mov m64, %rsp: REX.W 8b /r of rsp, with memory (Intel's manual, volume 2, MOV). */
static bool loads_stack(const uint8_t *code)
{
	return (code[0] & 0xfc) == 0x48 && code[1] == 0x8b && (code[2] & 0x38) == 0x20 &&
	       code[2] >> 6 != 3;
}

static bool may_jump(const uint8_t *code, size_t size)
{
	for (size_t i = 0; i + 3 <= size; i++)
		if (loads_stack(code + i))
			return true;
	return false;
}

static bool is_in(const cs_insn *insn, uint8_t group)
{
	for (uint8_t i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == group)
			return true;
	return false;
}

struct sweep {
	struct ep_leaving_code *code;
	struct ep_names *names;
	const struct ep_function *function;
	unsigned since; /* instructions since the stack pointer was loaded; 0: it was not */
	unsigned ago;   /* … since a register got an address */
	uint64_t taken; /* that one */
};

/* A register gets the address of code: lea x(%rip), or mov $x. */
static void take_address(struct sweep *sweep, const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (x86->op_count != 2 || x86->operands[0].type != X86_OP_REG)
		return;
	if (insn->id == X86_INS_LEA && x86->operands[1].mem.base == X86_REG_RIP)
		sweep->taken = insn->address + insn->size + (uint64_t)x86->operands[1].mem.disp;
	else if ((insn->id == X86_INS_MOV || insn->id == X86_INS_MOVABS) &&
		 x86->operands[1].type == X86_OP_IMM)
		sweep->taken = (uint64_t)x86->operands[1].imm;
	else
		return;
	sweep->ago = 0;
}

static void look_at(struct sweep *sweep, const cs_insn *insn)
{
	const struct ep_function *function = sweep->function, *callee;
	bool call = is_in(insn, X86_GRP_CALL), in_slot = false;
	uint64_t target;

	sweep->since += sweep->since > 0;
	sweep->ago++;
	if (loads_stack(insn->bytes))
		sweep->since = 1;
	take_address(sweep, insn);
	if (!call && !is_in(insn, X86_GRP_JUMP))
		return;
	target = ep_insn_target(insn, &in_slot);
	if (in_slot && !ep_names_word(sweep->names, target, &target))
		target = 0;
	if (!target) {
		if (!call && sweep->since && sweep->since <= NEAR) {
			callee = ep_names_find(sweep->names, sweep->taken, 0);
			sweep->code->jumps = true;
			/* Not to a function's beginning, where a call would come. */
			if (callee->known && sweep->taken != callee->start && sweep->ago <= TAKEN)
				sweep->code->to = sweep->taken;
		} else {
			/* A switch's jump, or one to another function: not told apart. */
			sweep->code->unnamed = true;
		}
		return;
	}
	if (!call && target >= function->start && target < function->end)
		return;
	callee = ep_names_find(sweep->names, target, 0);
	if (ep_is_hook(callee))
		sweep->code->traced |= !ep_is_exit_hook(callee);
	else if (callee != function || target == function->start)
		ep_array_push(&sweep->code->calls, callee);
	else
		sweep->code->unnamed = true; /* its cold part, which is not read */
}

static bool sweep_code(struct ep_leaving *leaving, struct sweep *sweep, const uint8_t *code,
		       size_t size)
{
	uint64_t address = sweep->function->start;
	cs_insn *insn;

	if (!leaving->handle && !leaving->unusable)
		leaving->unusable = ep_disassembler_open(&leaving->handle, NULL) != EP_OK;
	if (leaving->unusable)
		return false;
	insn = ep_disassembler_instruction(leaving->handle);
	while (size) {
		if (size >= EP_SLED_SIZE && ep_sled_is_compiled(EP_SLED_AT_ENTRY, code))
			sweep->code->traced = true;
		if (!ep_disassembler.cs_disasm_iter(leaving->handle, &code, &size, &address, insn))
			break;
		look_at(sweep, insn);
	}
	ep_disassembler.cs_free(insn, 1);
	return size == 0;
}

/* `all`: also of a function that has no such jump. */
static struct ep_leaving_code *look(struct ep_leaving *leaving, struct ep_names *names,
				    const struct ep_function *function, bool all)
{
	struct ep_leaving_code *out = code_of(leaving, function->id);
	struct ep_leaving_code found = {.looked = true};
	struct sweep sweep = {.code = &found, .names = names, .function = function};
	uint64_t size = function->end - function->start;
	uint8_t *code;

	if (out->known || (out->looked && !all))
		return out;
	out->looked = true;
	if (function->end <= function->start || size > CODE_MAX || !function->known ||
	    function->exported_guess)
		return out;
	code = ep_malloc(size);
	if (ep_names_code(names, function->start, code, size) == size &&
	    (all || may_jump(code, size)))
		found.known = sweep_code(leaving, &sweep, code, size);
	free(code);
	ep_array_deinit(&out->calls);
	*out = found;
	return out;
}

bool ep_leaving_may(struct ep_leaving *leaving, struct ep_names *names,
		    const struct ep_function *function)
{
	struct ep_leaving_code *code = look(leaving, names, function, false);
	bool may = code->known && code->jumps && !code->unnamed;

	for (size_t i = 0; may && i < code_of(leaving, function->id)->calls.count; i++) {
		const struct ep_function *callee = code_of(leaving, function->id)->calls.list[i];

		may = callee == function || look(leaving, names, callee, true)->traced;
	}
	return may;
}

bool ep_leaving_calls(struct ep_leaving *leaving, struct ep_names *names,
		      const struct ep_function *function, const struct ep_function *callee)
{
	const struct ep_leaving_code *code = look(leaving, names, function, true);

	for (size_t i = 0; i < code->calls.count; i++)
		if (code->calls.list[i] == callee)
			return true;
	return false;
}

const struct ep_function *ep_leaving_to(struct ep_leaving *leaving, struct ep_names *names,
					const struct ep_function *function)
{
	const struct ep_leaving_code *code = look(leaving, names, function, false);

	return code->to ? ep_names_find(names, code->to, 0) : NULL;
}

void ep_leaving_deinit(struct ep_leaving *leaving)
{
	for (size_t i = 0; i < leaving->codes.count; i++)
		ep_array_deinit(&leaving->codes.list[i].calls);
	ep_array_deinit(&leaving->codes);
	if (leaving->handle)
		ep_disassembler.cs_close(&leaving->handle);
	*leaving = (struct ep_leaving){0};
}
