/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_check.c: what differs by a few bytes in a row was changed in the process (a site of a hook,
 * a sled, a breakpoint: at most EP_SLED_SIZE bytes, and two may be neighbours); of other code whole
 * functions differ. Read-only data is nobody's to change.
 */
#include "decoder/names/file_check.h"

#include <gelf.h>
#include <string.h>

#include "coredump/memory/elfimage.h"
#include "coredump/snapshot/redacted.h"
#include "coredump/util/search.h"
#include "decoder/trace/records.h"

#define PAGE    4096u
#define CHANGED 48u /* bytes in a row that the process may have changed in its code … */
#define APART   4u  /* … where fewer equal ones than that do not end a row */

/* ---- where it lies ---- */

/* The object is still there, as far as the source says what is mapped. */
static bool is_mapped(const struct ep_trace_module *module, const struct ep_source *memory)
{
	static const char deleted[] = " (deleted)";
	const struct ep_mapping *mappings;
	size_t count, i, length;
	const char *rest;

	if (!memory || module->unload_tsc || module->flags & (EP_MODULE_VDSO | EP_MODULE_NO_HEADER))
		return false;
	mappings = ep_source_mappings(memory, &count);
	if (count == 0)
		return true;
	for (i = 0; i < count && mappings[i].start != module->start; i++)
		;
	if (i == count || mappings[i].file_offset != 0)
		return false;
	/* Behind either that may stand. */
	length = strlen(module->path);
	if (strlen(mappings[i].path) < length)
		length = strlen(mappings[i].path);
	if (strncmp(module->path, mappings[i].path, length) != 0)
		return false;
	rest = module->path[length] ? module->path + length : mappings[i].path + length;
	return *rest == '\0' || strcmp(rest, deleted) == 0;
}

/* ---- headers ---- */

static bool same_segment(const Elf64_Phdr *a, const GElf_Phdr *b)
{
	return a->p_type == b->p_type && a->p_vaddr == b->p_vaddr && a->p_filesz == b->p_filesz &&
	       a->p_memsz == b->p_memsz;
}

/* strip(1) changes where section headers are, and execstack(8) what PT_GNU_STACK says. */
static const char *headers_differ(Elf *elf, const struct ep_elf_image *image,
				  struct ep_source *memory)
{
	Elf64_Ehdr in_memory;
	GElf_Ehdr in_file;
	size_t count;

	if (ep_source_read(memory, image->start, &in_memory, sizeof(in_memory), NULL, NULL) ||
	    !gelf_getehdr(elf, &in_file) || elf_getphdrnum(elf, &count))
		return NULL;
	if (in_memory.e_type != in_file.e_type || in_memory.e_entry != in_file.e_entry ||
	    in_memory.e_phnum != count)
		return "its ELF header is another one";
	for (uint32_t i = 0; i < image->count; i++) {
		const Elf64_Phdr *one = &image->headers[i];
		GElf_Phdr other;
		bool places = one->p_type == PT_LOAD || one->p_type == PT_DYNAMIC ||
			      one->p_type == PT_TLS || one->p_type == PT_GNU_EH_FRAME;

		if (places && (!gelf_getphdr(elf, (int)i, &other) || !same_segment(one, &other)))
			return "its segments are of other sizes";
	}
	return NULL;
}

/* ---- bytes ---- */

struct look {
	Elf *elf;
	struct ep_source *memory;
	uint64_t bias;
	uint64_t start;  /* process virtual: of the ELF header … */
	uint64_t behind; /* … and the end of the program headers: compared already */
	uint64_t most, stride;
	uint64_t compared, whole; /* bytes */
};

/* Rows of different bytes that are longer than `changed`. */
static bool differ(const uint8_t *a, const uint8_t *b, size_t size, size_t changed)
{
	size_t row = 0, equal = APART;

	for (size_t i = 0; i < size; i++) {
		if (a[i] == b[i]) {
			equal++;
			continue;
		}
		row = equal < APART ? row + equal + 1 : 1;
		equal = 0;
		if (row > changed)
			return true;
	}
	return false;
}

/* Up to a page, of the file's segment. What cannot be read does not count. */
static bool page_differs(struct look *look, const GElf_Phdr *segment, uint64_t address, size_t size)
{
	bool first = address - look->start < PAGE;
	size_t changed = first && !(segment->p_flags & PF_X) ? 0 : CHANGED;
	uint64_t offset = segment->p_offset + (address - look->bias - segment->p_vaddr);
	size_t from = address < look->behind ? look->behind - address : 0, got = 0;
	uint8_t bytes[PAGE];
	Elf_Data *data;

	if (from >= size)
		return false;
	ep_source_read(look->memory, address, bytes, size, &got, NULL);
	data = elf_getdata_rawchunk(look->elf, (int64_t)offset, size, ELF_T_BYTE);
	if (!data || !data->d_buf || got <= from)
		return false;
	look->compared += got;
	return differ(bytes + from, (const uint8_t *)data->d_buf + from, got - from, changed);
}

