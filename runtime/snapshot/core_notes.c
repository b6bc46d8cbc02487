/* SPDX-License-Identifier: BSD-2-Clause */
/* core_notes.c: a core's notes, by the process itself. One at a time: the caller holds the
 * snapshot. */
#include "runtime/snapshot/core_notes.h"

#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/procfs.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"

static void put(struct ep_notes *notes, const void *bytes, uint64_t size)
{
	int64_t done;

	if (notes->error)
		return;
	done = ep_new_file_write(notes->output, notes->at, bytes, size);
	if (done < 0)
		notes->error = (int)done;
	notes->at += size;
}

static void put_header(struct ep_notes *notes, const char *name, uint32_t type, uint64_t size)
{
	Elf64_Nhdr header = {(uint32_t)ep_string_length(name) + 1, (uint32_t)size, type};

	put(notes, &header, sizeof header);
	put(notes, name, header.n_namesz);
	notes->at = (notes->at + 3) & ~UINT64_C(3);
}

static void put_note(struct ep_notes *notes, const char *name, uint32_t type, const void *bytes,
		     uint64_t size)
{
	put_header(notes, name, type, size);
	put(notes, bytes, size);
	notes->at = (notes->at + 3) & ~UINT64_C(3);
}

void ep_notes_add_thread(struct ep_notes *notes, uint32_t tid,
			 const struct user_regs_struct *registers, const void *floating, int signal)
{
	static struct elf_prstatus status;

	ep_bytes_zero(&status, sizeof status);
	status.pr_pid = (int)tid;
	status.pr_ppid = (int)ep_syscall0(SYS_getppid);
	status.pr_pgrp = (int)ep_syscall1(SYS_getpgid, 0);
	status.pr_sid = (int)ep_syscall1(SYS_getsid, 0);
	status.pr_fpvalid = floating != NULL;
	status.pr_cursig = (short)signal;
	status.pr_info.si_signo = signal;
	if (registers)
		ep_bytes_copy(&status.pr_reg, registers, sizeof status.pr_reg);
	put_note(notes, "CORE", NT_PRSTATUS, &status, sizeof status);
	if (floating)
		put_note(notes, "CORE", NT_FPREGSET, floating, 512);
}

void ep_notes_add_siginfo(struct ep_notes *notes, const void *info)
{
	put_note(notes, "CORE", NT_SIGINFO, info, 128);
}

void ep_notes_add_process(struct ep_notes *notes)
{
	static struct elf_prpsinfo info;
	char name[16] = "";
	long got;

	ep_bytes_zero(&info, sizeof info);
	info.pr_sname = 'R';
	info.pr_uid = (uint32_t)ep_syscall0(SYS_getuid);
	info.pr_gid = (uint32_t)ep_syscall0(SYS_getgid);
	info.pr_pid = (int)ep_syscall0(SYS_getpid);
	info.pr_ppid = (int)ep_syscall0(SYS_getppid);
	info.pr_pgrp = (int)ep_syscall1(SYS_getpgid, 0);
	info.pr_sid = (int)ep_syscall1(SYS_getsid, 0);
	ep_fd_load("/proc/self/comm", name, sizeof name);
	for (int i = 0; i < 15 && name[i] && name[i] != '\n'; i++)
		info.pr_fname[i] = name[i];
	got = ep_fd_load_own("cmdline", info.pr_psargs, sizeof info.pr_psargs - 1);
	for (long i = 0; i < got - 1; i++) {
		if (!info.pr_psargs[i])
			info.pr_psargs[i] = ' ';
	}
	put_note(notes, "CORE", NT_PRPSINFO, &info, sizeof info);
}

void ep_notes_add_auxv(struct ep_notes *notes)
{
	static uint64_t entries[64][2];
	long got = ep_fd_load_own("auxv", entries, sizeof entries);

	if (got > 0)
		put_note(notes, "CORE", NT_AUXV, entries, (uint64_t)got);
}

/* ---- NT_FILE: count, page size, {start, end, offset in pages}…, names ---- */

struct file_entry {
	uint64_t start, end, page;
};

struct files {
	uint64_t *bytes; /* scratch memory: the note's descriptor */
	uint64_t size;   /* of it */
	uint64_t most;   /* entries that there is room for */
	uint64_t names;  /* bytes used by names, which follow `most` entries */
};

static bool is_file(const struct ep_map_line *line)
{
	return line->inode != 0 && line->path_length;
}

static char *names_of(const struct files *files)
{
	return (char *)(files->bytes + 2 + 3 * files->most);
}

/* How much scratch memory it takes, and a bit more. */
static void measure(struct files *files, char *buffer)
{
	struct ep_map_line line;
	struct ep_maps maps;
	uint64_t names = 0;

	files->most = 16;
	if (ep_maps_open(&maps, buffer)) {
		while (ep_maps_next(&maps, &line)) {
			if (!is_file(&line))
				continue;
			files->most++;
			names += line.path_length + 1;
		}
		ep_maps_close(&maps);
	}
	files->size = (2 + 3 * files->most) * 8 + names + 4096;
}

static void add_file(struct files *files, const struct ep_map_line *line)
{
	uint64_t *count = &files->bytes[0];
	char *name = names_of(files) + files->names;
	uint64_t left = files->size - (uint64_t)(name - (char *)files->bytes);
	struct file_entry *entries = (struct file_entry *)(files->bytes + 2);

	if (*count == files->most || line->path_length + 1 > left)
		return;
	entries[(*count)++] = (struct file_entry){line->start, line->end, line->file_offset / 4096};
	ep_bytes_copy(name, line->path, line->path_length + 1);
	files->names += line->path_length + 1;
}

static void gather(struct files *files, char *buffer)
{
	struct ep_map_line line;
	struct ep_maps maps;

	files->bytes[0] = 0;
	files->bytes[1] = 4096;
	files->names = 0;
	if (!ep_maps_open(&maps, buffer))
		return;
	while (ep_maps_next(&maps, &line)) {
		if (is_file(&line))
			add_file(files, &line);
	}
	ep_maps_close(&maps);
}

void ep_notes_add_files(struct ep_notes *notes, char *buffer)
{
	struct files files;
	uint64_t table;
	long got;

	measure(&files, buffer);
	got = ep_syscall6(SYS_mmap, 0, (long)files.size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ep_syscall_failed(got))
		return;
	files.bytes = (uint64_t *)got;
	gather(&files, buffer);
	table = (2 + 3 * files.bytes[0]) * 8;
	put_header(notes, "CORE", NT_FILE, table + files.names);
	put(notes, files.bytes, table);
	put(notes, names_of(&files), files.names);
	notes->at = (notes->at + 3) & ~UINT64_C(3);
	ep_syscall2(SYS_munmap, got, (long)files.size);
}

void ep_notes_add_snapshot(struct ep_notes *notes, const struct ep_snapshot_note *note,
			   const struct ep_snapshot_thread *thread)
{
	put_header(notes, EP_NOTE_NAME, EP_NOTE_SNAPSHOT, sizeof *note + sizeof *thread);
	put(notes, note, sizeof *note);
	put(notes, thread, sizeof *thread);
}
