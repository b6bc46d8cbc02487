/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objectfile.c: the file of a mapped object, and its symbols. The process chose the paths: what is
 * no regular file is never read, and nothing in a file is believed.
 */
#include "coredump/find/objectfile.h"

#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/util/alloc.h"
#include "coredump/memory/elfimage.h"
#include "coredump/files/buildid.h"
#include "coredump/files/elffile.h"
#include "coredump/files/held.h"
#include "coredump/files/regularfile.h"
#include "coredump/memory/source_impl.h"

#define NOTES_MAX    (64u << 10) /* bytes of one PT_NOTE; usual is 0.2 KiB */
#define BUILD_ID_MAX 64u

/* ---- which file ---- */

static bool is_executable(const struct ep_source *source, uint64_t start, uint64_t end)
{
	uint64_t address;

	return ep_source_auxv(source, AT_PHDR, &address) == EP_OK && address >= start &&
	       address < end;
}

/* A path inside the mount namespace of a live process, by its folder's descriptor and not by its
 * number; else below sysroot. The kernel's are
 * absolute: "" for another one, which would be looked for where the user happens to be. */
static void path_on_disk(const struct ep_source *source, const struct ep_mapping *mapping,
			 char *out, size_t size)
{
	if (source->executable && is_executable(source, mapping->start, mapping->end))
		snprintf(out, size, "%s", source->executable);
	else if (*mapping->path != '/')
		*out = '\0';
	else if (source->sysroot)
		snprintf(out, size, "%s%s", source->sysroot, mapping->path);
	else if (source->kind == EP_SOURCE_LIVE)
		snprintf(out, size, "/proc/self/fd/%d/root%s", source->folder, mapping->path);
	else
		snprintf(out, size, "%s", mapping->path);
}

/* Below a folder of /proc, whatever it leads to: a device is not opened. */
static int open_place(int folder, const char *name)
{
	int place = openat(folder, name, O_PATH | O_CLOEXEC), fd;
	char path[64];

	if (place < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = ep_regular_file_open(path);
	close(place);
	return fd;
}

static bool is_it(int fd, const struct ep_mapping *mapping)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == mapping->device &&
	       st.st_ino == mapping->inode;
}

int ep_object_file_mapped(const struct ep_source *source, const struct ep_mapping *mapping,
			  char *path, size_t size)
{
	const char *names[] = {path, "exe"};
	char name[64];
	struct stat st;
	int fd;

	if (source->folder < 0 || *mapping->path != '/' || !mapping->inode)
		return -1;
	/* By the name that means the same here, if it does. */
	snprintf(path, size, "%s", mapping->path);
	if (stat(path, &st) != 0 || st.st_dev != mapping->device || st.st_ino != mapping->inode)
		snprintf(path, size, "/proc/self/fd/%d/root%s", source->folder, mapping->path);
	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, mapping->start,
		 mapping->end);
	fd = open_place(source->folder, name);
	for (unsigned i = 0; i < 2 && fd < 0; i++) {
		fd = open_place(source->folder, names[i]);
		if (fd >= 0 && !is_it(fd, mapping)) {
			close(fd);
			fd = -1;
		}
	}
	return fd;
}

static bool bias_of(Elf *elf, uint64_t start, uint64_t *bias)
{
	Elf64_Phdr headers[EP_ELF_IMAGE_HEADERS];
	GElf_Ehdr header;
	size_t count;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || elf_getphdrnum(elf, &count) != 0)
		return false;
	if (count > EP_ELF_IMAGE_HEADERS)
		count = EP_ELF_IMAGE_HEADERS;
	for (size_t i = 0; i < count; i++)
		if (!gelf_getphdr(elf, (int)i, &headers[i]))
			return false;
	*bias = ep_elf_bias(headers, (uint32_t)count, header.e_type, start);
	return true;
}

/* Takes over the descriptor. */
static int open_descriptor(struct ep_object_file *file, int fd, uint64_t start)
{
	file->start = start;
	file->fd = fd;
	if (fd < 0)
		return EP_END;
	elf_version(EV_CURRENT);
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (file->elf && bias_of(file->elf, start, &file->bias))
		return EP_OK;
	ep_object_file_close(file);
	return EP_END;
}

int ep_object_file_open_path(struct ep_object_file *file, const char *path, uint64_t start)
{
	if (path != file->path)
		snprintf(file->path, sizeof(file->path), "%s", path);
	return open_descriptor(file, ep_elf_file_open(file->path), start);
}

int ep_object_file_open(struct ep_object_file *file, const struct ep_source *source,
			const struct ep_mapping *mapping)
{
	char path[sizeof(file->path)];
	int fd;

	path_on_disk(source, mapping, file->path, sizeof(file->path));
	fd = source->executable || source->sysroot
		     ? -1
		     : ep_object_file_mapped(source, mapping, path, sizeof(path));
	if (fd >= 0)
		return open_descriptor(file, ep_elf_file_judge(fd), mapping->start);
	if (source->held)
		return open_descriptor(
			file, ep_elf_file_judge(ep_held_file_at(source->held, mapping->start)),
			mapping->start);
	return ep_object_file_open_path(file, file->path, mapping->start);
}

void ep_object_file_close(struct ep_object_file *file)
{
	elf_end(file->elf);
	close(file->fd);
	file->elf = NULL;
	file->fd = -1;
}

/* ---- build-ids ---- */

struct build_id {
	size_t size; /* 0: none */
	uint8_t bytes[BUILD_ID_MAX];
};

static void build_id_of_memory(struct ep_source *source, uint64_t start, struct build_id *id)
{
	struct ep_elf_image image;
	uint8_t *bytes;

	if (ep_elf_image_read(&image, source, start, NULL))
		return;
	bytes = ep_malloc(NOTES_MAX);
	for (uint32_t i = 0; i < image.count && id->size == 0; i++) {
		const Elf64_Phdr *header = &image.headers[i];
		size_t got, size = header->p_memsz < NOTES_MAX ? header->p_memsz : NOTES_MAX;

		if (header->p_type != PT_NOTE)
			continue;
		ep_source_read(source, image.bias + header->p_vaddr, bytes, size, &got, NULL);
		id->size = ep_build_id_in_notes(bytes, got, header->p_align, id->bytes,
						sizeof(id->bytes));
	}
	free(bytes);
}

bool ep_object_file_matches(const struct ep_object_file *file, struct ep_source *source)
{
	struct build_id of_file = {0}, of_memory = {0};

	of_file.size = ep_build_id_of_elf(file->elf, of_file.bytes, sizeof(of_file.bytes));
	build_id_of_memory(source, file->start, &of_memory);
	return of_file.size && of_file.size == of_memory.size &&
	       of_file.size <= sizeof(of_file.bytes) &&
	       memcmp(of_file.bytes, of_memory.bytes, of_file.size) == 0;
}

/* ---- symbols ---- */

static int symbol_in(const struct ep_object_file *file, Elf_Scn *section, const GElf_Shdr *header,
		     const char *wanted, uint64_t *address)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(file->elf, header->sh_link, symbol.st_name);

		if (name && symbol.st_shndx != SHN_UNDEF && strcmp(name, wanted) == 0) {
			*address = file->bias + symbol.st_value;
			return EP_OK;
		}
	}
	return EP_END;
}

int ep_object_file_symbol(const struct ep_object_file *file, const char *name, uint64_t *address)
{
	Elf_Scn *section = NULL;
	int rc = EP_END;

	while (rc && (section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			rc = symbol_in(file, section, &header, name, address);
	}
	return rc;
}
