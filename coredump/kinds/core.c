/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core.c: an ELF core as a source. libelf takes the headers apart; memory is read by pread, by
 * p_filesz and never by p_memsz, and never beyond the file's end. Segments are sorted and made
 * disjoint at opening, so that each address has one answer.
 */
#include "coredump/kinds/core.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/find/notes.h"
#include "coredump/memory/source_impl.h"
#include "coredump/stream/bytestream.h"
#include "coredump/stream/corehead.h"
#include "coredump/stream/spool.h"
#include "runtime/format.h"

/* Program headers are 56 bytes, so a file can promise no more than it holds; this bounds the memory
 * that a hostile one takes (72 MiB). */
#define HEADERS_MAX (1u << 20)
#define NOTES_MAX   (UINT64_C(256) << 20) /* bytes: 20,000 threads with AVX-512 */

/* ---- reading ---- */

static int fault(const struct ep_source *source, const struct ep_segment *segment, uint64_t at,
		 struct ep_err *err)
{
	if (!segment && source->kind == EP_SOURCE_SNAPSHOT)
		return ep_fail(err, EP_E_UNSAVED, at, "%s: 0x%" PRIx64 " is not in this snapshot",
			       source->name, at);
	if (!segment)
		return ep_fail(err, EP_E_UNMAPPED, at, "%s: 0x%" PRIx64 " was not mapped",
			       source->name, at);
	if (segment->flags & EP_SEGMENT_CORRUPT)
		return ep_fail(err, EP_E_CORRUPT, at,
			       "%s: 0x%" PRIx64
			       ": the program header of its segment makes no sense",
			       source->name, at);
	if (segment->flags & EP_SEGMENT_UNKEPT)
		return ep_fail(err, EP_E_UNSAVED, at,
			       "%s: 0x%" PRIx64 " was not kept as the core came by: save it to a "
			       "file, decompressed, and name that",
			       source->name, at);
	if (at - segment->address >= segment->saved_size)
		return ep_fail(err, EP_E_UNSAVED, at,
			       "%s: 0x%" PRIx64 " was mapped, but the core does not hold it",
			       source->name, at);
	return ep_fail(err, EP_E_TRUNCATED, at,
		       "%s: 0x%" PRIx64 " should lie at offset 0x%" PRIx64
		       ", but the file ends at 0x%" PRIx64,
		       source->name, at, segment->file_offset + (at - segment->address),
		       source->file_size);
}

/* Of a process that the kernel holds while it dumps it: nothing of it changes any more. */
static int held_read(struct ep_source *source, uint64_t at, void *out, size_t size, size_t *got,
		     struct ep_err *err)
{
	ep_file_read(source->held->memory, "", at, out, size, got, NULL);
	if (*got == size)
		return EP_OK;
	return ep_fail(err, EP_E_UNSAVED, at + *got,
		       "%s: 0x%" PRIx64 " cannot be read in the process", source->name, at + *got);
}

static int core_read(struct ep_source *source, const struct ep_segment *segment, uint64_t at,
		     void *out, size_t size, size_t *got, struct ep_err *err)
{
	if (source->held)
		return held_read(source, at, out, size, got, err);
	return ep_file_read(source->fd, source->path,
			    segment->file_offset + (at - segment->address), out, size, got, err);
}

/* A core is sparse where pages were never touched; one that a hostile file system entry makes
 * terabytes long must not be read through. */
static uint64_t core_next_data(struct ep_source *source, uint64_t address, uint64_t limit)
{
	while (address < limit && !source->held) {
		const struct ep_segment *segment = ep_source_segment_at(source, address);
		uint64_t within, offset;
		off_t data;

		if (!segment || segment->read)
			return address; /* let the read tell */
		within = address - segment->address;
		if (within < segment->present_size) {
			offset = segment->file_offset + within;
			data = lseek(source->fd, (off_t)offset, SEEK_DATA);
			if (data < 0 && errno != ENXIO)
				return address;
			if (data >= 0 &&
			    (uint64_t)data - segment->file_offset < segment->present_size) {
				address += (uint64_t)data - offset;
				return address < limit ? address : limit;
			}
		}
		if (segment->memory_size - within >= limit - address)
			return limit;
		address += segment->memory_size - within;
	}
	return address < limit ? address : limit;
}

static void core_close(struct ep_source *source)
{
	elf_end(source->elf);
	ep_spool_close(source->spool);
}

static const struct ep_source_ops core_ops = {
	.read = core_read,
	.fault = fault,
	.next_data = core_next_data,
	.close = core_close,
};

/* ---- segments ---- */

static void segment_fill(const struct ep_source *source, const Elf64_Phdr *header,
			 struct ep_segment *out)
{
	uint64_t end, left = 0;

