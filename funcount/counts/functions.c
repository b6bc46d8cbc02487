/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.c: module by module: its file is opened, its addresses are given to its symbols, and it
 * is closed again. */
#include "funcount/counts/functions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coredump/files/buildid.h"
#include "coredump/util/alloc.h"
#include "decoder/symbols/lines.h"
#include "decoder/names/module_file.h"
#include "decoder/names/path_map.h"
#include "decoder/symbols/symbols.h"
#include "decoder/symbols/demangle.h"
#include "decoder/symbols/units.h"
#include "coredump/util/utf8.h"
#include "coredump/util/hex.h"
#include "funcount/counts/code.h"

struct work {
	struct ep_functions *functions;
	const struct ep_names_options *options;
	/* of the module that is being looked at */
	const struct ep_counts_module *module;
	struct ep_path_map map; /* answers are kept by where the lines have a path */
	struct ep_module_file file;
	struct ep_symbols *symbols; /* NULL: none */
	struct ep_units *units;     /* NULL: none */
	struct ep_lines *lines;     /* NULL: none */
	struct ep_code *code;       /* NULL: none */
};

static void warn(struct work *work, const char *text)
{
	ep_array_push(&work->functions->warnings, ep_strdup(text));
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

/* Without a disassembler sizes in instructions are not known: a warning, once. */
static void open_code(struct work *work)
{
	struct ep_err missing;

	if (work->functions->codeless ||
	    ep_code_create(&work->code, work->file.elf, &missing) == EP_OK)
		return;
	work->functions->codeless = true;
	warn(work, missing.text);
}

static void open_parts(struct work *work)
{
	Elf *lines = ep_module_file_lines(&work->file);
	struct ep_err damage = {0};
	char unread[320], *text;

	if (work->file.elf || work->file.debug)
		work->symbols = ep_symbols_create(work->file.elf, work->file.debug, &damage);
	if (work->file.elf)
		open_code(work);
	if (lines)
		work->units = ep_units_create(lines);
	if (lines ? ep_units_unread(work->units, lines, unread, sizeof(unread))
		  : work->file.unread != NULL) {
		text = ep_asprintf("%s: its debug information %s", work->module->path,
				   lines ? unread : work->file.unread);
		warn(work, text);
		free(text);
	}
	if (work->units)
		work->lines = ep_lines_create(work->units);
	for (size_t i = 0; lines && work->options && i < work->options->path_map_count; i++)
		ep_path_map_add(&work->map, work->options->path_maps[i]);
	if (damage.code)
		warn(work, damage.text);
}

static void open_module(struct work *work, const struct ep_counts_module *module)
{
	struct ep_trace_module as = as_loaded(module);

	work->module = module;
	memset(&work->file, 0, sizeof(work->file));
	if (!*module->path && !module->build_id_size)
		return;
	ep_module_file_open(&work->file, &as, work->options);
	if (*work->file.warning)
		warn(work, work->file.warning);
	work->functions->unnamed |= !work->file.elf && !work->file.debug;
	open_parts(work);
}

/* ---- functions ------------------------------------------------------------ */

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

static void look_at_lines(struct work *work, struct ep_counted *counted)
{
	struct ep_line line = {0};

	if (work->lines)
		line = ep_lines_begin(work->lines, counted->address, NULL);
	if (work->lines && !line.file)
		line = ep_lines_find(work->lines, counted->address);
	if (!line.file)
		return;
	line.file = ep_path_map_find(&work->map, line.file);
	counted->file = ep_utf8_escape(line.file, strlen(line.file));
	counted->line = line.line;
}

/* `symbol` NULL, or without a name: not known. */
static void add_function(struct work *work, const struct ep_symbol *symbol, uint64_t address,
			 uint64_t calls)
{
	struct ep_counted *counted = ep_array_add(work->functions);
	const char *name = symbol && symbol->name ? symbol->name : "";

	counted->module = work->module;
	counted->module_name = ep_path_base(work->module->path);
	counted->calls = calls;
	counted->address = symbol ? symbol->start : address;
	counted->symbol = ep_strdup(name);
	if (*name)
		name_known(work, counted, name);
	else
		counted->name = ep_asprintf("%s%s0x%" PRIx64, counted->module_name,
					    *counted->module_name ? "+" : "", counted->address);
	if (symbol)
		look_at_code(work, counted, symbol->end);
	look_at_lines(work, counted);
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
static void add_places(struct work *work, const struct place *places, size_t count)
{
	for (size_t i = 0, next; i < count; i = next) {
		uint64_t calls = places[i].calls;

		for (next = i + 1; next < count && places[next].start == places[i].start; next++)
			if (__builtin_add_overflow(calls, places[next].calls, &calls))
				calls = UINT64_MAX;
		add_function(work, places[i].symbol, places[i].start, calls);
	}
}

static void add_module(struct work *work)
{
	size_t count = work->module->entries.count;
	struct place *places = ep_calloc(count, sizeof(*places));

	for (size_t i = 0; i < count; i++)
		places[i] = place_of(work, &work->module->entries.list[i]);
	qsort(places, count, sizeof(*places), by_start);
	add_places(work, places, count);
	free(places);
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

void ep_functions_create(struct ep_functions *functions, const struct ep_counts *counts,
			 const struct ep_names_options *options)
{
	struct work work = {.functions = functions, .options = options};

	*functions = (struct ep_functions){0};
	for (size_t i = 0; i < counts->modules.count; i++) {
		if (!counts->modules.list[i].entries.count)
			continue;
		open_module(&work, &counts->modules.list[i]);
		add_module(&work);
		close_module(&work);
	}
	ep_array_sort(functions, by_calls);
}

void ep_functions_deinit(struct ep_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++) {
		free(functions->list[i].name);
		free(functions->list[i].symbol);
		free(functions->list[i].file);
	}
	for (size_t i = 0; i < functions->warnings.count; i++)
		free(functions->warnings.list[i]);
	ep_array_deinit(functions);
	ep_array_deinit(&functions->warnings);
}

/* ---- another build? ------------------------------------------------------- */

static int check_build_id(const struct ep_counts *counts, const char *path, const uint8_t *id,
			  size_t size, struct ep_err *err)
{
	char text[2 * EP_BUILD_ID_MAX + 1];

	for (size_t i = 0; i < counts->modules.count; i++)
		if (counts->modules.list[i].build_id_size == size &&
		    !memcmp(counts->modules.list[i].build_id, id, size))
			return EP_OK;
	ep_hex(text, id, size);
	return ep_fail(err, EP_E_MISMATCH, 0,
		       "%s: no module of its build-id (%s) was counted: the counts are of another "
		       "build; give the file that ran, or --force",
		       path, text);
}

int ep_functions_check_file(const struct ep_counts *counts, const char *path, struct ep_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), result = EP_OK;
	uint8_t id[EP_BUILD_ID_MAX];
	size_t size;
	Elf *elf;

	if (fd < 0)
		return ep_fail(err, EP_E_IO, 0, "%s: %s", path, strerror(errno));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf_kind(elf) != ELF_K_ELF) {
		result = ep_fail(err, EP_E_FORMAT, 0, "%s: not an ELF file", path);
	} else {
		size = ep_build_id_of_elf(elf, id, sizeof(id));
		if (size > 0 && size <= EP_BUILD_ID_MAX)
			result = check_build_id(counts, path, id, size, err);
	}
	elf_end(elf);
	close(fd);
	return result;
}
