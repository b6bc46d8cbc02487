/* SPDX-License-Identifier: BSD-2-Clause */
/* function.c: a binary search in memory that may go away: by system calls, the last step by a piece
 * of the table at once. */
#include "runtime/switching/function.h"

#include <elf.h>
#include <stddef.h>

#include "runtime/arena/arena.h"
#include "runtime/lib/files.h"

#define PIECE         64   /* entries of the table that are read at once */
#define HEADERS       8    /* program headers that are read at once */
#define ENC_UDATA4    0x03 /* DW_EH_PE_: LSB Core, "DWARF Extensions" */
#define ENC_SDATA4_AT 0x3b /* sdata4, relative to the table */

/* The binary-search table of one module. */
struct table {
	uint64_t header;               /* that it is relative to */
	uint64_t first;                /* its first entry */
	uint32_t count;                /* 0: there is none */
	uint64_t code_start, code_end; /* of the segment that holds the address */
	bool has_header;               /* the module's, in that segment */
};

/* An entry: where a function begins, and its description, both relative to the header. */
struct entry {
	int32_t start, description;
};

static const struct ep_module *module_of(uint64_t address)
{
	const struct ep_modules *modules = ep_arena_section(EP_SECTION_MODULES, NULL);
	const struct ep_module *list = (const struct ep_module *)(modules + 1);

	for (uint32_t i = modules->count; i-- > 0;)
		if (address >= list[i].start && address < list[i].end && !list[i].unload_tsc &&
		    __atomic_load_n(&list[i].state, __ATOMIC_ACQUIRE) == EP_MODULE_VALID)
			return &list[i];
	return NULL;
}

bool ep_module_range(uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct ep_module *module = module_of(address);

	if (!module)
		return false;
	*start = module->start;
	*end = module->end;
	return true;
}

static void look_at(const Elf64_Phdr *header, uint64_t bias, uint64_t address, struct table *out)
{
	uint64_t start = bias + header->p_vaddr;

	if (header->p_type == PT_GNU_EH_FRAME)
		out->header = start;
	else if (header->p_type == PT_LOAD && header->p_flags & PF_X && address >= start &&
		 address - start < header->p_memsz) {
		out->code_start = start;
		out->code_end = start + header->p_memsz;
		out->has_header = header->p_offset == 0;
	}
}

/* Its program headers say where the table is, and how far the code reaches. */
static bool read_headers_of(const struct ep_module *module, uint64_t address, struct table *out)
{
	Elf64_Phdr some[HEADERS];
	Elf64_Ehdr elf;

	*out = (struct table){0};
	if (module->flags & EP_MODULE_NO_HEADER ||
	    !ep_memory_read(module->start, &elf, sizeof(elf)) || elf.e_phentsize != sizeof(*some))
		return false;
	for (unsigned i = 0; i < elf.e_phnum; i++) {
		uint64_t left = (uint64_t)elf.e_phnum - i;

		if (i % HEADERS == 0 &&
		    !ep_memory_read(module->start + elf.e_phoff + i * sizeof(*some), some,
				    (left < HEADERS ? left : HEADERS) * sizeof(*some)))
			return false;
		look_at(&some[i % HEADERS], module->bias, address, out);
	}
	return out->code_end != 0;
}

/* Without one no address leads to a function. */
static void read_table(struct table *table)
{
	struct {
		uint8_t version, pointer, count_as, table_as;
		int32_t frame;
		uint32_t count;
	} head;

	if (!table->header || !ep_memory_read(table->header, &head, sizeof(head)) ||
	    head.version != 1 || (head.pointer & 0x0f) != 0x0b || head.count_as != ENC_UDATA4 ||
	    head.table_as != ENC_SDATA4_AT)
		return;
	table->first = table->header + sizeof(head);
	table->count = head.count;
}

/* What was read last: mostly it is asked for again. `turn` is odd while somebody writes there. */
static struct {
	uint32_t turn;
	uint64_t start, load_tsc; /* whose */
	struct table table;
} last;