	*out = (struct ep_segment){
		.address = header->p_vaddr,
		.memory_size = header->p_memsz,
		.saved_size = header->p_filesz,
		.file_offset = header->p_offset,
		.flags = header->p_flags & (PF_R | PF_W | PF_X),
	};
	if (out->saved_size > out->memory_size)
		out->saved_size = out->memory_size;
	if (__builtin_add_overflow(header->p_offset, header->p_filesz, &end) || end > INT64_MAX) {
		out->flags |= EP_SEGMENT_CORRUPT;
		return;
	}
	if (header->p_offset < source->file_size)
		left = source->file_size - header->p_offset;
	out->present_size = left < out->saved_size ? left : out->saved_size;
}

static void segment_add(struct ep_source *source, const Elf64_Phdr *header, uint64_t at)
{
	struct ep_segment *out;
	uint64_t end;

	if (header->p_memsz == 0 && header->p_filesz == 0)
		return; /* says nothing, and some dumpers write it */
	if (header->p_filesz > header->p_memsz)
		ep_source_warn(
			source,
			"%s: program header at offset 0x%" PRIx64 ": 0x%" PRIx64
			" bytes in the file for 0x%" PRIx64 " in memory: only those are used",
			source->path, at, (uint64_t)header->p_filesz, (uint64_t)header->p_memsz);
	if (header->p_memsz == 0 ||
	    __builtin_add_overflow(header->p_vaddr, header->p_memsz, &end)) {
		ep_source_warn(source,
			       "%s: program header at offset 0x%" PRIx64 ": 0x%" PRIx64
			       " bytes at 0x%" PRIx64 " make no sense: left out",
			       source->path, at, (uint64_t)header->p_memsz,
			       (uint64_t)header->p_vaddr);
		return;
	}
	out = ep_array_add(&source->segments);
	segment_fill(source, header, out);
	if (out->flags & EP_SEGMENT_CORRUPT)
		ep_source_warn(source,
			       "%s: program header at offset 0x%" PRIx64 ": offset 0x%" PRIx64
			       " and size 0x%" PRIx64 " overflow",
			       source->path, at, (uint64_t)header->p_offset,
			       (uint64_t)header->p_filesz);
}

