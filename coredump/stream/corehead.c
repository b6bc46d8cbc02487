/* SPDX-License-Identifier: BSD-2-Clause */
/* corehead.c: a file that is not an x86-64 ELF core is told by name, with what to do next: at 3
 * a.m. "bad file" helps nobody. */
#include "coredump/stream/corehead.h"

#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "coredump/util/readfile.h"

static const struct {
	const char *magic;
	uint8_t size;
	const char *what;
	const char *next;
} known[] = {
	{"PK\x03\x04", 4, "a zip archive", "unpack it first"},
	{"MDMP", 4, "a minidump", "only ELF cores are read"},
	{"KDUMP   ", 8, "a dump of a kernel", "only cores of programs are read"},
	{"!<arch>\n", 8, "a static library", "name the core, or a pid"},
	{"ProblemType:", 12, "an apport report", "take its CoreDump out: apport-unpack"},
};

static const struct {
	uint16_t machine;
	const char *name;
} machines[] = {
	{EM_386, "32-bit x86"},       {EM_ARM, "32-bit ARM"}, {EM_AARCH64, "aarch64"},
	{EM_PPC64, "64-bit PowerPC"}, {EM_S390, "s390"},      {EM_RISCV, "RISC-V"},
};

static const char *machine_name(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == machine)
			return machines[i].name;
	return "another architecture";
}

static bool has_interpreter(int fd, const Elf64_Ehdr *header)
{
	for (uint32_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		if (ep_file_read(fd, "", header->e_phoff + i * sizeof(segment), &segment,
				 sizeof(segment), NULL, NULL))
			return false;
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *kind_of(int fd, const Elf64_Ehdr *header)
{
	switch (header->e_type) {
	case ET_REL:
		return "an object file";
	case ET_EXEC:
		return "an executable";
	case ET_DYN:
		return has_interpreter(fd, header) ? "an executable" : "a shared library";
	}
	return "an ELF file of an unknown type";
}

static int identify_elf(int fd, const char *path, uint64_t size, const Elf64_Ehdr *header,
			struct ep_err *err)
{
	if (size < sizeof(*header))
		return ep_fail(err, EP_E_TRUNCATED, size,
			       "%s: cut off after %" PRIu64
			       " bytes, inside the ELF header: nothing is left",
			       path, size);
	if (header->e_ident[EI_CLASS] == ELFCLASS32)
		return ep_fail(
			err, EP_E_FORMAT, EI_CLASS,
			"%s: a 32-bit ELF file (%s); only cores of 64-bit x86 programs are read",
			path, machine_name(header->e_machine));
	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return ep_fail(err, EP_E_CORRUPT, EI_CLASS,
			       "%s: ELF header, offset %d: class %u is neither 32 nor 64 bits",
			       path, EI_CLASS, header->e_ident[EI_CLASS]);
	if (header->e_ident[EI_DATA] == ELFDATA2MSB)
		return ep_fail(
			err, EP_E_FORMAT, EI_DATA,
			"%s: a big-endian ELF file; only cores of 64-bit x86 programs are read",
			path);
	if (header->e_ident[EI_DATA] != ELFDATA2LSB)
		return ep_fail(err, EP_E_CORRUPT, EI_DATA,
			       "%s: ELF header, offset %d: byte order %u is neither little nor big",
			       path, EI_DATA, header->e_ident[EI_DATA]);
	if (header->e_machine != EM_X86_64)
		return ep_fail(err, EP_E_FORMAT, offsetof(Elf64_Ehdr, e_machine),
			       "%s: an ELF file for %s (machine %u); only cores of 64-bit x86 "
			       "programs are read",
			       path, machine_name(header->e_machine), header->e_machine);
	if (header->e_type != ET_CORE)
		return ep_fail(
			err, EP_E_FORMAT, offsetof(Elf64_Ehdr, e_type),
			"%s: %s, not a core; name the core that it left, or the pid while it runs",
			path, kind_of(fd, header));
	if (header->e_phoff == 0 || header->e_phnum == 0)
		return ep_fail(
			err, EP_E_CORRUPT, offsetof(Elf64_Ehdr, e_phoff),
			"%s: ELF header, offset %zu: a core without program headers holds nothing",
			path, offsetof(Elf64_Ehdr, e_phoff));
	if (header->e_phentsize != sizeof(Elf64_Phdr))
		return ep_fail(err, EP_E_CORRUPT, offsetof(Elf64_Ehdr, e_phentsize),
			       "%s: ELF header, offset %zu: program headers of %u bytes, not %zu",
			       path, offsetof(Elf64_Ehdr, e_phentsize), header->e_phentsize,
			       sizeof(Elf64_Phdr));
	return EP_OK;
}

static bool looks_like_text(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] < 0x20 && !memchr("\t\n\f\r\x1b", bytes[i], 5))
			return false;
	return true;
}

int ep_core_head_check(int fd, const char *path, uint64_t size, struct ep_err *err)
{
	uint8_t head[256] = {0};
	size_t got = size < sizeof(head) ? size : sizeof(head);
	Elf64_Ehdr header;

	if (size == 0)
		return ep_fail(err, EP_E_FORMAT, 0,
			       "%s: empty; was the dump refused (ulimit -c) or the disk full?",
			       path);
	if (ep_file_read(fd, path, 0, head, got, &got, err))
		return err ? err->code : EP_E_IO;
	if (got >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0) {
		memcpy(&header, head, sizeof(header));
		return identify_elf(fd, path, size, &header, err);
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (got >= known[i].size && memcmp(head, known[i].magic, known[i].size) == 0)
			return ep_fail(err, EP_E_FORMAT, 0, "%s: %s; %s", path, known[i].what,
				       known[i].next);
	if (looks_like_text(head, got))
		return ep_fail(err, EP_E_FORMAT, 0,
			       "%s: a text file, not a core; name the core, or a pid", path);
	return ep_fail(
		err, EP_E_FORMAT, 0,
		"%s: not an ELF core (it begins with %02x %02x %02x %02x); name the core, or a pid",
		path, head[0], head[1], head[2], head[3]);
}
