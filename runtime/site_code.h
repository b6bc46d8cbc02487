/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * site_code.h: what the bytes of a site are (format_switches.h), for the process, which looks at
 * its own code, and for `epitaph control`, which looks from outside. Plain C over bytes that
 * somebody else has read; nothing here reads memory or calls anything.
 *
 *   e8 rel32       call hook     off: a9 rel32, test $rel32, %eax (also behind 67, addr32)
 *   e9 rel32       jmp hook      off: c3, the hook would only return
 *
 * Bytes are a site only where rel32 leads to a hook, or to a stub that goes on to one: so whoever
 * asks resolves the target with ep_stub_look.
 */
#ifndef EPITAPH_SITE_CODE_H
#define EPITAPH_SITE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/format_switches.h"

#define EP_SITE_CODE_SIZE 5u  /* bytes of a call or a jump */
#define EP_STUB_SIZE      32u /* bytes that the longest stub takes */

/* The byte of such a site that decides, when it is on and off; 0: no such kind. */
static inline uint8_t ep_site_byte(unsigned kind, bool off)
{
	static const uint8_t bytes[][2] = {
		[EP_SITE_CALL] = {0xe8, 0xa9},
		[EP_SITE_JUMP] = {0xe9, 0xc3},
		[EP_SITE_XRAY_ENTRY] = {0x00, 0x09},
		[EP_SITE_XRAY_EXIT] = {0x48, 0xc3},
	};

	return kind < sizeof(bytes) / sizeof(*bytes) ? bytes[kind][off] : 0;
}

static inline int32_t ep_code_distance(const uint8_t *at)
{
	return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
			 (uint32_t)at[3] << 24);
}

/*
 * Might the EP_SITE_CODE_SIZE bytes that lie at `address` be a call (EP_SITE_CALL) or a jump
 * (EP_SITE_JUMP), on or off? 0: no. *target: where its rel32 leads.
 */
static inline unsigned ep_site_code_look(const uint8_t *code, uint64_t address, uint64_t *target)
{
	*target = address + EP_SITE_CODE_SIZE + (uint64_t)(int64_t)ep_code_distance(code + 1);
	if (code[0] == 0xe8 || code[0] == 0xa9)
		return EP_SITE_CALL;
	return code[0] == 0xe9 || code[0] == 0xc3 ? EP_SITE_JUMP : 0;
}

/* What a stub does. */
#define EP_STUB_NONE 0 /* it is none that we know */
#define EP_STUB_JUMP 1 /* goes on at *at */
#define EP_STUB_SLOT 2 /* goes on at the address that the 8 bytes at *at hold */

/* The jump at the end of a stub. */
static inline unsigned ep_stub_jump(const uint8_t *code, uint64_t address, uint64_t *at)
{
	if (code[0] == 0xe9) {
		*at = address + 5 + (uint64_t)(int64_t)ep_code_distance(code + 1);
		return EP_STUB_JUMP;
	}
	if (code[0] == 0xeb) {
		*at = address + 2 + (uint64_t)(int64_t)(int8_t)code[1];
		return EP_STUB_JUMP;
	}
	if (code[0] == 0xff && code[1] == 0x25) {
		*at = address + 6 + (uint64_t)(int64_t)ep_code_distance(code + 2);
		return EP_STUB_SLOT;
	}
	return EP_STUB_NONE;
}

/*
 * What lies at `address`, EP_STUB_SIZE bytes of it: the wrapper's stubs (kit/hooks.S: cmpq $0,
 * slot(%rip); je; notrack jmp *slot(%rip), of older ones without notrack; kit/early.S: cmpb $0,
 * begun(%rip); jne hook, of older ones je; jmp hook), and those of the procedure linkage table
 * (psABI, 5.2.1: jmp *slot(%rip), with bnd or without).
 */
static inline unsigned ep_stub_look(const uint8_t code[EP_STUB_SIZE], uint64_t address,
				    uint64_t *at)
{
	size_t i = 0;

	if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa)
		i = 4; /* endbr64 */
	if (code[i] == 0x48 && code[i + 1] == 0x83 && code[i + 2] == 0x3d)
		i += 8; /* cmpq $0, slot(%rip) */
	else if (code[i] == 0x80 && code[i + 1] == 0x3d)
		i += 7;                                        /* cmpb $0, begun(%rip) */
	if (i > 4 && code[i] == 0x0f && code[i + 1] == 0x85) { /* jne */
		*at = address + i + 6 + (uint64_t)(int64_t)ep_code_distance(code + i + 2);
		return EP_STUB_JUMP;
	}
	if (i > 4 && code[i] == 0x74)
		i += 2; /* je */
	if (code[i] == 0xf2 || code[i] == 0x3e)
		i++; /* bnd, notrack */
	return ep_stub_jump(code + i, address + i, at);
}

#endif
