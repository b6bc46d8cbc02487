/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elfcore.c: an ELF core in one pass. Written by hand and not by libelf, which wants a file that it
 * can seek in and all of it in memory.
 */
#include "coredump/snapshot/elfcore.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coredump/memory/source_impl.h"
#include "coredump/util/alloc.h"
#include "coredump/util/progress.h"

#define COPY_CHUNK (1u << 20)
#define HELD_MAX   (32u << 10) /* bytes: headers and notes are small */

struct sink {
	int fd;
	const char *path;
	uint64_t at; /* bytes put, held ones too */
	uint64_t total;
	int rc; /* after a failure nothing more is written */
	struct ep_err *err;
	size_t held_size;
	uint8_t held[HELD_MAX]; /* not yet written */
};

static void write_all(struct sink *sink, const uint8_t *bytes, size_t size)
{
	while (size && sink->rc == EP_OK) {
		ssize_t n = write(sink->fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			sink->rc = ep_fail(sink->err, EP_E_IO, sink->at,
					   "%s: writing before offset 0x%" PRIx64 ": %m",
					   sink->path, sink->at);
			return;
		}
		bytes += n;
		size -= (size_t)n;
	}
}

static void flush(struct sink *sink)
{
	write_all(sink, sink->held, sink->held_size);
	sink->held_size = 0;
}

static void put(struct sink *sink, const void *bytes, size_t size)
{
	if (size > HELD_MAX - sink->held_size)
		flush(sink);
	sink->at += size;
	if (size > HELD_MAX) {
		write_all(sink, bytes, size);
		return;
	}
	memcpy(sink->held + sink->held_size, bytes, size);
	sink->held_size += size;
}

/* Zeroes up to `offset`, which is less than a page away. */
static void put_padding(struct sink *sink, uint64_t offset)
{
	static const uint8_t zeroes[EP_PAGE];

	put(sink, zeroes, offset - sink->at);
}

static uint64_t aligned(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* ---- where everything goes ---- */

static uint64_t note_size(const struct ep_elfcore_note *note)
{
	size_t name = note->name[0] ? strlen(note->name) + 1 : 0;

	return sizeof(Elf64_Nhdr) + aligned(name, 4) + aligned(note->size, 4);
}

static uint64_t notes_size(const struct ep_elfcore *core)
{
	uint64_t size = 0;

	for (size_t i = 0; i < core->note_count; i++)
		size += note_size(&core->notes[i]);
	return size;
}

/* File offset of a piece: the same place in a page as in memory. */
static uint64_t piece_offset(uint64_t at, const struct ep_elfcore_piece *piece)
{
	uint64_t inside = piece->address % EP_PAGE;

	return aligned(at > inside ? at - inside : 0, EP_PAGE) + inside;
}

/* ---- headers ---- */

static void put_ehdr(struct sink *sink, uint64_t headers)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)headers,
	};

	if (headers >= PN_XNUM) {
		header.e_phnum = PN_XNUM;
		header.e_shoff = sizeof(header) + headers * sizeof(Elf64_Phdr);
		header.e_shentsize = sizeof(Elf64_Shdr);
		header.e_shnum = 1;
	}
	put(sink, &header, sizeof(header));
}

/* With many segments their number stands in section header 0 (elf(5), PN_XNUM). */
static void put_shdr(struct sink *sink, uint64_t headers)
{
	Elf64_Shdr section = {.sh_size = 1, .sh_info = (uint32_t)headers};

	if (headers >= PN_XNUM)
		put(sink, &section, sizeof(section));
}

static void put_headers(struct sink *sink, const struct ep_elfcore *core)
{
	uint64_t headers = core->piece_count + 1, offset;
	Elf64_Phdr note = {.p_type = PT_NOTE, .p_align = 4};

	put_ehdr(sink, headers);
	note.p_offset = sizeof(Elf64_Ehdr) + headers * sizeof(note) +
			(headers < PN_XNUM ? 0 : sizeof(Elf64_Shdr));
	note.p_filesz = notes_size(core);
	put(sink, &note, sizeof(note));
	offset = note.p_offset + note.p_filesz;
	for (size_t i = 0; i < core->piece_count; i++) {
		const struct ep_elfcore_piece *piece = &core->pieces[i];
		Elf64_Phdr load = {
			.p_type = PT_LOAD,
			.p_flags = piece->flags & (PF_R | PF_W | PF_X),
			.p_offset = piece_offset(offset, piece),
			.p_vaddr = piece->address,
			.p_filesz = piece->size,
			.p_memsz = piece->size,
			.p_align = EP_PAGE,
		};

		offset = load.p_offset + load.p_filesz;
		put(sink, &load, sizeof(load));
	}
	put_shdr(sink, headers);
}

static void put_note(struct sink *sink, const struct ep_elfcore_note *note)
{
	size_t name = note->name[0] ? strlen(note->name) + 1 : 0;
	Elf64_Nhdr header = {(Elf64_Word)name, note->size, note->type};

	put(sink, &header, sizeof(header));
	put(sink, note->name, name);
	put_padding(sink, sink->at + aligned(name, 4) - name);
	put(sink, note->desc, note->size);
	put_padding(sink, sink->at + aligned(note->size, 4) - note->size);
}

/* ---- pages ---- */

static void put_piece(struct sink *sink, struct ep_source *source,
		      const struct ep_elfcore_piece *piece, uint8_t *buffer)
{
	put_padding(sink, piece_offset(sink->at, piece));
	if (piece->bytes) {
		put(sink, piece->bytes, piece->size);
		return;
	}
	for (uint64_t done = 0; done < piece->size && sink->rc == EP_OK; done += COPY_CHUNK) {
		size_t size = piece->size - done < COPY_CHUNK ? piece->size - done : COPY_CHUNK;

		sink->rc = ep_source_read(source, piece->address + done, buffer, size, NULL,
					  sink->err);
		put(sink, buffer, size);
		ep_progress("writing the snapshot", sink->at, sink->total);
	}
}

int ep_elfcore_write(const struct ep_elfcore *core, struct ep_source *source, int fd,
		     const char *path, uint64_t *written, struct ep_err *err)
{
	struct sink sink = {.fd = fd, .path = path, .err = err};
	uint8_t *buffer = ep_malloc(COPY_CHUNK);

	for (size_t i = 0; i < core->piece_count; i++)
		sink.total += core->pieces[i].size;
	put_headers(&sink, core);
	for (size_t i = 0; i < core->note_count; i++)
		put_note(&sink, &core->notes[i]);
	for (size_t i = 0; i < core->piece_count && sink.rc == EP_OK; i++)
		put_piece(&sink, source, &core->pieces[i], buffer);
	flush(&sink);
	ep_progress_end();
	free(buffer);
	*written = sink.at;
	return sink.rc;
}
