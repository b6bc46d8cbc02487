/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blocking.c: a sweep through the instructions of the function. Whatever leads out of it is looked
 * at likewise; what is not understood may wait.
 */
#include "decoder/code/blocking.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/code/hooks.h"
#include "runtime/sled_code.h"

#define CODE_MAX  65536u
#define DEPTH_MAX 12u
#define INSNS_MAX 4000000u /* in all: a bound of the time that it takes */

#define LOOKED 1u /* the answer is there */
#define AT_IT  2u /* is being looked at */
#define TRACED 4u /* it calls the hook of the entry, or has a sled for it */
#define MAY    8u /* it may wait */

struct sweep {
	struct ep_blocking *blocking;
	struct ep_names *names;
	const struct ep_function *function;
	unsigned depth;
};

static void look(struct ep_blocking *blocking, struct ep_names *names,
		 const struct ep_function *function, unsigned depth);

/* Borrowed until the next one is asked for. */
static uint8_t *answer_of(struct ep_blocking *blocking, uint32_t id)
{
	while (blocking->answers.count <= id)
		ep_array_add(&blocking->answers);
	return &blocking->answers.list[id];
}

static void add_answer(struct sweep *sweep, uint8_t bits)
{
	*answer_of(sweep->blocking, sweep->function->id) |= bits;
}

/* ---- one instruction ---- */

/* Where it goes; 0: that is not written in it. */
static uint64_t target_of(const struct sweep *sweep, const cs_insn *insn)
{
	bool in_slot;
	uint64_t target = ep_insn_target(insn, &in_slot);

	if (in_slot && !ep_names_word(sweep->names, target, &target))
		return 0;
	return target;
}

/* A call, or a jump out of the function. */
static void leave_for(struct sweep *sweep, uint64_t target)
{
	const struct ep_function *function = target ? ep_names_find(sweep->names, target, 0) : NULL;
	uint8_t answer;

	if (function && ep_is_hook(function)) {
		add_answer(sweep, TRACED);
		return;
	}
	if (!function || function == sweep->function) {
		/* Its cold part lies elsewhere, and was not read. */
		if (!function || target != function->start)
			add_answer(sweep, MAY);
		return;
	}
	look(sweep->blocking, sweep->names, function, sweep->depth + 1);
	answer = *answer_of(sweep->blocking, function->id);
	if (!(answer & TRACED) && answer & (MAY | AT_IT))
		add_answer(sweep, MAY);
}

static bool is_in(cs_insn *insn, uint8_t group)
{
	for (uint8_t i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == group)
			return true;
	return false;
}

static void look_at(struct sweep *sweep, cs_insn *insn)
{
	const struct ep_function *function = sweep->function;
	uint64_t target;

	if (is_in(insn, X86_GRP_INT) || insn->id == X86_INS_SYSCALL ||
	    insn->id == X86_INS_SYSENTER) {
		add_answer(sweep, MAY);
		return;
	}
	if (is_in(insn, X86_GRP_CALL)) {
		leave_for(sweep, target_of(sweep, insn));
		return;
	}
	if (!is_in(insn, X86_GRP_JUMP))
		return;
	target = target_of(sweep, insn);
	if (target < function->start || target >= function->end)
		leave_for(sweep, target);
}

/* Of the entry of a traced function: nothing else looks like it. */
static bool is_sled(const uint8_t *code, size_t size)
{
	return size >= EP_SLED_SIZE && ep_sled_is_compiled(EP_SLED_AT_ENTRY, code);
}

/* ---- the function ---- */

static bool sweep_code(struct sweep *sweep, const uint8_t *code, size_t size)
{
	struct ep_blocking *blocking = sweep->blocking;
	uint64_t address = sweep->function->start;
	cs_insn *insn = ep_disassembler_instruction(blocking->handle);
	bool known = true;

	while (known && size) {
		if (is_sled(code, size))
			add_answer(sweep, TRACED);
		known = blocking->left > 0 &&
			ep_disassembler.cs_disasm_iter(blocking->handle, &code, &size, &address,
						       insn);
		if (known)
			look_at(sweep, insn);
		blocking->left -= blocking->left > 0;
		/* The hook of the entry comes before all other calls. */
		if (*answer_of(blocking, sweep->function->id) & MAY)
			break;
	}
	ep_disassembler.cs_free(insn, 1);
	return known;
}

static bool read_code(struct sweep *sweep)
{
	const struct ep_function *function = sweep->function;
	uint64_t size = function->end - function->start;
	uint8_t *code;
	bool known;

	if (function->end <= function->start || size > CODE_MAX || !function->known ||
	    function->exported_guess || sweep->depth > DEPTH_MAX)
		return false;
	code = ep_malloc(size);
	known = ep_names_code(sweep->names, function->start, code, size) == size &&
		sweep_code(sweep, code, size);
	free(code);
	return known;
}

static bool is_open(struct ep_blocking *blocking)
{
	if (!blocking->handle && !blocking->unusable) {
		blocking->unusable = ep_disassembler_open(&blocking->handle, NULL) != EP_OK;
		blocking->left = INSNS_MAX;
	}
	return !blocking->unusable;
}

static void look(struct ep_blocking *blocking, struct ep_names *names,
		 const struct ep_function *function, unsigned depth)
{
	struct sweep sweep = {blocking, names, function, depth};
	uint8_t *answer = answer_of(blocking, function->id);
	bool known;

	if (*answer & (LOOKED | AT_IT))
		return;
	*answer |= AT_IT;
	known = is_open(blocking) && read_code(&sweep);
	answer = answer_of(blocking, function->id);
	*answer = (uint8_t)((*answer & ~AT_IT) | LOOKED | (known ? 0 : MAY));
}

bool ep_blocking_may(struct ep_blocking *blocking, struct ep_names *names,
		     const struct ep_function *function)
{
	look(blocking, names, function, 0);
	return *answer_of(blocking, function->id) & MAY;
}

void ep_blocking_deinit(struct ep_blocking *blocking)
{
	if (blocking->handle)
		ep_disassembler.cs_close(&blocking->handle);
	ep_array_deinit(&blocking->answers);
	*blocking = (struct ep_blocking){0};
}
