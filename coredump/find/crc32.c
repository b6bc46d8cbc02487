/* SPDX-License-Identifier: BSD-2-Clause */
/* crc32.c: CRC-32 as of IEEE 802.3 (reflected, polynomial 0x04c11db7), of the 124 bytes of a root:
 * small rather than fast. */
#include "coredump/find/root.h"

uint32_t ep_crc32(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint32_t crc = 0xffffffffu;

	for (size_t i = 0; i < size; i++) {
		crc ^= at[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}
