/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.c: module by module: its file is opened, its addresses are given to its symbols, and it
 * is closed again. */
#include "funcount/counts/functions.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decoder/symbols/lines.h"
#include "decoder/names/module_file.h"
#include "decoder/names/path_map.h"
#include "decoder/symbols/symbols.h"
#include "decoder/symbols/demangle.h"
#include "decoder/symbols/units.h"
#include "coredump/util/utf8.h"
#include "funcount/counts/code.h"

struct work {
	struct ep_functions *functions;
	const struct ep_names_options *options;
	/* of the module that is being looked at */
	const struct ep_counts_module *module;
	struct ep_path_map map; /* answers are kept by where the lines have a
				   path */
	struct ep_module_file file;
	struct ep_symbols *symbols; /* NULL: none */
	struct ep_units *units;     /* NULL: none */
	struct ep_lines *lines;     /* NULL: none */
	struct ep_code *code;       /* NULL: none */
	struct ep_err *err;
};

static int no_memory(struct work *work)
{
	return ep_fail(work->err, EP_E_MEMORY, 0, "no memory for functions");
}

static int warn(struct work *work, const char *text)
{
	struct ep_functions *functions = work->functions;
	char **grown =
		reallocarray(functions->warnings, functions->warning_count + 1, sizeof(*grown));
	char *copy = strdup(text);

	if (grown)
		functions->warnings = grown;
	if (!grown || !copy) {
		free(copy);
		return no_memory(work);
	}
	grown[functions->warning_count++] = copy;
	return EP_OK;
}

/* ---- a module's file ------------------------------------------------------ */

/* The module as those who look for files want it. */
static struct ep_trace_module as_loaded(const struct ep_counts_module *module)
{
	struct ep_trace_module as = {
		.path = module->path,
		.flags = module->executable ? EP_MODULE_EXECUTABLE : 0,
		.build_id_size = module->build_id_size,
	};

	if (!strcmp(module->path, "[vdso]"))
		as.flags |= EP_MODULE_VDSO;
	memcpy(as.build_id, module->build_id, sizeof(as.build_id));
	return as;
}

static void close_module(struct work *work)
{
	ep_path_map_deinit(&work->map);
	ep_lines_destroy(work->lines);
	ep_units_destroy(work->units);
	ep_code_destroy(work->code);
	ep_symbols_destroy(work->symbols);
	ep_module_file_close(&work->file);
	work->lines = NULL;
	work->units = NULL;
	work->code = NULL;
	work->symbols = NULL;
}

/* Without a disassembler sizes in instructions are not known: told once. */
static int open_code(struct work *work)
{
	struct ep_err missing;
	int result = EP_OK;

	if (!work->functions->codeless)
		result = ep_code_create(&work->code, work->file.elf, &missing);
	if (result != EP_E_VERSION)
		return result;
	work->functions->codeless = true;
	return warn(work, missing.text);
}

static int open_parts(struct work *work)
{
	Elf *lines = ep_module_file_lines(&work->file);
	struct ep_err damage = {0};
	int result = EP_OK;

	if (work->file.elf || work->file.debug)
		work->symbols = ep_symbols_create(work->file.elf, work->file.debug, &damage);
	if (!result && work->file.elf)
		result = open_code(work);
	if (result == EP_E_MEMORY)
		return no_memory(work);
	if (lines)
		work->units = ep_units_create(lines);
	if (work->units)
		work->lines = ep_lines_create(work->units);
	for (size_t i = 0; lines && work->options && i < work->options->path_map_count; i++)
		ep_path_map_add(&work->map, work->options->path_maps[i]);
	return damage.code ? warn(work, damage.text) : EP_OK;
}

static int open_module(struct work *work, const struct ep_counts_module *module)
{
	struct ep_trace_module as = as_loaded(module);
	int result = EP_OK;

	work->module = module;
	memset(&work->file, 0, sizeof(work->file));
	if (!*module->path && !module->build_id_size)
		return EP_OK;
	ep_module_file_open(&work->file, &as, work->options);
	if (*work->file.warning)
		result = warn(work, work->file.warning);
	work->functions->unnamed |= !work->file.elf && !work->file.debug;
	return result ? result : open_parts(work);
}

/* ---- functions ------------------------------------------------------------ */

static struct ep_counted *append(struct work *work)
{
	struct ep_functions *functions = work->functions;
	size_t wanted = functions->capacity ? 2 * functions->capacity : 64;
	struct ep_counted *grown = functions->list;

	if (functions->count == functions->capacity) {
		grown = reallocarray(functions->list, wanted, sizeof(*grown));
		if (!grown)
			return NULL;
		functions->list = grown;
		functions->capacity = wanted;
	}
	grown[functions->count] = (struct ep_counted){
		.module = work->module,
		.module_name = ep_path_base(work->module->path),
	};
	return &grown[functions->count++];
}

static void name_unknown(struct ep_counted *counted, uint64_t address)
{
	int length = *counted->module_name ? asprintf(&counted->name, "%s+0x%" PRIx64,
						      counted->module_name, address)
					   : asprintf(&counted->name, "0x%" PRIx64, address);

	if (length < 0)
		counted->name = NULL;
}

static void name_known(struct work *work, struct ep_counted *counted, const char *symbol)
{
	bool raw = work->options && work->options->no_demangle;

	counted->name = ep_demangle_shown(symbol, raw);
}

static void look_at_code(struct work *work, struct ep_counted *counted, uint64_t end)
{
	struct ep_code_facts facts;

	counted->size = end - counted->address;
	if (!work->code || ep_code_look(work->code, counted->address, end, &facts) || !facts.whole)
		return;
	counted->instructions = facts.instructions;
	counted->loops = facts.loops;
}

