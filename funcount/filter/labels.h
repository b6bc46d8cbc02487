/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.h: the labels of an assembly file, found by name. */
#ifndef EPITAPH_FILTER_LABELS_H
#define EPITAPH_FILTER_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "coredump/util/array.h"
#include "coredump/util/hash.h"
#include "funcount/filter/statement.h"

struct ep_label {
	struct ep_piece name; /* borrowed */
	uint32_t line;        /* last seen there; UINT32_MAX: not yet */
	uint32_t function;    /* that it lies in, or EP_NO_FUNCTION */
	uint32_t named;       /* function that it is the name of, or the same */
	bool taken;           /* its address is in a table */
};

struct ep_labels {
	EP_ARRAY(struct ep_label) list;
	struct ep_hash index; /* by name */
};

/* The label called `name`, made when there is none. Valid until the next call. */
struct ep_label *ep_labels_at(struct ep_labels *labels, struct ep_piece name);

/* NULL: there is none. */
struct ep_label *ep_labels_find(const struct ep_labels *labels, struct ep_piece name);
void ep_labels_deinit(struct ep_labels *labels);

#endif
