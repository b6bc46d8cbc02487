/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elffile.h: ELF files whose names were chosen by somebody else, before libelf and libdw get to
 * them. libdw opens what debug information names (.dwo files, the common file of dwz) by a plain
 * open(), and has no callback for it: its open() comes here as well.
 */
#ifndef EPITAPH_ELFFILE_H
#define EPITAPH_ELFFILE_H

/* As ep_regular_file_open; EFBIG also for a file that is all but empty for its size, or whose
 * compressed sections become far more than it is. */
int ep_elf_file_open(const char *path);

/* The same of a descriptor, which may be -1: it, or -1 and errno, and it is closed. */
int ep_elf_file_judge(int fd);

#endif
