/* SPDX-License-Identifier: BSD-2-Clause */
/* unpack.c: the file's bytes, and behind them what its sections become; their headers lead there.
 */
#include "decoder/symbols/unpack.h"

#include <dlfcn.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/util/alloc.h"

#define LIBRARY "libzstd.so.1"
#define ZSTD    2 /* ELFCOMPRESS_ZSTD, which elf.h of glibc 2.36 does not have */
/* Bytes of the whole: more debug information than any program's is, and not all of our memory. */
#define SIZE_MOST (UINT64_C(4) << 30)
#define ALIGN(at) (((at) + 15) & ~UINT64_C(15))

#define HELP                                                                              \
	"; objcopy --decompress-debug-sections makes a copy that is read (--executable, " \
	"--debug-path)"

/* zstd's manual, "Simple API": stable since 1.0. What it returns in case of an error is no size of
 * anything: it lies at the end of the numbers. */
static size_t (*decompress)(void *to, size_t room, const void *from, size_t size);

static bool load(void)
{
	static bool asked;
	void *library;

	if (!asked) {
		asked = true;
		library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
		if (library)
			*(void **)&decompress = dlsym(library, "ZSTD_decompress");
	}
	return decompress != NULL;
}

static bool is_packed(Elf_Scn *section, GElf_Shdr *header, GElf_Chdr *packed)
{
	return gelf_getshdr(section, header) && header->sh_flags & SHF_COMPRESSED &&
	       gelf_getchdr(section, packed) && packed->ch_type == ZSTD;
}

/* Bytes of all that is unpacked; 0: nothing is packed so. */
static uint64_t unpacked_size(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Chdr packed;
	uint64_t size = 0;

	while ((section = elf_nextscn(elf, section)))
		if (is_packed(section, &header, &packed) &&
		    __builtin_add_overflow(size, ALIGN(packed.ch_size) + 16, &size))
			return UINT64_MAX;
	return size;
}

static bool read_all(int fd, uint8_t *to, uint64_t size)
{
	uint64_t done = 0;
	ssize_t got;

	while (done < size && (got = pread(fd, to + done, size - done, (off_t)done)) > 0)
		done += (uint64_t)got;
	return done == size;
}

/* The sections of the copy, the file's `size` bytes, are unpacked to `end`. */
static bool unpack_all(Elf *elf, uint8_t *image, uint64_t size, uint64_t end)
{
	Elf64_Ehdr *file = (Elf64_Ehdr *)image;
	uint64_t at = ALIGN(size);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Chdr packed;

	while ((section = elf_nextscn(elf, section))) {
		uint64_t place = file->e_shoff + elf_ndxscn(section) * sizeof(Elf64_Shdr);
		Elf64_Shdr *own = (Elf64_Shdr *)(image + place);

		if (!is_packed(section, &header, &packed))
			continue;
		if (place % 8 || place > size || size - place < sizeof(*own) ||
		    header.sh_size < sizeof(Elf64_Chdr) || header.sh_offset > size ||
		    header.sh_size > size - header.sh_offset || packed.ch_size > end - at ||
		    decompress(image + at, packed.ch_size,
			       image + header.sh_offset + sizeof(Elf64_Chdr),
			       header.sh_size - sizeof(Elf64_Chdr)) != packed.ch_size)
			return false;
		own->sh_flags &= ~(uint64_t)SHF_COMPRESSED;
		own->sh_offset = at;
		own->sh_size = packed.ch_size;
		own->sh_addralign = packed.ch_addralign;
		at = ALIGN(at + packed.ch_size);
	}
	return true;
}

Elf *ep_unpack(Elf *elf, int fd, void **memory, const char **why)
{
	uint64_t more = unpacked_size(elf), size, whole;
	uint8_t *image;
	struct stat st;
	Elf *unpacked;

	*why = "";
	if (!more)
		return NULL;
	if (!load()) {
		*why = "is compressed by zstd, and " LIBRARY " is not here (package libzstd1)" HELP;
		return NULL;
	}
	if (fd < 0 || fstat(fd, &st) != 0 || (size = (uint64_t)st.st_size) < sizeof(Elf64_Ehdr) ||
	    __builtin_add_overflow(ALIGN(size), more, &whole) || whole > SIZE_MOST) {
		*why = "is compressed by zstd, and too large to be unpacked in memory" HELP;
		return NULL;
	}
	image = ep_calloc(1, whole);
	unpacked = read_all(fd, image, size) && unpack_all(elf, image, size, whole)
			   ? elf_memory((char *)image, whole)
			   : NULL;
	if (!unpacked) {
		free(image);
		*why = "is compressed by zstd, and damaged";
		return NULL;
	}
	*memory = image;
	return unpacked;
}
