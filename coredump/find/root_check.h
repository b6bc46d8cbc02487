/* SPDX-License-Identifier: BSD-2-Clause */
/* root_check.h: whether bytes are a root (runtime/format.h). */
#ifndef EPITAPH_ROOT_CHECK_H
#define EPITAPH_ROOT_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "coredump/util/error.h"
#include "runtime/format.h"

/* CRC-32 of IEEE 802.3. */
uint32_t ep_crc32(const void *bytes, size_t size);

/* EP_OK: a good root of this major for `address`; EP_END: not this magic. */
int ep_root_check(const struct ep_root *root, const char *magic, uint64_t address,
		  struct ep_err *err);

#endif
