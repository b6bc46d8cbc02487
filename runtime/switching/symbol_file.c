/* SPDX-License-Identifier: BSD-2-Clause */
/* symbol_file.c: headers, then the names of one table at once, and its symbols by pieces. */
#include "runtime/switching/symbol_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"

#define SECTIONS   4096                  /* of a file, at most */
#define NAMES_MOST (UINT64_C(512) << 20) /* bytes of names */
#define NOTES_MOST 1024                  /* bytes of notes that a build-id is looked for in */
#define PIECE      1024                  /* symbols */

struct file {
	long fd;
	Elf64_Ehdr elf;
	Elf64_Sym *symbols; /* PIECE of them */
	char *names;        /* mapped; NULL: none */
	uint64_t names_size;
};

static bool read_at(const struct file *file, uint64_t at, void *out, uint64_t size)
{
	return ep_syscall4(SYS_pread64, file->fd, (long)out, (long)size, (long)at) == (long)size;
}

static void *map(uint64_t size)
{
	long got = ep_syscall6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return ep_syscall_failed(got) ? NULL : (void *)got;
}

/* ---- is it the one ---- */

static bool is_same_id(const uint8_t *notes, uint64_t size, const struct ep_module *module)
{
	for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) + 4 <= size;) {
		Elf64_Nhdr note;
		uint64_t next;

		ep_bytes_copy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		next = at + ((uint64_t)note.n_namesz + 3) / 4 * 4;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    ep_bytes_equal(notes + at, "GNU", 4))
			return note.n_descsz == module->build_id_size &&
			       next + note.n_descsz <= size &&
			       ep_bytes_equal(notes + next, module->build_id, note.n_descsz);
		at = next + ((uint64_t)note.n_descsz + 3) / 4 * 4;
	}
	return false;
}

/* Without a build-id in memory nothing tells. */
static bool is_same_file(const struct file *file, const struct ep_module *module)
{
	uint8_t notes[NOTES_MOST];
	Elf64_Phdr header;

	if (!module->build_id_size)
		return true;
	for (unsigned i = 0; i < file->elf.e_phnum; i++) {
		uint64_t size;

		if (!read_at(file, file->elf.e_phoff + i * sizeof(header), &header, sizeof(header)))
			return false;
		size = header.p_filesz < NOTES_MOST ? header.p_filesz : NOTES_MOST;
		if (header.p_type == PT_NOTE && read_at(file, header.p_offset, notes, size) &&
		    is_same_id(notes, size, module))
			return true;
	}
	return false;
}

static bool open_file(struct file *file, const char *path)
{
	file->fd = ep_fd_open(path);
	return file->fd >= 0 && read_at(file, 0, &file->elf, sizeof(file->elf)) &&
	       ep_bytes_equal(file->elf.e_ident, ELFMAG, SELFMAG) &&
	       file->elf.e_ident[EI_CLASS] == ELFCLASS64 &&
	       file->elf.e_shentsize == sizeof(Elf64_Shdr) &&
	       file->elf.e_phentsize == sizeof(Elf64_Phdr) && file->elf.e_shnum <= SECTIONS;
}

/* ---- symbols ---- */

static bool section_at(const struct file *file, uint32_t index, Elf64_Shdr *out)
{
	return index < file->elf.e_shnum &&
	       read_at(file, file->elf.e_shoff + index * sizeof(*out), out, sizeof(*out));
}

static bool find_table(const struct file *file, uint32_t type, Elf64_Shdr *out)
{
	for (uint32_t i = 0; i < file->elf.e_shnum; i++)
		if (section_at(file, i, out) && out->sh_type == type && out->sh_size)
			return out->sh_entsize == sizeof(Elf64_Sym);
	return false;
}

/* A zero ends them, whatever the file says. */
static bool read_names(struct file *file, const Elf64_Shdr *table)
{
	Elf64_Shdr strings;

	if (!section_at(file, table->sh_link, &strings) || strings.sh_size > NAMES_MOST)
		return false;
	file->names_size = strings.sh_size + 1;
	file->names = map(file->names_size);
	return file->names && read_at(file, strings.sh_offset, file->names, strings.sh_size);
}

static void tell(const struct file *file, const Elf64_Sym *symbol, ep_symbol_fn *fn, void *context)
{
	if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
	    symbol->st_name && symbol->st_name < file->names_size)
		fn(context, file->names + symbol->st_name, symbol->st_value);
}

static bool read_symbols(const struct file *file, const Elf64_Shdr *table, ep_symbol_fn *fn,
			 void *context)
{
	uint64_t count = table->sh_size / sizeof(Elf64_Sym);

	for (uint64_t i = 0, n; i < count; i += n) {
		n = count - i < PIECE ? count - i : PIECE;
		if (!read_at(file, table->sh_offset + i * sizeof(Elf64_Sym), file->symbols,
			     n * sizeof(Elf64_Sym)))
			return false;
		for (uint64_t k = 0; k < n; k++)
			tell(file, &file->symbols[k], fn, context);
	}
	return true;
}

static bool read_file(struct file *file, const struct ep_module *module, ep_symbol_fn *fn,
		      void *context)
{
	Elf64_Shdr table;

	if (!is_same_file(file, module) ||
	    (!find_table(file, SHT_SYMTAB, &table) && !find_table(file, SHT_DYNSYM, &table)))
		return false;
	file->symbols = map(PIECE * sizeof(Elf64_Sym));
	return file->symbols && read_names(file, &table) && read_symbols(file, &table, fn, context);
}

bool ep_symbol_file_read(const char *path, const struct ep_module *module, ep_symbol_fn *fn,
			 void *context)
{
	struct file file = {.fd = -1};
	bool done = open_file(&file, path) && read_file(&file, module, fn, context);

	if (file.symbols)
		ep_syscall2(SYS_munmap, (long)file.symbols, PIECE * sizeof(Elf64_Sym));
	if (file.names)
		ep_syscall2(SYS_munmap, (long)file.names, (long)file.names_size);
	if (file.fd >= 0)
		ep_fd_close(file.fd);
	return done;
}
