/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * identity.h: address of a record → which function, as a small number that is cheap to compare. A
 * hash of addresses stands before the names, because the same few come again and again.
 *
 * Where a function's bounds are unknown (its file is missing), a call and a return of it have
 * different addresses and nothing that says they belong together. Then the return belongs to the
 * nearest entry at or below it among all calls seen in the same module: functions lie in one piece,
 * apart from cold parts, so no other seen function can start between the two.
 */
#ifndef EPITAPH_IDENTITY_H
#define EPITAPH_IDENTITY_H

#include "coredump/util/array.h"
#include "coredump/util/hash.h"
#include "decoder/names/names.h"
#include "decoder/trace/switches.h"

#define EP_IDENTITY_THUNK    1u /* returns without ever being called */
#define EP_IDENTITY_UNBOUND  2u /* nothing but an address is known */
#define EP_IDENTITY_CALLED   4u /* a call of it was met, in any pass */
#define EP_IDENTITY_SWITCHED 8u /* its hooks were off for a time: `offs` */
/* Whether it may leave by a jump that no mark tells (leaving.h) was asked; and it may. */
#define EP_IDENTITY_ASKED  16u
#define EP_IDENTITY_LEAVES 32u

/* When hooks of one function were off, ascending. */
struct ep_offs {
	size_t count;
	struct ep_trace_off list[];
};

/* One function, as far as pairing needs it. */
struct ep_identity {
	const struct ep_function *function;
	uint32_t flags;       /* EP_IDENTITY_ */
	uint32_t open;        /* calls of it that are open: the user's to count */
	uint32_t left;        /* … that seemed to be left without a return */
	struct ep_offs *offs; /* NULL: never */
};

/* What is known of one address of one kind (call or return). */
struct ep_identity_site {
	uint64_t key;                       /* address * 2 + 1 for returns */
	const struct ep_function *function; /* what the names say */
	uint32_t identity;                  /* what it is paired by; UINT32_MAX: nothing */
	bool lonely;                        /* a return below all entries of its module */
};

/* Where a function without bounds was seen to begin. */
struct ep_identity_entry {
	uint64_t address;
	uint32_t number;
};

#define EP_IDENTITY_NEAR 4096u

struct ep_identities {
	struct ep_names *names;             /* borrowed */
	struct ep_trace_switches *switches; /* likewise; NULL: none */
	EP_ARRAY(struct ep_identity_site) sites;
	struct ep_hash by_key;             /* of sites */
	uint32_t recent[EP_IDENTITY_NEAR]; /* of sites, + 1: the last of a key like it */
	EP_ARRAY(struct ep_identity) all;  /* by number */
	struct ep_hash by_function;        /* of all */
	/* entries without bounds, ascending address once sorted */
	EP_ARRAY(struct ep_identity_entry) entries;
	bool entries_sorted;
	/* times at which an address may change its meaning, ascending */
	uint64_t *epochs;
	size_t epoch_count, epoch;
};

void ep_identities_init(struct ep_identities *identities, const struct ep_trace *trace,
			struct ep_names *names);
void ep_identities_deinit(struct ep_identities *identities);

/* Another pass over the records begins: times start anew, nothing is open. True: the last pass met
 * entries without bounds that it did not know when it began, so that its answers about returns were
 * not the last word. */
bool ep_identities_rewind(struct ep_identities *identities);

/* Borrowed until the next call. Times must not go backwards within a pass. */
const struct ep_identity_site *ep_identities_find_slow(struct ep_identities *identities,
						       uint64_t address, bool is_return,
						       uint64_t tsc);

static inline const struct ep_identity_site *ep_identities_find(struct ep_identities *identities,
								uint64_t address, bool is_return,
								uint64_t tsc)
{
	uint64_t key = address << 1 | is_return;
	uint32_t near = identities->recent[ep_hash_number(key) % EP_IDENTITY_NEAR];

	if (near && identities->sites.list[near - 1].key == key &&
	    identities->epoch == identities->epoch_count)
		return &identities->sites.list[near - 1];
	return ep_identities_find_slow(identities, address, is_return, tsc);
}

#endif
