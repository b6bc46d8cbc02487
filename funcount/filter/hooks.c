/* SPDX-License-Identifier: BSD-2-Clause */
/* hooks.c: how compilers call the hooks on x86-64. */
#include "funcount/filter/hooks.h"

#include <string.h>

static const char *const names[] = {
	"__fentry__",
	"__return__",
	"__cyg_profile_func_enter",
	"__cyg_profile_func_exit",
};
#define NAMES (sizeof names / sizeof *names)

bool ep_hook_named(struct ep_piece name)
{
	for (size_t i = 0; i < NAMES; i++)
		if (ep_piece_is(name, names[i]))
			return true;
	return false;
}

bool ep_hook_mentioned(struct ep_piece line)
{
	if (!ep_piece_has(line, "__"))
		return false;
	for (size_t i = 0; i < NAMES; i++)
		if (ep_piece_has(line, names[i]))
			return true;
	return false;
}

/* `args` is `before`, a hook, `after`. */
static bool is_hook(struct ep_piece args, const char *before, const char *after)
{
	size_t front = strlen(before), back = strlen(after);

	if (args.size < front + back || !ep_piece_starts(args, before) ||
	    memcmp(args.at + args.size - back, after, back))
		return false;
	args.at += front;
	args.size -= front + back;
	return ep_hook_named(args);
}

static bool is_target(struct ep_piece args)
{
	static const char *const around[][2] = {
		{"", ""},
		{"", "@PLT"},
		{"*", "@GOTPCREL(%rip)"},
		{"[QWORD PTR ", "@GOTPCREL[rip]]"},
		{"qword ptr [rip + ", "@GOTPCREL]"},
	};

	for (size_t i = 0; i < sizeof around / sizeof *around; i++)
		if (is_hook(args, around[i][0], around[i][1]))
			return true;
	return false;
}

/* "$hook, %reg": the register, size 0 when it is something else. */
static struct ep_piece loaded(const struct ep_statement *statement)
{
	static const char *const around[][2] = {
		{"$", ""}, {"$", "@PLTOFF"}, {"", "@GOTPCREL(%rip)"}};
	struct ep_piece rest = statement->args, from, to = {0}, none = {0};

	if (!ep_piece_is(statement->op, "movabsq") && !ep_piece_is(statement->op, "movq"))
		return none;
	if (!ep_piece_next(&rest, ',', &from) || !ep_piece_next(&rest, ',', &to) || rest.size ||
	    to.size < 3 || to.at[0] != '%')
		return none;
	for (size_t i = 0; i < sizeof around / sizeof *around; i++)
		if (is_hook(from, around[i][0], around[i][1]))
			return (struct ep_piece){to.at + 1, to.size - 1};
	return none;
}

struct ep_hook ep_hook_read(const struct ep_statement *statement)
{
	struct ep_hook hook = {0};
	bool call = ep_piece_is(statement->op, "call") || ep_piece_is(statement->op, "callq");
	bool jump = ep_piece_is(statement->op, "jmp") || ep_piece_is(statement->op, "jmpq");

	if (!ep_hook_mentioned(statement->args))
		return hook;
	hook.arguments = ep_piece_has(statement->args, "__cyg_profile_func_");
	hook.form = EP_HOOK_OTHER;
	if (statement->more)
		return hook;
	hook.where = loaded(statement);
	if (hook.where.size)
		hook.form = EP_HOOK_LOAD;
	else if (call && is_target(statement->args))
		hook.form = EP_HOOK_CALL;
	else if (jump && is_target(statement->args))
		hook.form = EP_HOOK_JUMP;
	return hook;
}
