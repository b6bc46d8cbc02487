/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sled_code.h: the bytes of clang's XRay sleds (LLVM, X86MCInstLower.cpp; the same in 14 and 19),
 * as site_code.h has those of calls. A sled is 11 bytes that are skipped: of an entry and before a
 * tail call `jmp .+11` and a nop, of a return `ret` and a nop. What does not run is written once:
 * the sled is prepared. Then one byte switches it as long as it lives.
 *
 *              as compiled     prepared, off                  the byte, on
 *   entry      eb 09 nop9      eb 09 e8 rel32 nop4            09, 00
 *   tail call  eb 09 nop9      eb 09 4a 83 c4 80 e8 rel32     09, 00
 *   return     c3 nop10        c3 83 c4 80 e8 rel32 c3 cc     c3, 48
 *
 * 48 83 c4 80 is add $-128, %rsp: the hook takes it back (x86_64/hooks.S says why). 4a does the
 * same: its REX.X, which nothing uses here, tells a tail call's from that of a return that is on
 * behind an instruction whose last byte is 0 or 9. Flags are free there, but for the sled of a
 * conditional tail call, where clang 14 has the condition in them: such a one is left alone.
 */
#ifndef EPITAPH_SLED_CODE_H
#define EPITAPH_SLED_CODE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/site_code.h"

/* An entry of section xray_instr_map (compiler-rt's xray_interface_internal.h, XRaySledEntry of
 * version 2, which clang writes since 11). */
struct ep_sled {
	int64_t place;    /* the sled, from this field on */
	int64_t function; /* that it is of, from this field on */
	uint8_t kind;     /* EP_SLED_: ENTRY, EXIT … */
	uint8_t always;   /* the source has xray_always_instrument */
	uint8_t version;
	uint8_t unused[13];
};
static_assert(sizeof(struct ep_sled) == 32, "what clang writes");

#define EP_SLED_ENTRY     0
#define EP_SLED_EXIT      1
#define EP_SLED_TAIL      2
#define EP_SLED_ENTRY_ARG 3 /* an entry whose first argument somebody wants */

#define EP_SLED_SIZE 11u
#define EP_SLED_CODE_SIZE                                                      \
	10u /* bytes from the one that decides to the end of the call, at most \
	     */

enum ep_sled_shape {
	EP_SLED_NONE, /* not one of those below, or not to be touched */
	EP_SLED_AT_ENTRY,
	EP_SLED_AT_TAIL,
	EP_SLED_AT_RETURN,
	EP_SLED_SHAPES,
};

/* The nops are LLVM's own, with a displacement of 512: no assembler aligns code by them. */
static const struct ep_sled_bytes {
	uint8_t compiled[EP_SLED_SIZE];
	uint8_t prepared[EP_SLED_SIZE]; /* off; without rel32 */
	uint8_t call;                   /* where the call is in it */
	uint8_t decides;                /* which byte does */
	uint8_t kind;                   /* EP_SITE_ */
} ep_sled_shapes[EP_SLED_SHAPES] = {
	{.kind = 0},
	{{0xeb, 9, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0},
	 {0xeb, 9, 0xe8, 0, 0, 0, 0, 0x0f, 0x1f, 0x40, 0},
	 2,
	 1,
	 EP_SITE_XRAY_ENTRY},
	{{0xeb, 9, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0},
	 {0xeb, 9, 0x4a, 0x83, 0xc4, 0x80, 0xe8, 0, 0, 0, 0},
	 6,
	 1,
	 EP_SITE_XRAY_ENTRY},
	{{0xc3, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0},
	 {0xc3, 0x83, 0xc4, 0x80, 0xe8, 0, 0, 0, 0, 0xc3, 0xcc},
	 4,
	 0,
	 EP_SITE_XRAY_EXIT},
};

static inline enum ep_sled_shape ep_sled_shape_of(const struct ep_sled *sled)
{
	switch (sled->version == 2 ? sled->kind : 255) {
	case EP_SLED_ENTRY:
	case EP_SLED_ENTRY_ARG:
		return EP_SLED_AT_ENTRY;
	case EP_SLED_EXIT:
		return EP_SLED_AT_RETURN;
	case EP_SLED_TAIL:
		return EP_SLED_AT_TAIL;
	default:
		return EP_SLED_NONE;
	}
}

