/* SPDX-License-Identifier: BSD-2-Clause */
/* instruction.c: prefixes, opcode, ModRM, displacement, immediate: two tables say what an opcode
 * has. */
#include "runtime/x86_64/instruction.h"

#include <stdbool.h>

#define M 1u   /* ModRM */
#define B 2u   /* an immediate of 1 byte */
#define Z 4u   /* … of 4, or 2 with prefix 66 */
#define W 8u   /* … of 2 */
#define Q 16u  /* … of 4, 8 with REX.W, 2 with prefix 66 */
#define T 32u  /* F6, F7: an immediate with /0 and /1 alone */
#define O 64u  /* an address of 8 bytes, 4 with prefix 67 */
#define X 128u /* none, a prefix or an escape */

/* clang-format off */
static const uint8_t one_byte[256] = {
	M, M, M, M, B, Z, X, X, M, M, M, M, B, Z, X, X, /* 00 */
	M, M, M, M, B, Z, X, X, M, M, M, M, B, Z, X, X, /* 10 */
	M, M, M, M, B, Z, X, X, M, M, M, M, B, Z, X, X, /* 20 */
	M, M, M, M, B, Z, X, X, M, M, M, M, B, Z, X, X, /* 30 */
	X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, /* 40 */
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* 50 */
	X, X, X, M, X, X, X, X, Z, M | Z, B, M | B, 0, 0, 0, 0, /* 60 */
	B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, /* 70 */
	M | B, M | Z, X, M | B, M, M, M, M, M, M, M, M, M, M, M, M, /* 80 */
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, X, 0, 0, 0, 0, 0, /* 90 */
	O, O, O, O, 0, 0, 0, 0, B, Z, 0, 0, 0, 0, 0, 0, /* a0 */
	B, B, B, B, B, B, B, B, Q, Q, Q, Q, Q, Q, Q, Q, /* b0 */
	M | B, M | B, W, 0, X, X, M | B, M | Z, W | B, 0, W, 0, 0, B, X, 0, /* c0 */
	M, M, M, M, X, X, X, 0, M, M, M, M, M, M, M, M, /* d0 */
	B, B, B, B, B, B, B, B, Z, Z, X, B, 0, 0, 0, 0, /* e0 */
	X, 0, X, X, 0, 0, M | T, M | T, 0, 0, 0, 0, 0, 0, M, M, /* f0 */
};

static const uint8_t two_bytes[256] = { /* 0f xx */
	M, M, M, M, X, 0, 0, 0, 0, 0, X, 0, X, M, 0, M | B, /* 00 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* 10 */
	M, M, M, M, X, X, X, X, M, M, M, M, M, M, M, M, /* 20 */
	0, 0, 0, 0, 0, 0, X, 0, X, X, X, X, X, X, X, X, /* 30 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* 40 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* 50 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* 60 */
	M | B, M | B, M | B, M | B, M, M, M, 0, M, M, X, X, M, M, M, M, /* 70 */
	Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, /* 80 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* 90 */
	0, 0, 0, M, M | B, M, X, X, 0, 0, 0, M, M | B, M, M, M, /* a0 */
	M, M, M, M, M, M, M, M, M, M, M | B, M, M, M, M, M, /* b0 */
	M, M, M | B, M, M | B, M | B, M | B, M, 0, 0, 0, 0, 0, 0, 0, 0, /* c0 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* d0 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* e0 */
	M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, /* f0 */
};
/* clang-format on */

/* What was read of it. */
struct reading {
	const uint8_t *code;
	size_t size, at;
	bool word, address_word, wide; /* 66, 67, REX.W */
	bool vector;                   /* VEX, EVEX */
	unsigned map;                  /* 0: one byte; 1: 0f; 2: 0f 38; 3: 0f 3a; 5, 6: EVEX's */
	uint8_t opcode;
};

static bool has(const struct reading *r, size_t more)
{
	return r->at + more <= r->size;
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || (byte & 0xe7) == 0x26 || byte == 0x64 ||
	       byte == 0x65 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
}

/* VEX and EVEX: what they have instead of prefixes and escapes. */
static bool read_vector(struct reading *r, uint8_t first)
{
	unsigned payload = first == 0x62 ? 3 : first == 0xc4 ? 2 : 1;

	if (!has(r, payload + 1))
		return false;
	r->map = first == 0xc5 ? 1 : r->code[r->at] & (first == 0x62 ? 7 : 31);
	r->vector = true;
	r->at += payload;
	r->opcode = r->code[r->at++];
	return r->map >= 1 && r->map <= 6 && r->map != 4;
}

