/* SPDX-License-Identifier: BSD-2-Clause */
/* zstd.h: a FILE whose bytes arrive compressed by zstd. */
#ifndef EPITAPH_ZSTD_H
#define EPITAPH_ZSTD_H

#include <stdio.h>

#include "coredump/util/error.h"

/* Writes a zstd file to `fd`, which stays open; it is whole when fclose has returned 0. EP_E_IO,
 * also without libarchive, which is loaded then. */
int ep_zstd_open(FILE **out, int fd, struct ep_err *err);

#endif
