/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * undumped.h: a page of code that was written to is a private copy, and makes the kernel dump all
 * of its mapping into a core (fs/coredump.c, vma_dump_size), where before there was none of it.
 */
#ifndef EPITAPH_UNDUMPED_H
#define EPITAPH_UNDUMPED_H

#include <stdint.h>

/*
 * The segment of code that holds `address` stays out of cores as before: but where its module's ELF
 * header lies in it, which a core must hold, and where the user wants mapped files in cores (bit 2
 * of /proc/PID/coredump_filter, core(5)). Some us; opens a file at its first call (ep_flip_run).
 */
void ep_code_leave_out(uint64_t address);

#endif
