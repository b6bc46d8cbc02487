/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * statement.h: one line of GNU assembly for x86, taken apart as compilers write it: "label:
 * operation arguments # comment".
 */
#ifndef EPITAPH_FILTER_STATEMENT_H
#define EPITAPH_FILTER_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

/* Part of a text; borrowed. */
struct ep_piece {
	const char *at;
	size_t size;
};

struct ep_statement {
	struct ep_piece label; /* without colon and quotes; size 0: none */
	struct ep_piece op;    /* "call", ".type"; size 0: none */
	struct ep_piece args;  /* trimmed, without the comment */
	bool more;             /* a `;` and another statement follow */
};

/* `line` has no newline. */
struct ep_statement ep_statement_read(struct ep_piece line);

bool ep_piece_is(struct ep_piece piece, const char *text);
bool ep_piece_starts(struct ep_piece piece, const char *text);
bool ep_piece_has(struct ep_piece piece, const char *text);
bool ep_piece_equal(struct ep_piece a, struct ep_piece b);

/* Takes what stands before the first `stop` outside of quotes and parentheses off *rest, trimmed
 * and without quotes around it. False: nothing is left. */
bool ep_piece_next(struct ep_piece *rest, char stop, struct ep_piece *out);

/* Nothing but a directive, a label or a comment: takes no room in the code. */
static inline bool ep_statement_is_code(const struct ep_statement *statement)
{
	return statement->op.size && statement->op.at[0] != '.';
}

#endif