/* What memory has of a segment that the program could not write to. */
static bool segment_differs(struct look *look, const GElf_Phdr *segment)
{
	uint64_t start = look->bias + segment->p_vaddr, end = start + segment->p_filesz;
	const struct ep_segment *saved;
	size_t count, i;

	saved = ep_source_segments(look->memory, &count);
	for (i = ep_partition_point(count, k, saved[k].address + saved[k].memory_size <= start);
	     i < count && saved[i].address < end; i++) {
		uint64_t at = saved[i].address > start ? saved[i].address : start;
		uint64_t last = saved[i].address + saved[i].present_size;

		last = last < end ? last : end;
		while (at < last) {
			uint64_t size = PAGE - at % PAGE < last - at ? PAGE - at % PAGE : last - at;

			if (page_differs(look, segment, at, size))
				return true;
			/* The first page always, and every so many. */
			at += size + (look->stride - 1) * PAGE;
		}
	}
	return false;
}

static bool is_constant(const GElf_Phdr *segment)
{
	return segment->p_type == PT_LOAD && !(segment->p_flags & PF_W);
}

static bool bytes_differ(struct look *look, size_t count)
{
	GElf_Phdr segment;

	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(look->elf, (int)i, &segment) && is_constant(&segment))
			look->whole += segment.p_filesz;
	look->stride = look->whole / (look->most ? look->most : 1) + 1;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(look->elf, (int)i, &segment) && is_constant(&segment) &&
		    segment.p_filesz && segment_differs(look, &segment))
			return true;
	return false;
}

enum ep_file_check ep_file_check(Elf *elf, const struct ep_trace_module *module,
				 struct ep_source *memory, uint64_t most, const char **what)
{
	struct look look = {.elf = elf, .memory = memory, .most = most};
	struct ep_elf_image image;

	if (!is_mapped(module, memory) || ep_elf_image_read(&image, memory, module->start, NULL))
		return EP_FILE_UNCHECKED;
	*what = headers_differ(elf, &image, memory);
	if (*what)
		return EP_FILE_OTHER;
	/* Of what was redacted there are zeroes. */
	if (ep_source_redacted(memory))
		return EP_FILE_ALIKE;
	look.bias = image.bias;
	look.start = module->start;
	look.behind = module->start + sizeof(Elf64_Ehdr) + image.count * sizeof(Elf64_Phdr);
	if (bytes_differ(&look, image.count)) {
		*what = "its bytes are others";
		return EP_FILE_OTHER;
	}
	return look.compared == look.whole && look.stride == 1 ? EP_FILE_SAME : EP_FILE_ALIKE;
}

/* ---- calls ---- */

#define CALLS_MAX   256u
#define BLOCKS_MAX  2u  /* of a thread: the newest ones … */
#define THREADS_MAX 32u /* … of so many */
#define BEFORE      8u
/* Bytes of a function in which its own address is made for the hook: what it saves, and the
 * trampolines of its nested functions, come before. */
#define BEHIND 4096u

struct calls {
	uint64_t list[CALLS_MAX]; /* in the file, ascending */
	size_t count;
};

static void call_add(struct calls *calls, uint64_t address)
{
	size_t at = ep_partition_point(calls->count, i, calls->list[i] < address);

	if (calls->count == CALLS_MAX || (at < calls->count && calls->list[at] == address))
		return;
	memmove(&calls->list[at + 1], &calls->list[at],
		(calls->count - at) * sizeof(calls->list[0]));
	calls->list[at] = address;
	calls->count++;
}

static void calls_gather(struct calls *calls, const struct ep_trace_module *module,
			 const struct ep_trace *trace)
{
	struct ep_records records;
	const struct ep_record *record;

	for (size_t i = 0; i < trace->thread_count && i < THREADS_MAX; i++) {
		const struct ep_trace_thread *thread = &trace->threads[i];

		if (!thread->block_count)
			continue;
		ep_records_init(&records, trace, thread);
		if (thread->block_count > BLOCKS_MAX)
			ep_records_seek(&records,
					thread->blocks[thread->block_count - BLOCKS_MAX].tsc);
		while (calls->count < CALLS_MAX && ep_records_next(&records, &record) == EP_OK) {
			const struct ep_trace_module *in;

			if (record->kind != EP_RECORD_CALL || record->address < module->start ||
			    record->address >= module->end)
				continue;
			in = ep_trace_module_at(trace, record->address, record->time);
			if (in && in->start == module->start && in->bias == module->bias &&
			    in->unload_tsc == module->unload_tsc)
				call_add(calls, record->address - module->bias);
		}
	}
}