static int segment_compare(const void *left, const void *right)
{
	const struct ep_segment *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	/* Of two at one address, the one that holds more comes last: it wins over what of the other
	 * is not there. */
	if (a->present_size != b->present_size)
		return a->present_size < b->present_size ? -1 : 1;
	return (a->file_offset > b->file_offset) - (a->file_offset < b->file_offset);
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

/* Ends `segment` at `end`, which lies in it. */
static void segment_end_at(struct ep_segment *segment, uint64_t end)
{
	uint64_t size = end - segment->address;

	segment->memory_size = size;
	segment->saved_size = at_most(segment->saved_size, size);
	segment->present_size = at_most(segment->present_size, size);
}

/* Lets `segment` begin at `start`, which lies in it. */
static void segment_start_at(struct ep_segment *segment, uint64_t start)
{
	uint64_t cut = start - segment->address;

	segment->address = start;
	segment->memory_size -= cut;
	segment->file_offset += cut;
	segment->saved_size -= at_most(cut, segment->saved_size);
	segment->present_size -= at_most(cut, segment->present_size);
}

/*
 * Makes sorted segments disjoint: what really is in the file wins over what is only promised, the
 * lower address over the higher. A segment that spans others loses what of it lies behind them.
 */
static void segments_part(struct ep_source *source)
{
	struct ep_segment *list = source->segments.list;
	size_t kept = 0, overlaps = 0;

	for (size_t i = 0; i < source->segments.count; i++) {
		struct ep_segment next = list[i];
		struct ep_segment *last = kept ? &list[kept - 1] : NULL;

		if (!last || next.address - last->address >= last->memory_size) {
			list[kept++] = next;
			continue;
		}
		overlaps++;
		if (next.address - last->address >= last->present_size) {
			segment_end_at(last, next.address);
			if (last->memory_size == 0)
				kept--;
			list[kept++] = next;
			continue;
		}
		if (last->memory_size - (next.address - last->address) >= next.memory_size)
			continue; /* inside the last one */
		segment_start_at(&next, last->address + last->memory_size);
		list[kept++] = next;
	}
	source->segments.count = kept;
	if (overlaps)
		ep_source_warn(source,
			       "%s: corrupt: %zu segments overlap others; each address is read "
			       "from one of them",
			       source->path, overlaps);
}

/* kernel.core_sort_vma=1 writes them by size: nothing is wrong with that. */
static void segments_sort(struct ep_source *source)
{
	ep_array_sort(&source->segments, segment_compare);
	segments_part(source);
}

static void truncation_warn(struct ep_source *source)
{
	uint64_t promised = 0, present = 0;
	size_t cut = 0;

	for (size_t i = 0; i < source->segments.count; i++) {
		const struct ep_segment *segment = &source->segments.list[i];

		if (segment->flags & EP_SEGMENT_CORRUPT)
			continue;
		promised += segment->saved_size;
		present += segment->present_size;
		cut += segment->present_size < segment->saved_size;
	}
	if (cut)
		ep_source_warn(source,
			       "%s: core truncated at offset 0x%" PRIx64
			       ": %zu of %zu segments are cut or gone, %" PRIu64 " of %" PRIu64
			       " bytes of memory are left (ulimit -c, disk full?)",
			       source->path, source->file_size, cut, source->segments.count,
			       present, promised);
}

/* ---- program headers ---- */

/*
 * With 65,535 segments or more the number stands in section header 0, which the kernel writes last:
 * a truncated core has lost it. But its notes begin where the program headers end.
 */
static uint64_t headers_guess(struct ep_source *source, uint64_t offset)
{
	Elf64_Phdr first;

	if (ep_file_read(source->fd, source->path, offset, &first, sizeof(first), NULL, NULL) ||
	    first.p_type != PT_NOTE || first.p_offset <= offset)
		return PN_XNUM - 1;
	/* A stream has not come to its end yet. */
	if (!source->spool)
		ep_source_warn(source,
			       "%s: the number of segments is lost with the end of the file; taken "
			       "from where the notes begin",
			       source->path);
	return (first.p_offset - offset) / sizeof(first);
}

static uint64_t headers_promised(struct ep_source *source, const Elf64_Ehdr *header)
{
	Elf64_Shdr section;

	if (header->e_phnum != PN_XNUM)
		return header->e_phnum;
	if (header->e_shoff == 0 ||
	    ep_file_read(source->fd, source->path, header->e_shoff, &section, sizeof(section), NULL,
			 NULL) ||
	    section.sh_info < PN_XNUM)
		return headers_guess(source, header->e_phoff);
	return section.sh_info;
}

static uint64_t headers_count(struct ep_source *source, const Elf64_Ehdr *header)
{
	uint64_t promised = headers_promised(source, header), fit = 0;

	if (header->e_phoff < source->file_size)
		fit = (source->file_size - header->e_phoff) / sizeof(Elf64_Phdr);
	if (promised > fit)
		ep_source_warn(source,
			       "%s: truncated at offset 0x%" PRIx64 ": %" PRIu64 " of %" PRIu64
			       " program headers are left",
			       source->path, source->file_size, fit, promised);
	fit = at_most(fit, promised);
	if (fit > HEADERS_MAX)
		ep_source_warn(source, "%s: %" PRIu64 " program headers; the first %u are read",
			       source->path, fit, HEADERS_MAX);
	return at_most(fit, HEADERS_MAX);
}

static void note_segment(struct ep_source *source, const Elf64_Phdr *header)
{
	uint64_t left = 0, size = header->p_filesz;

	if (header->p_offset < source->file_size)
		left = source->file_size - header->p_offset;
	if (size > left)
		ep_source_warn(source,
			       "%s: truncated at offset 0x%" PRIx64 ": %" PRIu64 " of %" PRIu64
			       " bytes of notes are left",
			       source->path, source->file_size, left, size);
	size = at_most(size, left);
	/* Many headers may name the same notes. */
	left = at_most(NOTES_MAX, source->file_size) - source->note_bytes;
	if (size > left)
		ep_source_warn(source,
			       "%s: notes of %" PRIu64 " bytes; the first %" PRIu64 " are read",
			       source->path, size, left);
	size = at_most(size, left);
	source->note_bytes += size;
	ep_notes_read(source, header->p_offset, size, header->p_align);
}

static int headers_read(struct ep_source *source, const Elf64_Ehdr *header, struct ep_err *err)
{
	uint64_t count = headers_count(source, header);
	const Elf64_Phdr *list;
	Elf_Data *data;

	if (count == 0)
		return ep_fail(err, EP_E_TRUNCATED, source->file_size,
			       "%s: ends at offset 0x%" PRIx64
			       ", before its program headers (0x%" PRIx64 "): nothing is left",
			       source->path, source->file_size, (uint64_t)header->e_phoff);
	data = elf_getdata_rawchunk(source->elf, (int64_t)header->e_phoff,
				    count * sizeof(Elf64_Phdr), ELF_T_PHDR);
	if (!data)
		return ep_fail(err, EP_E_IO, header->e_phoff,
			       "%s: program headers at 0x%" PRIx64 ": %s", source->path,
			       (uint64_t)header->e_phoff, elf_errmsg(-1));
	list = data->d_buf;
	for (uint64_t i = 0; i < count; i++)
		if (list[i].p_type == PT_LOAD)
			segment_add(source, &list[i], header->e_phoff + i * sizeof(list[i]));
		else if (list[i].p_type == PT_NOTE && list[i].p_filesz)
			note_segment(source, &list[i]);
	return EP_OK;
}

/* ---- opening ---- */

static bool is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

static int input_open(const struct ep_source *source, int *fd, struct stat *st, struct ep_err *err)
{
	/* Not to be caught by a FIFO without a writer. */
	*fd = is_stdin(source->name) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
				     : open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0 && (errno == EACCES || errno == EPERM))
		return ep_fail(err, EP_E_PERMISSION, 0,
			       "%s: %m; cores are readable by their owner and root", source->path);
	if (*fd >= 0 && fstat(*fd, st) == 0)
		return EP_OK;
	if (*fd >= 0)
		close(*fd);
	return ep_fail(err, EP_E_IO, 0, "%s: %m", source->path);
}

