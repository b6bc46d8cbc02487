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

#include "coredump/memory/source_impl.h"
#include "coredump/redact/redact_impl.h"
#include "coredump/snapshot/process_notes.h"
#include "coredump/snapshot/redacted.h"
#include "coredump/util/alloc.h"

/* A copy of the note's bytes, for it to have. */
static uint8_t *copy_of(struct ep_redaction *r, struct ep_elfcore_note *note)
{
	uint8_t *bytes = ep_gathered_make(r->gathered, note->size);

	memcpy(bytes, note->desc, note->size);
	note->desc = bytes;
	return bytes;
}

/* ---- the process ---- */

static void redact_process(struct ep_redaction *r, struct ep_elfcore_note *note)
{
	uint8_t *bytes = copy_of(r, note);
	struct elf_prpsinfo info;

	if (note->size != sizeof(info)) {
		memset(bytes, 0, note->size);
		return;
	}
	memcpy(&info, bytes, sizeof(info));
	if (r->words & (EP_REDACTED_CMDLINE | EP_REDACTED_PATHS | EP_REDACTED_NOTES))
		memset(info.pr_fname, 0, sizeof(info.pr_fname));
	if (r->words & EP_REDACTED_CMDLINE)
		memset(info.pr_psargs, 0, sizeof(info.pr_psargs));
	memcpy(bytes, &info, sizeof(info));
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

static void redact_floating(struct ep_redaction *r, struct ep_elfcore_note *note)
{
	bool has = note->type == NT_X86_XSTATE && note->size >= XCR0_AT + 8;
	uint64_t parts = 0;
	uint8_t *bytes;

	/* Strings are copied and compared in vector registers. */
	if (!(r->words & (EP_REDACTED_STACKS | EP_REDACTED_REGISTERS)))
		return;
	bytes = copy_of(r, note);
	if (has)
		memcpy(&parts, bytes + XCR0_AT, sizeof(parts));
	memset(bytes, 0, note->size);
	if (has)
		memcpy(bytes + XCR0_AT, &parts, sizeof(parts));
}

static void redact_thread(struct ep_redaction *r, struct ep_elfcore_note *note)
{
	size_t at = offsetof(struct elf_prstatus, pr_reg);
	uint8_t *bytes;

	if (!(r->words & EP_REDACTED_REGISTERS))
		return;
	bytes = copy_of(r, note);
	if (note->size >= at + sizeof(struct user_regs_struct))
		redact_registers(bytes + at);
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
		const uint8_t *bytes = ep_gathered_at(r->gathered, at, sizeof(struct ep_module));
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
	const struct ep_source *source = r->gathered->source;
	uint64_t number = 0;

	for (size_t i = 0; i < source->mappings.count; i++) {
		const struct ep_mapping *one = &source->mappings.list[i];
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

static void redact_files(struct ep_redaction *r, struct ep_elfcore_note *note)
{
	size_t count = r->gathered->source->mappings.count, size;
	struct ep_mapping *list;
	char(*names)[EP_REDACTED_PATH_MAX];

	if (!(r->words & EP_REDACTED_PATHS))
		return;
	list = ep_calloc(count, sizeof(*list));
	names = ep_calloc(count, sizeof(*names));
	name_files(r, list, names);
	note->desc = ep_process_notes_files(r->gathered, list, &size);
	note->size = (uint32_t)size;
	free(list);
	free(names);
}

/* ---- each ---- */

typedef void redact_fn(struct ep_redaction *r, struct ep_elfcore_note *note);

static void leave(struct ep_redaction *r, struct ep_elfcore_note *note)
{
	(void)r;
	(void)note;
}

/* NULL: it is left out. */
static redact_fn *fate_of(const struct ep_elfcore_note *note)
{
	static const struct {
		const char *name;
		uint32_t type;
		redact_fn *fate;
	} known[] = {
		{"CORE", NT_PRSTATUS, redact_thread},
		{"CORE", NT_PRPSINFO, redact_process},
		{"CORE", NT_FILE, redact_files},
		{"CORE", NT_FPREGSET, redact_floating},
		{"LINUX", NT_X86_XSTATE, redact_floating},
		{"CORE", NT_AUXV, leave},
		{"CORE", NT_SIGINFO, leave},
		{"LINUX", NT_386_TLS, leave},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].type == note->type && strcmp(known[i].name, note->name) == 0)
			return known[i].fate;
	return NULL;
}

void ep_redact_notes(struct ep_redaction *r)
{
	struct ep_gathered *gathered = r->gathered;
	size_t kept = 0;

	for (size_t i = 0; i < gathered->notes.count; i++) {
		struct ep_elfcore_note note = gathered->notes.list[i];
		redact_fn *redact = fate_of(&note);

		if (!redact)
			continue;
		redact(r, &note);
		gathered->notes.list[kept++] = note;
	}
	gathered->notes.count = kept;
}
