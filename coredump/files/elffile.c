/* SPDX-License-Identifier: BSD-2-Clause */
/* elffile.c: what a section would become in memory is looked at before anybody reads it. */
#undef _FORTIFY_SOURCE /* which would define open() itself */
#include "coredump/files/elffile.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/files/regularfile.h"

#define SPARSE_MAX (256 << 20) /* bytes; no smaller one costs much */
/* What compressed sections may become: bytes, and times the file. Debug information shrinks to a
 * fifth or a tenth. */
#define UNPACKED_MAX   (UINT64_C(64) << 20)
#define UNPACKED_TIMES 32

struct elf_file {
	Elf *elf;
	int fd;
	uint64_t size; /* bytes */
	bool big_endian;
};

/* The first bytes of a section, as they lie in the file: libelf would read all of it. False: it is
 * smaller, or not all in the file, so that libelf does not read it either. */
static bool read_head(int fd, uint64_t file_size, const GElf_Shdr *header, void *out, size_t size)
{
	return header->sh_type != SHT_NOBITS && header->sh_size >= size &&
	       header->sh_offset <= file_size && header->sh_size <= file_size - header->sh_offset &&
	       pread(fd, out, size, (off_t)header->sh_offset) == (ssize_t)size;
}

/* Bytes that a section says it has once it is unpacked; 0: it is not packed. libelf unpacks no more
 * than that. */
static uint64_t unpacked_size(const struct elf_file *file, const GElf_Shdr *header,
			      const char *name)
{
	union {
		Elf64_Chdr wide;
		Elf32_Chdr narrow;
		unsigned char old[12];
	} head;
	bool wide = gelf_getclass(file->elf) == ELFCLASS64;
	size_t size = wide ? sizeof(head.wide) : sizeof(head.narrow);
	uint64_t unpacked;

	if (header->sh_flags & SHF_COMPRESSED) {
		if (!read_head(file->fd, file->size, header, &head, size))
			return 0;
		if (file->big_endian)
			return wide ? be64toh(head.wide.ch_size) : be32toh(head.narrow.ch_size);
		return wide ? le64toh(head.wide.ch_size) : le32toh(head.narrow.ch_size);
	}
	/* The older way: "ZLIB", and the size, highest byte first. */
	if (!name || strncmp(name, ".zdebug", 7) != 0 ||
	    !read_head(file->fd, file->size, header, &head, sizeof(head.old)))
		return 0;
	memcpy(&unpacked, head.old + 4, sizeof(unpacked));
	return be64toh(unpacked);
}

static bool is_bomb(int fd, uint64_t size)
{
	struct elf_file file = {.fd = fd, .size = size};
	uint64_t unpacked = 0;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *ident;
	size_t names;

	elf_version(EV_CURRENT);
	file.elf = elf_begin(fd, ELF_C_READ, NULL);
	ident = file.elf ? elf_getident(file.elf, NULL) : NULL;
	file.big_endian = ident && ident[EI_DATA] == ELFDATA2MSB;
	if (ident && elf_getshdrstrndx(file.elf, &names) == 0)
		while ((section = elf_nextscn(file.elf, section)))
			if (gelf_getshdr(section, &header) &&
			    __builtin_add_overflow(
				    unpacked,
				    unpacked_size(&file, &header,
						  elf_strptr(file.elf, names, header.sh_name)),
				    &unpacked))
				unpacked = UINT64_MAX;
	elf_end(file.elf);
	return unpacked > UNPACKED_MAX && unpacked / UNPACKED_TIMES > size;
}

/* Of a section that lies in a hole libelf makes as many zeroes in memory. Files are not sparse as
 * linkers and strip write them, nor 64 times smaller where the file system compresses. */
int ep_elf_file_judge(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return fd;
	if ((st.st_size <= SPARSE_MAX || st.st_size / 64 <= (off_t)st.st_blocks * 512) &&
	    !is_bomb(fd, (uint64_t)st.st_size))
		return fd;
	close(fd);
	errno = EFBIG;
	return -1;
}

int ep_elf_file_open(const char *path)
{
	return ep_elf_file_judge(ep_regular_file_open(path));
}

/* ---- libraries ---- */

/* A program's own function stands before libc's for the libraries that it is linked with
 * (ld.so(8)), so theirs comes to the same door as ours. Ours say O_CLOEXEC, libdw says O_RDONLY and
 * nothing else. */
int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list more;

	if (flags == O_RDONLY)
		return ep_elf_file_open(path);
	va_start(more, flags);
	if (flags & (O_CREAT | __O_TMPFILE))
		mode = va_arg(more, mode_t);
	va_end(more);
	return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
