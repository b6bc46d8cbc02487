/* SPDX-License-Identifier: BSD-2-Clause */
/* arguments.c: instructions that are dead once a hook's call is gone, found backwards from it
 * through straight code. */
#include "funcount/filter/arguments.h"

#include <string.h>

/* Bits of the registers that a call leaves nothing in; others are not followed. */
static unsigned register_bit(struct ep_piece name)
{
	static const char *const names[][2] = {
		{"rax", "eax"}, {"rcx", "ecx"}, {"rdx", "edx"},  {"rsi", "esi"},  {"rdi", "edi"},
		{"r8", "r8d"},  {"r9", "r9d"},  {"r10", "r10d"}, {"r11", "r11d"},
	};

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (ep_piece_is(name, names[i][0]) || ep_piece_is(name, names[i][1]))
			return 1U << i;
	return 0;
}

static bool name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* All registers that an operand names. */
static unsigned registers_in(struct ep_piece operand)
{
	const char *at = operand.at, *end = at + operand.size;
	unsigned bits = 0;

	while (at < end && (at = memchr(at, '%', (size_t)(end - at)))) {
		const char *name = ++at;

		while (at < end && name_byte(*at))
			at++;
		bits |= register_bit((struct ep_piece){name, (size_t)(at - name)});
	}
	return bits;
}

struct move {
	struct ep_piece from, to;
	bool address; /* lea: reads no memory */
};

static bool read_move(const struct ep_statement *statement, struct move *move)
{
	static const char *const ops[] = {"movq", "movl", "movabsq", "leaq", "leal"};
	struct ep_piece rest = statement->args;
	bool known = false;

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		known |= ep_piece_is(statement->op, ops[i]);
	move->address = ep_piece_starts(statement->op, "lea");
	return known && !statement->more && ep_piece_next(&rest, ',', &move->from) &&
	       ep_piece_next(&rest, ',', &move->to) && !rest.size;
}

static bool ends(struct ep_piece piece, const char *text)
{
	size_t size = strlen(text);

	return piece.size > size && !memcmp(piece.at + piece.size - size, text, size);
}

/* Reading it is nobody's purpose. */
static bool harmless(const struct move *move)
{
	struct ep_piece from = move->from;

	if (move->address || ep_piece_starts(from, "$"))
		return true;
	if (ep_piece_starts(from, "%"))
		return register_bit((struct ep_piece){from.at + 1, from.size - 1}) ||
		       !ep_piece_has(from, ":");
	/* The return address, and the address of the function. */
	return ends(from, "(%rsp)") || ep_piece_is(from, "8(%rbp)") ||
	       ends(from, "@GOTPCREL(%rip)");
}

/* Straight code may go on above it: what it names is read. */
static bool passes(const struct ep_statement *statement)
{
	return !statement->more &&
	       (ep_piece_is(statement->op, "popq") ||
		(ep_piece_is(statement->op, "addq") && ep_piece_has(statement->args, ", %rsp")));
}

/* Directives that say something of the code around them without being any. */
static bool transparent(struct ep_piece op)
{
	return ep_piece_is(op, ".loc") || ep_piece_starts(op, ".cfi_");
}

uint32_t ep_arguments_find(const struct ep_assembly *assembly, uint32_t line, uint32_t *lines,
			   uint32_t most)
{
	uint32_t function = assembly->lines.list[line].function, count = 0;
	unsigned live = 0;
	struct move move;

	while (count < most && line-- > 0) {
		struct ep_statement statement = ep_statement_read(ep_assembly_line(assembly, line));

		if (assembly->lines.list[line].function != function ||
		    assembly->lines.list[line].user)
			break;
		if (!statement.op.size || transparent(statement.op))
			continue;
		if (passes(&statement)) {
			live |= registers_in(statement.args);
			continue;
		}
		if (!read_move(&statement, &move) || move.to.size < 2 || move.to.at[0] != '%')
			break;
		move.to.at++;
		move.to.size--;
		if (register_bit(move.to) && !(register_bit(move.to) & live) && harmless(&move))
			lines[count++] = line;
		else
			live = (live & ~register_bit(move.to)) | registers_in(move.from);
	}
	return count;
}
