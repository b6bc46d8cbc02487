/* SPDX-License-Identifier: BSD-2-Clause */
/* root_impl.h: the state of one search for the root, shared by its ways. */
#ifndef EPITAPH_ROOT_IMPL_H
#define EPITAPH_ROOT_IMPL_H

#include "coredump/find/root.h"

/* A root that was seen but does not lead to an arena is remembered: what it says is better than
 * "nothing found". */
struct ep_root_search {
	struct ep_source *source;
	struct ep_root_found found;
	struct ep_root_found seen; /* filled when seen_rc is not 0 */
	int seen_rc;
	struct ep_err seen_err;
	char traced_by[160]; /* an object with our note; "" none */
	uint64_t until;      /* CPU time of this process, ns: live, whose memory may be any size */
	bool cut;            /* it was over */
};

/* Of a running process: it may take a second of a processor to look for what is found at once in
 * one that means well. True, and search->cut: that is over. */
bool ep_root_search_over(struct ep_root_search *search);

/* Validates what lies at `address` and follows it to the arena. EP_OK: found is filled. EP_END: no
 * root there, or one that was only remembered. */
int ep_root_try_root(struct ep_root_search *search, uint64_t address, uint32_t how,
		     const char *where);
int ep_root_try_arena(struct ep_root_search *search, uint64_t address, uint32_t how,
		      const char *where);

/* root_file.c: by the files on disk, note and symbol. */
int ep_root_by_files(struct ep_root_search *search);

/* Calls `each` for notes of ours in the bytes of a PT_NOTE that lies at process address `address`;
 * stops at the first EP_OK. */
int ep_root_try_notes(struct ep_root_search *search, const uint8_t *bytes, size_t size,
		      uint64_t address, const char *object);

#endif
