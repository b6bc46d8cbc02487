/* SPDX-License-Identifier: BSD-2-Clause */
/* identity.c: addresses → functions for pairing, by open hashing. */
#include "decoder/calls/identity.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64u
#define LOOK_BACK      64u /* entries of other modules that are passed over */

/* ---- when an address may change its meaning ---- */

static int compare_starts(const void *a, const void *b)
{
	const struct ep_trace_module *x = *(void *const *)a, *y = *(void *const *)b;

	return (x->start > y->start) - (x->start < y->start);
}

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Were two modules ever at the same address? */
static int any_shared(const struct ep_trace *trace, bool *shared)
{
	const struct ep_trace_module **sorted = calloc(trace->module_count + 1, sizeof(*sorted));
	uint64_t reach = 0;

	if (!sorted)
		return EP_E_MEMORY;
	for (size_t i = 0; i < trace->module_count; i++)
		sorted[i] = &trace->modules[i];
	qsort(sorted, trace->module_count, sizeof(*sorted), compare_starts);
	*shared = false;
	for (size_t i = 0; i < trace->module_count; i++) {
		*shared |= sorted[i]->start < reach;
		if (sorted[i]->end > reach)
			reach = sorted[i]->end;
	}
	free(sorted);
	return EP_OK;
}

static int take_epochs(struct ep_identities *identities, const struct ep_trace *trace)
{
	bool shared;

	if (any_shared(trace, &shared) != EP_OK)
		return EP_E_MEMORY;
	if (!shared)
		return EP_OK;
	identities->epochs = calloc(2 * trace->module_count, sizeof(*identities->epochs));
	if (!identities->epochs)
		return EP_E_MEMORY;
	for (size_t i = 0; i < trace->module_count; i++) {
		identities->epochs[identities->epoch_count++] = trace->modules[i].load_tsc;
		if (trace->modules[i].unload_tsc)
			identities->epochs[identities->epoch_count++] =
				trace->modules[i].unload_tsc;
	}
	qsort(identities->epochs, identities->epoch_count, sizeof(*identities->epochs),
	      compare_times);
	return EP_OK;
}

static void forget_sites(struct ep_identities *identities)
{
	free(identities->sites);
	identities->sites = NULL;
	identities->site_count = identities->site_capacity = 0;
}

static void pass_epochs(struct ep_identities *identities, uint64_t tsc)
{
	size_t before = identities->epoch;

	while (identities->epoch < identities->epoch_count &&
	       identities->epochs[identities->epoch] <= tsc)
		identities->epoch++;
	if (identities->epoch != before)
		forget_sites(identities);
}

/* ---- functions ---- */

static bool is_unbound(const struct ep_function *function)
{
	return !function->known && function->start == function->end;
}

/* By the C++ ABI (Itanium, 5.1.4): Th and Tv adjust `this`, Tc also what is returned. */
static bool is_thunk(const struct ep_function *function)
{
	const char *symbol = function->symbol;

	return symbol && strncmp(symbol, "_ZT", 3) == 0 &&
	       (symbol[3] == 'h' || symbol[3] == 'v' || symbol[3] == 'c');
}

static uint32_t *function_slot(struct ep_identities *identities, const struct ep_function *function)
{
	size_t mask = identities->by_function_capacity - 1;
	size_t at = ep_identities_spread((uintptr_t)function) & mask;

	while (identities->by_function[at] != 0 &&
	       identities->list[identities->by_function[at] - 1].function != function)
		at = (at + 1) & mask;
	return &identities->by_function[at];
}

/* Keeps the hash at most half full. */
static int grow_functions(struct ep_identities *identities)
{
	uint32_t capacity = identities->capacity ? 2 * identities->capacity : FIRST_CAPACITY;
	struct ep_identity *list;
	uint32_t *hash;

	if (identities->count < identities->capacity)
		return EP_OK;
	hash = calloc(2 * (size_t)capacity, sizeof(*hash));
	if (!hash)
		return EP_E_MEMORY;
	list = realloc(identities->list, capacity * sizeof(*list));
	if (!list) {
		free(hash);
		return EP_E_MEMORY;
	}
	free(identities->by_function);
	identities->list = list;
	identities->capacity = capacity;
	identities->by_function = hash;
	identities->by_function_capacity = 2 * (size_t)capacity;
	for (uint32_t i = 0; i < identities->count; i++)
		*function_slot(identities, list[i].function) = i + 1;
	return EP_OK;
}

static int number_of(struct ep_identities *identities, const struct ep_function *function,
		     uint32_t *out)
{
	uint32_t *slot;

	if (grow_functions(identities) != EP_OK)
		return EP_E_MEMORY;
	slot = function_slot(identities, function);
	if (*slot == 0) {
		identities->list[identities->count++] = (struct ep_identity){
			.function = function,
			.flags = (is_thunk(function) ? EP_IDENTITY_THUNK : 0) |
				 (is_unbound(function) ? EP_IDENTITY_UNBOUND : 0),
		};
		*slot = identities->count;
	}
	*out = *slot - 1;
	return EP_OK;
}

/* ---- entries without bounds ---- */

static int add_entry(struct ep_identities *identities, uint64_t address, uint32_t number)
{
	size_t capacity =
		identities->entry_capacity ? 2 * identities->entry_capacity : FIRST_CAPACITY;
	uint64_t *addresses;
	uint32_t *numbers;

	if (identities->entry_count == identities->entry_capacity) {
		addresses = realloc(identities->entry_addresses, capacity * sizeof(*addresses));
		if (!addresses)
			return EP_E_MEMORY;
		identities->entry_addresses = addresses;
		numbers = realloc(identities->entries, capacity * sizeof(*numbers));
		if (!numbers)
			return EP_E_MEMORY;
		identities->entries = numbers;
		identities->entry_capacity = capacity;
	}
	identities->entry_addresses[identities->entry_count] = address;
	identities->entries[identities->entry_count++] = number;
	return EP_OK;
}

