/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * root_file.c: the root by the files on disk, where the core lacks the first page of the object
 * that holds the runtime, or its note was moved away. A file that is another build leads nowhere:
 * the root is validated in the memory of the process.
 */
#include "coredump/find/root_impl.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/find/objectfile.h"
#include "coredump/memory/source_impl.h"
#include "coredump/util/alloc.h"

#define NOTES_MAX (64u << 10) /* bytes of one PT_NOTE */

static int by_note(struct ep_root_search *search, const struct ep_object_file *object)
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
		data = elf_getdata_rawchunk(object->elf, (int64_t)header.p_offset, header.p_filesz,
					    ELF_T_BYTE);
		if (data && data->d_buf)
			rc = ep_root_try_notes(search, data->d_buf, data->d_size,
					       object->bias + header.p_vaddr, object->path);
	}
	return rc;
}

static int by_symbol(struct ep_root_search *search, const struct ep_object_file *file)
{
	uint64_t address;
	char where[256];

	if (ep_object_file_symbol(file, "epitaph_root", &address))
		return EP_END;
	snprintf(where, sizeof(where), "symbol epitaph_root in %.220s", file->path);
	return ep_root_try_root(search, address, EP_FOUND_SYMBOL, where);
}

static int by_file(struct ep_root_search *search, const struct ep_object_file *file)
{
	int rc = by_note(search, file);

	return rc ? by_symbol(search, file) : EP_OK;
}

/* ---- the files that are mapped, each opened once ---- */

/* The mappings of one file's first byte, ascending. */
struct mapped_file {
	const struct ep_mapping **mappings;
	size_t count;
};

static int by_path_and_start(const void *left, const void *right)
{
	const struct ep_mapping *a = *(const struct ep_mapping *const *)left;
	const struct ep_mapping *b = *(const struct ep_mapping *const *)right;
	int order = strcmp(a->path, b->path);

	return order ? order : (a->start > b->start) - (a->start < b->start);
}

static int by_first_start(const void *left, const void *right)
{
	const struct mapped_file *a = left, *b = right;

	return (a->mappings[0]->start > b->mappings[0]->start) -
	       (a->mappings[0]->start < b->mappings[0]->start);
}

/* Sorts the mappings; the files as they lie in memory. */
static size_t group(const struct ep_mapping **mappings, size_t count, struct mapped_file *files)
{
	size_t file_count = 0;

	qsort(mappings, count, sizeof(const struct ep_mapping *), by_path_and_start);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || strcmp(mappings[i]->path, mappings[i - 1]->path) != 0)
			files[file_count++] = (struct mapped_file){.mappings = &mappings[i]};
		files[file_count - 1].count++;
	}
	qsort(files, file_count, sizeof(struct mapped_file), by_first_start);
	return file_count;
}

static int by_mapped_file(struct ep_root_search *search, const struct mapped_file *mapped)
{
	struct ep_object_file file;
	int rc = EP_END;

	if (ep_object_file_open(&file, search->source, mapped->mappings[0]))
		return EP_END;
	for (size_t i = 0; i < mapped->count && i < EP_OBJECT_LOADED_MAX && rc; i++) {
		uint64_t start = mapped->mappings[i]->start;

		file.bias += start - file.start;
		file.start = start;
		rc = by_file(search, &file);
	}
	ep_object_file_close(&file);
	return rc;
}

static int by_mapped_files(struct ep_root_search *search)
{
	const struct ep_source *source = search->source;
	const struct ep_mapping **mappings =
		ep_calloc(source->mappings.count, sizeof(struct ep_mapping *));
	struct mapped_file *files = ep_calloc(source->mappings.count, sizeof(struct mapped_file));
	size_t count = 0, file_count;
	int rc = EP_END;

	for (size_t i = 0; i < source->mappings.count; i++)
		if (source->mappings.list[i].file_offset == 0)
			mappings[count++] = &source->mappings.list[i];
	file_count = group(mappings, count, files);
	for (size_t i = 0; i < file_count && rc && !ep_root_search_over(search); i++)
		rc = by_mapped_file(search, &files[i]);
	free(files);
	free(mappings);
	return rc;
}

int ep_root_by_files(struct ep_root_search *search)
{
	const struct ep_source *source = search->source;
	struct ep_object_file file;
	uint64_t phdr;
	int rc;

	if (source->mappings.count)
		return by_mapped_files(search);
	/* No list of files, but told which: program headers open the file. */
	if (!source->executable || ep_source_auxv(source, AT_PHDR, &phdr) != EP_OK ||
	    ep_object_file_open_path(&file, source->executable, phdr & ~(uint64_t)(EP_PAGE - 1)) !=
		    EP_OK)
		return EP_END;
	rc = by_file(search, &file);
	ep_object_file_close(&file);
	return rc;
}
