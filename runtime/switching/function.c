/* SPDX-License-Identifier: BSD-2-Clause */
/* function.c: a binary search in memory that may go away: by system calls, the last step by a piece
 * of the table at once. */
#include "runtime/switching/function.h"

#include <elf.h>
#include <stddef.h>

#include "runtime/arena/arena.h"
#include "runtime/lib/files.h"
#include "runtime/lib/text.h"

#define PIECE         64   /* entries of the table that are read at once */
#define HEADERS       8    /* program headers that are read at once */
#define ENC_UDATA4    0x03 /* DW_EH_PE_: LSB Core, "DWARF Extensions" */
#define ENC_SDATA4_AT 0x3b /* sdata4, relative to the table */
#define CIE_PIECE     48   /* bytes of one that are read: up to its pointers' encoding */

/* The binary-search table of one module. */
struct table {
	uint64_t header;               /* that it is relative to */
	uint64_t first;                /* its first entry */
	uint32_t count;                /* 0: there is none */
	uint64_t code_start, code_end; /* of the segment that holds the address */
	bool has_header;               /* the module's, in that segment */
	uint64_t load_tsc;             /* the module's */
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
	out->load_tsc = module->load_tsc;
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

/* ---- a description ---- */

/* Of the pointers of one that was read last: its address, and above bit 56 their size. */
static uint64_t last_cie;

static size_t skip_number(const uint8_t *bytes, size_t at) /* LEB128 */
{
	while (at < CIE_PIECE && bytes[at] & 0x80)
		at++;
	return at + 1;
}

static unsigned size_of(uint8_t encoding)
{
	switch (encoding & 0x07) {
	case 0: /* absptr */
	case 4: /* udata8, sdata8 */
		return 8;
	case 2:
		return 2;
	case 3:
		return 4;
	default:
		return 0;
	}
}

/* Bytes of a pointer in descriptions of this CIE: what its augmentation `R` says; 0: unknown. */
static unsigned parse_cie(const uint8_t *bytes)
{
	uint8_t version = bytes[8];
	const uint8_t *letters = bytes + 9;
	size_t at = 9;

	if (bytes[4] | bytes[5] | bytes[6] | bytes[7] || (version != 1 && version != 3))
		return 0;
	while (at < CIE_PIECE && bytes[at])
		at++;
	if (letters[0] != 'z')
		return letters[0] ? 0 : 8;
	at = skip_number(bytes, skip_number(bytes, at + 1)); /* the two factors of alignment */
	at = version == 1 ? at + 1 : skip_number(bytes, at);
	at = skip_number(bytes, at); /* how long the augmentation is */
	for (letters++; *letters && at < CIE_PIECE; letters++)
		if (*letters == 'R')
			return size_of(bytes[at]);
		else if (*letters == 'L')
			at++;
		else if (*letters == 'P')
			at += 1 + size_of(bytes[at]);
		else if (*letters != 'S' && *letters != 'B')
			return 0;
	return at < CIE_PIECE ? 8 : 0;
}

static unsigned pointer_size(uint64_t cie)
{
	uint64_t known = __atomic_load_n(&last_cie, __ATOMIC_RELAXED);
	uint8_t bytes[CIE_PIECE];
	unsigned size;

	if ((known ^ cie) << 8 == 0 && known)
		return (unsigned)(known >> 56);
	/* The last one of all may be shorter. */
	if (!ep_memory_read(cie, bytes, sizeof(bytes)))
		return 0;
	size = parse_cie(bytes);
	__atomic_store_n(&last_cie, cie | (uint64_t)size << 56, __ATOMIC_RELAXED);
	return size;
}

/* Bytes of code that the description at `at` is of; 0: it says nothing that is known. */
static uint64_t described_size(uint64_t at)
{
	struct {
		uint32_t length, cie; /* from this field back to it */
		uint8_t pointers[16]; /* where the function begins, and its size */
	} head;
	uint64_t size = 0;
	unsigned bytes;

	if (!ep_memory_read(at, &head, sizeof(head)) || head.length < 8 ||
	    head.length > UINT32_MAX - 16)
		return 0;
	bytes = pointer_size(at + 4 - head.cie);
	for (unsigned i = bytes; i-- > 0;)
		size = size << 8 | head.pointers[bytes + i];
	return size;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

/* ---- together ---- */

/* A piece of the table: who asks for one function asks for its neighbours next. */
struct piece {
	uint64_t first, load_tsc; /* the table's */
	uint32_t low, count;
	struct entry entries[PIECE + 1];
};

/* What was read last; `turn` as above. */
static struct {
	uint32_t turn;
	struct piece piece;
} last_piece;

static bool recall_piece(const struct table *table, int64_t wanted, struct piece *out)
{
	uint32_t turn = __atomic_load_n(&last_piece.turn, __ATOMIC_ACQUIRE);

	if (turn % 2 || last_piece.piece.first != table->first)
		return false;
	ep_bytes_copy(out, &last_piece.piece, sizeof(*out));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return turn == __atomic_load_n(&last_piece.turn, __ATOMIC_RELAXED) && out->count &&
	       out->first == table->first && out->load_tsc == table->load_tsc &&
	       out->entries[0].start <= wanted &&
	       (out->entries[out->count - 1].start > wanted ||
		out->low + out->count == table->count);
}

static void remember_piece(const struct piece *piece)
{
	uint32_t turn = __atomic_load_n(&last_piece.turn, __ATOMIC_RELAXED) & ~1u;

	if (!__atomic_compare_exchange_n(&last_piece.turn, &turn, turn + 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;
	ep_bytes_copy(&last_piece.piece, piece, sizeof(*piece));
	__atomic_store_n(&last_piece.turn, turn + 2, __ATOMIC_RELEASE);
}

/* The piece that holds the last entry at or below `wanted`. */
static bool read_piece(const struct table *table, int64_t wanted, struct piece *out)
{
	uint32_t low = 0, high = table->count;

	if (recall_piece(table, wanted, out))
		return true;
	if (!narrow(table, wanted, &low, &high))
		return false;
	out->first = table->first;
	out->load_tsc = table->load_tsc;
	out->low = low;
	out->count = high - low + (high < table->count);
	if (!read_entries(table, low, out->count, out->entries))
		return false;
	remember_piece(out);
	return true;
}

/* The table's last entry at or below `wanted`, and where the next one's function begins; false:
 * none begins there or before. */
static bool find_entry(const struct table *table, int64_t wanted, struct entry *out, uint64_t *next)
{
	struct piece piece;
	const struct entry *entries = piece.entries;
	uint32_t i = 0;

	*next = table->code_end;
	if (!read_piece(table, wanted, &piece))
		return false;
	if (entries[0].start > wanted) {
		*next = at_most(table->header + (uint64_t)(int64_t)entries[0].start, *next);
		return false;
	}
	while (i + 1 < piece.count && entries[i + 1].start <= wanted)
		i++;
	*out = entries[i];
	if (i + 1 < piece.count)
		*next = at_most(table->header + (uint64_t)(int64_t)entries[i + 1].start, *next);
	return true;
}

enum ep_function_found ep_function_look(uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct ep_module *module = module_of(address);
	struct entry entry;
	struct table table;
	uint64_t begin, size, next;

	if (!module || !table_of(module, address, &table))
		return EP_FUNCTION_NONE;
	*start = table.code_start;
	if (!find_entry(&table, (int64_t)(address - table.header), &entry, &next)) {
		*end = next;
		return EP_FUNCTION_BETWEEN;
	}
	*end = next;
	begin = table.header + (uint64_t)(int64_t)entry.start;
	if (begin < table.code_start) /* of another segment */
		return EP_FUNCTION_BETWEEN;
	size = described_size(table.header + (uint64_t)(int64_t)entry.description);
	if (size > next - begin)
		size = next - begin;
	*start = begin + size;
	if (address >= begin + size)
		return EP_FUNCTION_BETWEEN;
	*start = begin;
	*end = begin + size;
	return EP_FUNCTION_DESCRIBED;
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
