/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notes.c: the notes of a core, and the facts in them: threads, mappings, auxv, what killed it.
 * Layouts: <sys/procfs.h>, <signal.h>, and NT_FILE as in Linux fs/binfmt_elf.c. A bad note is told
 * in a warning and the others stay.
 */
#include "coredump/find/notes.h"

#include <gelf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>

#include "coredump/memory/source_impl.h"
#include "coredump/util/alloc.h"
#include "coredump/util/cursor.h"
#include "runtime/format.h"

#define NOTES_MAX (1u << 20) /* 150,000 threads have no more */

static_assert(sizeof(struct elf_prstatus) == 336, "psABI x86-64");
static_assert(sizeof(struct elf_prpsinfo) == 136, "psABI x86-64");

/* ---- the list ---- */

/* The name, NUL-terminated in place. Some writers leave the NUL away. */
static const char *note_name(const char *bytes, size_t size)
{
	if (size > 0 && memchr(bytes, '\0', size))
		return bytes;
	if (size == 4 && memcmp(bytes, "CORE", 4) == 0)
		return "CORE";
	if (size == 5 && memcmp(bytes, "LINUX", 5) == 0)
		return "LINUX";
	return "";
}

static void note_add(struct ep_source *source, const Elf_Data *data, const GElf_Nhdr *header,
		     size_t name, size_t desc, uint64_t offset)
{
	const uint8_t *bytes = data->d_buf;

	*ep_array_add(&source->notes) = (struct ep_note){
		.name = note_name((const char *)bytes + name, header->n_namesz),
		.type = header->n_type,
		.desc_size = header->n_descsz,
		.desc = bytes + desc,
		.file_offset = offset + desc,
	};
}

