/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols.c: raw symbols → disjoint ranges. Sized symbols are swept in order of address with a
 * stack of those still open, so that nested ones cut their surroundings; then unsized symbols,
 * .eh_frame entries and linkage stubs fill the gaps. Ranges never overlap: one binary search
 * answers.
 */
#include "decoder/symbols/symbols.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/search.h"
#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/util/hash.h"
#include "coredump/util/progress.h"
#include "decoder/symbols/frames_table.h"
#include "decoder/symbols/plt.h"
#include "decoder/util/sort.h"
#include "decoder/symbols/symbol_table.h"

/* [start, end) belongs to list[symbol]. */
struct range {
	uint64_t start, end;
	uint32_t symbol;
};

struct ep_symbols {
	bool stripped;
	EP_ARRAY(struct ep_symbol) all;
	EP_ARRAY(struct range) ranges; /* ascending, disjoint */
};

/* What building needs and the result does not. */
struct build {
	struct ep_symbols *out;
	struct ep_raw_symbols raw;
	struct ep_frame_range *frames;
	size_t frame_count;
	struct ep_plt_stub *stubs;
	size_t stub_count;
};

/* ---- order ---- */

/* Underscores before the name proper; those of a mangling are none, and glibc's internal aliases
 * (__GI_) come after all others. */
static size_t underscores(const char *name)
{
	if (strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0)
		return 0;
	return strncmp(name, "__GI_", 5) == 0 ? SIZE_MAX : strspn(name, "_");
}

