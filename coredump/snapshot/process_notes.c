/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process_notes.c: notes as the kernel would write them in a core (fs/binfmt_elf.c). A running
 * process is not stopped, so there are no registers: they are zero, and a reader takes zero pc and
 * sp for "unknown".
 */
#include "coredump/snapshot/process_notes.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

#include "coredump/files/procfile.h"
#include "coredump/memory/source_impl.h"

static void process_facts(const struct ep_source *source, struct elf_prpsinfo *out)
{
	char path[32], *text, *after;
	size_t size;

	out->pr_pid = source->pid;
	ep_source_owner(source, &out->pr_uid, &out->pr_gid);
	if (ep_proc_read(source->folder, "stat", &text, &size) == 0) {
		after = strrchr(text, ')');
		if (after && sscanf(after, ") %c %d %d %d", &out->pr_sname, &out->pr_ppid,
				    &out->pr_pgrp, &out->pr_sid) < 4)
			out->pr_sname = 0;
		free(text);
	}
	/* The process is called as its main thread is, also when that has ended. */
	snprintf(path, sizeof(path), "task/%d/comm", (int)source->pid);
	if (ep_proc_read(source->folder, path, &text, &size) == 0) {
		text[strcspn(text, "\n")] = '\0';
		strncpy(out->pr_fname, text, sizeof(out->pr_fname) - 1);
		free(text);
	}
	if (ep_proc_read(source->folder, "cmdline", &text, &size) == 0) {
		for (size_t i = 0; i + 1 < size; i++)
			if (text[i] == '\0')
				text[i] = ' ';
		strncpy(out->pr_psargs, text, sizeof(out->pr_psargs) - 1);
		free(text);
	}
}

/* NT_FILE: count, page size, ranges, paths (fs/binfmt_elf.c, fill_files_note). */
uint8_t *ep_process_notes_files(struct ep_gathered *gathered, const struct ep_mapping *mappings,
				size_t *size)
{
	const size_t count = gathered->source->mappings.count;
	uint64_t head[2] = {count, EP_PAGE};
	uint8_t *bytes, *text;

	*size = sizeof(head) + 24 * count;
	for (size_t i = 0; i < count; i++)
		*size += strlen(mappings[i].path) + 1;
	bytes = ep_gathered_make(gathered, *size);
	memcpy(bytes, head, sizeof(head));
	text = bytes + sizeof(head) + 24 * count;
	for (size_t i = 0; i < count; i++) {
		const struct ep_mapping *mapping = &mappings[i];
		uint64_t range[3] = {mapping->start, mapping->end, mapping->file_offset / EP_PAGE};

		memcpy(bytes + sizeof(head) + 24 * i, range, sizeof(range));
		text = (uint8_t *)stpcpy((char *)text, mapping->path) + 1;
	}
	return bytes;
}

/* gdb wants the floating-point ones too. */
void ep_process_notes_thread(struct ep_gathered *gathered, uint32_t tid)
{
	const size_t size = sizeof(struct elf_prstatus);
	uint8_t *bytes = ep_gathered_make(gathered, size + sizeof(elf_fpregset_t));
	struct elf_prstatus status = {.pr_pid = (pid_t)tid};

	memcpy(bytes, &status, size);
	ep_gathered_note(gathered, "CORE", NT_PRSTATUS, bytes, (uint32_t)size);
	ep_gathered_note(gathered, "CORE", NT_FPREGSET, bytes + size, sizeof(elf_fpregset_t));
}

void ep_process_notes_live(struct ep_gathered *gathered)
{
	const struct ep_source *source = gathered->source;
	struct elf_prpsinfo *process = (void *)ep_gathered_make(gathered, sizeof(*process));
	uint8_t *files;
	size_t size;

	for (size_t i = 0; i < source->threads.count; i++)
		ep_process_notes_thread(gathered, source->threads.list[i].tid);
	process_facts(source, process);
	ep_gathered_note(gathered, "CORE", NT_PRPSINFO, process, sizeof(*process));
	if (source->auxv)
		ep_gathered_note(gathered, "CORE", NT_AUXV, source->auxv,
				 (uint32_t)source->auxv_size);
	files = ep_process_notes_files(gathered, source->mappings.list, &size);
	ep_gathered_note(gathered, "CORE", NT_FILE, files, (uint32_t)size);
}
