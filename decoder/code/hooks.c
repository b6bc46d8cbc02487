/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hooks.c: a sweep through the function's instructions, as they lie in memory. The hook of the
 * entry is in the first block, so what lies before it has not told the call; from the hook of the
 * return a straight line leads out. In a hook the way from pc is followed to where it ends.
 */
#include "decoder/code/hooks.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/code/disassembler.h"
#include "runtime/sled_code.h"

#define CODE_MAX        65536u
#define RETURN_SLED_RET 9    /* where the `ret` is that follows the hook */
#define HOOK_STEPS      256u /* instructions of a way through a hook, at most */

struct sweep {
	struct ep_source *source;
	struct ep_names *names;
	uint64_t pc;
	bool entered; /* the entry's hook was met */
	bool left;    /* the return's was, and no end of that line since */
	bool some;
	bool nameless;       /* it calls what has no name */
	enum ep_hooks at_pc; /* UNKNOWN: pc was not met yet, or says nothing */
};

/* ---- names ---- */

#define NAMES 4

/* What the wrapper links puts others before them: by --wrap, and by names of the runtime's own. */
static const char *const prefixes[] = {"__wrap_", "epitaph_"};

static bool is_named(const struct ep_function *function, const char *const names[NAMES])
{
	const char *symbol = function->symbol;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (strncmp(symbol, prefixes[i], strlen(prefixes[i])) == 0) {
			symbol += strlen(prefixes[i]);
			break;
		}
	for (size_t i = 0; i < NAMES; i++)
		if (names[i] && strcmp(symbol, names[i]) == 0)
			return true;
	return false;
}

static const char *const entry_hooks[NAMES] = {"__fentry__", "__cyg_profile_func_enter",
					       "__xray_entry__"};
static const char *const exit_hooks[NAMES] = {"__return__", "__cyg_profile_func_exit",
					      "__cyg_profile_func_leave", "__xray_return__"};

bool ep_is_hook(const struct ep_function *function)
{
	return is_named(function, entry_hooks) || is_named(function, exit_hooks);
}

static const char *const slow_entries[NAMES] = {"slow_at_entry"};
static const char *const slow_exits[NAMES] = {"slow_at_return", "slow_at_sled"};

bool ep_is_entry_hook(const struct ep_function *function)
{
	return is_named(function, entry_hooks) || is_named(function, slow_entries);
}

bool ep_is_exit_hook(const struct ep_function *function)
{
	return is_named(function, exit_hooks) || is_named(function, slow_exits);
}

bool ep_is_in_hook(const struct ep_function *function)
{
	return ep_is_entry_hook(function) || ep_is_exit_hook(function);
}

bool ep_is_hook_in_c(const struct ep_function *function)
{
	return strcmp(function->symbol, "ep_hook_slow") == 0;
}

/* ---- one instruction ---- */

/* Where a call or jump goes; 0: that is not written in it. */
static uint64_t target_of(const struct sweep *sweep, const cs_insn *insn)
{
	bool in_slot;
	uint64_t target = ep_insn_target(insn, &in_slot);

	if (in_slot && ep_source_read(sweep->source, target, &target, sizeof(target), NULL, NULL))
		return 0;
	return target;
}

static void look_at(struct sweep *sweep, const cs_insn *insn)
{
	bool jump = insn->id == X86_INS_JMP;
	uint64_t target = insn->id == X86_INS_CALL || jump ? target_of(sweep, insn) : 0;
	const struct ep_function *function = target ? ep_names_find(sweep->names, target, 0) : NULL;

	if (sweep->pc >= insn->address && sweep->pc - insn->address < insn->size)
		sweep->at_pc = sweep->left       ? EP_HOOKS_LEAVING
			       : !sweep->entered ? EP_HOOKS_ENTERING
						 : EP_HOOKS_SOME;
	sweep->nameless |= function && !function->known;
	if (function && is_named(function, entry_hooks))
		sweep->entered = sweep->some = true;
	if (function && is_named(function, exit_hooks))
		sweep->left = sweep->some = true;
	else if (jump || insn->id == X86_INS_RET || insn->id == X86_INS_UD2)
		sweep->left = false;
}

/* ---- one sled ---- */

/* Of a return, from its last `ret` on the return was told. */
static void look_at_return(struct sweep *sweep, uint64_t address)
{
	if (sweep->pc - address < EP_SLED_SIZE)
		sweep->at_pc =
			sweep->pc - address == RETURN_SLED_RET ? EP_HOOKS_LEAVING : EP_HOOKS_SOME;
	sweep->some = true;
}

/* That of an entry comes before all others; until then nothing was told. */
static void look_at_call(struct sweep *sweep, uint64_t address)
{
	if (sweep->pc - address < EP_SLED_SIZE)
		sweep->at_pc = sweep->entered ? EP_HOOKS_SOME : EP_HOOKS_ENTERING;
	sweep->left |= sweep->entered;
	sweep->entered = sweep->some = true;
}

/* In a file a sled is as it was compiled; in memory, where it could be read, maybe prepared. */
static bool is_sled(enum ep_sled_shape shape, const uint8_t *code)
{
	return ep_sled_is_compiled(shape, code) || ep_sled_is_prepared(shape, code);
}

static bool look_for_sled(struct sweep *sweep, const uint8_t *code, size_t size, uint64_t address)
{
	if (size < EP_SLED_SIZE)
		return false;
	if (is_sled(EP_SLED_AT_RETURN, code))
		look_at_return(sweep, address);
	else if (is_sled(EP_SLED_AT_ENTRY, code) || is_sled(EP_SLED_AT_TAIL, code))
		look_at_call(sweep, address);
	else
		return false;
	return true;
}

