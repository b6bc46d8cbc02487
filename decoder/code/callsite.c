/* SPDX-License-Identifier: BSD-2-Clause */
/* callsite.c: Intel's manual, volume 2, CALL: E8 with a displacement, FF /2 with a register or
 * memory. */
#include "decoder/code/callsite.h"

#include <string.h>

#define CALL_DIRECT   0xe8
#define CALL_INDIRECT 0xff
#define DIRECT_SIZE   5u
#define SLOT_MODRM    0x15 /* call *x(%rip), as of a slot of the global offset table */
#define SLOT_SIZE     6u

/* Does FF with this ModRM byte (and SIB byte) fill `size` bytes? */
static bool is_indirect(const uint8_t *code, size_t size)
{
	uint8_t modrm, mode, base;
	size_t length = 2;

	if (size < length || code[0] != CALL_INDIRECT)
		return false;
	modrm = code[1];
	mode = modrm >> 6;
	base = modrm & 7;
	if ((modrm >> 3 & 7) != 2)
		return false;
	if (mode != 3 && base == 4) {
		if (size < 3)
			return false;
		base = code[2] & 7;
		length++;
	}
	if (mode == 1)
		length += 1;
	else if (mode == 2 || (mode == 0 && base == 5))
		length += 4;
	return length == size;
}

static bool ends_indirect(const uint8_t *code, size_t size)
{
	for (size_t length = 2; length <= 7 && length <= size; length++)
		if (is_indirect(code + size - length, length))
			return true;
	return false;
}

bool ep_callsite_is_anonymous(const uint8_t *code, size_t size)
{
	bool direct = size >= DIRECT_SIZE && code[size - DIRECT_SIZE] == CALL_DIRECT;
	bool slot = size >= SLOT_SIZE && code[size - SLOT_SIZE] == CALL_INDIRECT &&
		    code[size - SLOT_SIZE + 1] == SLOT_MODRM;

	return !direct && !slot && ends_indirect(code, size);
}

enum ep_callsite ep_callsite_look(const uint8_t *code, size_t size, uint64_t after, uint64_t target)
{
	int32_t displacement;

	if (ends_indirect(code, size))
		return EP_CALLSITE_INDIRECT;
	if (size < DIRECT_SIZE || code[size - DIRECT_SIZE] != CALL_DIRECT)
		return EP_CALLSITE_NONE;
	memcpy(&displacement, code + size - sizeof(displacement), sizeof(displacement));
	return after + (uint64_t)(int64_t)displacement == target ? EP_CALLSITE_INDIRECT
								 : EP_CALLSITE_DIRECT;
}
