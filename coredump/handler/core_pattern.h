/* SPDX-License-Identifier: BSD-2-Clause */
/* core_pattern.h: the words of kernel.core_pattern, as the kernel makes names and commands of them
 * (core(5); fs/coredump.c, format_corename). */
#ifndef EPITAPH_CORE_PATTERN_H
#define EPITAPH_CORE_PATTERN_H

#include "coredump/handler/crash.h"

#define EP_PATTERN_MAX 128 /* CORENAME_MAX_SIZE, with its NUL */

/* A file name (slashes in names become !), or one word of a handler's command. EP_E_LIMIT: too
 * long. */
int ep_core_pattern_expand(const struct ep_crash *crash, const char *pattern, char *out,
			   size_t size, struct ep_err *err);

/* The pattern has the pid in it. */
bool ep_core_pattern_has_pid(const char *pattern);

#endif
