/* SPDX-License-Identifier: BSD-2-Clause */
/* unwind_modules.c: libdwfl's callbacks for files and debug files. */
#include "decoder/stack/unwind_modules.h"

#include <fcntl.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/names/modules.h"

/* ---- files ---- */

static int keep_file(int fd, const char *path, char **file_name)
{
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy >= 0 && path)
		*file_name = ep_strdup(path); /* libdwfl frees both */
	return copy;
}

static int find_elf(Dwfl_Module *dwfl_module, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	struct ep_unwind_module *module = *userdata;
	int fd = -1;

	(void)dwfl_module;
	(void)name;
	(void)base;
	if (!module || module->asked)
		return -1;
	module->asked = true;
	if (!(module->facts->flags & EP_MODULE_VDSO)) {
		ep_module_file_open(&module->file, module->facts, module->all->options);
		fd = keep_file(module->file.fd, module->file.path, file_name);
		ep_unwind_hook_find(&module->hook, module->file.elf);
		ep_unwind_hook_find(&module->hook, module->file.debug);
	}
	if (fd < 0)
		*elf = ep_module_image(module->facts, module->all->source, &module->memory);
	module->has_file = fd >= 0 || *elf;
	return fd;
}

static int find_debuginfo(Dwfl_Module *dwfl_module, void **userdata, const char *name,
			  Dwarf_Addr base, const char *file_name, const char *link, GElf_Word crc,
			  char **debug_name)
{
	struct ep_unwind_module *module = *userdata;

	(void)dwfl_module;
	(void)name;
	(void)base;
	(void)file_name;
	(void)link;
	(void)crc;
	if (!module || !module->asked)
		return -1;
	return keep_file(module->file.debug_fd, module->file.debug_path, debug_name);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* libdwfl wants them apart: what overlaps is left out. */
static int report_modules(struct ep_unwind_modules *modules, struct ep_err *err)
{
	uint64_t end = 0;

	dwfl_report_begin(modules->dwfl);
	for (size_t i = 0; i < modules->count; i++) {
		struct ep_trace_module *facts = &modules->facts[i];
		struct ep_unwind_module *module = &modules->list[i];
		Dwfl_Module *dwfl_module;
		void **userdata;

		*module = (struct ep_unwind_module){
			.all = modules, .facts = facts, .file = {.fd = -1, .debug_fd = -1}};
		if (facts->start < end || facts->end <= facts->start)
			continue;
		dwfl_module =
			dwfl_report_module(modules->dwfl, facts->path, facts->start, facts->end);
		if (!dwfl_module)
			continue;
		end = facts->end;
		dwfl_module_info(dwfl_module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
		*userdata = module;
	}
	if (dwfl_report_end(modules->dwfl, NULL, NULL) != 0)
		return ep_fail(err, EP_E_CORRUPT, 0, "unwinder: %s", dwfl_errmsg(-1));
	return EP_OK;
}

int ep_unwind_modules_init(struct ep_unwind_modules *modules, struct ep_source *source,
			   const struct ep_trace *trace, const struct ep_names_options *options,
			   struct ep_err *err)
{
	*modules = (struct ep_unwind_modules){.source = source, .options = options};
	modules->facts = ep_modules_from_source(&modules->count, source, trace);
	modules->list = ep_calloc(modules->count, sizeof(*modules->list));
	modules->dwfl = dwfl_begin(&callbacks);
	if (!modules->dwfl)
		ep_out_of_memory();
	return report_modules(modules, err);
}

void ep_unwind_modules_deinit(struct ep_unwind_modules *modules)
{
	dwfl_end(modules->dwfl);
	for (size_t i = 0; i < modules->count; i++) {
		ep_module_file_close(&modules->list[i].file);
		free(modules->list[i].memory);
	}
	free(modules->list);
	free(modules->facts);
}

/* ---- by address ---- */

const struct ep_unwind_module *ep_unwind_module_at(const struct ep_unwind_modules *modules,
						   uint64_t address)
{
	for (size_t i = 0; i < modules->count; i++)
		if (address >= modules->facts[i].start && address < modules->facts[i].end)
			return &modules->list[i];
	return NULL;
}

const struct ep_unwind_module *ep_unwind_module_opened(const struct ep_unwind_modules *modules,
						       uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(modules->dwfl, address);
	GElf_Addr bias;

	/* libdwfl asks for a module's file when it wants it. */
	return module && dwfl_module_getelf(module, &bias) ? ep_unwind_module_at(modules, address)
							   : NULL;
}

static bool has_frame(Dwarf_CFI *cfi, uint64_t address)
{
	Dwarf_Frame *frame;

	if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame) != 0)
		return false;
	free(frame);
	return true;
}

bool ep_unwind_modules_know(const struct ep_unwind_modules *modules, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(modules->dwfl, address);
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;

	if (!module)
		return false;
	cfi = dwfl_module_eh_cfi(module, &bias);
	if (has_frame(cfi, address - bias))
		return true;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	return has_frame(cfi, address - bias);
}
