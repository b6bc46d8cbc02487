/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vdso.h: reading a kernel clock without libc (whose clock_gettime the program may have replaced,
 * to fake the time or to trace it).
 */
#ifndef EPITAPH_VDSO_H
#define EPITAPH_VDSO_H

#include <stdint.h>

/* Looks for the kernel's function in the vDSO; without it the system call serves. Called once,
 * before ep_clock_read. */
void ep_vdso_find(void);

/* Nanoseconds of CLOCK_ `clock`; 0 when there is no such clock. Async-signal-safe. */
uint64_t ep_clock_read(int clock);

#endif
