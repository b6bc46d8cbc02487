/* SPDX-License-Identifier: BSD-2-Clause */
/* convention.c: one pass over the lines; then each function is judged by what was seen of it. */
#include "funcount/filter/convention.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"

static const char naked[] = "it is naked, and a hook changes registers that are its arguments";
static const char interrupt[] = "it is an interrupt handler, which keeps all registers";
static const char keeps[] = "it saves all registers, or may (no_caller_saved_registers)";

struct seen {
	bool leaves;   /* the program's assembly ends the function */
	bool compiled; /* the compiler wrote something that no naked function has */
	bool iret;
	bool saves;     /* pushes what a call may change */
	bool ordinary;  /* calls without saving, or changes what a call may change */
	bool entry;     /* a hook that changes r10 and r11: __fentry__ */
	bool jumps_out; /* ends by a jump to a hook, behind all that it has restored */
};

static bool is_in(struct ep_piece piece, const char *const *list)
{
	for (; *list; list++)
		if (ep_piece_is(piece, *list))
			return true;
	return false;
}

/* What a function with no_caller_saved_registers keeps, and others do not: without rax and rdx, in
 * which it may return a value. */
static bool names_scratch(struct ep_piece name)
{
	static const char *const registers[] = {"%rcx", "%ecx",  "%cx",   "%cl",   "%rsi",  "%esi",
						"%si",  "%sil",  "%rdi",  "%edi",  "%di",   "%dil",
						"%r8",  "%r8d",  "%r8w",  "%r8b",  "%r9",   "%r9d",
						"%r9w", "%r9b",  "%r10",  "%r10d", "%r10w", "%r10b",
						"%r11", "%r11d", "%r11w", "%r11b", NULL};

	return is_in(name, registers);
}

/* DWARF's numbers, and clang's names, of registers that a call may change. */
static bool saves_scratch(const struct ep_statement *statement)
{
	static const char *const numbers[] = {"0",   "1",   "2",    "4",    "5",    "8",    "9",
					      "10",  "11",  "%rax", "%rdx", "%rcx", "%rsi", "%rdi",
					      "%r8", "%r9", "%r10", "%r11", NULL};
	struct ep_piece rest = statement->args, name;

	if (ep_piece_is(statement->op, ".cfi_offset"))
		return ep_piece_next(&rest, ',', &name) && is_in(name, numbers);
	if (!ep_piece_is(statement->op, "pushq") && !ep_piece_is(statement->op, "push"))
		return false;
	return names_scratch(statement->args) || ep_piece_is(statement->args, "%rax") ||
	       ep_piece_is(statement->args, "%rdx");
}

/* AT&T's order: the last operand is written to, but by what only looks. */
static bool writes_scratch(const struct ep_statement *statement)
{
	struct ep_piece rest = statement->args, last = {0};

	if (ep_piece_starts(statement->op, "cmp") || ep_piece_starts(statement->op, "test") ||
	    ep_piece_starts(statement->op, "push") || ep_piece_starts(statement->op, "bt"))
		return false;
	while (ep_piece_next(&rest, ',', &last))
		;
	return names_scratch(last);
}

/* The program's own lines may have several statements. */
static bool user_leaves(struct ep_piece line)
{
	static const char *const ops[] = {"ret",   "retq", "jmp",     "jmpq",    "iret",
					  "iretq", "bnd",  "notrack", "sysretq", NULL};
	const char *end = line.at + line.size;
	struct ep_statement statement;

	do {
		statement = ep_statement_read(line);
		if (is_in(statement.op, ops))
			return true;
		line.at = memchr(statement.args.at + statement.args.size, ';',
				 (size_t)(end - (statement.args.at + statement.args.size)));
		if (!line.at)
			break;
		line.at++;
		line.size = (size_t)(end - line.at);
	} while (statement.more);
	return false;
}

static void look(struct seen *seen, const struct ep_statement *statement)
{
	static const char *const irets[] = {"iret", "iretq", NULL};
	/* A hook's arguments, what stands at an entry, and what gcc ends a naked function with. */
	static const char *const of_naked[] = {"movq", "movl", "leaq",    "leal",
					       "nop",  "ud2",  "endbr64", NULL};
	bool call = ep_piece_starts(statement->op, "call");

	seen->saves |= saves_scratch(statement);
	if (!ep_statement_is_code(statement))
		return;
	if (is_in(statement->op, irets))
		seen->iret = true;
	if (!is_in(statement->op, of_naked))
		seen->compiled = true;
	seen->ordinary |= call || writes_scratch(statement);
}

const char **ep_conventions_find(const struct ep_assembly *assembly, unsigned mentioned)
{
	const char **why = ep_calloc(assembly->functions.count, sizeof *why);
	struct seen *all = ep_calloc(assembly->functions.count, sizeof *all);
	uint32_t site = 0;

	for (uint32_t i = 0; i < assembly->lines.count; i++) {
		const struct ep_assembly_line *line = &assembly->lines.list[i];
		struct ep_statement statement;

		if (line->function == EP_NO_FUNCTION)
			continue;
		if (line->user) {
			all[line->function].leaves |= user_leaves(ep_assembly_line(assembly, i));
			continue;
		}
		while (site < assembly->sites.count && assembly->sites.list[site].line < i)
			site++;
		if (site < assembly->sites.count && assembly->sites.list[site].line == i) {
			const struct ep_hook *hook = &assembly->sites.list[site].hook;

			all[line->function].entry |= !hook->arguments;
			all[line->function].jumps_out |=
				hook->arguments && hook->form == EP_HOOK_JUMP;
			continue;
		}
		statement = ep_statement_read(ep_assembly_line(assembly, i));
		look(&all[line->function], &statement);
	}
	for (uint32_t i = 0; i < assembly->functions.count; i++) {
		const struct seen *seen = &all[i];

		if (mentioned & EP_CONVENTION_NAKED && seen->leaves && !seen->compiled)
			why[i] = naked;
		else if (mentioned & EP_CONVENTION_INTERRUPT && seen->iret && seen->entry)
			why[i] = interrupt;
		else if (mentioned & EP_CONVENTION_KEEPS &&
			 (seen->entry ? seen->saves || !seen->ordinary
				      : seen->saves && seen->jumps_out))
			why[i] = keeps;
	}
	free(all);
	return why;
}

bool ep_convention_is_naked(const char *why)
{
	return why == naked;
}
