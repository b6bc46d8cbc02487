/* SPDX-License-Identifier: BSD-2-Clause */
/* counts_file.h: what a process that counts leaves when it ends. Only when ep_settings.counting.
 * Signal safe, keeps errno. */
#ifndef EPITAPH_COUNTS_FILE_H
#define EPITAPH_COUNTS_FILE_H

/*
 * Writes the counts to ep_settings.counts_output, as the process is about to end, unless nothing
 * was counted since they were written last. Not in a child that shares the process's memory
 * (vfork), nor in one that has counted nothing. What goes wrong is told on stderr.
 */
void ep_counting_write(void);

/* A traced library's destructors ran: more was counted, perhaps, after the program's own
 * destructors. */
void ep_counting_library_ends(void);

#endif
