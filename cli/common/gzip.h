/* SPDX-License-Identifier: BSD-2-Clause */
/* gzip.h: a FILE whose bytes arrive compressed. */
#ifndef EPITAPH_GZIP_H
#define EPITAPH_GZIP_H

#include <stdio.h>

/* Writes a gzip file to `fd`, which stays open; it is whole when fclose has returned 0. NULL with
 * errno. */
FILE *ep_gzip_open(int fd);

#endif
