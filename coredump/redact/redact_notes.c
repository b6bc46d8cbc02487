/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redact_notes.c: the core's notes. Those of kinds that are not known here are left out: nobody can
 * say what they hold.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>

#include "coredump/redact/redact_impl.h"
#include "coredump/memory/source_impl.h"

/* A copy of the note's bytes, or `size` new ones, for it to have. */
static uint8_t *remake(struct ep_redaction *r, struct ep_elfcore_note *note, size_t size,
		       struct ep_err *err)
{
	struct ep_extraction *x = r->x;
	uint8_t *bytes = calloc(1, size + 1);
	bool same = size == note->size;

	if (!bytes ||
	    !ep_list_grow(&x->remade, x->remade_count, &x->remade_capacity, sizeof(*x->remade))) {
		free(bytes);
		ep_err_set(err, EP_E_MEMORY, 0, "out of memory");
		return NULL;
	}
	x->remade[x->remade_count++] = bytes;
	if (same)
		memcpy(bytes, note->desc, size);
	note->desc = bytes;
	note->size = (uint32_t)size;
	return bytes;
}

/* ---- the process ---- */

static int redact_process(struct ep_redaction *r, struct ep_elfcore_note *note, struct ep_err *err)
{
	uint8_t *bytes = remake(r, note, note->size, err);
	struct elf_prpsinfo info;

	if (!bytes)
		return EP_E_MEMORY;
	if (note->size != sizeof(info)) {
		memset(bytes, 0, note->size);
		return EP_OK;
	}
	memcpy(&info, bytes, sizeof(info));
	if (r->words & (EP_REDACTED_CMDLINE | EP_REDACTED_PATHS | EP_REDACTED_NOTES))
		memset(info.pr_fname, 0, sizeof(info.pr_fname));
	if (r->words & EP_REDACTED_CMDLINE)
		memset(info.pr_psargs, 0, sizeof(info.pr_psargs));
	memcpy(bytes, &info, sizeof(info));
	return EP_OK;
}

/* ---- registers ---- */

/* Kept: where it is, and what the processor and the kernel set by themselves. */
static void redact_registers(uint8_t *bytes)
{
	struct user_regs_struct all, kept = {0};

	memcpy(&all, bytes, sizeof(all));
	kept.rip = all.rip;
	kept.rsp = all.rsp;
	kept.cs = all.cs;
	kept.ss = all.ss;
	kept.eflags = all.eflags;
	kept.orig_rax = all.orig_rax;
	kept.fs_base = all.fs_base;
	kept.gs_base = all.gs_base;
	memcpy(bytes, &kept, sizeof(kept));
}

/* XSAVE's area says in these bytes which parts it has (Linux
 * arch/x86/include/uapi/asm/sigcontext.h, and what gdb reads). */
#define XCR0_AT 464u

static void redact_floating(uint8_t *bytes, const struct ep_elfcore_note *note)
{
	uint64_t parts = 0;
	bool has = note->type == NT_X86_XSTATE && note->size >= XCR0_AT + 8;

	if (has)
		memcpy(&parts, bytes + XCR0_AT, sizeof(parts));
	memset(bytes, 0, note->size);
	if (has)
		memcpy(bytes + XCR0_AT, &parts, sizeof(parts));
}

static int redact_thread(struct ep_redaction *r, struct ep_elfcore_note *note, struct ep_err *err)
{
	size_t at = offsetof(struct elf_prstatus, pr_reg);
	uint8_t *bytes;

	if (!(r->words & EP_REDACTED_REGISTERS))
		return EP_OK;
	bytes = remake(r, note, note->size, err);
	if (!bytes)
		return EP_E_MEMORY;
	if (note->size >= at + sizeof(struct user_regs_struct))
		redact_registers(bytes + at);
	return EP_OK;
}

/* ---- files ---- */

/* The build-id of what the load map has at `start`; its size, 0: none. */
static uint32_t build_id_at(struct ep_redaction *r, uint64_t start, uint8_t out[EP_BUILD_ID_MAX])
{
	const struct ep_section *section = &r->modules;
	const uint64_t size = section->entry_size;
	uint64_t at = r->arena + section->offset + sizeof(struct ep_modules);
	const uint64_t end = r->arena + section->offset + section->size;

	for (uint32_t i = 0; i < r->module_count && end - at >= size; i++) {
		const uint8_t *bytes = ep_redact_at(r, at, sizeof(struct ep_module));
		struct ep_module module;

		at += size;
		if (!bytes)
			continue;
		memcpy(&module, bytes, sizeof(module));
		if (module.state != EP_MODULE_VALID || module.unload_tsc || start < module.start ||
		    start >= module.end || module.build_id_size > EP_BUILD_ID_MAX)
			continue;
		memcpy(out, module.build_id, module.build_id_size);
		return module.build_id_size;
	}
	return 0;
}