static int compare_names(const struct ep_raw_symbol *x, const struct ep_raw_symbol *y)
{
	size_t a = underscores(x->name), b = underscores(y->name);

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (a != b)
		return a < b ? -1 : 1;
	a = strlen(x->name);
	b = strlen(y->name);
	if (a != b)
		return a < b ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* By start, then the longest, then the best name. */
static int compare_raw(const void *a, const void *b)
{
	const struct ep_raw_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	if (x->dynamic != y->dynamic && strcmp(x->name, y->name) == 0)
		return x->dynamic ? 1 : -1;
	return compare_names(x, y);
}

static int compare_frames(const void *a, const void *b)
{
	const struct ep_frame_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static uint32_t add_symbol(struct build *build, const struct ep_symbol *symbol)
{
	ep_array_push(&build->out->all, *symbol);
	return (uint32_t)(build->out->all.count - 1);
}

static void add_range(struct build *build, uint64_t start, uint64_t end, uint32_t symbol)
{
	if (start < end)
		ep_array_push(&build->out->ranges, ((struct range){start, end, symbol}));
}

/* ---- sized symbols: a sweep ---- */

struct sweep {
	struct build *build;
	uint32_t *open; /* symbols, outermost first */
	size_t depth;
	uint64_t at; /* everything before it is laid out */
};

/* Lays out the innermost open symbols up to `limit`. */
static void sweep_to(struct sweep *sweep, uint64_t limit)
{
	const struct ep_symbol *list = sweep->build->out->all.list;

	while (sweep->depth > 0) {
		uint32_t top = sweep->open[sweep->depth - 1];
		uint64_t end = list[top].end < limit ? list[top].end : limit;

		add_range(sweep->build, sweep->at, end, top);
		if (end > sweep->at)
			sweep->at = end;
		if (list[top].end > limit)
			return;
		sweep->depth--;
	}
}

static bool names_same_bytes(const struct ep_raw_symbol *a, const struct ep_raw_symbol *b)
{
	return a->start == b->start && a->end == b->end;
}

static struct ep_symbol symbol_from(const struct build *build, const struct ep_raw_symbol *raw,
				    uint64_t end)
{
	return (struct ep_symbol){
		.start = raw->start,
		.end = end,
		.name = raw->name,
		.inexact = raw->dynamic && !build->raw.has_symtab,
	};
}

static void lay_out_sized(struct build *build)
{
	const struct ep_raw_symbols *raw = &build->raw;
	struct sweep sweep = {.build = build};

	sweep.open = ep_calloc(raw->count, sizeof(*sweep.open));
	for (size_t i = 0; i < raw->count; i++) {
		const struct ep_raw_symbol *one = &raw->list[i];
		struct ep_symbol symbol;
		uint32_t index;

		if (one->end == one->start || (i > 0 && names_same_bytes(one, one - 1)))
			continue;
		symbol = symbol_from(build, one, one->end);
		index = add_symbol(build, &symbol);
		sweep_to(&sweep, one->start);
		sweep.at = one->start;
		sweep.open[sweep.depth++] = index;
	}
	sweep_to(&sweep, UINT64_MAX);
	free(sweep.open);
}

/* ---- what fills the gaps ---- */

/* A range that begins in a gap: an unsized symbol, an .eh_frame entry, both, or a linkage stub. */
struct filler {
	struct ep_symbol symbol;
	bool bounded; /* symbol.end is known */
};

struct fillers {
	struct filler *list;
	size_t count, capacity;
};

/* The ranges that sized symbols gave, walked in step with the fillers. */
struct gaps {
	const struct ep_symbols *symbols;
	size_t count, at; /* the ranges behind `count` are the fillers' own */
};

/* Is `address` taken? If not, *next is where the next range begins. */
static bool taken(struct gaps *gaps, uint64_t address, uint64_t *next)
{
	const struct range *ranges = gaps->symbols->ranges.list;

	while (gaps->at < gaps->count && ranges[gaps->at].end <= address)
		gaps->at++;
	*next = gaps->at < gaps->count ? ranges[gaps->at].start : UINT64_MAX;
	return *next <= address;
}

static int compare_fillers(const void *a, const void *b)
{
	const struct filler *x = a, *y = b;

	if (x->symbol.start != y->symbol.start)
		return x->symbol.start < y->symbol.start ? -1 : 1;
	/* Names first, the best of them foremost; stable by their index. */
	if (!x->symbol.name != !y->symbol.name)
		return x->symbol.name ? -1 : 1;
	if (x->symbol.plt != y->symbol.plt)
		return x->symbol.plt ? 1 : -1;
	if (x->symbol.end != y->symbol.end)
		return x->symbol.end > y->symbol.end ? -1 : 1;
	return x->symbol.name ? strcmp(x->symbol.name, y->symbol.name) : 0;
}

/* Ascending. What begins where a sized symbol is fills nothing, nor does it end what begins before
 * it: the sized one does. Nearly all entries of .eh_frame are such. */
static void add_filler(struct fillers *fillers, struct gaps *gaps, const struct ep_symbol *symbol,
		       bool bounded)
{
	uint64_t next;

	if (!taken(gaps, symbol->start, &next))
		ep_array_push(fillers, ((struct filler){*symbol, bounded}));
}

static void collect_unsized(const struct build *build, struct fillers *out, struct gaps gaps)
{
	const struct ep_raw_symbols *raw = &build->raw;

	for (size_t i = 0; i < raw->count; i++) {
		const struct ep_raw_symbol *one = &raw->list[i];
		struct ep_symbol symbol;

		/* Sorted: the first at an address has the best name. */
		if (one->end != one->start || (i > 0 && names_same_bytes(one, one - 1)))
			continue;
		symbol = symbol_from(build, one, one->start);
		add_filler(out, &gaps, &symbol, false);
	}
}

static void collect_fillers(const struct build *build, struct fillers *out, struct gaps gaps)
{
	collect_unsized(build, out, gaps);
	for (size_t i = 0; i < build->stub_count; i++)
		ep_array_push(out, ((struct filler){.symbol = {.start = build->stubs[i].start,
							       .end = build->stubs[i].end,
							       .name = build->stubs[i].name,
							       .plt = true},
						    .bounded = true}));
	for (size_t i = 0; i < build->frame_count; i++)
		add_filler(out, &gaps,
			   &(struct ep_symbol){.start = build->frames[i].start,
					       .end = build->frames[i].end,
					       .inexact = true},
			   true);
}

/* One of those that begin at the same address: the first name, and the first known end. Returns how
 * many they are. */
static size_t merge_fillers(struct filler *list, size_t count)
{
	size_t same = 1;

	while (same < count && list[same].symbol.start == list[0].symbol.start) {
		if (!list[0].bounded && list[same].bounded) {
			list[0].symbol.end = list[same].symbol.end;
			list[0].bounded = true;
		}
		same++;
	}
	return same;
}

static void fill_one(struct build *build, struct filler *filler, struct gaps *gaps,
		     uint64_t next_start)
{
	const struct ep_code_section *section;
	struct ep_symbol *symbol = &filler->symbol;
	uint64_t next;

	section = ep_raw_symbols_section(&build->raw, symbol->start);
	if (!section || taken(gaps, symbol->start, &next))
		return;
	if (!filler->bounded || symbol->end > section->end)
		symbol->end = section->end;
	if (symbol->end > next)
		symbol->end = next;
	if (symbol->end > next_start)
		symbol->end = next_start;
	if (symbol->end > symbol->start)
		add_range(build, symbol->start, symbol->end, add_symbol(build, symbol));
}

/* `first` ranges and those behind them both ascend. */
static void merge_ranges(struct ep_symbols *out, size_t first)
{
	struct range *list = out->ranges.list, *more;
	size_t to = out->ranges.count, count = to - first;

	if (count == 0)
		return;
	more = ep_reallocarray(NULL, count, sizeof(*more));
	memcpy(more, list + first, count * sizeof(*more));
	while (count > 0)
		if (first > 0 && list[first - 1].start > more[count - 1].start)
			list[--to] = list[--first];
		else
			list[--to] = more[--count];
	free(more);
}

static void fill_gaps(struct build *build)
{
	struct fillers fillers = {0};
	struct gaps gaps = {.symbols = build->out, .count = build->out->ranges.count};

	collect_fillers(build, &fillers, gaps);
	ep_sort_by_address(fillers.list, fillers.count, sizeof(*fillers.list), compare_fillers);
	for (size_t i = 0, same; i < fillers.count; i += same) {
		same = merge_fillers(fillers.list + i, fillers.count - i);
		fill_one(build, &fillers.list[i], &gaps,
			 i + same < fillers.count ? fillers.list[i + same].symbol.start
						  : UINT64_MAX);
	}
	merge_ranges(build->out, gaps.count);
	ep_array_deinit(&fillers);
}

/* ---- cold parts ---- */

/* Length of the parent's name, or 0: not a part of another function. */
static size_t parent_length(const char *name)
{
	static const char *const parts[] = {".cold", ".__part"};

	if (!strchr(name, '.'))
		return 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t length = strlen(parts[i]);
		const char *at = NULL, *next = name;

		while ((next = strstr(next, parts[i])))
			at = next++;
		if (!at || at == name)
			continue;
		if (at[length] == '\0' ||
		    (at[length] == '.' && at[length + 1] &&
		     strspn(at + length + 1, "0123456789") == strlen(at + length + 1)))
			return (size_t)(at - name);
	}
	return 0;
}

static int compare_by_name(const void *a, const void *b)
{
	const struct ep_raw_symbol *x = *(void *const *)a, *y = *(void *const *)b;
	int order = strcmp(x->name, y->name);

	if (order != 0)
		return order;
	return (x->object > y->object) - (x->object < y->object);
}

/* A sorted list, and the name (not terminated) that is looked for in it. */
struct by_name {
	const struct ep_raw_symbol **list;
	size_t count;
	const char *name;
	size_t length;
};

static bool is_named(const struct by_name *look, size_t index)
{
	return index < look->count &&
	       strncmp(look->list[index]->name, look->name, look->length) == 0 &&
	       look->list[index]->name[look->length] == '\0';
}

static bool is_before(const struct by_name *look, size_t index, uint32_t object)
{
	const struct ep_raw_symbol *one = look->list[index];
	int order = strncmp(one->name, look->name, look->length);

	if (order != 0)
		return order < 0;
	return one->name[look->length] == '\0' && one->object < object;
}

/* The first symbol that is not before that name of that object file. */
static size_t lower_bound(const struct by_name *look, uint32_t object)
{
	return ep_partition_point(look->count, i, is_before(look, i, object));
}

/* The parent: the local of the same object file, else the global, else the only one of that name;
 * NULL when it cannot be told. */
static const struct ep_raw_symbol *find_parent(const struct by_name *look, uint32_t object)
{
	size_t at = lower_bound(look, object);

	if (is_named(look, at) && look->list[at]->object == object)
		return look->list[at];
	/* Globals have no object file: they come first. */
	at = lower_bound(look, 0);
	if (!is_named(look, at))
		return NULL;
	if (look->list[at]->object != 0 && is_named(look, at + 1))
		return NULL;
	return look->list[at];
}

static uint32_t symbol_at(const struct ep_symbols *symbols, uint64_t address)
{
	size_t low = ep_partition_point(symbols->ranges.count, i,
					symbols->ranges.list[i].start <= address);

	if (low == 0 || address >= symbols->ranges.list[low - 1].end)
		return UINT32_MAX;
	return symbols->ranges.list[low - 1].symbol;
}

/* The symbol that `part` belongs to, by name; its own when it cannot be told. */
static void join_part(struct build *build, struct by_name *look, const struct ep_raw_symbol *part,
		      uint32_t *owner)
{
	const struct ep_symbols *out = build->out;
	const struct ep_raw_symbol *parent;
	uint32_t own, whole;

	look->name = part->name;
	look->length = parent_length(part->name);
	if (look->length == 0)
		return;
	parent = find_parent(look, part->object);
	own = symbol_at(out, part->start);
	whole = parent ? symbol_at(out, parent->start) : UINT32_MAX;
	if (whole != UINT32_MAX && own != UINT32_MAX && out->all.list[own].name == part->name)
		owner[own] = whole;
}

struct parts {
	const struct ep_raw_symbol **list;
	size_t count, capacity;
	struct ep_hash parents; /* their names */
};

static void find_parts(struct parts *parts, const struct ep_raw_symbols *raw)
{
	for (size_t i = 0; i < raw->count; i++) {
		const struct ep_raw_symbol *one = &raw->list[i];
		size_t length = parent_length(one->name);
		uint32_t hash, at;

		if (!length)
			continue;
		hash = ep_hash_bytes(one->name, length);
		at = 0;
		/* Once: equal ones would be gone through one by one. */
		if (ep_hash_next(&parts->parents, hash, &at) == EP_HASH_NONE)
			ep_hash_add(&parts->parents, hash, 0);
		ep_array_push(parts, one);
	}
}

/* Those whose name may be a parent's, by name. */
static void list_parents(struct by_name *look, const struct parts *parts,
			 const struct ep_raw_symbols *raw)
{
	look->list = ep_calloc(raw->count, sizeof(*look->list));
	for (size_t i = 0; i < raw->count; i++) {
		uint32_t at = 0;

		if (ep_hash_next(&parts->parents, ep_hash_text(raw->list[i].name), &at) !=
		    EP_HASH_NONE)
			look->list[look->count++] = &raw->list[i];
	}
	qsort(look->list, look->count, sizeof(*look->list), compare_by_name);
}

static void join_found(struct build *build, const struct parts *parts)
{
	struct ep_symbols *out = build->out;
	struct by_name look = {0};
	uint32_t *owner = ep_calloc(out->all.count, sizeof(*owner));

	list_parents(&look, parts, &build->raw);
	for (size_t i = 0; i < out->all.count; i++)
		owner[i] = (uint32_t)i;
	for (size_t i = 0; i < parts->count; i++)
		join_part(build, &look, parts->list[i], owner);
	for (size_t i = 0; i < out->ranges.count; i++)
		out->ranges.list[i].symbol = owner[out->ranges.list[i].symbol];
	free(look.list);
	free(owner);
}

/* Gives the ranges of each part to its parent. */
static void join_parts(struct build *build)
{
	struct parts parts = {0};

	find_parts(&parts, &build->raw);
	if (parts.count)
		join_found(build, &parts);
	ep_array_deinit(&parts);
	ep_hash_deinit(&parts.parents);
}

/* ---- the whole ---- */

static void read_frames(struct build *build, Elf *elf, struct ep_err *err)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || strcmp(name, ".eh_frame") != 0)
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf)
			ep_frames_table_read(&build->frames, &build->frame_count, data->d_buf,
					     data->d_size, header.sh_addr, err);
		break;
	}
	if (build->frame_count)
		ep_sort_by_address(build->frames, build->frame_count, sizeof(*build->frames),
				   compare_frames);
}