static int refuse(const struct ep_source *source, int fd, mode_t mode, struct ep_err *err)
{
	bool terminal = isatty(fd);

	close(fd);
	return ep_fail(err, EP_E_FORMAT, 0, "%s: %s", source->path,
		       S_ISDIR(mode) ? "a directory; name a core in it"
		       : terminal    ? "a terminal; pipe a core into it"
				     : "a device; name a core, or a pid");
}

static int file_open(struct ep_source *source, struct ep_err *err)
{
	struct stat st;
	int fd, rc = input_open(source, &fd, &st, err);

	if (rc)
		return rc;
	if (S_ISREG(st.st_mode) && !ep_bytestream_compressed(fd)) {
		source->fd = fd;
		source->file_size = (uint64_t)st.st_size;
	} else if (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
		if (S_ISREG(st.st_mode))
			lseek(fd, 0, SEEK_SET);
		if (!is_stdin(source->name))
			fcntl(fd, F_SETFL, 0);
		rc = ep_spool_open(source, fd, err);
	} else {
		return refuse(source, fd, st.st_mode, err);
	}
	source->origin_device = st.st_dev;
	source->origin_inode = st.st_ino;
	return rc ? rc : ep_core_head_check(source->fd, source->path, source->file_size, err);
}

static void kind_settle(struct ep_source *source)
{
	for (size_t i = 0; i < source->notes.count; i++)
		if (ep_note_is_snapshot(&source->notes.list[i]))
			source->kind = EP_SOURCE_SNAPSHOT;
}

static int core_load(struct ep_source *source, struct ep_err *err)
{
	GElf_Ehdr header;
	int rc;

	elf_version(EV_CURRENT);
	source->elf = elf_begin(source->fd, ELF_C_READ, NULL);
	if (!source->elf || !gelf_getehdr(source->elf, &header))
		return ep_fail(err, EP_E_CORRUPT, 0, "%s: ELF header: %s", source->path,
			       elf_errmsg(-1));
	rc = headers_read(source, &header, err);
	if (rc)
		return rc;
	kind_settle(source);
	segments_sort(source);
	ep_notes_digest(source);
	if (source->spool && !source->held)
		rc = ep_spool_gather(source, err);
	if (rc)
		return rc;
	truncation_warn(source);
	if (source->segments.count == 0 && source->notes.count == 0)
		return ep_fail(err, EP_E_CORRUPT, header.e_phoff,
			       "%s: program headers at 0x%" PRIx64
			       " name neither memory nor notes: nothing is left",
			       source->path, (uint64_t)header.e_phoff);
	return EP_OK;
}

int ep_source_open_core(struct ep_source **out, const char *path, struct ep_err *err)
{
	struct ep_source *source = ep_source_new(EP_SOURCE_CORE, &core_ops, path,
						 is_stdin(path) ? "standard input" : path);
	int rc = file_open(source, err);

	rc = rc ? rc : core_load(source, err);
	if (rc)
		ep_source_close(source);
	else
		*out = source;
	return rc;
}

int ep_source_open_held(struct ep_source **out, int stream, const struct ep_held *held,
			struct ep_err *err)
{
	static const char path[] = "the core";
	struct ep_source *source = ep_source_new(EP_SOURCE_CORE, &core_ops, path, path);
	int rc;

	source->held = held;
	rc = ep_spool_open_head(source, stream, held->head, err);
	rc = rc ? rc : ep_core_head_check(source->fd, path, source->file_size, err);
	rc = rc ? rc : core_load(source, err);
	if (rc == EP_OK) {
		ep_spool_leave(source->spool);
		*out = source;
	} else {
		ep_source_close(source);
	}
	return rc;
}
