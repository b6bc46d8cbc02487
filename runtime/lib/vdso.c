/* SPDX-License-Identifier: BSD-2-Clause */
/* vdso.c: __vdso_clock_gettime, found in the kernel's own ELF image (man 7 vdso), or the system
 * call. */
#include "runtime/lib/vdso.h"

#include <elf.h>
#include <time.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"

typedef int (*clock_gettime_fn)(clockid_t clock, struct timespec *now);

static clock_gettime_fn vdso_clock_gettime;

struct symbols {
	uint64_t bias;
	const Elf64_Sym *table;
	const char *names;
	uint64_t count;
};

static void find_tables(const Elf64_Dyn *dynamic, struct symbols *symbols)
{
	const uint32_t *hash = NULL;

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		uint64_t at = symbols->bias + dynamic->d_un.d_ptr;

		if (dynamic->d_tag == DT_SYMTAB)
			symbols->table = (const Elf64_Sym *)at;
		else if (dynamic->d_tag == DT_STRTAB)
			symbols->names = (const char *)at;
		else if (dynamic->d_tag == DT_HASH)
			hash = (const uint32_t *)at;
	}
	if (!symbols->table || !symbols->names)
		return;
	/* Without a DT_HASH (linked with --hash-style=gnu) the names, which linkers put right
	 * behind the table, tell where it ends. */
	if (hash)
		symbols->count = hash[1];
	else if ((uint64_t)symbols->names > (uint64_t)symbols->table)
		symbols->count = ((uint64_t)symbols->names - (uint64_t)symbols->table) /
				 sizeof *symbols->table;
}

static void read_image(uint64_t base, struct symbols *symbols)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *segment = (const Elf64_Phdr *)(base + header->e_phoff);
	const Elf64_Phdr *dynamic = NULL;

	for (int i = 0; i < header->e_phnum; i++) {
		if (segment[i].p_type == PT_LOAD)
			symbols->bias = base + segment[i].p_offset - segment[i].p_vaddr;
		else if (segment[i].p_type == PT_DYNAMIC)
			dynamic = &segment[i];
	}
	if (dynamic)
		find_tables((const Elf64_Dyn *)(base + dynamic->p_offset), symbols);
}

void ep_vdso_find(void)
{
	uint64_t base = ep_auxv(AT_SYSINFO_EHDR);
	struct symbols symbols = {0, NULL, NULL, 0};

	if (!base)
		return;
	read_image(base, &symbols);
	for (uint64_t i = 0; i < symbols.count && i < 64; i++) {
		const Elf64_Sym *symbol = &symbols.table[i];

		if (symbol->st_shndx != SHN_UNDEF &&
		    ep_string_equal(symbols.names + symbol->st_name, "__vdso_clock_gettime"))
			vdso_clock_gettime = (clock_gettime_fn)(symbols.bias + symbol->st_value);
	}
}

uint64_t ep_clock_read(int clock)
{
	struct timespec now = {0, 0};

	if (!vdso_clock_gettime || vdso_clock_gettime(clock, &now))
		ep_syscall2(SYS_clock_gettime, clock, (long)&now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