/* Names for the files: one for each run of mappings of the same. */
static void name_files(struct ep_redaction *r, struct ep_mapping *list,
		       char (*names)[EP_REDACTED_PATH_MAX])
{
	const struct ep_source *source = r->x->source;
	uint64_t number = 0;

	for (size_t i = 0; i < source->mapping_count; i++) {
		const struct ep_mapping *one = &source->mappings[i];
		uint8_t id[EP_BUILD_ID_MAX];

		list[i] = *one;
		if (i && strcmp(one->path, one[-1].path) == 0) {
			list[i].path = list[i - 1].path;
			continue;
		}
		ep_redacted_path(names[i], id, build_id_at(r, one->start, id), ++number);
		list[i].path = names[i];
	}
}

static int redact_files(struct ep_redaction *r, struct ep_elfcore_note *note, struct ep_err *err)
{
	const struct ep_source *source = r->x->source;
	size_t count = source->mapping_count + 1;
	struct ep_mapping *list;
	char(*names)[EP_REDACTED_PATH_MAX];
	uint8_t *bytes = NULL;

	if (!(r->words & EP_REDACTED_PATHS))
		return EP_OK;
	list = calloc(count, sizeof(*list));
	names = calloc(count, sizeof(*names));
	if (list && names) {
		name_files(r, list, names);
		bytes = remake(r, note, ep_extract_files_size(source, list), err);
	} else {
		ep_err_set(err, EP_E_MEMORY, 0, "out of memory");
	}
	if (bytes)
		ep_extract_files_fill(source, list, bytes);
	free(list);
	free(names);
	return bytes ? EP_OK : EP_E_MEMORY;
}

/* ---- each ---- */

enum fate { KEPT, DROPPED, PROCESS, THREAD, FILES, FLOATING };

static enum fate fate_of(const struct ep_elfcore_note *note)
{
	static const struct {
		const char *name;
		uint32_t type;
		enum fate fate;
	} known[] = {
		{"CORE", NT_PRSTATUS, THREAD},      {"CORE", NT_PRPSINFO, PROCESS},
		{"CORE", NT_FILE, FILES},           {"CORE", NT_FPREGSET, FLOATING},
		{"LINUX", NT_X86_XSTATE, FLOATING}, {"CORE", NT_AUXV, KEPT},
		{"CORE", NT_SIGINFO, KEPT},         {"LINUX", NT_386_TLS, KEPT},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].type == note->type && strcmp(known[i].name, note->name) == 0)
			return known[i].fate;
	return DROPPED;
}

static int redact_one(struct ep_redaction *r, struct ep_elfcore_note *note, enum fate fate,
		      struct ep_err *err)
{
	uint8_t *bytes;

	switch (fate) {
	case PROCESS:
		return redact_process(r, note, err);
	case THREAD:
		return redact_thread(r, note, err);
	case FILES:
		return redact_files(r, note, err);
	case FLOATING:
		/* Strings are copied and compared in vector registers. */
		if (!(r->words & (EP_REDACTED_STACKS | EP_REDACTED_REGISTERS)))
			return EP_OK;
		bytes = remake(r, note, note->size, err);
		if (!bytes)
			return EP_E_MEMORY;
		redact_floating(bytes, note);
		return EP_OK;
	default:
		return EP_OK;
	}
}

int ep_redact_notes(struct ep_redaction *r, struct ep_err *err)
{
	struct ep_extraction *x = r->x;
	size_t kept = 0;
	int rc = EP_OK;

	for (size_t i = 0; i < x->note_count && rc == EP_OK; i++) {
		struct ep_elfcore_note note = x->notes[i];
		enum fate fate = fate_of(&note);

		if (fate == DROPPED)
			continue;
		rc = redact_one(r, &note, fate, err);
		x->notes[kept++] = note;
	}
	x->note_count = kept;
	return rc;
}