struct pair {
	uint64_t address;
	uint32_t number;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int sort_entries(struct ep_identities *identities)
{
	size_t count = identities->entry_count, kept = 0;
	struct pair *pairs = calloc(count, sizeof(*pairs));

	if (!pairs)
		return EP_E_MEMORY;
	for (size_t i = 0; i < count; i++)
		pairs[i] = (struct pair){identities->entry_addresses[i], identities->entries[i]};
	qsort(pairs, count, sizeof(*pairs), compare_pairs);
	for (size_t i = 0; i < count; i++) {
		if (i && compare_pairs(&pairs[i - 1], &pairs[i]) == 0)
			continue;
		identities->entry_addresses[kept] = pairs[i].address;
		identities->entries[kept++] = pairs[i].number;
	}
	identities->entry_count = kept;
	identities->entries_sorted = true;
	free(pairs);
	return EP_OK;
}

/* The nearest entry at or below `address` in the same module. */
static bool entry_below(const struct ep_identities *identities, uint64_t address,
			const struct ep_function *function, uint32_t *out)
{
	size_t low = 0, high = identities->entry_count;

	if (!identities->entries_sorted)
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (identities->entry_addresses[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (unsigned i = 0; i < LOOK_BACK && low-- > 0; i++) {
		uint32_t number = identities->entries[low];

		if (identities->list[number].function->in == function->in) {
			*out = number;
			return true;
		}
	}
	return false;
}

/* ---- addresses ---- */

static struct ep_identity_site *site_slot(struct ep_identities *identities, uint64_t key)
{
	size_t mask = identities->site_capacity - 1;
	size_t at = ep_identities_spread(key) & mask;

	while (identities->sites[at].key != 0 && identities->sites[at].key != key)
		at = (at + 1) & mask;
	return &identities->sites[at];
}

static int grow_sites(struct ep_identities *identities)
{
	size_t old_capacity = identities->site_capacity;
	size_t capacity = old_capacity ? 2 * old_capacity : FIRST_CAPACITY;
	struct ep_identity_site *old = identities->sites, *sites;

	sites = calloc(capacity, sizeof(*sites));
	if (!sites)
		return EP_E_MEMORY;
	identities->sites = sites;
	identities->site_capacity = capacity;
	for (size_t i = 0; i < old_capacity; i++)
		if (old[i].key)
			*site_slot(identities, old[i].key) = old[i];
	free(old);
	return EP_OK;
}

static int fill_site(struct ep_identities *identities, struct ep_identity_site *site,
		     uint64_t address, bool is_return, uint64_t tsc)
{
	const struct ep_function *function = ep_names_find(identities->names, address, tsc);
	uint32_t number;

	if (number_of(identities, function, &number) != EP_OK)
		return EP_E_MEMORY;
	site->function = function;
	site->identity = number;
	site->lonely = false;
	if (!is_unbound(function))
		return EP_OK;
	if (is_return)
		site->lonely = !entry_below(identities, address, function, &site->identity);
	else if (!identities->entries_sorted)
		return add_entry(identities, address, number);
	return EP_OK;
}

static int add_site(struct ep_identities *identities, uint64_t address, bool is_return,
		    uint64_t tsc, const struct ep_identity_site **out)
{
	uint64_t key = address << 1 | is_return;
	struct ep_identity_site fresh, *site;

	if (2 * (identities->site_count + 1) > identities->site_capacity &&
	    grow_sites(identities) != EP_OK)
		return EP_E_MEMORY;
	if (fill_site(identities, &fresh, address, is_return, tsc) != EP_OK)
		return EP_E_MEMORY;
	site = site_slot(identities, key);
	*site = fresh;
	site->key = key;
	identities->site_count++;
	*out = site;
	return EP_OK;
}

int ep_identities_find_slow(struct ep_identities *identities, uint64_t address, bool is_return,
			    uint64_t tsc, const struct ep_identity_site **out)
{
	uint64_t key = address << 1 | is_return;
	struct ep_identity_site *site;

	if (identities->epoch < identities->epoch_count)
		pass_epochs(identities, tsc);
	if (identities->site_count) {
		site = site_slot(identities, key);
		if (site->key == key) {
			*out = site;
			return EP_OK;
		}
	}
	return add_site(identities, address, is_return, tsc, out);
}

int ep_identities_init(struct ep_identities *identities, const struct ep_trace *trace,
		       struct ep_names *names)
{
	memset(identities, 0, sizeof(*identities));
	identities->names = names;
	return take_epochs(identities, trace);
}

int ep_identities_rewind(struct ep_identities *identities, bool *news)
{
	*news = !identities->entries_sorted && identities->entry_count;
	for (uint32_t i = 0; i < identities->count; i++)
		identities->list[i].open = 0;
	if (*news && sort_entries(identities) != EP_OK)
		return EP_E_MEMORY;
	if (*news || identities->epoch != 0)
		forget_sites(identities);
	identities->epoch = 0;
	return EP_OK;
}

void ep_identities_deinit(struct ep_identities *identities)
{
	free(identities->sites);
	free(identities->list);
	free(identities->by_function);
	free(identities->entries);
	free(identities->entry_addresses);
	free(identities->epochs);
}