static void build_all(struct build *build, Elf *elf, Elf *debug, struct ep_err *err)
{
	if (elf)
		ep_raw_symbols_add(&build->raw, elf, err);
	if (debug)
		ep_raw_symbols_add(&build->raw, debug, err);
	ep_progress_inner_goes_on();
	ep_sort_by_address(build->raw.list, build->raw.count, sizeof(*build->raw.list),
			   compare_raw);
	if (elf) {
		read_frames(build, elf, err);
		build->stub_count = ep_plt_read(&build->stubs, elf);
	}
	ep_progress_inner_goes_on();
	lay_out_sized(build);
	ep_progress_inner_goes_on();
	fill_gaps(build);
	ep_progress_inner_goes_on();
	join_parts(build);
}

struct ep_symbols *ep_symbols_create(Elf *elf, Elf *debug, struct ep_err *err)
{
	struct build build = {.out = ep_calloc(1, sizeof(*build.out))};
	struct ep_err ignored;

	if (!err)
		err = &ignored;
	*err = (struct ep_err){0};
	build_all(&build, elf, debug, err);
	build.out->stripped = !build.raw.has_symtab;
	ep_raw_symbols_deinit(&build.raw);
	free(build.frames);
	free(build.stubs);
	return build.out;
}

void ep_symbols_destroy(struct ep_symbols *symbols)
{
	if (!symbols)
		return;
	ep_array_deinit(&symbols->all);
	ep_array_deinit(&symbols->ranges);
	free(symbols);
}

const struct ep_symbol *ep_symbols_find(const struct ep_symbols *symbols, uint64_t address)
{
	uint32_t index = symbol_at(symbols, address);

	return index == UINT32_MAX ? NULL : &symbols->all.list[index];
}

bool ep_symbols_stripped(const struct ep_symbols *symbols)
{
	return symbols->stripped;
}

const struct ep_symbol *ep_symbols_range(const struct ep_symbols *symbols, size_t index,
					 uint64_t *start, uint64_t *end)
{
	if (index >= symbols->ranges.count)
		return NULL;
	*start = symbols->ranges.list[index].start;
	*end = symbols->ranges.list[index].end;
	return &symbols->all.list[symbols->ranges.list[index].symbol];
}

const struct ep_symbol *ep_symbols_all(const struct ep_symbols *symbols, size_t *count)
{
	*count = symbols->all.count;
	return symbols->all.list;
}
