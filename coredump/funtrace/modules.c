/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * modules.c: PROCMAPS: lines as in /proc/PID/maps, by three hands. The kernel's and gdb's have
 * page-aligned addresses and the offset in the file; funtrace's own (funtrace.cpp, phdr_callback)
 * list the executable segments with their exact ends, and p_vaddr where the offset should be. The
 * file on disk tells which is which; without it the bias is a guess, and marked so.
 */
#include <elf.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/memory/elfimage.h"
#include "coredump/funtrace/funtrace_impl.h"
#include "coredump/files/elffile.h"
#include "coredump/util/alloc.h"
#include "coredump/util/search.h"

#define MODULES_MAX 65536u
#define PATH_LIMIT  4096u
#define PATH_SIZE   8192

/* ---- a line ---- */

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(struct ep_cursor *line)
{
	while (line->at < line->end && is_blank(*line->at))
		line->at++;
}

static void skip_word(struct ep_cursor *line)
{
	skip_blanks(line);
	while (line->at < line->end && !is_blank(*line->at))
		line->at++;
}

static int digit_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_hex(struct ep_cursor *line, uint64_t *out)
{
	unsigned digits = 0;

	skip_blanks(line);
	for (*out = 0; line->at < line->end && digits < 17; line->at++) {
		int digit = digit_of(*line->at);

		if (digit < 0)
			break;
		*out = *out << 4 | (unsigned)digit;
		digits++;
	}
	return digits > 0 && digits < 17;
}

/* The next line, without its end. False: no more. */
static bool next_line(struct ep_cursor *text, struct ep_cursor *line)
{
	size_t left = ep_cursor_left(text), size;
	const uint8_t *end, *bytes;

	if (left == 0)
		return false;
	end = memchr(text->at, '\n', left);
	size = end ? (size_t)(end - text->at) : left;
	if (ep_cursor_view(text, &bytes, size))
		return false;
	ep_cursor_init(line, bytes, size);
	ep_cursor_skip(text, end ? 1 : 0);
	return true;
}

/* START-END PERMISSIONS OFFSET DEVICE INODE PATH */
static bool parse_line(struct ep_cursor *line, struct ep_funtrace_module *out)
{
	memset(out, 0, sizeof(*out));
	if (!parse_hex(line, &out->start) || line->at == line->end || *line->at++ != '-' ||
	    !parse_hex(line, &out->end))
		return false;
	skip_word(line);
	if (!parse_hex(line, &out->offset))
		return false;
	skip_word(line);
	skip_word(line);
	skip_blanks(line);
	out->path = (const char *)line->at;
	out->path_size = (uint32_t)ep_cursor_left(line);
	return out->start < out->end && ep_cursor_left(line) <= PATH_LIMIT;
}

/* Neither anonymous memory nor the kernel's pages, which dl_iterate_phdr gives a name without a
 * folder. */
static bool is_file(const struct ep_funtrace_module *module)
{
	static const char vdso[] = "linux-vdso";

	return module->path_size && module->path[0] != '[' &&
	       (module->path_size < sizeof(vdso) ||
		memcmp(module->path, vdso, sizeof(vdso) - 1) != 0);
}

/* ---- modules ---- */

