/* SPDX-License-Identifier: BSD-2-Clause */
/* constant_strings.c: text from read-only segments, bounded, and what is kept of it. */
#include "decoder/names/constant_strings.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"

#define KEPT_MAX ((size_t)1 << 16)

struct ep_constant_string {
	size_t owner;
	uint64_t address;
	char *text; /* NULL: there is none */
};

static uint32_t hash_of(size_t owner, uint64_t address)
{
	return ep_hash_number(address ^ (uint64_t)owner << 48);
}

/* NULL: it was not looked for yet. */
static const struct ep_constant_string *kept(const struct ep_constant_strings *strings,
					     size_t owner, uint64_t address)
{
	uint32_t hash = hash_of(owner, address), at = 0, number;

	while ((number = ep_hash_next(&strings->by_address, hash, &at)) != EP_HASH_NONE) {
		const struct ep_constant_string *one = &strings->list[number];

		if (one->owner == owner && one->address == address)
			return one;
	}
	return NULL;
}

/* Keeps `size` bytes of it, or, negative, that there is none. */
static const char *keep(struct ep_constant_strings *strings, size_t owner, uint64_t address,
			const char *text, ssize_t size)
{
	char *copy = size >= 0 && strings->count < KEPT_MAX ? ep_strndup(text, (size_t)size) : NULL;

	if (strings->count == KEPT_MAX)
		return NULL;
	ep_hash_add(&strings->by_address, hash_of(owner, address), (uint32_t)strings->count);
	ep_array_push(strings, ((struct ep_constant_string){owner, address, copy}));
	return copy;
}

void ep_constant_strings_deinit(struct ep_constant_strings *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		free(strings->list[i].text);
	ep_array_deinit(strings);
	ep_hash_deinit(&strings->by_address);
}

/* ---- files --------------------------------------------------------------- */

/* Of the file's bytes from `offset` on; pread, as the file may be shrinking. */
static ssize_t read_bytes(const struct ep_module_file *file, uint64_t offset, size_t size,
			  char *out)
{
	Elf_Data *data;

	if (file->fd >= 0)
		return pread(file->fd, out, size, (off_t)offset);
	data = elf_getdata_rawchunk(file->elf, (int64_t)offset, size, ELF_T_BYTE);
	if (!data || data->d_size < size)
		return -1;
	memcpy(out, data->d_buf, size);
	return (ssize_t)size;
}

static bool holds(const GElf_Phdr *header, uint64_t address)
{
	return header->p_type == PT_LOAD && header->p_flags & PF_R && !(header->p_flags & PF_W) &&
	       address >= header->p_vaddr && address - header->p_vaddr < header->p_filesz;
}

size_t ep_constant_bytes_of_file(const struct ep_module_file *file, uint64_t address, void *out,
				 size_t size)
{
	size_t count;
	GElf_Phdr header;
	ssize_t got;

	if (!file->elf || elf_getphdrnum(file->elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &header) || !holds(&header, address))
			continue;
		if (header.p_filesz - (address - header.p_vaddr) < size)
			size = header.p_filesz - (address - header.p_vaddr);
		got = read_bytes(file, header.p_offset + (address - header.p_vaddr), size, out);
		return got < 0 ? 0 : (size_t)got;
	}
	return 0;
}

/* Bytes of the text, without its NUL; -1: none. */
static ssize_t read_text(const struct ep_module_file *file, uint64_t address,
			 char out[EP_CONSTANT_STRING_MAX + 1])
{
	size_t got = ep_constant_bytes_of_file(file, address, out, EP_CONSTANT_STRING_MAX);

	return got ? (ssize_t)strnlen(out, got) : -1;
}

const char *ep_constant_strings_of_file(struct ep_constant_strings *strings, size_t owner,
					const struct ep_module_file *file, uint64_t address)
{
	const struct ep_constant_string *known = kept(strings, owner, address);
	char text[EP_CONSTANT_STRING_MAX + 1];

	if (known)
		return known->text;
	return keep(strings, owner, address, text, read_text(file, address, text));
}

const char *ep_constant_strings_of_memory(struct ep_constant_strings *strings,
					  struct ep_source *source, uint64_t address)
{
	const struct ep_constant_string *known = kept(strings, SIZE_MAX, address);
	char text[EP_CONSTANT_STRING_MAX + 1] = "";
	int rc;

	if (known || !source)
		return known ? known->text : NULL;
	rc = ep_source_read_string(source, address, text, sizeof(text), NULL);
	return keep(strings, SIZE_MAX, address, text,
		    !rc || rc == EP_E_LIMIT ? (ssize_t)strlen(text) : -1);
}
