/* SPDX-License-Identifier: BSD-2-Clause */
/* registrar.h: what a traced shared library tells the runtime, if there is one in the process. */
#ifndef EPITAPH_DSO_REGISTRAR_H
#define EPITAPH_DSO_REGISTRAR_H

#include <stdint.h>

/* The library is mapped and relocated. */
void epitaph_dso_loaded(void) __attribute__((visibility("default")));

/* [from, to) lists its functions of DOFUNTRACE (budget/keep.h); nothing: they go with it. */
void epitaph_dso_keeps(const uint64_t *from, const uint64_t *to)
	__attribute__((visibility("default")));

/* It is about to be unmapped. */
void epitaph_dso_unloading(void) __attribute__((visibility("default")));

#endif
