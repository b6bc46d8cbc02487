/* SPDX-License-Identifier: BSD-2-Clause */
/* maps.c: the kernel's list of mappings (man 5 proc), and ELF headers in memory, read so that they
 * cannot fault. */
#include "runtime/facts/maps.h"

#include <assert.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"

bool ep_maps_open(struct ep_maps *maps, char *buffer)
{
	maps->fd = ep_fd_open_own("maps", O_RDONLY);
	maps->buffer = buffer;
	maps->from = maps->to = 0;
	maps->failed = maps->fd < 0;
	return maps->fd >= 0;
}

void ep_maps_close(struct ep_maps *maps)
{
	ep_fd_close(maps->fd);
	maps->fd = -1;
}

/* Position of the newline, or maps->to when there is none yet. */
static size_t find_newline(const struct ep_maps *maps, size_t at)
{
	while (at < maps->to && maps->buffer[at] != '\n')
		at++;
	return at;
}

/* Moves the unread bytes to the front and reads more. False: no more came. */
static bool fill(struct ep_maps *maps)
{
	size_t unread = maps->to - maps->from;
	long got;

	ep_bytes_copy(maps->buffer, maps->buffer + maps->from, unread);
	maps->from = 0;
	maps->to = unread;
	got = ep_fd_read(maps->fd, maps->buffer + unread, EP_MAPS_BUFFER - unread);
	if (got < 0)
		maps->failed = true;
	if (got <= 0)
		return false;
	maps->to += (size_t)got;
	return true;
}

static bool skip_char(const char **at, const char *end, char wanted)
{
	if (*at == end || **at != wanted)
		return false;
	++*at;
	return true;
}

static uint32_t flags_of(const char *letters)
{
	return (letters[0] == 'r' ? EP_MAP_READ : 0) | (letters[1] == 'w' ? EP_MAP_WRITE : 0) |
	       (letters[2] == 'x' ? EP_MAP_EXEC : 0);
}

static bool is_octal(const char *at)
{
	return at[0] >= '0' && at[0] <= '3' && at[1] >= '0' && at[1] <= '7' && at[2] >= '0' &&
	       at[2] <= '7';
}

/* The kernel writes a newline as \012, and nothing else so (a backslash in a name stays as it is).
 * Decodes in place. */
static size_t decode(char *path, char *end)
{
	char *out = path;

	for (char *at = path; at < end; at++) {
		if (*at == '\\' && end - at > 3 && is_octal(at + 1) && at[1] == '0' &&
		    at[2] == '1' && at[3] == '2') {
			*out++ = '\n';
			at += 3;
		} else {
			*out++ = *at;
		}
	}
	*out = '\0';
	return (size_t)(out - path);
}

/* "start-end rwxp offset major:minor inode      path", `end` is the newline. */
static bool parse(char *text, char *end, struct ep_map_line *line)
{
	const char *at = text;
	uint64_t major, minor;

	if (!ep_text_number(&at, end, 16, &line->start) || !skip_char(&at, end, '-') ||
	    !ep_text_number(&at, end, 16, &line->end) || !skip_char(&at, end, ' ') || end - at < 5)
		return false;
	line->flags = flags_of(at);
	at += 4;
	if (!skip_char(&at, end, ' ') || !ep_text_number(&at, end, 16, &line->file_offset) ||
	    !skip_char(&at, end, ' ') || !ep_text_number(&at, end, 16, &major) ||
	    !skip_char(&at, end, ':') || !ep_text_number(&at, end, 16, &minor) ||
	    !skip_char(&at, end, ' ') || !ep_text_number(&at, end, 10, &line->inode))
		return false;
	line->device = major << 32 | minor;
	while (skip_char(&at, end, ' '))
		;
	line->path = at;
	line->path_length = decode(text + (at - text), end);
	return true;
}

bool ep_maps_next(struct ep_maps *maps, struct ep_map_line *line)
{
	for (;;) {
		size_t newline = find_newline(maps, maps->from);
		char *text;

		if (newline == maps->to) {
			if (fill(maps))
				continue;
			maps->failed |= maps->from != maps->to;
			return false;
		}
		text = maps->buffer + maps->from;
		maps->from = newline + 1;
		if (parse(text, maps->buffer + newline, line))
			return true;
		maps->failed = true;
	}
}

/* ---- one line ---- */

/* <linux/fs.h> of Linux 6.11. */
struct query {
	uint64_t size, flags, address; /* in */
	uint64_t start, end, rights, page_size, offset, inode;
	uint32_t major, minor;
	uint32_t name_size; /* in: room; out: with its NUL, 0 none */
	uint32_t build_id_size;
	uint64_t name, build_id;
};
static_assert(sizeof(struct query) == 104, "the kernel's");
#define QUERY _IOWR('f', 17, struct query)

bool ep_maps_ask(long fd, uint64_t address, uint32_t flags, char *buffer, struct ep_map_line *line)
{
	/* The kernel's bits: readable 1, writable 2, executable 4; 16: or what comes next. */
	struct query query = {
		.size = sizeof query,
		.flags = flags ? 16 | (flags & EP_MAP_READ ? 1u : 0) |
					 (flags & EP_MAP_WRITE ? 2u : 0) |
					 (flags & EP_MAP_EXEC ? 4u : 0)
			       : 0,
		.address = address,
		.name_size = buffer ? 4096 : 0,
		.name = (uint64_t)buffer,
	};

	if (ep_syscall3(SYS_ioctl, fd, QUERY, (long)&query))
		return false;
	line->start = query.start;
	line->end = query.end;
	line->file_offset = query.offset;
	line->device = (uint64_t)query.major << 32 | query.minor;
	line->inode = query.inode;
	line->flags = (query.rights & 1 ? EP_MAP_READ : 0) | (query.rights & 2 ? EP_MAP_WRITE : 0) |
		      (query.rights & 4 ? EP_MAP_EXEC : 0);
	line->path = buffer && query.name_size ? buffer : "";
	line->path_length = buffer && query.name_size ? query.name_size - 1 : 0;
	return true;
}

