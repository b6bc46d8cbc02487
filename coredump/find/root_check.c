/* SPDX-License-Identifier: BSD-2-Clause */
/* root_check.c: nothing is believed of a root before magic, version, CRC and its own address. */
#include "coredump/find/root_check.h"

#include <inttypes.h>
#include <string.h>

/* Reflected, polynomial 0x04c11db7; of the 124 bytes of a root: small rather than fast. */
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

/* A next major keeps magic, major, size and self where they are. */
int ep_root_check(const struct ep_root *root, const char *magic, uint64_t address,
		  struct ep_err *err)
{
	uint64_t end;

	if (memcmp(root->magic, magic, EP_MAGIC_SIZE) != 0)
		return EP_END;
	if (root->self != address)
		return ep_fail(err, EP_E_CORRUPT, address,
			       "root at 0x%" PRIx64 ": says that it lies at 0x%" PRIx64, address,
			       root->self);
	if (root->major != EP_FORMAT_MAJOR)
		return ep_fail(err, EP_E_VERSION, address,
			       "root at 0x%" PRIx64
			       ": format %u.%u, this epitaph reads %u; use the one that the "
			       "program was built with, or a later",
			       address, root->major, root->minor, EP_FORMAT_MAJOR);
	if (root->crc != ep_crc32(root, offsetof(struct ep_root, crc)))
		return ep_fail(err, EP_E_CORRUPT, address, "root at 0x%" PRIx64 ": wrong CRC",
			       address);
	if (root->size < sizeof(*root) || root->size > 4096 || root->arch != EP_ARCH_X86_64 ||
	    root->arena_address % 4096 || root->arena_size % 4096 ||
	    __builtin_add_overflow(root->arena_address, root->arena_size, &end) ||
	    (root->arena_address && root->arena_size == 0) ||
	    (memcmp(magic, EP_ARENA_MAGIC, EP_MAGIC_SIZE) == 0 &&
	     (address == 0 || root->arena_address != address)))
		return ep_fail(err, EP_E_CORRUPT, address,
			       "root at 0x%" PRIx64 ": size %u, architecture %u, arena 0x%" PRIx64
			       " + 0x%" PRIx64 " make no sense",
			       address, root->size, root->arch, root->arena_address,
			       root->arena_size);
	return EP_OK;
}
