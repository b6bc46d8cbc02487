/* SPDX-License-Identifier: BSD-2-Clause */
/* elfimage.c: program headers out of a process's memory. */
#include "coredump/memory/elfimage.h"

#include <inttypes.h>
#include <string.h>

uint64_t ep_elf_bias(const Elf64_Phdr *headers, uint32_t count, uint16_t type, uint64_t start)
{
	if (type == ET_EXEC)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (headers[i].p_type == PT_LOAD)
			return start - (headers[i].p_vaddr - headers[i].p_offset % 4096);
	return start;
}

int ep_elf_image_read(struct ep_elf_image *image, struct ep_source *source, uint64_t start,
		      struct ep_err *err)
{
	Elf64_Ehdr header;
	uint32_t count;
	int rc = ep_source_read(source, start, &header, sizeof(header), NULL, err);

	if (rc)
		return rc;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64 ||
	    header.e_phentsize != sizeof(Elf64_Phdr) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return ep_fail(err, EP_E_FORMAT, start, "no ELF header at 0x%" PRIx64, start);
	count = header.e_phnum < EP_ELF_IMAGE_HEADERS ? header.e_phnum : EP_ELF_IMAGE_HEADERS;
	rc = ep_source_read(source, start + header.e_phoff, image->headers,
			    count * sizeof(Elf64_Phdr), NULL, err);
	if (rc)
		return rc;
	image->start = start;
	image->type = header.e_type;
	image->count = count;
	image->bias = ep_elf_bias(image->headers, count, header.e_type, start);
	return EP_OK;
}

int ep_elf_image_executable(struct ep_elf_image *image, struct ep_source *source,
			    struct ep_err *err)
{
	uint64_t address, number;
	const Elf64_Phdr *own, *load;
	int rc;

	if (ep_source_auxv(source, AT_PHDR, &address) || ep_source_auxv(source, AT_PHNUM, &number))
		return EP_END;
	image->count = number < EP_ELF_IMAGE_HEADERS ? (uint32_t)number : EP_ELF_IMAGE_HEADERS;
	rc = ep_source_read(source, address, image->headers, image->count * sizeof(Elf64_Phdr),
			    NULL, err);
	if (rc)
		return rc;
	own = ep_elf_image_header(image, PT_PHDR);
	load = ep_elf_image_header(image, PT_LOAD);
	/* Static programs have no PT_PHDR; their headers follow the ELF header in the first
	 * segment. */
	if (own)
		image->bias = address - own->p_vaddr;
	else if (load)
		image->bias = address - sizeof(Elf64_Ehdr) - load->p_vaddr;
	else
		return EP_END;
	image->type = image->bias ? ET_DYN : ET_EXEC;
	image->start = load && load->p_offset == 0 ? image->bias + load->p_vaddr : 0;
	return EP_OK;
}

const Elf64_Phdr *ep_elf_image_header(const struct ep_elf_image *image, uint32_t type)
{
	for (uint32_t i = 0; i < image->count; i++)
		if (image->headers[i].p_type == type)
			return &image->headers[i];
	return NULL;
}
