/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * extract_live.c: the notes of a running process, as the kernel would write them in a core
 * (fs/binfmt_elf.c). It is not stopped, so there are no registers: they are zero, and a reader
 * takes zero pc and sp for "unknown".
 */
#include "coredump/snapshot/extract_impl.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

#include "coredump/live/live.h"
#include "coredump/memory/source_impl.h"

#define THREAD_NOTES (sizeof(struct elf_prstatus) + sizeof(elf_fpregset_t))

static void process_facts(pid_t pid, struct elf_prpsinfo *out)
{
	char *text, *after;
	size_t size;

	out->pr_pid = pid;
	if (ep_proc_read(pid, "stat", &text, &size) == 0) {
		after = strrchr(text, ')');
		if (after && sscanf(after, ") %c %d %d %d", &out->pr_sname, &out->pr_ppid,
				    &out->pr_pgrp, &out->pr_sid) < 4)
			out->pr_sname = 0;
		free(text);
	}
	if (ep_proc_read(pid, "comm", &text, &size) == 0) {
		text[strcspn(text, "\n")] = '\0';
		strncpy(out->pr_fname, text, sizeof(out->pr_fname) - 1);
		free(text);
	}
	if (ep_proc_read(pid, "cmdline", &text, &size) == 0) {
		for (size_t i = 0; i + 1 < size; i++)
			if (text[i] == '\0')
				text[i] = ' ';
		strncpy(out->pr_psargs, text, sizeof(out->pr_psargs) - 1);
		free(text);
	}
}

/* NT_FILE: count, page size, ranges, paths (fs/binfmt_elf.c, fill_files_note). */
size_t ep_extract_files_size(const struct ep_source *source, const struct ep_mapping *mappings)
{
	size_t size = 16 + 24 * source->mapping_count;

	for (size_t i = 0; i < source->mapping_count; i++)
		size += strlen(mappings[i].path) + 1;
	return size;
}

void ep_extract_files_fill(const struct ep_source *source, const struct ep_mapping *mappings,
			   uint8_t *out)
{
	uint64_t head[2] = {source->mapping_count, EP_PAGE};
	uint8_t *text = out + 16 + 24 * source->mapping_count;

	memcpy(out, head, sizeof(head));
	for (size_t i = 0; i < source->mapping_count; i++) {
		const struct ep_mapping *mapping = &mappings[i];
		uint64_t range[3] = {mapping->start, mapping->end, mapping->file_offset / EP_PAGE};
		size_t length = strlen(mapping->path) + 1;

		memcpy(out + 16 + 24 * i, range, sizeof(range));
		memcpy(text, mapping->path, length);
		text += length;
	}
}

/* A thread's registers, all zero. gdb wants the floating-point ones too. */
static int thread_notes(struct ep_extraction *x, uint32_t tid, uint8_t *at, struct ep_err *err)
{
	struct elf_prstatus status = {.pr_pid = (pid_t)tid};
	int rc;

	memcpy(at, &status, sizeof(status));
	rc = ep_extract_note(x, "CORE", NT_PRSTATUS, at, sizeof(status), err);
	at += sizeof(status);
	return rc ? rc : ep_extract_note(x, "CORE", NT_FPREGSET, at, sizeof(elf_fpregset_t), err);
}

int ep_extract_live_notes(struct ep_extraction *x, struct ep_err *err)
{
	const struct ep_source *source = x->source;
	size_t files = ep_extract_files_size(source, source->mappings), threads;
	struct elf_prpsinfo process = {0};
	uint8_t *at;
	int rc = EP_OK;

	threads = source->thread_count * THREAD_NOTES;
	x->made = calloc(1, threads + sizeof(process) + files);
	if (!x->made)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	at = x->made;
	for (size_t i = 0; i < source->thread_count && rc == EP_OK; i++) {
		rc = thread_notes(x, source->threads[i].tid, at, err);
		at += THREAD_NOTES;
	}
	process_facts(source->pid, &process);
	memcpy(at, &process, sizeof(process));
	rc = rc ? rc : ep_extract_note(x, "CORE", NT_PRPSINFO, at, sizeof(process), err);
	at += sizeof(process);
	if (rc == EP_OK && source->auxv)
		rc = ep_extract_note(x, "CORE", NT_AUXV, source->auxv, (uint32_t)source->auxv_size,
				     err);
	ep_extract_files_fill(source, source->mappings, at);
	return rc ? rc : ep_extract_note(x, "CORE", NT_FILE, at, (uint32_t)files, err);
}
