/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core_notes.h: the notes of a core that a process writes of itself, in the order and the form of
 * the kernel's (fs/binfmt_elf.c, <sys/procfs.h>).
 */
#ifndef EPITAPH_CORE_NOTES_H
#define EPITAPH_CORE_NOTES_H

#include <stdint.h>
#include <sys/user.h>

#include "runtime/facts/maps.h"
#include "runtime/format.h"
#include "runtime/lib/new_file.h"

/* Where the next note goes. */
struct ep_notes {
	struct ep_new_file *output;
	uint64_t at; /* offset in the file */
	int error;   /* the first negative errno, 0 none */
};

/* Registers of thread `tid`, NULL unknown, its floating point state (512 bytes as fxsave has it;
 * NULL unknown), and the signal that it dies of, 0 none. */
void ep_notes_add_thread(struct ep_notes *notes, uint32_t tid,
			 const struct user_regs_struct *registers, const void *floating,
			 int signal);
/* `info`: a siginfo_t, of the thread before. */
void ep_notes_add_siginfo(struct ep_notes *notes, const void *info);
void ep_notes_add_process(struct ep_notes *notes);
void ep_notes_add_auxv(struct ep_notes *notes);

/* NT_FILE; `buffer` as for ep_maps_open. Left out when there is no memory for it. */
void ep_notes_add_files(struct ep_notes *notes, char *buffer);

/* Ours. Its place is reserved first; what was saved is known at the end. */
void ep_notes_add_snapshot(struct ep_notes *notes, const struct ep_snapshot_note *note,
			   const struct ep_snapshot_thread *thread);

#endif
