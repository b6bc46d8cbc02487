/* SPDX-License-Identifier: BSD-2-Clause */
/* constant_strings.c: text from read-only segments, bounded, and what is kept of it. */
#include "decoder/names/constant_strings.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT_MAX ((size_t)1 << 16)

struct ep_constant_string {
	size_t owner;
	uint64_t address;
	char *text; /* NULL: there is none */
	bool used;
};

static struct ep_constant_string *slot_of(const struct ep_constant_strings *literals, size_t owner,
					  uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)owner << 48) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(hash ^ hash >> 29);

	for (;; at++) {
		struct ep_constant_string *one = &literals->list[at & (literals->capacity - 1)];

		if (!one->used || (one->owner == owner && one->address == address))
			return one;
	}
}

/* Text that is kept, or NULL, with *known telling whether it is known that there is none. */
static const char *get(const struct ep_constant_strings *literals, size_t owner, uint64_t address,
		       bool *known)
{
	const struct ep_constant_string *one =
		literals->capacity ? slot_of(literals, owner, address) : NULL;

	*known = one && one->used;
	return *known ? one->text : NULL;
}

/* False: out of memory. At most half of it is in use. */
static bool grow(struct ep_constant_strings *literals)
{
	struct ep_constant_strings grown = {
		.count = literals->count,
		.capacity = literals->capacity ? 2 * literals->capacity : 256,
	};

	if (2 * (literals->count + 1) <= literals->capacity)
		return true;
	grown.list = calloc(grown.capacity, sizeof(*grown.list));
	if (!grown.list)
		return false;
	for (size_t i = 0; i < literals->capacity; i++) {
		const struct ep_constant_string *one = &literals->list[i];

		if (one->used)
			*slot_of(&grown, one->owner, one->address) = *one;
	}
	free(literals->list);
	*literals = grown;
	return true;
}

/* Keeps `size` bytes of it, or, negative, that there is none. */
static const char *keep(struct ep_constant_strings *literals, size_t owner, uint64_t address,
			const char *text, ssize_t size)
{
	struct ep_constant_string *one;
	char *copy = NULL;

	if (literals->count == KEPT_MAX || !grow(literals))
		return NULL;
	if (size >= 0) {
		copy = strndup(text, (size_t)size);
		if (!copy)
			return NULL;
	}
	one = slot_of(literals, owner, address);
	literals->count += !one->used;
	if (one->used)
		free(one->text);
	*one = (struct ep_constant_string){owner, address, copy, true};
	return copy;
}

void ep_constant_strings_deinit(struct ep_constant_strings *literals)
{
	for (size_t i = 0; i < literals->capacity; i++)
		free(literals->list[i].text);
	free(literals->list);
	*literals = (struct ep_constant_strings){0};
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

/* Bytes of the text, without its NUL; -1: none. */
static ssize_t read_text(const struct ep_module_file *file, uint64_t address,
			 char out[EP_LITERAL_MAX + 1])
{
	size_t count, size = EP_LITERAL_MAX;
	GElf_Phdr header;
	ssize_t got;

	if (!file->elf || elf_getphdrnum(file->elf, &count))
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &header) || !holds(&header, address))
			continue;
		if (header.p_filesz - (address - header.p_vaddr) < size)
			size = header.p_filesz - (address - header.p_vaddr);
		got = read_bytes(file, header.p_offset + (address - header.p_vaddr), size, out);
		return got < 0 ? -1 : (ssize_t)strnlen(out, (size_t)got);
	}
	return -1;
}

const char *ep_constant_strings_of_file(struct ep_constant_strings *literals, size_t owner,
					const struct ep_module_file *file, uint64_t address)
{
	char text[EP_LITERAL_MAX + 1];
	bool known;
	const char *kept = get(literals, owner, address, &known);

	if (known)
		return kept;
	return keep(literals, owner, address, text, read_text(file, address, text));
}

const char *ep_constant_strings_of_memory(struct ep_constant_strings *literals,
					  struct ep_source *source, uint64_t address)
{
	char text[EP_LITERAL_MAX + 1] = "";
	bool known, there;
	const char *kept = get(literals, SIZE_MAX, address, &known);
	int rc;

	if (known || !source)
		return kept;
	rc = ep_source_read_string(source, address, text, sizeof(text), NULL);
	there = !rc || rc == EP_E_LIMIT;
	return keep(literals, SIZE_MAX, address, text, there ? (ssize_t)strlen(text) : -1);
}
