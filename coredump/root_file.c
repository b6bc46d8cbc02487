/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * root_file.c: the root by the files on disk, where the core lacks the first
 * page of the object that holds the runtime, or its note was moved away. A file
 * that is another build leads nowhere: the root is validated in the memory of
 * the process.
 */
#include "coredump/root_impl.h"

#include <gelf.h>
#include <stdio.h>

#include "coredump/objectfile.h"
#include "coredump/source_impl.h"

#define NOTES_MAX (64u << 10) /* bytes of one PT_NOTE */

static int by_note(struct ep_root_search *search,
		   const struct ep_object_file *object)
{
	size_t count;
	int rc = EP_END;

	if (elf_getphdrnum(object->elf, &count) != 0)
		return EP_END;
	for (size_t i = 0; i < count && rc; i++) {
		GElf_Phdr header;
		Elf_Data *data;

		if (!gelf_getphdr(object->elf, (int)i, &header))
			break;
		if (header.p_type != PT_NOTE || header.p_filesz > NOTES_MAX)
			continue;
		data = elf_getdata_rawchunk(object->elf,
					    (int64_t)header.p_offset,
					    header.p_filesz, ELF_T_BYTE);
		if (data && data->d_buf)
			rc = ep_root_try_notes(
				search, data->d_buf, data->d_size,
				object->bias + header.p_vaddr, object->path);
	}
	return rc;
}

static int by_symbol(struct ep_root_search *search,
		     const struct ep_object_file *file)
{
	uint64_t address;
	char where[256];

	if (ep_object_file_symbol(file, "epitaph_root", &address))
		return EP_END;
	snprintf(where, sizeof(where), "symbol epitaph_root in %.220s",
		 file->path);
	return ep_root_try_root(search, address, EP_FOUND_SYMBOL, where);
}

/* Takes over the file. */
static int by_file(struct ep_root_search *search, struct ep_object_file *file)
{
	int rc = by_note(search, file);

	if (rc)
		rc = by_symbol(search, file);
	ep_object_file_close(file);
	return rc;
}

int ep_root_by_files(struct ep_root_search *search)
{
	const struct ep_source *source = search->source;
	struct ep_object_file file;
	uint64_t phdr;

	for (size_t i = 0; i < source->mapping_count; i++) {
		if (source->mappings[i].file_offset != 0 ||
		    ep_object_file_open(&file, source, &source->mappings[i]))
			continue;
		if (by_file(search, &file) == EP_OK)
			return EP_OK;
	}
	/* No list of files, but told which: program headers open the file. */
	if (source->mapping_count == 0 && source->executable &&
	    ep_source_auxv(source, AT_PHDR, &phdr) == EP_OK &&
	    ep_object_file_open_path(&file, source->executable,
				     phdr & ~(uint64_t)(EP_PAGE - 1)) == EP_OK)
		return by_file(search, &file);
	return EP_END;
}
