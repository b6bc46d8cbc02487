/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * root_file.c: the root by the files on disk, where the core lacks the first
 * page of the object that holds the runtime, or its note was moved away. A file
 * that is another build leads nowhere: the root is validated in the memory of
 * the process.
 */
#include "coredump/root_impl.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/elfimage.h"
#include "coredump/source_impl.h"

#define NOTES_MAX (64u << 10) /* bytes of one PT_NOTE */

/* ---- which file ---- */

static bool is_executable(const struct ep_source *source, uint64_t start,
			  uint64_t end)
{
	uint64_t address;

	return ep_source_auxv(source, AT_PHDR, &address) == EP_OK &&
	       address >= start && address < end;
}

/* A path inside the mount namespace of a live process; else below sysroot. */
static void path_on_disk(const struct ep_source *source,
			 const struct ep_mapping *mapping, char *out,
			 size_t size)
{
	if (source->executable &&
	    is_executable(source, mapping->start, mapping->end))
		snprintf(out, size, "%s", source->executable);
	else if (source->sysroot)
		snprintf(out, size, "%s%s", source->sysroot, mapping->path);
	else if (source->kind == EP_SOURCE_LIVE)
		snprintf(out, size, "/proc/%d/root%s", (int)source->pid,
			 mapping->path);
	else
		snprintf(out, size, "%s", mapping->path);
}

/* A name in a core may be that of a FIFO or a device by now. */
static int file_open(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* ---- what it says ---- */

struct object {
	Elf *elf;
	uint64_t bias;
	const char *path;
};

static int by_note(struct ep_root_search *search, const struct object *object)
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

static int by_symbols_of(struct ep_root_search *search,
			 const struct object *object, Elf_Scn *section,
			 const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;
	char where[256];

	snprintf(where, sizeof(where), "symbol epitaph_root in %s",
		 object->path);
	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(object->elf, header->sh_link,
					      symbol.st_name);

		if (name && symbol.st_shndx != SHN_UNDEF &&
		    strcmp(name, "epitaph_root") == 0)
			return ep_root_try_root(search,
						object->bias + symbol.st_value,
						EP_FOUND_SYMBOL, where);
	}
	return EP_END;
}

static int by_symbol(struct ep_root_search *search, const struct object *object)
{
	Elf_Scn *section = NULL;
	int rc = EP_END;

	while (rc && (section = elf_nextscn(object->elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB ||
		     header.sh_type == SHT_DYNSYM))
			rc = by_symbols_of(search, object, section, &header);
	}
	return rc;
}

static bool bias_of(Elf *elf, uint64_t start, uint64_t *bias)
{
	Elf64_Phdr headers[EP_ELF_IMAGE_HEADERS];
	GElf_Ehdr header;
	size_t count;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf_getphdrnum(elf, &count) != 0)
		return false;
	if (count > EP_ELF_IMAGE_HEADERS)
		count = EP_ELF_IMAGE_HEADERS;
	for (size_t i = 0; i < count; i++)
		if (!gelf_getphdr(elf, (int)i, &headers[i]))
			return false;
	*bias = ep_elf_bias(headers, (uint32_t)count, header.e_type, start);
	return true;
}

static int by_file(struct ep_root_search *search, const char *path,
		   uint64_t start)
{
	struct object object = {.path = path};
	int fd = file_open(path), rc = EP_END;

	if (fd < 0)
		return EP_END;
	elf_version(EV_CURRENT);
	object.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (object.elf && bias_of(object.elf, start, &object.bias)) {
		rc = by_note(search, &object);
		if (rc)
			rc = by_symbol(search, &object);
	}
	elf_end(object.elf);
	close(fd);
	return rc;
}

int ep_root_by_files(struct ep_root_search *search)
{
	const struct ep_source *source = search->source;
	char path[4352];
	uint64_t phdr;

	for (size_t i = 0; i < source->mapping_count; i++) {
		if (source->mappings[i].file_offset != 0)
			continue;
		path_on_disk(source, &source->mappings[i], path, sizeof(path));
		if (by_file(search, path, source->mappings[i].start) == EP_OK)
			return EP_OK;
	}
	/* No list of files, but told which: program headers open the file. */
	if (source->mapping_count == 0 && source->executable &&
	    ep_source_auxv(source, AT_PHDR, &phdr) == EP_OK)
		return by_file(search, source->executable,
			       phdr & ~(uint64_t)(EP_PAGE - 1));
	return EP_END;
}
