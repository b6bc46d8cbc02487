/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unpack.h: sections compressed by zstd (SHF_COMPRESSED, ELFCOMPRESS_ZSTD: gcc 13, mold, lld,
 * objcopy), which elfutils 0.188 cannot read: a copy of the file in memory has them unpacked.
 * libzstd is loaded when it is first needed.
 */
#ifndef EPITAPH_UNPACK_H
#define EPITAPH_UNPACK_H

#include <libelf.h>

/*
 * The file that is open at `fd` as `elf`, unpacked; *memory: the caller frees it, after the Elf's
 * end. NULL: it has no such section (*why is ""), or *why, static, says why it cannot be had and
 * what would help. What its sections become is bounded (coredump/files/elffile.h).
 */
Elf *ep_unpack(Elf *elf, int fd, void **memory, const char **why);

#endif
