/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parts.h: does a part of code that has no name (its symbol was stripped) belong to a function that
 * lies elsewhere? Compilers split off what is seldom executed (f.cold): the function jumps there.
 */
#ifndef EPITAPH_PARTS_H
#define EPITAPH_PARTS_H

#include "coredump/memory/source.h"
#include "decoder/names/names.h"

/* `names` are those that found both. The function's code, its first 64 KiB, has a direct jump into
 * the part. False: it has none, or cannot be read. */
bool ep_parts_belong(struct ep_source *source, struct ep_names *names,
		     const struct ep_function *function, const struct ep_function *part);

#endif
