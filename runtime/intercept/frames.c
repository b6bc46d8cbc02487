/* SPDX-License-Identifier: BSD-2-Clause */
/* frames.c: .eh_frame (LSB Core, 10.6; DWARF 5, 6.4) → one word a place. */
#include "runtime/intercept/frames.h"

#include <assert.h>
#include <dlfcn.h>
#include <stddef.h>

#include "runtime/lib/interpose.h"
#include "runtime/lib/text.h"

/* ---- what is remembered ---- */

/*
 * By the low bits of a place: the others, and its rule. Any thread may write a word of it.
 *
 *   63 … 27  the place's other bits
 *   26 … 8   its CFA is so many times 8 beyond the base; 0: of another kind
 *    7       the base is rbp, else rsp
 *    6 … 0   rbp is saved so many times 8 below the CFA; 0: it is as it was
 */
#define INDEX_BITS 11
#define PLACE_BITS 48
#define FAR_BITS   19
#define FAR_SHIFT  8
#define BASE_RBP   (UINT64_C(1) << 7)
#define SAVED_MASK UINT64_C(0x7f)
#define TAG_SHIFT  (FAR_SHIFT + FAR_BITS)
static_assert(TAG_SHIFT + PLACE_BITS - INDEX_BITS <= 64, "a word");

static uint64_t rules[1 << INDEX_BITS];

void ep_frames_forget(void)
{
	for (unsigned i = 0; i < 1 << INDEX_BITS; i++)
		__atomic_store_n(&rules[i], 0, __ATOMIC_RELAXED);
}

/* ---- a table's program ---- */

#define RBP  6
#define RSP  7
#define RA   16
#define NONE UINT64_MAX

struct row {
	uint64_t base; /* RBP or RSP; NONE: the CFA is an expression's, or another register's */
	uint64_t far;
	int64_t saved; /* rbp, from the CFA; 0: it is as it was */
};

struct program {
	const uint8_t *at, *end;
	bool good;
	int64_t data_align;
	uint64_t code_align;
	uint8_t encoding; /* of the table's pointers */
};

static uint64_t byte(struct program *p)
{
	if (p->at >= p->end) {
		p->good = false;
		return 0;
	}
	return *p->at++;
}

static uint64_t fixed(struct program *p, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= byte(p) << 8 * i;
	return value;
}

static uint64_t uleb(struct program *p)
{
	uint64_t value = 0, next;
	unsigned shift = 0;

	do {
		next = byte(p);
		if (shift < 64)
			value |= (next & 0x7f) << shift;
		shift += 7;
	} while (next & 0x80);
	return value;
}

