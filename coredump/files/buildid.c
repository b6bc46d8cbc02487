/* SPDX-License-Identifier: BSD-2-Clause */
/* buildid.c: notes one by one, by a bounded cursor. */
#include "coredump/files/buildid.h"

#include <gelf.h>
#include <string.h>

#include "coredump/util/cursor.h"

#define NOTES_MAX (64u << 10) /* bytes; usual is 0.2 KiB */

size_t ep_build_id_in_notes(const void *notes, size_t size, uint64_t align, uint8_t *out,
			    size_t most)
{
	const uint64_t mask = align == 8 ? 7 : 3;
	struct ep_cursor cursor;
	Elf64_Nhdr note;

	ep_cursor_init(&cursor, notes, size);
	while (ep_cursor_take(&cursor, &note, sizeof(note)) == EP_OK) {
		/* The descriptor begins at a multiple of the alignment, counted from the note. */
		uint64_t names = ((sizeof(note) + note.n_namesz + mask) & ~mask) - sizeof(note);
		uint64_t padding = (0 - (uint64_t)note.n_descsz) & mask;
		const uint8_t *name, *desc;

		if (ep_cursor_view(&cursor, &name, names) ||
		    ep_cursor_view(&cursor, &desc, note.n_descsz))
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(name, "GNU", 4) == 0 && note.n_descsz) {
			memcpy(out, desc, note.n_descsz < most ? note.n_descsz : most);
			return note.n_descsz;
		}
		if (ep_cursor_skip(&cursor, padding))
			return 0;
	}
	return 0;
}

static size_t in_chunk(Elf *elf, uint64_t offset, uint64_t size, uint64_t align, uint8_t *out,
		       size_t most)
{
	Elf_Data *data = size && size <= NOTES_MAX
				 ? elf_getdata_rawchunk(elf, (int64_t)offset, size, ELF_T_BYTE)
				 : NULL;

	return data && data->d_buf
		       ? ep_build_id_in_notes(data->d_buf, data->d_size, align, out, most)
		       : 0;
}

size_t ep_build_id_of_elf(Elf *elf, uint8_t *out, size_t most)
{
	Elf_Scn *section = NULL;
	size_t count, found = 0;
	GElf_Shdr header;
	GElf_Phdr segment;

	/* Those first: in a debug file segments tell of what it does not have. */
	while (!found && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE)
			found = in_chunk(elf, header.sh_offset, header.sh_size, header.sh_addralign,
					 out, most);
	if (found || elf_nextscn(elf, NULL) || elf_getphdrnum(elf, &count))
		return found;
	for (size_t i = 0; i < count && !found; i++)
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_NOTE)
			found = in_chunk(elf, segment.p_offset, segment.p_filesz, segment.p_align,
					 out, most);
	return found;
}