/* Bytes of code, of the segment that holds `address`: *before of them lie before it. */
static size_t code_at(Elf *elf, uint64_t address, uint8_t out[BEFORE + BEHIND], size_t *before)
{
	GElf_Phdr segment;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t at, size;
		Elf_Data *data;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)
			continue;
		at = address - segment.p_vaddr;
		*before = at < BEFORE ? at : BEFORE;
		size = segment.p_filesz - (at - *before);
		size = size < BEFORE + BEHIND ? size : BEFORE + BEHIND;
		data = elf_getdata_rawchunk(elf, (int64_t)(segment.p_offset + at - *before), size,
					    ELF_T_BYTE);
		if (!data || !data->d_buf)
			return 0;
		memcpy(out, data->d_buf, size);
		return size;
	}
	return 0;
}

/* A call (or what it is while it is off), or a sled before the address; or its own number, relative
 * or not, soon behind it. */
static bool has_hook(const uint8_t *code, size_t size, size_t before, uint64_t address)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	const uint8_t *at = code + before;

	if (before >= 5 && (at[-5] == 0xe8 || at[-5] == 0xe9 || at[-5] == 0xa9 ||
			    memcmp(at - 5, nop, sizeof(nop)) == 0))
		return true;
	if (before >= 6 && at[-6] == 0xff && (at[-5] == 0x15 || at[-5] == 0x25))
		return true;
	if (before >= 7 && at[-7] == 0xeb && at[-6] == 0x09)
		return true;
	for (size_t i = before; i + 4 <= size; i++) {
		int32_t number;

		memcpy(&number, code + i, sizeof(number));
		if (address + (i - before) + 4 + (uint64_t)(int64_t)number == address ||
		    (uint64_t)(uint32_t)number == address)
			return true;
	}
	return false;
}

/* Takes out those at which a function begins. */
static void calls_drop_functions(struct calls *calls, Elf *elf)
{
	bool function[CALLS_MAX] = {false};
	Elf_Scn *section = NULL;
	size_t kept = 0;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
			size_t at = ep_partition_point(calls->count, k,
						       calls->list[k] < symbol.st_value);

			if (at < calls->count && calls->list[at] == symbol.st_value &&
			    GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
				function[at] = true;
		}
	}
	for (size_t i = 0; i < calls->count; i++)
		if (!function[i])
			calls->list[kept++] = calls->list[i];
	calls->count = kept;
}

size_t ep_file_check_calls(Elf *elf, const struct ep_trace_module *module,
			   const struct ep_trace *trace, size_t *asked)
{
	struct calls calls = {.count = 0};
	uint8_t code[BEFORE + BEHIND];
	size_t kept = 0, before;

	*asked = 0;
	if (!trace)
		return 0;
	calls_gather(&calls, module, trace);
	*asked = calls.count;
	for (size_t i = 0; i < calls.count; i++) {
		size_t size = code_at(elf, calls.list[i], code, &before);

		if (!size || !has_hook(code, size, before, calls.list[i]))
			calls.list[kept++] = calls.list[i];
	}
	calls.count = kept;
	if (kept)
		calls_drop_functions(&calls, elf);
	return calls.count;
}

/* ---- debug files ---- */

/* The section of `elf` that has that name. */
static bool section_like(Elf *elf, size_t names, const char *name, GElf_Shdr *out)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		const char *text =
			gelf_getshdr(section, out) ? elf_strptr(elf, names, out->sh_name) : NULL;

		if (text && strcmp(text, name) == 0)
			return true;
	}
	return false;
}

static bool same_sections(Elf *debug, Elf *own)
{
	size_t debug_names, own_names;
	Elf_Scn *section = NULL;
	GElf_Shdr one, other;

	if (elf_getshdrstrndx(debug, &debug_names) || elf_getshdrstrndx(own, &own_names))
		return true;
	while ((section = elf_nextscn(own, section))) {
		const char *name = gelf_getshdr(section, &one)
					   ? elf_strptr(own, own_names, one.sh_name)
					   : NULL;

		/* Names that occur twice are not told apart; code does not. */
		if (name && one.sh_flags & SHF_EXECINSTR &&
		    section_like(debug, debug_names, name, &other) &&
		    (one.sh_addr != other.sh_addr || one.sh_size != other.sh_size))
			return false;
	}
	return true;
}

bool ep_file_check_debug(Elf *debug, Elf *own, const struct ep_trace_module *module,
			 struct ep_source *memory)
{
	struct ep_elf_image image;
	GElf_Phdr other;
	size_t count;

	if (own)
		return same_sections(debug, own);
	if (!is_mapped(module, memory) || ep_elf_image_read(&image, memory, module->start, NULL) ||
	    elf_getphdrnum(debug, &count) || count != image.count)
		return true;
	/* What lies in it is left out of the file: sizes in memory stay. */
	for (uint32_t i = 0; i < image.count; i++)
		if (image.headers[i].p_type == PT_LOAD && gelf_getphdr(debug, (int)i, &other) &&
		    other.p_type == PT_LOAD &&
		    (image.headers[i].p_vaddr != other.p_vaddr ||
		     image.headers[i].p_memsz != other.p_memsz))
			return false;
	return true;
}
