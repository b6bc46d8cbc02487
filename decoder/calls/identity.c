/* SPDX-License-Identifier: BSD-2-Clause */
/* identity.c: addresses → functions for pairing, each found once. */
#include "decoder/calls/identity.h"

#include "coredump/util/alloc.h"
#include "coredump/util/search.h"

#define LOOK_BACK 64u /* entries of other modules that are passed over */

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
static bool any_shared(const struct ep_trace *trace)
{
	const struct ep_trace_module **sorted = ep_calloc(trace->module_count, sizeof(*sorted));
	uint64_t reach = 0;
	bool shared = false;

	for (size_t i = 0; i < trace->module_count; i++)
		sorted[i] = &trace->modules[i];
	qsort(sorted, trace->module_count, sizeof(*sorted), compare_starts);
	for (size_t i = 0; i < trace->module_count; i++) {
		shared |= sorted[i]->start < reach;
		if (sorted[i]->end > reach)
			reach = sorted[i]->end;
	}
	free(sorted);
	return shared;
}

static void find_epochs(struct ep_identities *identities, const struct ep_trace *trace)
{
	if (!any_shared(trace))
		return;
	identities->epochs = ep_calloc(2 * trace->module_count, sizeof(*identities->epochs));
	for (size_t i = 0; i < trace->module_count; i++) {
		identities->epochs[identities->epoch_count++] = trace->modules[i].load_tsc;
		if (trace->modules[i].unload_tsc)
			identities->epochs[identities->epoch_count++] =
				trace->modules[i].unload_tsc;
	}
	qsort(identities->epochs, identities->epoch_count, sizeof(*identities->epochs),
	      compare_times);
}