static int64_t sleb(struct program *p)
{
	uint64_t value = 0, next;
	unsigned shift = 0;

	do {
		next = byte(p);
		if (shift < 64)
			value |= (next & 0x7f) << shift;
		shift += 7;
	} while (next & 0x80);
	if (shift < 64 && next & 0x40)
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

static void skip(struct program *p, uint64_t size)
{
	if (size > (uint64_t)(p->end - p->at))
		p->good = false;
	else
		p->at += size;
}

static void skip_pointer(struct program *p)
{
	static const uint8_t sizes[8] = {8, 0, 2, 4, 8, 0, 0, 0}; /* DW_EH_PE_absptr … udata8 */
	unsigned size = sizes[p->encoding & 7];

	/* Aligned, indirect or LEB128: not of x86-64's compilers. */
	if (!size || p->encoding == 0x50)
		p->good = false;
	skip(p, size);
}

static void offset_of(struct program *p, struct row *row, uint64_t reg, int64_t offset)
{
	if (reg == RBP)
		row->saved = offset;
	else if (reg == RSP || (reg == RA && offset != -8))
		p->good = false;
}

/* Of a register that matters nothing is known here. */
static void other_rule(struct program *p, uint64_t reg)
{
	if (reg == RBP || reg == RSP || reg == RA)
		p->good = false;
}

/* Up to the row that holds `before` bytes behind the function's begin. */
static void execute(struct program *p, struct row *row, uint64_t before)
{
	const struct row initial = *row;
	struct row kept[8];
	unsigned depth = 0;
	uint64_t location = 0, reg;

	while (p->good && p->at < p->end && location < before) {
		uint64_t op = byte(p);

		switch (op >> 6 ? op & 0xc0 : op) {
		case 0x40: /* advance_loc */
			location += (op & 0x3f) * p->code_align;
			break;
		case 0x02: /* advance_loc1, 2, 4 */
		case 0x03:
		case 0x04:
			location += fixed(p, 1u << (op - 2)) * p->code_align;
			break;
		case 0x80: /* offset */
			offset_of(p, row, op & 0x3f, (int64_t)uleb(p) * p->data_align);
			break;
		case 0x05: /* offset_extended */
			reg = uleb(p);
			offset_of(p, row, reg, (int64_t)uleb(p) * p->data_align);
			break;
		case 0x11: /* offset_extended_sf */
			reg = uleb(p);
			offset_of(p, row, reg, sleb(p) * p->data_align);
			break;
		case 0xc0: /* restore */
		case 0x06: /* restore_extended */
			reg = op >> 6 ? op & 0x3f : uleb(p);
			if (reg == RBP)
				row->saved = initial.saved;
			else
				other_rule(p, reg);
			break;
		case 0x08: /* same_value */
			reg = uleb(p);
			if (reg == RBP)
				row->saved = 0;
			else
				other_rule(p, reg);
			break;
		case 0x07: /* undefined */
			other_rule(p, uleb(p));
			break;
		case 0x09: /* register */
			other_rule(p, uleb(p));
			uleb(p);
			break;
		case 0x10: /* expression, val_expression */
		case 0x16:
			other_rule(p, uleb(p));
			skip(p, uleb(p));
			break;
		case 0x0a: /* remember_state */
			if (depth < sizeof(kept) / sizeof(*kept))
				kept[depth++] = *row;
			else
				p->good = false;
			break;
		case 0x0b: /* restore_state */
			if (depth)
				*row = kept[--depth];
			else
				p->good = false;
			break;
		case 0x0c: /* def_cfa */
			row->base = uleb(p);
			row->far = uleb(p);
			break;
		case 0x0d: /* def_cfa_register */
			row->base = uleb(p);
			break;
		case 0x0e: /* def_cfa_offset */
			row->far = uleb(p);
			break;
		case 0x0f: /* def_cfa_expression */
			row->base = NONE;
			skip(p, uleb(p));
			break;
		case 0x2e: /* GNU_args_size */
			uleb(p);
			break;
		case 0x00:
			break;
		default:
			p->good = false;
		}
	}
}

/* A CIE or FDE at `at`: behind its length, up to its end. The 64-bit form is none that is met. */
static struct program open_entry(const uint8_t *at)
{
	struct program p = {.at = at, .end = at + 4, .good = true};
	uint64_t length = fixed(&p, 4);

	p.good = length && length != 0xffffffff;
	p.end = p.at + (p.good ? length : 0);
	return p;
}

/* Reads a CIE's head; leaves `p` at its program. */
static void read_cie(struct program *p, bool *sized)
{
	const char *augmentation;
	uint64_t version, size;
	const uint8_t *program;

	fixed(p, 4);
	version = byte(p);
	augmentation = (const char *)p->at;
	while (p->good && byte(p))
		;
	p->code_align = uleb(p);
	p->data_align = sleb(p);
	if (version == 1 ? byte(p) != RA : uleb(p) != RA)
		p->good = false;
	*sized = *augmentation == 'z';
	if (!*sized) {
		p->good &= !*augmentation;
		return;
	}
	size = uleb(p);
	program = p->at + size;
	for (augmentation++; p->good && *augmentation; augmentation++) {
		if (*augmentation == 'R') {
			p->encoding = (uint8_t)byte(p);
		} else if (*augmentation == 'L') {
			byte(p);
		} else if (*augmentation == 'P') {
			uint8_t kept = p->encoding;

			p->encoding = (uint8_t)byte(p);
			skip_pointer(p);
			p->encoding = kept;
		} else { /* S: a signal's frame */
			p->good = false;
		}
	}
	p->good &= program >= p->at && program <= p->end;
	if (p->good)
		p->at = program;
}

/* ---- where tables are ---- */

/* As the unwinder has it (libgcc: unwind-dw2-fde.h; LLVM's libunwind alike). */
struct bases {
	void *text, *data, *function;
};
typedef const uint8_t *(*find_fn)(void *place, struct bases *bases);
extern const uint8_t *_Unwind_Find_FDE(void *place, struct bases *bases);
#pragma weak _Unwind_Find_FDE

static ep_any_fn find_table, locate;

/* The linker's names for where the object's image begins and ends. */
extern const char own_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char own_end[] __asm__("_end") __attribute__((visibility("hidden")));

/* In an object that stays until it is closed; what a program made by itself it may change. */
static bool is_in_object(const uint8_t *table, uint64_t asks)
{
	Dl_info info;

	if (table >= (const uint8_t *)own_start && table < (const uint8_t *)own_end)
		return true;
	if (!ep_interpose_find(&locate, "dladdr", asks))
		return false;
	return ((int (*)(const void *, Dl_info *))(void (*)(void))locate)(table, &info) != 0;
}

/* 0: of another kind. */
static uint64_t rule_of(uint64_t place, uint64_t asks)
{
	struct row row = {NONE, 0, 0};
	struct bases bases = {0};
	const uint8_t *table;
	struct program fde, cie;
	find_fn find = _Unwind_Find_FDE;
	bool sized;

	if (!ep_interpose_own_unwinder()) {
		ep_interpose_keep(&find_table, "_Unwind_Find_FDE", asks);
		find = (find_fn)(void (*)(void))find_table;
	}
	table = find ? find((void *)(place - 1), &bases) : NULL;
	if (!table || (uint64_t)bases.function >= place || !is_in_object(table, asks))
		return 0;
	fde = open_entry(table);
	cie = open_entry(table + 4 - *(const int32_t *)(table + 4));
	fixed(&fde, 4);
	read_cie(&cie, &sized);
	if (!fde.good || !cie.good)
		return 0;
	execute(&cie, &row, 1);
	fde.code_align = cie.code_align;
	fde.data_align = cie.data_align;
	fde.encoding = cie.encoding;
	skip_pointer(&fde);
	skip_pointer(&fde);
	if (sized)
		skip(&fde, uleb(&fde));
	execute(&fde, &row, place - (uint64_t)bases.function);
	if (!cie.good || !fde.good || (row.base != RBP && row.base != RSP) || row.far % 8 ||
	    row.far < 8 || row.far >> (3 + FAR_BITS) || row.saved % 8 || row.saved > 0 ||
	    row.saved < -(int64_t)(SAVED_MASK * 8))
		return 0;
	return row.far / 8 << FAR_SHIFT | (row.base == RBP ? BASE_RBP : 0) |
	       (uint64_t)(-row.saved / 8);
}

bool ep_frame_caller(struct ep_resumption *frame, uint64_t asks)
{
	uint64_t *slot = &rules[frame->place % (1 << INDEX_BITS)];
	uint64_t tag = frame->place >> INDEX_BITS, rule = __atomic_load_n(slot, __ATOMIC_RELAXED);
	uint64_t cfa;

	if (rule >> TAG_SHIFT != tag) {
		rule = rule_of(frame->place, asks) | tag << TAG_SHIFT;
		__atomic_store_n(slot, rule, __ATOMIC_RELAXED);
	}
	cfa = rule >> FAR_SHIFT & ((UINT64_C(1) << FAR_BITS) - 1);
	if (!cfa)
		return false;
	cfa = cfa * 8 + (rule & BASE_RBP ? frame->rbp : frame->sp);
	/* Outwards only: whatever rbp may be. */
	if (cfa <= frame->sp || cfa - frame->sp > UINT64_C(1) << (3 + FAR_BITS) || cfa % 8)
		return false;
	frame->place = *(const uint64_t *)(cfa - 8);
	if (rule & SAVED_MASK)
		frame->rbp = *(const uint64_t *)(cfa - (rule & SAVED_MASK) * 8);
	frame->sp = cfa;
	return true;
}
