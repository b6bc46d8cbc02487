/* SPDX-License-Identifier: BSD-2-Clause */
/* unwind_code.c: what the unwinder wants of code itself. */
#include "decoder/stack/unwind_code.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define RETURN_HOOK  "__return__" /* or with the runtime's prefix: */
#define PREFIX       "epitaph_"
#define REGISTER_RSP 7 /* psABI x86-64, figure 3.36 */

bool ep_unwind_code(Dwfl *dwfl, uint64_t address, uint8_t *code, size_t size)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
	size_t count = 0;
	GElf_Addr bias;
	Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;

	if (!elf || elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint64_t at = address - bias;
		GElf_Phdr phdr;
		Elf_Data *data;

		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD ||
		    at < phdr.p_vaddr || at - phdr.p_vaddr > phdr.p_filesz ||
		    phdr.p_filesz - (at - phdr.p_vaddr) < size)
			continue;
		at += phdr.p_offset - phdr.p_vaddr;
		data = elf_getdata_rawchunk(elf, (int64_t)at, size, ELF_T_BYTE);
		if (data && data->d_buf)
			memcpy(code, data->d_buf, size);
		return data && data->d_buf;
	}
	return false;
}

static bool is_hook_name(const char *name)
{
	if (name && strncmp(name, PREFIX, strlen(PREFIX)) == 0)
		name += strlen(PREFIX);
	return name && strcmp(name, RETURN_HOOK) == 0;
}

static bool find_in(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
		    struct ep_unwind_hook *hook)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0 ||
		    symbol.st_shndx == SHN_UNDEF ||
		    !is_hook_name(elf_strptr(elf, header->sh_link, symbol.st_name)))
			continue;
		hook->start = symbol.st_value;
		hook->end = symbol.st_value + symbol.st_size;
		return true;
	}
	return false;
}

void ep_unwind_hook_find(struct ep_unwind_hook *hook, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (elf && hook->start == hook->end && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
		    find_in(elf, section, &header, hook))
			return;
}

/* libdw makes one operation of a register and an offset. */
static bool cfa_of(Dwarf_CFI *cfi, Dwarf_Addr address, const uint64_t *registers, uint32_t known,
		   uint64_t *cfa)
{
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t count;
	bool done;

	if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame) != 0)
		return false;
	done = dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1 &&
	       ops[0].atom == DW_OP_bregx && ops[0].number < 32 && known >> ops[0].number & 1;
	if (done)
		*cfa = registers[ops[0].number] + ops[0].number2;
	free(frame);
	return done;
}

bool ep_unwind_cfa(Dwfl *dwfl, uint64_t address, const uint64_t *registers, uint32_t known,
		   uint64_t *cfa)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, address);
	Dwarf_CFI *cfi;
	Dwarf_Addr bias;

	if (!module)
		return false;
	cfi = dwfl_module_eh_cfi(module, &bias);
	if (cfa_of(cfi, address - bias, registers, known, cfa))
		return true;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	return cfa_of(cfi, address - bias, registers, known, cfa);
}

bool ep_unwind_hook_cfa(Dwfl *dwfl, const struct ep_unwind_hook *hook, uint64_t pc, uint64_t sp,
			uint64_t *cfa)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, pc);
	Dwarf_Frame *frame;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;
	Dwarf_Op *ops;
	size_t count;
	bool known;

	cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	if (!cfi || pc - bias < hook->start || pc - bias >= hook->end ||
	    dwarf_cfi_addrframe(cfi, pc - bias, &frame) != 0)
		return false;
	known = dwarf_frame_cfa(frame, &ops, &count) == 0 && count == 1 &&
		ops[0].atom == DW_OP_bregx && ops[0].number == REGISTER_RSP;
	if (known)
		*cfa = sp + ops[0].number2;
	free(frame);
	return known;
}