static int compare_starts(const void *a, const void *b)
{
	const struct ep_funtrace_module *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool same_path(const struct ep_funtrace_module *a, const struct ep_funtrace_module *b)
{
	return a->path_size == b->path_size && memcmp(a->path, b->path, a->path_size) == 0;
}

/* Neighbouring lines of one file are one module; what overlaps is cut. Returns how many are
 * left. */
static size_t join(struct ep_funtrace_module *list, size_t count)
{
	size_t kept = 0;

	qsort(list, count, sizeof(*list), compare_starts);
	for (size_t i = 0; i < count; i++) {
		struct ep_funtrace_module *last = kept ? &list[kept - 1] : NULL;

		if (last && same_path(last, &list[i])) {
			if (list[i].end > last->end)
				last->end = list[i].end;
		} else if (!last || list[i].start >= last->end) {
			list[kept++] = list[i];
		}
	}
	return kept;
}

static void read_id(struct ep_funtrace_module *module, struct ep_cursor *line)
{
	skip_blanks(line);
	while (module->build_id_size < EP_BUILD_ID_MAX && ep_cursor_left(line) >= 2) {
		int high = digit_of(line->at[0]), low = digit_of(line->at[1]);

		if (high < 0 || low < 0)
			return;
		module->build_id[module->build_id_size++] = (uint8_t)(high << 4 | low);
		line->at += 2;
	}
}

/* BUILDIDS: "START BUILD-ID" of lines of the map. */
static void read_ids(struct ep_funtrace_module *list, size_t count, struct ep_cursor text)
{
	struct ep_funtrace_module key, *module;
	struct ep_cursor line;

	while (count && next_line(&text, &line)) {
		if (!parse_hex(&line, &key.start))
			continue;
		module = bsearch(&key, list, count, sizeof(*list), compare_starts);
		if (module && !module->build_id_size)
			read_id(module, &line);
	}
}

/* Lines that are not understood. */
static uint64_t read_lines(struct ep_funtrace_content *content, struct ep_cursor text)
{
	struct ep_funtrace_module module;
	struct ep_cursor line;
	uint64_t bad = 0;

	while (content->modules.count < MODULES_MAX && next_line(&text, &line)) {
		if (ep_cursor_left(&line) == 0)
			continue;
		if (!parse_line(&line, &module))
			bad++;
		else if (is_file(&module))
			ep_array_push(&content->modules, module);
	}
	return bad;
}

void ep_funtrace_modules(struct ep_source *source, struct ep_funtrace_content *content)
{
	struct ep_cursor text, ids;
	uint64_t bad;

	ep_cursor_init(&text, content->maps, content->maps_size);
	ep_cursor_init(&ids, content->ids, content->ids_size);
	bad = read_lines(content, text);
	if (content->modules.count)
		content->modules.count = join(content->modules.list, content->modules.count);
	read_ids(content->modules.list, content->modules.count, ids);
	if (bad)
		ep_source_warn(
			source,
			"%s: %" PRIu64
			" lines of PROCMAPS are not understood: functions there have no names",
			source->path, bad);
	else if (content->modules.count == 0)
		ep_source_warn(source, "%s: no PROCMAPS for this sample: functions have no names",
			       source->path);
}

/* ---- where they really are ---- */

/* A module's file. */
struct object {
	Elf64_Phdr headers[EP_ELF_IMAGE_HEADERS];
	unsigned count;
	uint16_t type;
	uint64_t low, high; /* of its PT_LOADs: p_vaddr, whole pages */
};

static bool object_read(struct object *object, Elf *elf)
{
	GElf_Ehdr header;
	size_t count;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || elf_getphdrnum(elf, &count) != 0)
		return false;
	object->type = header.e_type;
	object->low = UINT64_MAX;
	for (size_t i = 0; i < count && object->count < EP_ELF_IMAGE_HEADERS; i++) {
		Elf64_Phdr *one = &object->headers[object->count];
		uint64_t end;

		if (!gelf_getphdr(elf, (int)i, one))
			return false;
		if (one->p_type != PT_LOAD ||
		    __builtin_add_overflow(one->p_vaddr, one->p_memsz, &end) ||
		    end > EP_ADDRESS_MASK)
			continue;
		if (one->p_vaddr / EP_PAGE * EP_PAGE < object->low)
			object->low = one->p_vaddr / EP_PAGE * EP_PAGE;
		if (end > object->high)
			object->high = (end + EP_PAGE - 1) / EP_PAGE * EP_PAGE;
		object->count++;
	}
	return object->count != 0;
}