void ep_notes_read(struct ep_source *source, uint64_t offset, uint64_t size, uint64_t align)
{
	Elf_Data *data;
	size_t at = 0, name, desc;
	GElf_Nhdr header;

	if (size == 0)
		return;
	data = elf_getdata_rawchunk(source->elf, (int64_t)offset, size,
				    align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	if (!data) {
		ep_source_warn(source, "%s: notes at offset 0x%" PRIx64 ": %s", source->path,
			       offset, elf_errmsg(-1));
		return;
	}
	while (at < size && source->notes.count < NOTES_MAX) {
		size_t next = gelf_getnote(data, at, &header, &name, &desc);

		if (next <= at)
			break;
		note_add(source, data, &header, name, desc, offset);
		at = next;
	}
	if (at < size)
		ep_source_warn(source,
			       "%s: note at offset 0x%" PRIx64
			       ": runs over the end of the notes at 0x%" PRIx64
			       "; what follows is lost",
			       source->path, offset + at, offset + size);
}

static bool note_is(const struct ep_note *note, uint32_t type)
{
	return note->type == type && strcmp(note->name, "CORE") == 0;
}

/* False, and a warning: the note's size is not what it must be. */
static bool note_fits(struct ep_source *source, const struct ep_note *note, const char *what,
		      bool fits)
{
	if (!fits)
		ep_source_warn(source,
			       "%s: %s note at offset 0x%" PRIx64
			       ": %u bytes make no sense; left out",
			       source->path, what, note->file_offset, note->desc_size);
	return fits;
}

/* ---- threads ---- */

static int tid_compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static void twins_warn(struct ep_source *source)
{
	uint32_t *tids = ep_calloc(source->threads.count, sizeof(*tids));
	size_t twins = 0;

	for (size_t i = 0; i < source->threads.count; i++)
		tids[i] = source->threads.list[i].tid;
	qsort(tids, source->threads.count, sizeof(*tids), tid_compare);
	for (size_t i = 1; i < source->threads.count; i++)
		twins += tids[i] == tids[i - 1];
	free(tids);
	if (twins)
		ep_source_warn(source, "%s: %zu threads have the id of another one", source->path,
			       twins);
}

static void thread_add(struct ep_source *source, const struct ep_note *note)
{
	struct user_regs_struct regs;
	struct elf_prstatus status;

	if (!note_fits(source, note, "NT_PRSTATUS", note->desc_size == sizeof(status)))
		return;
	memcpy(&status, note->desc, sizeof(status));
	memcpy(&regs, &status.pr_reg, sizeof(regs));
	*ep_array_add(&source->threads) = (struct ep_source_thread){
		/* A snapshot of a running process has no registers, and zeroes where they would be;
		 * no thread of a core has both at 0. */
		.has_registers = regs.rip != 0 || regs.rsp != 0,
		.tid = (uint32_t)status.pr_pid,
		.registers = {regs.rip, regs.rsp, regs.rbp},
		.signal = status.pr_cursig,
		.prstatus = note->desc,
		.prstatus_size = note->desc_size,
	};
}

/* ---- what killed it ---- */

static bool has_address(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
	       signal == SIGTRAP;
}

static void death_read(struct ep_source *source, const struct ep_note *note)
{
	struct ep_death *death = &source->death;
	siginfo_t info = {0};

	if (!note_fits(source, note, "NT_SIGINFO",
		       note->desc_size >= 32 && note->desc_size <= sizeof(info)))
		return;
	memcpy(&info, note->desc, note->desc_size);
	death->has_siginfo = true;
	death->signal = info.si_signo;
	death->code = info.si_code;
	death->error = info.si_errno;
	if (info.si_code <= 0 && info.si_code != SI_TIMER) {
		death->sender_pid = (uint32_t)info.si_pid;
		death->sender_uid = info.si_uid;
	} else if (has_address(info.si_signo)) {
		death->address = (uint64_t)(uintptr_t)info.si_addr;
	} else if (info.si_signo == SIGSYS) {
		death->call = (uint32_t)info.si_syscall;
	}
}

static void death_settle(struct ep_source *source)
{
	struct ep_death *death = &source->death;

	if (source->threads.count == 0)
		return;
	if (!death->has_siginfo)
		death->signal = source->threads.list[0].signal;
	if (death->signal != 0)
		death->tid = source->threads.list[0].tid;
}

/* ---- mappings ---- */

struct file_note {
	uint64_t count, unit;
	struct ep_cursor ranges, texts;
};

static bool file_note_open(const struct ep_note *note, struct file_note *out)
{
	uint64_t ranges;

	ep_cursor_init(&out->ranges, note->desc, note->desc_size);
	if (ep_cursor_take(&out->ranges, &out->count, 8) ||
	    ep_cursor_take(&out->ranges, &out->unit, 8) ||
	    __builtin_mul_overflow(out->count, 24, &ranges))
		return false;
	out->texts = out->ranges;
	return ep_cursor_skip(&out->texts, ranges) == EP_OK;
}

/* EP_END: this one and those behind it cannot be read. */
static int mapping_next(struct file_note *note, struct ep_mapping *out)
{
	uint64_t range[3], unit = note->unit;
	size_t left = ep_cursor_left(&note->texts);
	const uint8_t *text = note->texts.at;
	const uint8_t *end = left ? memchr(text, '\0', left) : NULL;

	if (!end || ep_cursor_take(&note->ranges, range, sizeof(range)))
		return EP_END;
	ep_cursor_skip(&note->texts, (uint64_t)(end - text) + 1);
	out->start = range[0];
	out->end = range[1];
	out->path = (const char *)text;
	if (__builtin_mul_overflow(range[2], unit, &out->file_offset))
		return EP_E_CORRUPT;
	return out->start < out->end ? EP_OK : EP_E_CORRUPT;
}

static void mappings_read(struct ep_source *source, const struct ep_note *note)
{
	struct file_note files = {0};
	struct ep_mapping mapping = {0};
	uint64_t bad = 0;

	if (!note_fits(source, note, "NT_FILE", file_note_open(note, &files)))
		return;
	for (uint64_t i = 0; i < files.count; i++) {
		int rc = mapping_next(&files, &mapping);

		if (rc == EP_END) {
			bad += files.count - i;
			break;
		}
		if (rc)
			bad++;
		else
			ep_array_push(&source->mappings, mapping);
	}
	if (bad)
		ep_source_warn(source,
			       "%s: NT_FILE note at offset 0x%" PRIx64 ": %" PRIu64 " of %" PRIu64
			       " mappings make no sense",
			       source->path, note->file_offset, bad, files.count);
}

/* ---- all of it ---- */

static void auxv_read(struct ep_source *source, const struct ep_note *note)
{
	source->auxv = note->desc;
	source->auxv_size = note->desc_size;
}

static void process_read(struct ep_source *source, const struct ep_note *note)
{
	struct elf_prpsinfo info;

	if (!note_fits(source, note, "NT_PRPSINFO", note->desc_size == sizeof(info)))
		return;
	memcpy(&info, note->desc, sizeof(info));
	source->pid = info.pr_pid > 0 ? info.pr_pid : 0;
	source->owner_known = true;
	source->uid = info.pr_uid;
	source->gid = info.pr_gid;
}

/* Notes of which a process has one. NT_SIGINFO is not among them: gdb's gcore writes one a thread,
 * the first thread's first. */
static bool seen_before(struct ep_source *source, const struct ep_note *note,
			const struct ep_note **first, const char *what)
{
	if (!*first) {
		*first = note;
		return false;
	}
	ep_source_warn(source, "%s: another %s note at offset 0x%" PRIx64 "; the first is used",
		       source->path, what, note->file_offset);
	return true;
}

static void absence_warn(struct ep_source *source, const struct ep_note *auxv,
			 const struct ep_note *files)
{
	/* An arena file has neither of these. */
	if (ep_source_snapshot_found(source) == EP_FOUND_FILE)
		return;
	if (source->threads.count == 0)
		ep_source_warn(source, "%s: no thread in it (no NT_PRSTATUS note)", source->path);
	if (!auxv)
		ep_source_warn(source, "%s: no auxiliary vector (NT_AUXV note)", source->path);
	if (!files)
		ep_source_warn(source, "%s: no list of mapped files (NT_FILE note)%s", source->path,
			       source->segments.count >= PN_XNUM
				       ? ": the kernel leaves out one of more than "
					 "kernel.core_file_note_size_limit"
				       : "");
}

void ep_notes_digest(struct ep_source *source)
{
	const struct ep_note *process = NULL, *auxv = NULL, *files = NULL;
	const struct ep_note *signal = NULL;

	for (size_t i = 0; i < source->notes.count; i++) {
		const struct ep_note *note = &source->notes.list[i];

		if (note_is(note, NT_PRSTATUS)) {
			thread_add(source, note);
		} else if (note_is(note, NT_PRPSINFO)) {
			if (!seen_before(source, note, &process, "NT_PRPSINFO"))
				process_read(source, note);
		} else if (note_is(note, NT_AUXV)) {
			if (!seen_before(source, note, &auxv, "NT_AUXV"))
				auxv_read(source, note);
		} else if (note_is(note, NT_FILE)) {
			if (!seen_before(source, note, &files, "NT_FILE"))
				mappings_read(source, note);
		} else if (note_is(note, NT_SIGINFO) && !signal) {
			signal = note;
			death_read(source, note);
		}
	}
	death_settle(source);
	twins_warn(source);
	absence_warn(source, auxv, files);
}
