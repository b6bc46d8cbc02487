/* SPDX-License-Identifier: BSD-2-Clause */
/* core.h: all that must hold of any bytes taken as a core. */
#ifndef EPITAPH_TESTS_FUZZ_CORE_H
#define EPITAPH_TESTS_FUZZ_CORE_H

#include <stddef.h>
#include <stdint.h>

void fuzz_check_core(const uint8_t *bytes, size_t size);

#endif