/* ---- the function ---- */

static void skip(const uint8_t **code, size_t *size, uint64_t *address, size_t count)
{
	*code += count;
	*size -= count;
	*address += count;
}

static void sweep_code(struct sweep *sweep, csh handle, const uint8_t *code, size_t size,
		       uint64_t address)
{
	cs_insn *insn = ep_disassembler_instruction(handle);

	while (size) {
		if (look_for_sled(sweep, code, size, address)) {
			skip(&code, &size, &address, EP_SLED_SIZE);
			continue;
		}
		if (ep_disassembler.cs_disasm_iter(handle, &code, &size, &address, insn)) {
			look_at(sweep, insn);
			continue;
		}
		/* What is no instruction: the next byte may be one. */
		skip(&code, &size, &address, 1);
	}
	ep_disassembler.cs_free(insn, 1);
}

static size_t code_of(struct sweep *sweep, const struct ep_function *function, uint8_t *code)
{
	size_t size = function->end - function->start < CODE_MAX
			      ? (size_t)(function->end - function->start)
			      : CODE_MAX;
	size_t got = ep_names_code(sweep->names, function->start, code, size);

	if (got < size)
		ep_source_read(sweep->source, function->start, code, size, &got, NULL);
	return got;
}

/* A stripped program that is static has hooks without names. Others import or export them, and
 * stripping leaves these names. */
static bool is_static(const struct ep_source *source)
{
	uint64_t base;

	return ep_source_auxv(source, AT_BASE, &base) != EP_OK || base == 0;
}

static enum ep_hooks conclude(const struct sweep *sweep, bool whole)
{
	if (sweep->some)
		return sweep->at_pc ? sweep->at_pc : EP_HOOKS_SOME;
	if (!whole || (sweep->nameless && is_static(sweep->source)))
		return EP_HOOKS_UNKNOWN;
	return EP_HOOKS_NONE;
}

static enum ep_hooks look(struct sweep *sweep, const struct ep_function *function, csh handle)
{
	uint8_t *code = ep_malloc(CODE_MAX);
	size_t size = code_of(sweep, function, code);

	sweep_code(sweep, handle, code, size, function->start);
	free(code);
	if (size == 0)
		return EP_HOOKS_UNKNOWN;
	return conclude(sweep, size == function->end - function->start);
}

enum ep_hooks ep_hooks_look(struct ep_source *source, struct ep_names *names,
			    const struct ep_function *function, uint64_t pc)
{
	struct sweep sweep = {.source = source, .names = names, .pc = pc};
	enum ep_hooks result;
	csh handle;

	if (function->end <= function->start || ep_disassembler_open(&handle, NULL))
		return EP_HOOKS_UNKNOWN;
	result = look(&sweep, function, handle);
	ep_disassembler.cs_close(&handle);
	return result;
}

/* ---- a hook ---- */

/* In runtime/x86_64/hooks.S a record is written below the cursor: mov REGISTER, -8(%r10). */
static bool writes_record(const cs_insn *insn)
{
	const cs_x86_op *to = &insn->detail->x86.operands[0];

	return insn->id == X86_INS_MOV && to->type == X86_OP_MEM && to->mem.base == X86_REG_R10 &&
	       to->mem.index == X86_REG_INVALID && to->mem.disp == -8;
}

/* Conditional jumps are passed by: between the ways to a record they choose, and behind it there
 * are none. */
static bool leads_to_record(const struct sweep *sweep, csh handle, const struct ep_function *hook,
			    const uint8_t *code)
{
	cs_insn *insn = ep_disassembler_instruction(handle);
	uint64_t address = sweep->pc;
	bool found = false;

	for (unsigned steps = 0; !found && steps < HOOK_STEPS; steps++) {
		const uint8_t *at = code + (address - hook->start);
		size_t size = hook->end - address;
		uint64_t target;

		if (!ep_disassembler.cs_disasm_iter(handle, &at, &size, &address, insn) ||
		    insn->id == X86_INS_RET)
			break;
		if (insn->id != X86_INS_JMP && insn->id != X86_INS_CALL) {
			found = writes_record(insn);
			continue;
		}
		target = target_of(sweep, insn);
		if (insn->id == X86_INS_JMP && target >= hook->start && target < hook->end) {
			address = target;
			continue;
		}
		if (target) {
			const struct ep_function *to = ep_names_find(sweep->names, target, 0);

			found = ep_is_in_hook(to) || ep_is_hook_in_c(to);
		}
		break;
	}
	ep_disassembler.cs_free(insn, 1);
	return found;
}

bool ep_hook_is_to_record(struct ep_source *source, struct ep_names *names,
			  const struct ep_function *hook, uint64_t pc)
{
	struct sweep sweep = {.source = source, .names = names, .pc = pc};
	uint8_t *code;
	bool found;
	csh handle;

	if (pc < hook->start || pc >= hook->end || hook->end - hook->start > CODE_MAX ||
	    ep_disassembler_open(&handle, NULL))
		return false;
	code = ep_malloc(CODE_MAX);
	found = code_of(&sweep, hook, code) == hook->end - hook->start &&
		leads_to_record(&sweep, handle, hook, code);
	free(code);
	ep_disassembler.cs_close(&handle);
	return found;
}
