/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redacted.h: what a snapshot leaves out because somebody wants it so (bits EP_REDACTED_, what each
 * covers: docs/privacy.md), as words and in words.
 */
#ifndef EPITAPH_REDACTED_H
#define EPITAPH_REDACTED_H

#include <stddef.h>
#include <stdint.h>

#include "coredump/util/error.h"
#include "coredump/memory/source.h"
#include "runtime/format.h"

/* "cmdline,paths" → bits; "all" is all of them. EP_E_USAGE: err names the words that there are. */
int ep_redacted_parse(const char *words, uint32_t *out, struct ep_err *err);

/* "cmdline,paths", as it is parsed; "" for 0. Returns `out`. */
const char *ep_redacted_words(char *out, size_t size, uint32_t bits);

#define EP_REDACTED_TEXT_MAX 160 /* is enough for all of them */
/* "the command line, paths and the stacks"; "" for 0. Returns `out`. */
const char *ep_redacted_text(char *out, size_t size, uint32_t bits);

/* What the snapshot's own note says was left out; 0 of all else. */
uint32_t ep_source_redacted(const struct ep_source *source);

/* What stands for the path of a module when paths were left out: by its build-id, else by
 * `number`. */
#define EP_REDACTED_PATH_MAX 40
void ep_redacted_path(char out[EP_REDACTED_PATH_MAX], const uint8_t *build_id,
		      uint32_t build_id_size, uint64_t number);

#endif