static int look_at_lines(struct work *work, struct ep_counted *counted)
{
	struct ep_line line = {0};

	if (work->lines)
		line = ep_lines_begin(work->lines, counted->address, NULL);
	if (work->lines && !line.file)
		line = ep_lines_find(work->lines, counted->address);
	if (!line.file)
		return EP_OK;
	line.file = ep_path_map_find(&work->map, line.file);
	counted->file = ep_utf8_escape(line.file, strlen(line.file));
	counted->line = line.line;
	return counted->file ? EP_OK : no_memory(work);
}

/* `symbol` NULL, or without a name: not known. */
static int add_function(struct work *work, const struct ep_symbol *symbol, uint64_t address,
			uint64_t calls)
{
	struct ep_counted *counted = append(work);
	const char *name = symbol && symbol->name ? symbol->name : "";
	int result;

	if (!counted)
		return no_memory(work);
	counted->calls = calls;
	counted->address = symbol ? symbol->start : address;
	counted->symbol = strdup(name);
	if (*name)
		name_known(work, counted, name);
	else
		name_unknown(counted, counted->address);
	if (symbol)
		look_at_code(work, counted, symbol->end);
	result = look_at_lines(work, counted);
	return counted->symbol && counted->name ? result : no_memory(work);
}

/* An address that was counted, and whose it is. */
struct place {
	const struct ep_symbol *symbol; /* NULL: unknown */
	uint64_t start;                 /* of the symbol, or the address */
	uint64_t calls;
};

static int by_start(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static struct place place_of(const struct work *work, const struct ep_counts_entry *entry)
{
	const struct ep_symbol *symbol =
		work->symbols ? ep_symbols_find(work->symbols, entry->address) : NULL;

	return (struct place){symbol, symbol ? symbol->start : entry->address, entry->calls};
}

/* Places of one function follow each other. */
static int add_places(struct work *work, const struct place *places, size_t count)
{
	int result = EP_OK;

	for (size_t i = 0, next; i < count && !result; i = next) {
		uint64_t calls = places[i].calls;

		for (next = i + 1; next < count && places[next].start == places[i].start; next++)
			if (__builtin_add_overflow(calls, places[next].calls, &calls))
				calls = UINT64_MAX;
		result = add_function(work, places[i].symbol, places[i].start, calls);
	}
	return result;
}

static int add_module(struct work *work)
{
	size_t count = work->module->entry_count;
	struct place *places = calloc(count, sizeof(*places));
	int result;

	if (!places)
		return no_memory(work);
	for (size_t i = 0; i < count; i++)
		places[i] = place_of(work, &work->module->entries[i]);
	qsort(places, count, sizeof(*places), by_start);
	result = add_places(work, places, count);
	free(places);
	return result;
}

static int by_calls(const void *a, const void *b)
{
	const struct ep_counted *x = a, *y = b;
	int order;

	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	order = strcmp(x->name, y->name);
	if (!order)
		order = strcmp(x->module->path, y->module->path);
	if (order)
		return order;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int add_all(struct work *work, const struct ep_counts *counts)
{
	int result = EP_OK;

	for (size_t i = 0; i < counts->module_count && !result; i++) {
		if (!counts->modules[i].entry_count)
			continue;
		result = open_module(work, &counts->modules[i]);
		if (!result)
			result = add_module(work);
		close_module(work);
	}
	return result;
}

int ep_functions_create(struct ep_functions *functions, const struct ep_counts *counts,
			const struct ep_names_options *options, struct ep_err *err)
{
	struct work work = {.functions = functions, .options = options, .err = err};
	int result;

	*functions = (struct ep_functions){0};
	result = add_all(&work, counts);
	if (result)
		ep_functions_deinit(functions);
	else if (functions->count)
		qsort(functions->list, functions->count, sizeof(*functions->list), by_calls);
	return result;
}

void ep_functions_deinit(struct ep_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++) {
		free(functions->list[i].name);
		free(functions->list[i].symbol);
		free(functions->list[i].file);
	}
	for (size_t i = 0; i < functions->warning_count; i++)
		free(functions->warnings[i]);
	free(functions->list);
	free(functions->warnings);
	*functions = (struct ep_functions){0};
}

/* ---- another build? ------------------------------------------------------- */

static void hex(char *to, const uint8_t *bytes, size_t size)
{
	*to = '\0';
	for (size_t i = 0; i < size; i++)
		sprintf(to + 2 * i, "%02x", bytes[i]);
}

static int check_build_id(const struct ep_counts *counts, const char *path, const uint8_t *id,
			  size_t size, struct ep_err *err)
{
	char text[2 * EP_BUILD_ID_MAX + 1];

	for (size_t i = 0; i < counts->module_count; i++)
		if (counts->modules[i].build_id_size == size &&
		    !memcmp(counts->modules[i].build_id, id, size))
			return EP_OK;
	hex(text, id, size);
	return ep_fail(err, EP_E_MISMATCH, 0,
		       "%s: no module of its build-id (%s) was counted: the "
		       "counts are of another build; give the file that ran, "
		       "or --force",
		       path, text);
}

int ep_functions_check_file(const struct ep_counts *counts, const char *path, struct ep_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result = EP_OK;
	const void *id = NULL;
	ssize_t size;
	Elf *elf;

	if (fd < 0)
		return ep_fail(err, EP_E_IO, 0, "%s: %s", path, strerror(errno));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf_kind(elf) != ELF_K_ELF) {
		result = ep_fail(err, EP_E_FORMAT, 0, "%s: not an ELF file", path);
	} else {
		size = dwelf_elf_gnu_build_id(elf, &id);
		if (size > 0 && size <= EP_BUILD_ID_MAX)
			result = check_build_id(counts, path, id, (size_t)size, err);
	}
	elf_end(elf);
	close(fd);
	return result;
}