static bool recall(const struct ep_module *module, uint64_t address, struct table *out)
{
	uint32_t turn = __atomic_load_n(&last.turn, __ATOMIC_ACQUIRE);
	bool same = last.start == module->start && last.load_tsc == module->load_tsc;

	*out = last.table;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return same && turn % 2 == 0 && turn == __atomic_load_n(&last.turn, __ATOMIC_RELAXED) &&
	       address >= out->code_start && address < out->code_end;
}

static void remember(const struct ep_module *module, const struct table *table)
{
	uint32_t turn = __atomic_load_n(&last.turn, __ATOMIC_RELAXED) & ~1u;

	if (!__atomic_compare_exchange_n(&last.turn, &turn, turn + 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	last.start = module->start;
	last.load_tsc = module->load_tsc;
	last.table = *table;
	__atomic_store_n(&last.turn, turn + 2, __ATOMIC_RELEASE);
}

static bool table_of(const struct ep_module *module, uint64_t address, struct table *out)
{
	if (recall(module, address, out))
		return true;
	if (!read_headers_of(module, address, out))
		return false;
	read_table(out);
	remember(module, out);
	return true;
}

static bool read_entries(const struct table *table, uint32_t from, uint32_t count,
			 struct entry *out)
{
	return ep_memory_read(table->first + (uint64_t)from * sizeof(*out), out,
			      count * sizeof(*out));
}

/* A place in [low, high) of the table for who lies at `wanted`, if functions are all of one size
 * between the two addresses. */
static uint32_t guess(uint32_t low, uint32_t high, int64_t wanted, int64_t from, int64_t to)
{
	uint64_t count = high - low - PIECE;

	if (wanted <= from || to <= from)
		return low;
	if (wanted >= to)
		return low + (uint32_t)count;
	return low + (uint32_t)(count * (uint64_t)(wanted - from) / (uint64_t)(to - from));
}

/* [*low, *high) of the table comes down to a piece that holds the last entry at or below `wanted`:
 * by guesses, and by halves now and then, where they lead nowhere. */
static bool narrow(const struct table *table, int64_t wanted, uint32_t *low, uint32_t *high)
{
	int64_t from = (int64_t)(table->code_start - table->header);
	int64_t to = (int64_t)(table->code_end - table->header);
	struct entry piece[PIECE];

	for (unsigned turn = 0; *high - *low >= PIECE; turn++) {
		uint32_t at = turn % 4 == 3 ? *low + (*high - *low - PIECE) / 2
					    : guess(*low, *high, wanted, from, to);

		if (!read_entries(table, at, PIECE, piece))
			return false;
		if (piece[0].start > wanted) {
			*high = at;
			to = piece[0].start;
			continue;
		}
		*low = at;
		from = piece[0].start;
		if (piece[PIECE - 1].start > wanted) {
			*high = at + PIECE - 1;
		} else if (at + PIECE == *high) {
			return true;
		} else {
			*low = at + PIECE - 1;
			from = piece[PIECE - 1].start;
		}
	}
	return *low < *high;
}

bool ep_function_range(uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct ep_module *module = module_of(address);
	struct entry entries[PIECE + 1];
	struct table table;
	uint32_t low = 0, high, count, i = 0;
	int64_t wanted;

	if (!module || !table_of(module, address, &table))
		return false;
	wanted = (int64_t)(address - table.header);
	high = table.count;
	if (!narrow(&table, wanted, &low, &high))
		return false;
	count = high - low + (high < table.count);
	if (!read_entries(&table, low, count, entries) || entries[0].start > wanted)
		return false;
	while (i + 1 < count && entries[i + 1].start <= wanted)
		i++;
	*start = table.header + (uint64_t)(int64_t)entries[i].start;
	*end = i + 1 < count ? table.header + (uint64_t)(int64_t)entries[i + 1].start
			     : table.code_end;
	if (*end > table.code_end)
		*end = table.code_end;
	return true;
}

bool ep_code_segment(uint64_t address, uint64_t *start, uint64_t *end, bool *has_header)
{
	const struct ep_module *module = module_of(address);
	struct table table;

	if (!module || !table_of(module, address, &table))
		return false;
	*start = table.code_start;
	*end = table.code_end;
	*has_header = table.has_header;
	return true;
}
