/* SPDX-License-Identifier: BSD-2-Clause */
/* number.h: whole numbers that people write. */
#ifndef EPITAPH_NUMBER_H
#define EPITAPH_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Decimal digits and nothing else, from `least` to `most`. False: *out is as it was. */
bool ep_number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out);

/* "64M", "64 MiB", "64 MB": powers of 1024, up to T; never 0. False: *bytes is as it was. */
bool ep_size_parse(const char *text, uint64_t *bytes);

#endif
