/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.c: the auxiliary vector and the kernel's version. */
#include "decoder/code/machine.h"

#include <elf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/names/modules.h"

/* ELF note of the vdso: "Linux", type 0, LINUX_VERSION_CODE (arch/x86/entry/vdso/vdso-note.S). */
static uint32_t version_in(Elf_Data *notes)
{
	const char *bytes = notes->d_buf;
	size_t at = 0, name, desc;
	uint32_t version;
	GElf_Nhdr header;

	while ((at = gelf_getnote(notes, at, &header, &name, &desc)) > 0)
		if (header.n_type == 0 && header.n_namesz == 6 &&
		    header.n_descsz == sizeof(version) && memcmp(bytes + name, "Linux", 6) == 0) {
			memcpy(&version, bytes + desc, sizeof(version));
			return version;
		}
	return 0;
}

static uint32_t version_of(Elf *vdso)
{
	uint32_t version = 0;
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(vdso, &count))
		return 0;
	for (size_t i = 0; i < count && !version; i++) {
		Elf_Data *notes;

		if (!gelf_getphdr(vdso, (int)i, &header) || header.p_type != PT_NOTE)
			continue;
		notes = elf_getdata_rawchunk(vdso, (int64_t)header.p_offset, header.p_filesz,
					     ELF_T_NHDR);
		version = notes ? version_in(notes) : 0;
	}
	return version;
}

static uint32_t kernel_of(struct ep_source *source, const struct ep_trace_module *modules,
			  size_t count)
{
	uint32_t version = 0;

	for (size_t i = 0; i < count; i++) {
		void *memory = NULL;
		Elf *vdso;

		if (!(modules[i].flags & EP_MODULE_VDSO))
			continue;
		vdso = ep_module_image(&modules[i], source, &memory);
		version = vdso ? version_of(vdso) : 0;
		elf_end(vdso);
		free(memory);
		break;
	}
	return version;
}

void ep_machine_read(struct ep_machine *out, struct ep_source *source,
		     const struct ep_trace_module *modules, size_t count)
{
	uint64_t at;

	memset(out, 0, sizeof(*out));
	if (ep_source_auxv(source, AT_PLATFORM, &at) == EP_OK && at &&
	    ep_source_read_string(source, at, out->platform, sizeof(out->platform), NULL))
		out->platform[0] = '\0';
	if (ep_source_auxv(source, AT_PAGESZ, &out->page_size))
		out->page_size = 0;
	out->hwcap_known = ep_source_auxv(source, AT_HWCAP, &out->hwcap) == EP_OK;
	out->kernel = kernel_of(source, modules, count);
}
