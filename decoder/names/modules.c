/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * modules.c: a mapping of a file's first bytes that begins with an ELF header is a module; its
 * program headers say the rest. All of it is read from the process's memory, never from the file,
 * which may be another one by now.
 */
#include "decoder/names/modules.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "coredump/files/buildid.h"
#include "coredump/util/alloc.h"
#include "coredump/util/search.h"

#define HEADERS_MAX 128                   /* program headers of one file */
#define NOTES_MAX   4096                  /* bytes of one PT_NOTE */
#define IMAGE_MAX   ((uint64_t)256 << 20) /* bytes of a file in memory */
#define PAGE        4096u

struct headers {
	Elf64_Ehdr file;
	Elf64_Phdr list[HEADERS_MAX];
	size_t count;
	uint64_t bias;
	uint64_t end; /* process virtual: one past the highest byte */
};

static int read_exactly(struct ep_source *source, uint64_t address, void *out, size_t size)
{
	return ep_source_read(source, address, out, size, NULL, NULL);
}

static bool is_elf(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64 &&
	       header->e_phentsize == sizeof(Elf64_Phdr) &&
	       (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

/* Where the segments lie: those with file offset 0 begin at `start`. */
static int place(struct headers *headers, uint64_t start)
{
	bool found = false;
	uint64_t end;

	headers->end = 0;
	for (size_t i = 0; i < headers->count; i++) {
		const Elf64_Phdr *one = &headers->list[i];

		if (one->p_type != PT_LOAD)
			continue;
		if (!found)
			headers->bias = start + one->p_offset - one->p_vaddr;
		found = true;
		if (__builtin_add_overflow(one->p_vaddr, one->p_memsz, &end))
			return EP_E_CORRUPT;
		end += headers->bias;
		if (end > headers->end)
			headers->end = end;
	}
	headers->end = (headers->end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	return found && headers->end > start ? EP_OK : EP_E_CORRUPT;
}

static int read_headers(struct headers *headers, struct ep_source *source, uint64_t start)
{
	int code = read_exactly(source, start, &headers->file, sizeof(headers->file));

	if (code != EP_OK)
		return code;
	if (!is_elf(&headers->file))
		return EP_E_FORMAT;
	headers->count = headers->file.e_phnum < HEADERS_MAX ? headers->file.e_phnum : HEADERS_MAX;
	code = read_exactly(source, start + headers->file.e_phoff, headers->list,
			    headers->count * sizeof(headers->list[0]));
	return code == EP_OK ? place(headers, start) : code;
}

static void read_build_id(struct ep_trace_module *module, const struct headers *headers,
			  struct ep_source *source)
{
	uint8_t bytes[NOTES_MAX];
	size_t found;

	for (size_t i = 0; i < headers->count; i++) {
		const Elf64_Phdr *one = &headers->list[i];
		size_t size = one->p_filesz < NOTES_MAX ? one->p_filesz : NOTES_MAX;

		if (one->p_type != PT_NOTE ||
		    read_exactly(source, headers->bias + one->p_vaddr, bytes, size) != EP_OK)
			continue;
		found = ep_build_id_in_notes(bytes, size, one->p_align, module->build_id,
					     sizeof(module->build_id));
		/* As the runtime has it, a longer one is none. */
		if (found && found <= sizeof(module->build_id)) {
			module->build_id_size = (uint32_t)found;
			return;
		}
		memset(module->build_id, 0, sizeof(module->build_id));
	}
}

/* ---- the list ---- */

struct list {
	struct ep_trace_module *modules;
	size_t count;
	struct ep_source *source;
	const struct ep_trace *trace;   /* NULL */
	uint64_t program;               /* an address inside of the program's file */
	const struct ep_segment **code; /* the executable ones */
	size_t code_count;
	bool last_runs; /* the last module's code is where it says */
};

static void add(struct list *list, const struct ep_trace_module *module)
{
	struct ep_trace_module *to = &list->modules[list->count];

	if (list->count == EP_MODULES_MAX)
		return;
	*to = *module;
	if (list->program >= to->start && list->program < to->end)
		to->flags |= EP_MODULE_EXECUTABLE;
	list->count++;
}

/* Is any of it executable? Data files are mapped, too. */
static bool has_code(const struct list *list, uint64_t start, uint64_t end)
{
	size_t low = ep_partition_point(list->code_count, i,
					list->code[i]->address + (list->code[i]->memory_size - 1) <
						start);

	return low < list->code_count && list->code[low]->address < end;
}

/* The mappings from `mapping` on that are of the same file. */
static uint64_t same_file_end(const struct ep_mapping *mapping, size_t count)
{
	uint64_t end = mapping[0].end;

	for (size_t i = 1; i < count && strcmp(mapping[i].path, mapping[0].path) == 0 &&
			   mapping[i].file_offset != 0;
	     i++)
		if (mapping[i].end > end)
			end = mapping[i].end;
	return end;
}

static bool runs(const struct list *list, const struct headers *headers)
{
	for (size_t i = 0; i < headers->count; i++) {
		const Elf64_Phdr *one = &headers->list[i];
		uint64_t start = headers->bias + one->p_vaddr;

		if (one->p_type == PT_LOAD && one->p_flags & PF_X)
			return has_code(list, start, start + 1);
	}
	return false;
}

static bool is_same(const struct ep_trace_module *a, const struct ep_trace_module *b)
{
	return a->start == b->start && a->build_id_size == b->build_id_size && a->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

/* A snapshot lacks most of the memory; the trace knows what had code. */
static bool is_traced(const struct list *list, const struct ep_trace_module *module)
{
	for (size_t i = 0; list->trace && i < list->trace->module_count; i++)
		if (!list->trace->modules[i].unload_tsc &&
		    is_same(&list->trace->modules[i], module))
			return true;
	return false;
}

static struct ep_trace_module *last_of(struct list *list)
{
	return list->count ? &list->modules[list->count - 1] : NULL;
}

/*
 * The header of a file that is mapped to be read tells of segments that are not there: `other` is
 * where the next file's mapping begins. Inside of an object that runs it is none of another: a
 * program may have put its code into a file of huge pages, or into memory that has a name
 * (memfd_create), so it ends where the next object begins. Of two headers of one file at most one
 * is the object's, the lower one if that cannot be told. They come from the highest on.
 */
static void add_object(struct list *list, struct ep_trace_module *module,
		       const struct headers *headers, uint64_t other)
{
	const struct ep_trace_module *last = last_of(list);
	bool here;

	module->bias = headers->bias;
	module->end = headers->end;
	read_build_id(module, headers, list->source);
	here = runs(list, headers) || is_traced(list, module);
	while (here && last && last->flags & EP_MODULE_NO_HEADER && last->end <= module->end &&
	       strcmp(last->path, module->path) != 0) {
		list->count--;
		last = last_of(list);
	}
	if (!here && other > module->start && other < module->end)
		module->end = other;
	if (last && last->start >= module->start && last->start < module->end &&
	    strcmp(last->path, module->path) == 0) {
		if (list->last_runs && !here)
			return;
		list->count--;
		last = last_of(list);
	}
	if (last && last->start > module->start && last->start < module->end)
		module->end = last->start;
	list->last_runs = here;
	add(list, module);
}

static void add_mapping(struct list *list, const struct ep_mapping *mapping, size_t left,
			uint64_t other)
{
	struct ep_trace_module module = {.start = mapping->start, .path = mapping->path};
	struct headers headers;
	int code;

	if (mapping->file_offset != 0 || mapping->end <= mapping->start)
		return;
	code = read_headers(&headers, list->source, mapping->start);
	if (code == EP_OK) {
		add_object(list, &module, &headers, other);
	} else if (code != EP_E_FORMAT) {
		module.bias = mapping->start;
		module.end = same_file_end(mapping, left);
		module.flags = EP_MODULE_NO_HEADER;
		if (has_code(list, module.start, module.end))
			add(list, &module);
	}
}

static void add_mappings(struct list *list, const struct ep_mapping *mappings, size_t count)
{
	uint64_t other = UINT64_MAX;

	for (size_t i = count; i-- && list->count < EP_MODULES_MAX;) {
		if (i + 1 < count && strcmp(mappings[i].path, mappings[i + 1].path) != 0)
			other = mappings[i + 1].start;
		add_mapping(list, &mappings[i], count - i, other);
	}
}

static void add_vdso(struct list *list)
{
	struct ep_trace_module module = {.path = "[vdso]", .flags = EP_MODULE_VDSO};
	struct headers headers;

	if (ep_source_auxv(list->source, AT_SYSINFO_EHDR, &module.start) != EP_OK ||
	    read_headers(&headers, list->source, module.start) != EP_OK)
		return;
	module.bias = headers.bias;
	module.end = headers.end;
	read_build_id(&module, &headers, list->source);
	add(list, &module);
}

static int compare_modules(const void *a, const void *b)
{
	const struct ep_trace_module *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* What the trace saw, and saw no end of. */
static void add_traced(struct list *list, const struct ep_trace *trace)
{
	for (size_t i = 0; i < trace->module_count; i++)
		if (trace->modules[i].unload_tsc == 0 &&
		    !(trace->modules[i].flags & EP_MODULE_VDSO))
			add(list, &trace->modules[i]);
}

/*
 * An object whose header was put elsewhere with its code, too: its memory shows what it is, and the
 * trace knows by which name it was loaded. One of no file is among no mappings at all. Where the
 * memory was not saved the program can still be no other.
 */
static void add_remapped(struct list *list)
{
	const struct ep_trace *trace = list->trace;
	size_t mapped = list->count;

	for (size_t i = 0; i < trace->module_count; i++) {
		const struct ep_trace_module *traced = &trace->modules[i];
		struct ep_trace_module found = *traced;
		struct headers headers;
		bool free = true;

		if (traced->unload_tsc || traced->flags & EP_MODULE_VDSO)
			continue;
		for (size_t j = 0; j < mapped; j++) {
			struct ep_trace_module *one = &list->modules[j];

			free = free && (one->end <= traced->start || one->start >= traced->end);
			if (is_same(one, traced) &&
			    strncmp(one->path, traced->path, strlen(traced->path)) != 0)
				one->path = traced->path;
			else if (one->flags & EP_MODULE_NO_HEADER && one->start == traced->start &&
				 traced->flags & EP_MODULE_EXECUTABLE)
				*one = *traced;
		}
		found.build_id_size = 0;
		if (free && read_headers(&headers, list->source, traced->start) == EP_OK)
			read_build_id(&found, &headers, list->source);
		else if (traced->flags & EP_MODULE_EXECUTABLE)
			found = *traced;
		if (free && is_same(&found, traced))
			add(list, traced);
	}
}

static void list_init(struct list *list, struct ep_source *source, size_t capacity)
{
	size_t count;
	const struct ep_segment *segments = ep_source_segments(source, &count);

	if (capacity > EP_MODULES_MAX)
		capacity = EP_MODULES_MAX;
	*list = (struct list){
		.modules = ep_calloc(capacity, sizeof(*list->modules)),
		.source = source,
		.code = ep_calloc(count, sizeof(*list->code)),
	};
	for (size_t i = 0; i < count; i++)
		if (segments[i].flags & PF_X)
			list->code[list->code_count++] = &segments[i];
	if (ep_source_auxv(source, AT_PHDR, &list->program) != EP_OK)
		list->program = 0;
}

struct ep_trace_module *ep_modules_from_source(size_t *count, struct ep_source *source,
					       const struct ep_trace *trace)
{
	const struct ep_mapping *mappings;
	size_t mapped, traced = trace ? trace->module_count : 0;
	struct list list;

	mappings = ep_source_mappings(source, &mapped);
	list_init(&list, source, mapped + traced + 1);
	list.trace = trace;
	add_mappings(&list, mappings, mapped);
	if (mapped == 0 && trace)
		add_traced(&list, trace);
	else if (trace)
		add_remapped(&list);
	add_vdso(&list);
	free(list.code);
	qsort(list.modules, list.count, sizeof(*list.modules), compare_modules);
	*count = list.count;
	return list.modules;
}

/* ---- an image ---- */

/* Bytes of the file up to the end of its last read-only segment; 0: too many, or nonsense. */
static uint64_t image_size(const struct headers *headers)
{
	uint64_t size = 0, end;

	for (size_t i = 0; i < headers->count; i++) {
		const Elf64_Phdr *one = &headers->list[i];

		if (one->p_type != PT_LOAD || (one->p_flags & PF_W))
			continue;
		if (__builtin_add_overflow(one->p_offset, one->p_filesz, &end) || end > IMAGE_MAX)
			return 0;
		if (end > size)
			size = end;
	}
	return size >= sizeof(Elf64_Ehdr) ? size : 0;
}

static bool copy_segments(uint8_t *image, const struct headers *headers, struct ep_source *source)
{
	for (size_t i = 0; i < headers->count; i++) {
		const Elf64_Phdr *one = &headers->list[i];

		if (one->p_type == PT_LOAD && !(one->p_flags & PF_W) &&
		    read_exactly(source, headers->bias + one->p_vaddr, image + one->p_offset,
				 one->p_filesz) != EP_OK)
			return false;
	}
	return true;
}

Elf *ep_module_image(const struct ep_trace_module *module, struct ep_source *source, void **memory)
{
	struct headers headers;
	uint64_t size;
	uint8_t *image;
	Elf *elf;

	if (read_headers(&headers, source, module->start) != EP_OK)
		return NULL;
	size = image_size(&headers);
	if (!size)
		return NULL;
	image = ep_calloc(1, size);
	if (!copy_segments(image, &headers, source)) {
		free(image);
		return NULL;
	}
	/* Section headers are not part of a process: never believe them. */
	((Elf64_Ehdr *)image)->e_shoff = 0;
	((Elf64_Ehdr *)image)->e_shnum = 0;
	((Elf64_Ehdr *)image)->e_shstrndx = 0;
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)image, size);
	if (!elf) {
		free(image);
		return NULL;
	}
	*memory = image;
	return elf;
}
