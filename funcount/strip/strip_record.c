/* SPDX-License-Identifier: BSD-2-Clause */
/* strip_record.c: patches on their way into a file and out of it again. */
#include "funcount/strip/strip_record.h"

#include <assert.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/cursor.h"
#include "coredump/find/root.h"

static const char magic[8] = {'e', 'p', 's', 't', 'r', 'i', 'p', '1'};

/* As it lies in the file. */
struct head {
	char magic[8];
	uint64_t file_size;            /* of the original */
	uint64_t section_headers;      /* its e_shoff */
	uint16_t section_count, names; /* its e_shnum, e_shstrndx */
	uint32_t count;                /* entries behind this */
	uint32_t crc;                  /* of this with crc 0, and entries */
	uint32_t reserved;             /* 0 */
};
struct entry {
	uint64_t offset;
	uint8_t size, jump, reserved[6];
	uint8_t before[EP_PATCH_MAX];
};
static_assert(sizeof(struct head) == 40 && sizeof(struct entry) == 24, "the layout of the record");

/* What takes the place of a hook: one nop (Intel SDM, NOP: recommended sequences), or a return and
 * traps behind it. */
static void replacement(uint8_t *out, unsigned size, bool jump)
{
	static const uint8_t nops[EP_PATCH_MAX + 1][EP_PATCH_MAX] = {
		{0},
		{0x90},
		{0x66, 0x90},
		{0x0f, 0x1f, 0x00},
		{0x0f, 0x1f, 0x40, 0x00},
		{0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
		{0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	};

	memcpy(out, nops[size], size);
	if (!jump)
		return;
	memset(out, 0xcc, size);
	out[0] = 0xc3;
}

/* ---- writing ---- */

/* Room for the record and what comes behind it, 8-byte aligned each. */
struct layout {
	uint64_t record, record_size, names, names_size, headers, total;
	Elf64_Ehdr elf;
	Elf64_Shdr strings; /* header of the section with the names */
};

static uint64_t up(uint64_t at)
{
	return (at + 7) & ~(uint64_t)7;
}

static int plan(struct layout *layout, const uint8_t *bytes, size_t size, size_t count,
		struct ep_err *err)
{
	struct ep_cursor cursor;
	Elf64_Ehdr *elf = &layout->elf;

	ep_cursor_init(&cursor, bytes, size);
	if (ep_cursor_take(&cursor, elf, sizeof *elf) || !elf->e_shoff ||
	    elf->e_shentsize != sizeof(Elf64_Shdr) || !elf->e_shnum ||
	    elf->e_shnum >= SHN_LORESERVE - 1 || elf->e_shstrndx >= elf->e_shnum)
		return ep_fail(err, EP_E_FORMAT, 0, "no section headers to put the record in");
	if (ep_cursor_seek(&cursor, elf->e_shoff) ||
	    ep_cursor_skip(&cursor, (uint64_t)elf->e_shstrndx * sizeof(Elf64_Shdr)) ||
	    ep_cursor_take(&cursor, &layout->strings, sizeof layout->strings) ||
	    ep_cursor_seek(&cursor, layout->strings.sh_offset) ||
	    ep_cursor_skip(&cursor, layout->strings.sh_size) ||
	    ep_cursor_seek(&cursor, elf->e_shoff) ||
	    ep_cursor_skip(&cursor, (uint64_t)elf->e_shnum * sizeof(Elf64_Shdr)))
		return ep_fail(err, EP_E_CORRUPT, elf->e_shoff,
			       "the section headers lie outside of the file");
	layout->record = up(size);
	layout->record_size = sizeof(struct head) + count * sizeof(struct entry);
	layout->names = layout->record + layout->record_size;
	layout->names_size = layout->strings.sh_size + sizeof EP_STRIP_SECTION;
	layout->headers = up(layout->names + layout->names_size);
	layout->total = layout->headers + (elf->e_shnum + 1U) * sizeof(Elf64_Shdr);
	return EP_OK;
}

static void write_record(uint8_t *out, const struct layout *layout, size_t size,
			 const struct ep_strip_patches *patches)
{
	struct head head = {
		.file_size = size,
		.section_headers = layout->elf.e_shoff,
		.section_count = layout->elf.e_shnum,
		.names = layout->elf.e_shstrndx,
		.count = (uint32_t)patches->count,
	};
	uint8_t *at = out + layout->record;

	memcpy(head.magic, magic, sizeof magic);
	memcpy(at, &head, sizeof head);
	for (size_t i = 0; i < patches->count; i++) {
		const struct ep_strip_patch *patch = &patches->list[i];
		struct entry entry = {
			.offset = patch->offset, .size = patch->size, .jump = patch->jump};

		memcpy(entry.before, patch->before, sizeof entry.before);
		memcpy(at + sizeof head + i * sizeof entry, &entry, sizeof entry);
	}
	head.crc = ep_crc32(at, layout->record_size);
	memcpy(at, &head, sizeof head);
}

static void write_sections(uint8_t *out, const struct layout *layout)
{
	uint64_t old_names = layout->strings.sh_size;
	uint64_t old_headers = layout->elf.e_shnum * sizeof(Elf64_Shdr);
	uint8_t *headers = out + layout->headers;
	Elf64_Shdr strings = layout->strings, mine = {
						      .sh_name = (Elf64_Word)old_names,
						      .sh_type = SHT_PROGBITS,
						      .sh_offset = layout->record,
						      .sh_size = layout->record_size,
						      .sh_addralign = 8,
					      };
	Elf64_Ehdr elf = layout->elf;

	memcpy(out + layout->names, out + strings.sh_offset, old_names);
	memcpy(out + layout->names + old_names, EP_STRIP_SECTION, sizeof EP_STRIP_SECTION);
	strings.sh_offset = layout->names;
	strings.sh_size = layout->names_size;
	memcpy(headers, out + elf.e_shoff, old_headers);
	memcpy(headers + elf.e_shstrndx * sizeof strings, &strings, sizeof strings);
	memcpy(headers + old_headers, &mine, sizeof mine);
	elf.e_shoff = layout->headers;
	elf.e_shnum++;
	memcpy(out, &elf, sizeof elf);
}

static int compare_offsets(const void *a, const void *b)
{
	const struct ep_strip_patch *one = a, *other = b;

	return (one->offset > other->offset) - (one->offset < other->offset);
}

/* In a damaged file segments may overlap each other, or the header that is written too: then what
 * is there now would not say what was. Sorts. */
static int check_patches(struct ep_strip_patches *patches, struct ep_err *err)
{
	uint64_t end = sizeof(Elf64_Ehdr);

	if (patches->count)
		qsort(patches->list, patches->count, sizeof *patches->list, compare_offsets);
	for (size_t i = 0; i < patches->count; i++) {
		if (patches->list[i].offset < end)
			return ep_fail(err, EP_E_CORRUPT, patches->list[i].offset,
				       "segments overlap at byte 0x%" PRIx64,
				       patches->list[i].offset);
		end = patches->list[i].offset + patches->list[i].size;
	}
	return EP_OK;
}

int ep_strip_write(uint8_t **out, size_t *out_size, const uint8_t *bytes, size_t size,
		   struct ep_strip_patches *patches, struct ep_err *err)
{
	struct layout layout;
	uint8_t *made;
	int rc = plan(&layout, bytes, size, patches->count, err);

	if (!rc)
		rc = check_patches(patches, err);
	if (rc)
		return rc;
	made = ep_calloc(1, layout.total);
	memcpy(made, bytes, size);
	for (size_t i = 0; i < patches->count; i++)
		replacement(made + patches->list[i].offset, patches->list[i].size,
			    patches->list[i].jump);
	write_record(made, &layout, size, patches);
	write_sections(made, &layout);
	*out = made;
	*out_size = layout.total;
	return EP_OK;
}

/* ---- putting back ---- */

/* The last section of that name. EP_END: there is none. */
static int find_record(const uint8_t *bytes, size_t size, Elf64_Ehdr *elf, Elf64_Shdr *mine)
{
	struct ep_cursor cursor;
	char name[sizeof EP_STRIP_SECTION];
	Elf64_Shdr strings;

	ep_cursor_init(&cursor, bytes, size);
	if (ep_cursor_take(&cursor, elf, sizeof *elf) || memcmp(elf->e_ident, ELFMAG, SELFMAG) ||
	    !elf->e_shnum || elf->e_shentsize != sizeof *mine || elf->e_shstrndx >= elf->e_shnum ||
	    ep_cursor_seek(&cursor, elf->e_shoff) ||
	    ep_cursor_skip(&cursor, elf->e_shstrndx * sizeof strings) ||
	    ep_cursor_take(&cursor, &strings, sizeof strings))
		return EP_END;
	for (unsigned i = elf->e_shnum; i-- > 0;) {
		if (ep_cursor_seek(&cursor, elf->e_shoff) ||
		    ep_cursor_skip(&cursor, i * sizeof *mine) ||
		    ep_cursor_take(&cursor, mine, sizeof *mine))
			return EP_END;
		if (!ep_cursor_seek(&cursor, strings.sh_offset) &&
		    !ep_cursor_skip(&cursor, mine->sh_name) &&
		    !ep_cursor_take(&cursor, name, sizeof name) &&
		    !memcmp(name, EP_STRIP_SECTION, sizeof name))
			return EP_OK;
	}
	return EP_END;
}

static int check_record(struct head *head, const uint8_t *bytes, size_t size,
			const Elf64_Shdr *mine, struct ep_err *err)
{
	struct ep_cursor cursor;
	const uint8_t *record;
	uint8_t *copy;
	uint32_t crc;

	ep_cursor_init(&cursor, bytes, size);
	if (ep_cursor_seek(&cursor, mine->sh_offset) ||
	    ep_cursor_view(&cursor, &record, mine->sh_size) || mine->sh_size < sizeof *head)
		return ep_fail(err, EP_E_CORRUPT, mine->sh_offset,
			       "the record of what was stripped is cut short");
	memcpy(head, record, sizeof *head);
	if (memcmp(head->magic, magic, sizeof magic) ||
	    (mine->sh_size - sizeof *head) / sizeof(struct entry) != head->count)
		return ep_fail(err, EP_E_CORRUPT, mine->sh_offset,
			       "the record of what was stripped makes no sense");
	copy = ep_malloc(mine->sh_size);
	memcpy(copy, record, mine->sh_size);
	memset(copy + offsetof(struct head, crc), 0, sizeof head->crc);
	crc = ep_crc32(copy, mine->sh_size);
	free(copy);
	if (crc != head->crc)
		return ep_fail(err, EP_E_CORRUPT, mine->sh_offset,
			       "the record of what was stripped is damaged");
	if (up(head->file_size) != mine->sh_offset)
		return ep_fail(err, EP_E_MISMATCH, mine->sh_offset,
			       "another tool moved things in it since its hooks were stripped: it "
			       "can't be put back");
	return EP_OK;
}

static int put_back(uint8_t *out, const struct entry *entry, uint64_t size, struct ep_err *err)
{
	uint8_t now[EP_PATCH_MAX];

	if (entry->size < 2 || entry->size > EP_PATCH_MAX || entry->jump > 1 ||
	    entry->offset > size || entry->size > size - entry->offset)
		return ep_fail(err, EP_E_CORRUPT, entry->offset,
			       "the record of what was stripped makes no sense");
	replacement(now, entry->size, entry->jump);
	if (memcmp(out + entry->offset, now, entry->size))
		return ep_fail(err, EP_E_MISMATCH, entry->offset,
			       "the code at byte 0x%" PRIx64
			       " was changed since its hooks were stripped",
			       entry->offset);
	memcpy(out + entry->offset, entry->before, entry->size);
	return EP_OK;
}

static int restore(uint8_t *out, const uint8_t *entries, const struct head *head,
		   struct ep_err *err)
{
	struct entry entry;
	Elf64_Ehdr elf;
	int rc = EP_OK;

	for (uint32_t i = 0; !rc && i < head->count; i++) {
		memcpy(&entry, entries + i * sizeof entry, sizeof entry);
		rc = put_back(out, &entry, head->file_size, err);
	}
	if (rc || head->file_size < sizeof elf)
		return rc ? rc
			  : ep_fail(err, EP_E_CORRUPT, 0,
				    "the record of what was stripped makes no sense");
	memcpy(&elf, out, sizeof elf);
	elf.e_shoff = head->section_headers;
	elf.e_shnum = head->section_count;
	elf.e_shstrndx = head->names;
	memcpy(out, &elf, sizeof elf);
	return EP_OK;
}

int ep_strip_restore(uint8_t **out, size_t *out_size, const uint8_t *bytes, size_t size,
		     struct ep_err *err)
{
	Elf64_Shdr mine;
	struct head head;
	Elf64_Ehdr elf;
	uint8_t *made;
	int rc = find_record(bytes, size, &elf, &mine);

	if (rc)
		return ep_fail(err, EP_END, 0, "its hooks were not stripped: it has no section %s",
			       EP_STRIP_SECTION);
	rc = check_record(&head, bytes, size, &mine, err);
	if (rc)
		return rc;
	made = ep_malloc(head.file_size);
	memcpy(made, bytes, head.file_size);
	rc = restore(made, bytes + mine.sh_offset + sizeof head, &head, err);
	if (rc) {
		free(made);
		return rc;
	}
	*out = made;
	*out_size = head.file_size;
	return EP_OK;
}