/* ---- ELF headers ---- */

#define PAGE       UINT64_C(4096)
#define SEGMENTS   128 /* more program headers than any linker makes */
#define BATCH      8   /* of them read at once: the stack may be small */
#define NOTE_BYTES 512
#define ATTEMPTS   4

static bool good_header(const Elf64_Ehdr *header)
{
	return ep_bytes_equal(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 &&
	       header->e_phentsize == sizeof(Elf64_Phdr) &&
	       (header->e_type == ET_DYN || header->e_type == ET_EXEC) && header->e_phnum > 0 &&
	       header->e_phnum <= SEGMENTS;
}

static void parse_build_id(const uint8_t *bytes, size_t size, struct ep_mapped_image *image)
{
	size_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, desc;

		ep_bytes_copy(&note, bytes + at, sizeof note);
		name = at + sizeof note;
		desc = name + ((note.n_namesz + UINT64_C(3)) & ~UINT64_C(3));
		if (desc > size || note.n_descsz > size - desc)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    ep_bytes_equal(bytes + name, "GNU", 4) && note.n_descsz <= EP_BUILD_ID_MAX) {
			image->build_id_size = note.n_descsz;
			ep_bytes_copy(image->build_id, bytes + desc, note.n_descsz);
			return;
		}
		at = desc + ((note.n_descsz + UINT64_C(3)) & ~UINT64_C(3));
		if (at > size)
			return;
	}
}

/* False: there is nothing to read. */
static bool read_notes(const Elf64_Phdr *segment, struct ep_mapped_image *image)
{
	uint8_t bytes[NOTE_BYTES];
	uint64_t size = segment->p_memsz;

	if (size > sizeof bytes)
		size = sizeof bytes;
	if (image->build_id_size)
		return true;
	if (!ep_memory_read(image->bias + segment->p_vaddr, bytes, size))
		return false;
	parse_build_id(bytes, size, image);
	return true;
}

/* The segment that holds the file's first bytes, which lie at `address`, tells the bias. */
static bool parse_bias(const Elf64_Phdr *segment, uint64_t address, struct ep_mapped_image *image)
{
	if (segment->p_type != PT_LOAD || segment->p_offset >= PAGE)
		return false;
	image->bias = address - (segment->p_vaddr - segment->p_offset);
	return true;
}

/* False: its notes could not be read. */
static bool parse_segment(const Elf64_Phdr *segment, struct ep_mapped_image *image)
{
	uint64_t start = image->bias + segment->p_vaddr;
	uint64_t end = start + segment->p_memsz;

	if (segment->p_type == PT_NOTE) {
		return read_notes(segment, image);
	} else if (segment->p_type == PT_DYNAMIC) {
		image->dynamic = start;
		image->dynamic_size = segment->p_memsz;
	} else if (segment->p_type == PT_LOAD) {
		start &= ~(PAGE - 1);
		end = (end + PAGE - 1) & ~(PAGE - 1);
		if (start < image->start)
			image->start = start;
		if (end > image->end)
			image->end = end;
	}
	return true;
}

/* Program headers from `first` on: how many were read, 0 on failure. */
static int read_batch(uint64_t address, const Elf64_Ehdr *header, int first,
		      Elf64_Phdr batch[BATCH], struct ep_mapped_image *image)
{
	int count = header->e_phnum - first;

	if (count > BATCH)
		count = BATCH;
	image->gone = !ep_memory_read(address + header->e_phoff + (uint64_t)first * sizeof *batch,
				      batch, (size_t)count * sizeof *batch);
	return image->gone ? 0 : count;
}

static bool find_bias(uint64_t address, const Elf64_Ehdr *header, struct ep_mapped_image *image)
{
	Elf64_Phdr batch[BATCH];
	int count;

	for (int at = 0; at < header->e_phnum; at += count) {
		count = read_batch(address, header, at, batch, image);
		for (int i = 0; i < count; i++) {
			if (parse_bias(&batch[i], address, image))
				return true;
		}
		if (!count)
			return false;
	}
	return false;
}

/* *whole: no notes were missing. */
static bool parse_segments(uint64_t address, const Elf64_Ehdr *header,
			   struct ep_mapped_image *image, bool *whole)
{
	Elf64_Phdr batch[BATCH];
	int count;

	*whole = true;
	for (int at = 0; at < header->e_phnum; at += count) {
		count = read_batch(address, header, at, batch, image);
		for (int i = 0; i < count; i++)
			*whole &= parse_segment(&batch[i], image);
		if (!count)
			return false;
	}
	return image->start < image->end;
}

static bool read_image(uint64_t address, struct ep_mapped_image *image, bool *whole)
{
	Elf64_Ehdr header;

	image->gone = !ep_memory_read(address, &header, sizeof header);
	if (image->gone || !good_header(&header) || !find_bias(address, &header, image))
		return false;
	image->start = UINT64_MAX;
	image->end = 0;
	image->dynamic = image->dynamic_size = 0;
	image->build_id_size = 0;
	return parse_segments(address, &header, image, whole);
}

/* Another thread may unload the library meanwhile, and load it to the same place: its module would
 * have no build-id then, for as long as it stays. */
bool ep_mapped_image_read(uint64_t address, struct ep_mapped_image *image)
{
	bool read = false, whole = false;

	for (int i = 0; i < ATTEMPTS && !whole; i++) {
		read = read_image(address, image, &whole);
		if (!read)
			return false;
	}
	return read;
}