static void forget_sites(struct ep_identities *identities)
{
	identities->sites.count = 0;
	ep_hash_deinit(&identities->by_key);
	memset(identities->recent, 0, sizeof(identities->recent));
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

/* ---- when its hooks were off ---- */

#define OFFS_MAX 64u /* more make no sense: it is not known when */

static int compare_parts(const void *a, const void *b)
{
	const struct ep_switched_part *x = a, *y = b;

	return (x->function > y->function) - (x->function < y->function);
}

static const struct ep_function *name_switched(const struct ep_identities *identities,
					       const struct ep_trace_switched *entry)
{
	const struct ep_trace_off *last = &entry->off[entry->off_count - (entry->off_count > 0)];

	return ep_names_find(identities->names, entry->start, last->begin);
}

/* Entries that are a part of a function that lies elsewhere (.cold), once for each trace. */
static void find_parts(const struct ep_identities *identities)
{
	struct ep_trace_switches *switches = identities->switches;

	if (switches->named_by == identities->names)
		return;
	free(switches->parts);
	switches->parts = ep_calloc(switches->count, sizeof(*switches->parts));
	switches->part_count = 0;
	for (size_t i = 0; i < switches->count; i++) {
		const struct ep_trace_switched *entry = &switches->list[i];
		const struct ep_function *function = name_switched(identities, entry);

		if (entry->start >= function->end || entry->end <= function->start)
			switches->parts[switches->part_count++] =
				(struct ep_switched_part){function, entry};
	}
	qsort(switches->parts, switches->part_count, sizeof(*switches->parts), compare_parts);
	switches->named_by = identities->names;
}

static int compare_offs(const void *a, const void *b)
{
	const struct ep_trace_off *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static void add_offs(struct ep_identity *one, const struct ep_trace_switched *entry)
{
	size_t count = one->offs ? one->offs->count : 0;

	if (!entry->off_count)
		return;
	one->flags |= EP_IDENTITY_SWITCHED;
	one->offs = ep_reallocarray(one->offs, 1,
				    sizeof(*one->offs) + OFFS_MAX * sizeof(one->offs->list[0]));
	for (unsigned i = 0; i < entry->off_count && count < OFFS_MAX; i++)
		one->offs->list[count++] = entry->off[i];
	one->offs->count = count;
	if (count == OFFS_MAX)
		one->offs->list[0] = (struct ep_trace_off){0, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	qsort(one->offs->list, count, sizeof(one->offs->list[0]), compare_offs);
}

/* By its bounds, and by its parts' names. */
static void find_offs(const struct ep_identities *identities, struct ep_identity *one)
{
	const struct ep_trace_switches *switches = identities->switches;
	const struct ep_function *function = one->function;
	const struct ep_trace_switched *entry;
	uint64_t end = function->end > function->start ? function->end : function->start + 1;
	size_t at = SIZE_MAX, part;

	find_parts(identities);
	while ((entry = ep_switched_next(switches, function->start, end, &at)))
		add_offs(one, entry);
	part = ep_partition_point(switches->part_count, i, switches->parts[i].function < function);
	for (; part < switches->part_count && switches->parts[part].function == function; part++)
		if (function->end > function->start)
			add_offs(one, switches->parts[part].entry);
}

static uint32_t number_of(struct ep_identities *identities, const struct ep_function *function)
{
	uint32_t hash = ep_hash_number((uintptr_t)function), at = 0, number;
	struct ep_identity *one;

	while ((number = ep_hash_next(&identities->by_function, hash, &at)) != EP_HASH_NONE)
		if (identities->all.list[number].function == function)
			return number;
	number = (uint32_t)identities->all.count;
	ep_hash_add(&identities->by_function, hash, number);
	one = ep_array_add(&identities->all);
	one->function = function;
	one->flags = (is_thunk(function) ? EP_IDENTITY_THUNK : 0) |
		     (is_unbound(function) ? EP_IDENTITY_UNBOUND : 0);
	if (identities->switches)
		find_offs(identities, one);
	return number;
}

/* ---- entries without bounds ---- */

static int compare_entries(const void *a, const void *b)
{
	const struct ep_identity_entry *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static void sort_entries(struct ep_identities *identities)
{
	struct ep_identity_entry *list = identities->entries.list;
	size_t kept = 0;

	qsort(list, identities->entries.count, sizeof(*list), compare_entries);
	for (size_t i = 0; i < identities->entries.count; i++)
		if (!i || compare_entries(&list[kept - 1], &list[i]) != 0)
			list[kept++] = list[i];
	identities->entries.count = kept;
	identities->entries_sorted = true;
}

/* The nearest entry at or below `address` in the same module. */
static bool entry_below(const struct ep_identities *identities, uint64_t address,
			const struct ep_function *function, uint32_t *out)
{
	const struct ep_identity_entry *entries = identities->entries.list;
	size_t low = 0, high = identities->entries.count;

	if (!identities->entries_sorted)
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entries[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (unsigned i = 0; i < LOOK_BACK && low-- > 0; i++) {
		uint32_t number = entries[low].number;

		if (identities->all.list[number].function->in == function->in) {
			*out = number;
			return true;
		}
	}
	return false;
}

/* ---- addresses ---- */

static uint32_t site_find(const struct ep_identities *identities, uint64_t key)
{
	uint32_t at = 0, number;

	while ((number = ep_hash_next(&identities->by_key, ep_hash_number(key), &at)) !=
	       EP_HASH_NONE)
		if (identities->sites.list[number].key == key)
			break;
	return number;
}

/* Its function's bounds are known by its having been switched, and no entry of it was met: it is
 * not the one's that was met below. */
static bool entry_is_off(const struct ep_identities *identities, uint64_t address,
			 const struct ep_identity_site *site)
{
	const struct ep_trace_switched *entry;
	uint32_t number;
	size_t at = SIZE_MAX;

	if (!identities->switches || !identities->all.list[site->identity].offs)
		return false;
	entry = ep_switched_next(identities->switches, address, address + 1, &at);
	if (!entry_below(identities, address, site->function, &number))
		return true;
	return entry && identities->all.list[number].function->start < entry->start;
}

static uint32_t site_add(struct ep_identities *identities, uint64_t address, bool is_return,
			 uint64_t tsc)
{
	const struct ep_function *function = ep_names_find(identities->names, address, tsc);
	uint64_t key = address << 1 | is_return;
	uint32_t number = (uint32_t)identities->sites.count;
	struct ep_identity_site *site = ep_array_add(&identities->sites);

	ep_hash_add(&identities->by_key, ep_hash_number(key), number);
	site->key = key;
	site->function = function;
	site->identity = number_of(identities, function);
	if (!is_unbound(function))
		return number;
	if (is_return && entry_is_off(identities, address, site))
		return number;
	if (is_return)
		site->lonely = !entry_below(identities, address, function, &site->identity);
	else if (!identities->entries_sorted)
		ep_array_push(&identities->entries,
			      ((struct ep_identity_entry){address, site->identity}));
	return number;
}

const struct ep_identity_site *ep_identities_find_slow(struct ep_identities *identities,
						       uint64_t address, bool is_return,
						       uint64_t tsc)
{
	uint64_t key = address << 1 | is_return;
	uint32_t number;

	if (identities->epoch < identities->epoch_count)
		pass_epochs(identities, tsc);
	number = site_find(identities, key);
	if (number == EP_HASH_NONE)
		number = site_add(identities, address, is_return, tsc);
	identities->recent[ep_hash_number(key) % EP_IDENTITY_NEAR] = number + 1;
	return &identities->sites.list[number];
}

void ep_identities_init(struct ep_identities *identities, const struct ep_trace *trace,
			struct ep_names *names)
{
	memset(identities, 0, sizeof(*identities));
	identities->names = names;
	identities->switches = trace->switches && trace->switches->count ? trace->switches : NULL;
	find_epochs(identities, trace);
}

bool ep_identities_rewind(struct ep_identities *identities)
{
	bool news = !identities->entries_sorted && identities->entries.count;

	for (size_t i = 0; i < identities->all.count; i++)
		identities->all.list[i].open = 0;
	if (news)
		sort_entries(identities);
	if (news || identities->epoch != 0)
		forget_sites(identities);
	identities->epoch = 0;
	return news;
}

void ep_identities_deinit(struct ep_identities *identities)
{
	ep_array_deinit(&identities->sites);
	ep_hash_deinit(&identities->by_key);
	for (size_t i = 0; i < identities->all.count; i++)
		free(identities->all.list[i].offs);
	ep_array_deinit(&identities->all);
	ep_hash_deinit(&identities->by_function);
	ep_array_deinit(&identities->entries);
	free(identities->epochs);
}
