/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elfimage.h: an ELF object as it lies in the memory of a process: its program headers and its
 * bias, read from the source and never from the file.
 */
#ifndef EPITAPH_ELFIMAGE_H
#define EPITAPH_ELFIMAGE_H

#include <elf.h>

#include "coredump/memory/source.h"

#define EP_ELF_IMAGE_HEADERS 64 /* program headers; 13 are usual */

struct ep_elf_image {
	uint64_t start; /* process virtual, of the ELF header */
	uint64_t bias;  /* address in the process - p_vaddr */
	uint16_t type;  /* ET_ */
	uint32_t count;
	Elf64_Phdr headers[EP_ELF_IMAGE_HEADERS];
};

/* What is mapped at `start`, which should be an ELF header. EP_E_FORMAT: it is none of a 64-bit x86
 * object; or as ep_source_read. */
int ep_elf_image_read(struct ep_elf_image *image, struct ep_source *source, uint64_t start,
		      struct ep_err *err);

/* The program itself, by the auxiliary vector (AT_PHDR): `start` is 0 when its ELF header is not at
 * the place that its headers say. EP_END: unknown. */
int ep_elf_image_executable(struct ep_elf_image *image, struct ep_source *source,
			    struct ep_err *err);

/* The first header of type `type`, or NULL. */
const Elf64_Phdr *ep_elf_image_header(const struct ep_elf_image *image, uint32_t type);

/* Bias of an object whose ELF header lies at `start`: what its first PT_LOAD, the one that holds
 * the file's first byte, says. */
uint64_t ep_elf_bias(const Elf64_Phdr *headers, uint32_t count, uint16_t type, uint64_t start);

#endif