static bool object_open(struct object *object, const char *path)
{
	Elf *elf = NULL;
	bool ok = false;
	int fd = ep_elf_file_open(path);

	memset(object, 0, sizeof(*object));
	if (fd >= 0) {
		elf_version(EV_CURRENT);
		elf = elf_begin(fd, ELF_C_READ, NULL);
		ok = elf && object_read(object, elf);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return ok;
}

/* When a segment of the file fits to what the map says. */
static bool bias_find(const struct object *object, uint64_t start, uint64_t offset, uint64_t size,
		      uint64_t *bias)
{
	for (unsigned i = 0; i < object->count; i++) {
		const Elf64_Phdr *one = &object->headers[i];

		*bias = start - one->p_vaddr;
		if (one->p_flags & PF_X && one->p_vaddr == offset && one->p_memsz == size &&
		    *bias % EP_PAGE == 0)
			return object->type != ET_EXEC || *bias == 0;
	}
	for (unsigned i = 0; i < object->count; i++) {
		const Elf64_Phdr *one = &object->headers[i];

		*bias = start - (offset - one->p_offset + one->p_vaddr);
		if (offset >= one->p_offset / EP_PAGE * EP_PAGE &&
		    offset - one->p_offset / EP_PAGE * EP_PAGE < one->p_filesz &&
		    *bias % EP_PAGE == 0)
			return object->type != ET_EXEC || *bias == 0;
	}
	return false;
}

/* A module that its file explains covers all of the file's segments. */
static void place(struct ep_module *module, const struct object *object, uint64_t low,
		  uint64_t high)
{
	uint64_t offset = module->start - module->bias, start, end, bias;

	if (!bias_find(object, module->start, offset, module->end - module->start, &bias))
		return;
	start = object->low + bias;
	end = object->high + bias;
	if (start < low || start > module->start)
		start = module->start;
	if (end > high || end < module->end)
		end = module->end;
	module->start = start;
	module->end = end;
	module->bias = bias;
	module->flags &= ~EP_MODULE_NO_HEADER;
}

/* Where the file of a module is. */
static void path_of(char out[PATH_SIZE], const struct ep_source *source,
		    const struct ep_module *module, const char *path)
{
	if (source->executable && module->flags & EP_MODULE_EXECUTABLE)
		snprintf(out, PATH_SIZE, "%s", source->executable);
	else
		snprintf(out, PATH_SIZE, "%s%.*s", source->sysroot ? source->sysroot : "",
			 (int)module->path.length, path);
}

/* Newer than the trace, and no build-id to tell whether it is another one. */
static void warn_newer(struct ep_source *source, const struct ep_module *module, const char *path)
{
	struct stat raw, file;

	if (module->build_id_size == 0 && fstat(source->fd, &raw) == 0 && stat(path, &file) == 0 &&
	    file.st_mtime > raw.st_mtime)
		ep_source_warn(
			source,
			"%s was changed after %s was written: its functions may have other names",
			path, source->path);
}

/* ---- symbols ---- */

static int compare_codes(const void *a, const void *b)
{
	const struct ep_funtrace_code *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int compare_code_names(const void *a, const void *b)
{
	const struct ep_funtrace_code *x = *(void *const *)a, *y = *(void *const *)b;

	return strcmp(x->name, y->name);
}

/* f.cold is f's, of the same object file, or where that is global. */
static void find_owners(struct ep_funtrace_code *list, size_t count)
{
	const struct ep_funtrace_code **sorted = ep_calloc(count, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		sorted[i] = &list[i];
	qsort(sorted, count, sizeof(*sorted), compare_code_names);
	for (size_t i = 0; i < count; i++) {
		const char *suffix = strstr(list[i].name, ".cold");
		char *name =
			suffix ? ep_strndup(list[i].name, (size_t)(suffix - list[i].name)) : NULL;
		size_t at = name ? ep_partition_point(count, n, strcmp(sorted[n]->name, name) < 0)
				 : count;

		for (; at < count && strcmp(sorted[at]->name, name) == 0; at++)
			if (sorted[at]->file == 0 || sorted[at]->file == list[i].file) {
				list[i].owner = sorted[at]->start;
				list[i].owner_end = sorted[at]->end;
			}
		free(name);
	}
	free(sorted);
}

static void codes_of(struct ep_funtrace_codes *codes, Elf *elf, uint64_t bias)
{
	size_t first = codes->count;
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;
		GElf_Shdr header;
		GElf_Sym symbol;
		uint32_t file = 0;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
			uint64_t start = bias + symbol.st_value, end = start + symbol.st_size;
			bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;

			file += GELF_ST_TYPE(symbol.st_info) == STT_FILE;
			if (name && GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size &&
			    symbol.st_shndx != SHN_UNDEF && start < end)
				ep_array_push(codes,
					      ((struct ep_funtrace_code){start, end, start, end,
									 name, local ? file : 0}));
		}
	}
	if (codes->count > first)
		find_owners(codes->list + first, codes->count - first);
}

void ep_funtrace_codes(struct ep_source *source, struct ep_funtrace_codes *codes)
{
	const struct ep_arena *arena = (void *)source->funtrace->arena;
	const struct ep_modules *head = NULL;
	const struct ep_module *list;
	char path[PATH_SIZE];

	for (uint32_t i = 0; i < arena->section_count; i++)
		if (arena->sections[i].type == EP_SECTION_MODULES)
			head = (void *)(source->funtrace->arena + arena->sections[i].offset);
	list = (const struct ep_module *)(head + 1);
	for (uint32_t i = 0; head && i < head->count; i++) {
		Elf *elf;
		int fd;

		if (list[i].flags & EP_MODULE_NO_HEADER)
			continue;
		path_of(path, source, &list[i], (const char *)head + list[i].path.offset);
		fd = ep_elf_file_open(path);
		elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
		if (elf)
			codes_of(codes, elf, list[i].bias);
		elf_end(elf);
		if (fd >= 0)
			close(fd);
	}
	if (codes->count)
		qsort(codes->list, codes->count, sizeof(*codes->list), compare_codes);
}

void ep_funtrace_place_modules(struct ep_source *source)
{
	const struct ep_arena *arena = (void *)source->funtrace->arena;
	struct ep_modules *head = NULL;
	struct ep_module *list;
	struct object object;
	char path[PATH_SIZE];

	for (uint32_t i = 0; i < arena->section_count; i++)
		if (arena->sections[i].type == EP_SECTION_MODULES)
			head = (void *)(source->funtrace->arena + arena->sections[i].offset);
	list = (struct ep_module *)(head + 1);
	for (uint32_t i = 0; head && i < head->count; i++) {
		if (!(list[i].flags & EP_MODULE_NO_HEADER))
			continue;
		path_of(path, source, &list[i], (char *)head + list[i].path.offset);
		if (!object_open(&object, path))
			continue;
		warn_newer(source, &list[i], path);
		place(&list[i], &object, i ? list[i - 1].end : 0,
		      i + 1 < head->count ? list[i + 1].start : UINT64_MAX);
	}
}