static bool read_opcode(struct reading *r)
{
	uint8_t byte;

	while (has(r, 1) && is_prefix(r->code[r->at])) {
		r->word |= r->code[r->at] == 0x66;
		r->address_word |= r->code[r->at] == 0x67;
		r->at++;
	}
	if (has(r, 1) && (r->code[r->at] & 0xf0) == 0x40)
		r->wide = r->code[r->at++] & 8;
	if (!has(r, 1))
		return false;
	byte = r->code[r->at++];
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return read_vector(r, byte);
	r->opcode = byte;
	if (byte != 0x0f)
		return true;
	if (!has(r, 1))
		return false;
	r->map = 1;
	r->opcode = r->code[r->at++];
	if (r->opcode != 0x38 && r->opcode != 0x3a)
		return true;
	if (!has(r, 1))
		return false;
	r->map = r->opcode == 0x38 ? 2 : 3;
	r->opcode = r->code[r->at++];
	return true;
}

/* ModRM, SIB and displacement. */
static bool skip_modrm(struct reading *r, uint8_t *modrm)
{
	unsigned mode, rest;

	if (!has(r, 1))
		return false;
	*modrm = r->code[r->at++];
	mode = *modrm >> 6;
	rest = *modrm & 7;
	if (mode == 3)
		return true;
	if (rest == 4) {
		if (!has(r, 1))
			return false;
		rest = r->code[r->at++] & 7;
		r->at += mode == 0 && rest == 5 ? 4 : 0;
	} else if (mode == 0 && rest == 5) {
		r->at += 4;
	}
	r->at += mode == 1 ? 1 : mode == 2 ? 4 : 0;
	return has(r, 0);
}

static unsigned immediate(const struct reading *r, unsigned form, uint8_t modrm)
{
	unsigned size = (form & B ? 1 : 0) + (form & W ? 2 : 0);

	if (form & Z)
		size += r->word ? 2 : 4;
	if (form & Q)
		size += r->wide ? 8 : r->word ? 2 : 4;
	if (form & O)
		size += r->address_word ? 4 : 8;
	if (form & T && !(modrm & 0x30))
		size += r->opcode == 0xf6 ? 1 : r->word ? 2 : 4;
	return size;
}

/* Distances are of 4 bytes whatever stands before them. */
static bool has_distance(const struct reading *r)
{
	return r->map == 0 ? r->opcode == 0xe8 || r->opcode == 0xe9
			   : r->map == 1 && (r->opcode & 0xf0) == 0x80;
}

static int64_t distance(const struct reading *r, unsigned size)
{
	uint32_t value = 0;

	if (size == 1)
		return (int8_t)r->code[r->at - 1];
	for (unsigned i = 0; i < 4; i++)
		value |= (uint32_t)r->code[r->at - 4 + i] << 8 * i;
	return (int32_t)value;
}

static enum ep_code_step_kind kind_of(const struct reading *r, uint8_t modrm)
{
	if (r->vector)
		return EP_STEP_NEXT;
	if (r->map == 1)
		return (r->opcode & 0xf0) == 0x80 ? EP_STEP_BRANCH
		       : r->opcode == 0x0b        ? EP_STEP_END
						  : EP_STEP_NEXT;
	if (r->map)
		return EP_STEP_NEXT;
	if ((r->opcode & 0xf0) == 0x70 || (r->opcode & 0xfc) == 0xe0)
		return EP_STEP_BRANCH;
	switch (r->opcode) {
	case 0xe9:
	case 0xeb:
		return EP_STEP_JUMP;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
	case 0xcc:
	case 0xcf:
	case 0xf4:
		return EP_STEP_END;
	case 0xff:
		return (modrm >> 3 & 6) == 4 ? EP_STEP_INDIRECT : EP_STEP_NEXT;
	default:
		return EP_STEP_NEXT;
	}
}

unsigned ep_code_step(const uint8_t *code, size_t size, uint64_t address, struct ep_code_step *out)
{
	struct reading r = {.code = code, .size = size};
	unsigned form, tail;
	uint8_t modrm = 0;

	if (!read_opcode(&r))
		return 0;
	form = r.map == 0 ? one_byte[r.opcode] : r.map == 1 ? two_bytes[r.opcode] : M;
	if (r.map == 3)
		form = M | B;
	if (form == X || (form & M && !skip_modrm(&r, &modrm)))
		return 0;
	tail = has_distance(&r) && !r.vector ? 4 : immediate(&r, form, modrm);
	if (!has(&r, tail) || r.at + tail > 15)
		return 0;
	r.at += tail;
	*out = (struct ep_code_step){.size = (unsigned)r.at, .kind = kind_of(&r, modrm)};
	if (out->kind == EP_STEP_BRANCH || out->kind == EP_STEP_JUMP)
		out->target = address + r.at + (uint64_t)distance(&r, tail);
	return out->size;
}
