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

#include "decoder/names/names.h"

#define EP_IDENTITY_THUNK   1u /* returns without ever being called */
#define EP_IDENTITY_UNBOUND 2u /* nothing but an address is known */
#define EP_IDENTITY_CALLED  4u /* a call of it was met, in any pass */

/* One function, as far as pairing needs it. */
struct ep_identity {
	const struct ep_function *function;
	uint32_t flags; /* EP_IDENTITY_ */
	uint32_t open;  /* calls of it that are open: the user's to count */
	uint32_t left;  /* … that seemed to be left without a return */
};

/* What is known of one address of one kind (call or return). */
struct ep_identity_site {
	uint64_t key;                       /* address * 2 + 1 for returns; 0: free */
	const struct ep_function *function; /* what the names say */
	uint32_t identity;                  /* what it is paired by; UINT32_MAX: nothing */
	bool lonely;                        /* a return below all entries of its module */
};

struct ep_identities {
	struct ep_names *names; /* borrowed */
	struct ep_identity_site *sites;
	size_t site_count, site_capacity; /* a power of two */
	struct ep_identity *list;         /* by number */
	uint32_t count, capacity;
	uint32_t *by_function; /* hash of list; number + 1, 0: free */
	size_t by_function_capacity;
	/* entries without bounds, ascending address once sorted */
	uint32_t *entries; /* numbers */
	uint64_t *entry_addresses;
	size_t entry_count, entry_capacity;
	bool entries_sorted;
	/* times at which an address may change its meaning, ascending */
	uint64_t *epochs;
	size_t epoch_count, epoch;
};

int ep_identities_init(struct ep_identities *identities, const struct ep_trace *trace,
		       struct ep_names *names);
void ep_identities_deinit(struct ep_identities *identities);

/* Another pass over the records begins: times start anew, nothing is open.
 * *news: the last pass met entries without bounds that it did not know when it
 * began, so that its answers about returns were not the last word. EP_OK or EP_E_MEMORY. */
int ep_identities_rewind(struct ep_identities *identities, bool *news);

/* EP_OK, or EP_E_MEMORY. *out is borrowed until the next call. Times must not go backwards within a
 * pass. */
int ep_identities_find_slow(struct ep_identities *identities, uint64_t address, bool is_return,
			    uint64_t tsc, const struct ep_identity_site **out);

/* Where the search for a key begins. */
static inline size_t ep_identities_spread(uint64_t key)
{
	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static inline int ep_identities_find(struct ep_identities *identities, uint64_t address,
				     bool is_return, uint64_t tsc,
				     const struct ep_identity_site **out)
{
	uint64_t key = address << 1 | is_return;

	if (identities->site_count && identities->epoch == identities->epoch_count) {
		size_t mask = identities->site_capacity - 1;
		size_t at = ep_identities_spread(key) & mask;

		*out = &identities->sites[at];
		if ((*out)->key == key)
			return EP_OK;
		/* Of two that meet, one is here. */
		*out = &identities->sites[(at + 1) & mask];
		if ((*out)->key == key)
			return EP_OK;
	}
	return ep_identities_find_slow(identities, address, is_return, tsc, out);
}

#endif