static inline bool ep_sled_matches(const uint8_t *code, const uint8_t *bytes, unsigned from,
				   unsigned to)
{
	for (unsigned i = from; i < to; i++)
		if (code[i] != bytes[i])
			return false;
	return true;
}

/* Does such a sled lie there as it was compiled? An entry and a tail call look the same. */
static inline bool ep_sled_is_compiled(enum ep_sled_shape shape, const uint8_t code[EP_SLED_SIZE])
{
	return ep_sled_matches(code, ep_sled_shapes[shape].compiled, 0, EP_SLED_SIZE);
}

/* … prepared, on or off? */
static inline bool ep_sled_is_prepared(enum ep_sled_shape shape, const uint8_t code[EP_SLED_SIZE])
{
	const struct ep_sled_bytes *as = &ep_sled_shapes[shape];
	uint8_t decides = code[as->decides];

	return (decides == ep_site_byte(as->kind, true) ||
		decides == ep_site_byte(as->kind, false)) &&
	       ep_sled_matches(code, as->prepared, 0, as->decides) &&
	       ep_sled_matches(code, as->prepared, as->decides + 1u, as->call + 1u) &&
	       ep_sled_matches(code, as->prepared, as->call + 5u, EP_SLED_SIZE);
}

/* As compiled and to be prepared, with the two bytes behind it: not that of a conditional jump. */
static inline bool ep_sled_is_fit(enum ep_sled_shape shape, const uint8_t code[EP_SLED_SIZE + 2])
{
	const uint8_t *next = code + EP_SLED_SIZE;

	if (!ep_sled_is_compiled(shape, code))
		return false;
	return shape != EP_SLED_AT_TAIL ||
	       !((next[0] == 0x0f && (next[1] & 0xf0) == 0x80) || (next[0] & 0xf0) == 0x70);
}

/* Prepares the sled at `place`, off; false: `hook` is farther away than a call reaches, and nothing
 * is written. */
static inline bool ep_sled_prepare(enum ep_sled_shape shape, uint8_t code[EP_SLED_SIZE],
				   uint64_t place, uint64_t hook)
{
	const struct ep_sled_bytes *as = &ep_sled_shapes[shape];
	int64_t distance = (int64_t)(hook - (place + as->call + EP_SITE_CODE_SIZE));

	if (distance != (int32_t)distance)
		return false;
	for (unsigned i = 0; i < EP_SLED_SIZE; i++)
		code[i] = as->prepared[i];
	for (unsigned i = 0; i < 4; i++)
		code[as->call + 1u + i] = (uint8_t)((uint64_t)distance >> 8 * i);
	return true;
}

/*
 * Might code[0], which lies at `address`, be the byte that decides in a prepared sled? `size`:
 * bytes that are there, EP_SLED_CODE_SIZE suffice. *target: where its rel32 leads; it is one only
 * if that is the hook of the entry for EP_SLED_AT_ENTRY, of the return for others.
 */
static inline enum ep_sled_shape ep_sled_code_look(const uint8_t *code, size_t size,
						   uint64_t address, uint64_t *target)
{
	for (unsigned shape = EP_SLED_AT_ENTRY; shape < EP_SLED_SHAPES; shape++) {
		const struct ep_sled_bytes *as = &ep_sled_shapes[shape];
		unsigned call = (unsigned)as->call - as->decides;

		if (size < call + EP_SITE_CODE_SIZE ||
		    (code[0] != ep_site_byte(as->kind, true) &&
		     code[0] != ep_site_byte(as->kind, false)) ||
		    !ep_sled_matches(code, as->prepared + as->decides, 1, call + 1))
			continue;
		*target = address + call + EP_SITE_CODE_SIZE +
			  (uint64_t)(int64_t)ep_code_distance(code + call + 1);
		return (enum ep_sled_shape)shape;
	}
	return EP_SLED_NONE;
}

#endif
