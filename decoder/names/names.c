/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c: which module, then which function of its file. A module's file is opened when the first
 * address of it is asked for; modules that are the same file share it, and those at the same place
 * too share their functions.
 */
#include "decoder/names/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "coredump/util/search.h"
#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/util/hash.h"
#include "coredump/util/progress.h"
#include "decoder/names/constant_strings.h"
#include "decoder/names/debuginfod.h"
#include "decoder/names/named_file.h"
#include "decoder/names/path_map.h"
#include "decoder/symbols/demangle.h"
#include "coredump/util/utf8.h"

#define CACHE_SIZE 16384 /* addresses, direct mapped */
/* Functions without a name, at most: a trace of noise must not eat all memory. */
#define UNKNOWN_MAX ((size_t)1 << 20)

struct module {
	const struct ep_trace_module *facts;
	char *name;       /* base name, valid UTF-8 */
	size_t file;      /* index into files */
	size_t canonical; /* index of the first module of the same file at the same place */
	uint64_t reach;   /* the highest end of this and all before it */
};

struct function {
	struct ep_function public; /* first: the two are cast to each other */
	size_t module;             /* canonical; SIZE_MAX outside */
	uint64_t key;              /* start, or the address when bounds are unknown */
	char *raw;                 /* the symbol; NULL unknown */
	struct ep_line line;
	bool line_asked;
};

struct cached {
	uint64_t address;
	const struct ep_function *function;
};

struct warning {
	const char *code; /* static */
	char *text;
};

#define OTHER_WARNING "names"

struct ep_names {
	struct module *modules; /* ascending start */
	size_t module_count;
	struct ep_named_file *files; /* shared by modules of the same file */
	size_t file_count, opened_count;
	struct ep_names_options options;
	struct ep_path_map path_map;
	EP_ARRAY(struct function *) functions; /* by id */
	struct ep_hash by_place;               /* of functions, by module and key */
	size_t unknown_count;
	struct function *nothing; /* answered when too much is unknown; NULL until then */
	EP_ARRAY(struct warning) warnings;
	struct ep_constant_strings strings; /* by canonical module, SIZE_MAX: memory */
	struct cached cache[CACHE_SIZE];
};

/* ---- modules ---- */

static int compare_modules(const void *a, const void *b)
{
	const struct module *x = a, *y = b;

	if (x->facts->start != y->facts->start)
		return x->facts->start < y->facts->start ? -1 : 1;
	return (x->facts->load_tsc > y->facts->load_tsc) -
	       (x->facts->load_tsc < y->facts->load_tsc);
}

static bool same_file(const struct ep_trace_module *a, const struct ep_trace_module *b)
{
	return a->flags == b->flags && a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 &&
	       strcmp(a->path, b->path) == 0;
}

/* By what makes two modules the same file, then by place. */
static int compare_identity(const void *a, const void *b)
{
	const struct module *x = *(void *const *)a, *y = *(void *const *)b;
	const struct ep_trace_module *m = x->facts, *n = y->facts;
	int order = strcmp(m->path, n->path);

	if (order == 0)
		order = memcmp(m->build_id, n->build_id, EP_BUILD_ID_MAX);
	if (order != 0)
		return order;
	if (m->bias != n->bias)
		return m->bias < n->bias ? -1 : 1;
	if (m->start != n->start)
		return m->start < n->start ? -1 : 1;
	return (x > y) - (x < y);
}

/* Numbers the files, and finds each module's first self. */
static void identify_modules(struct ep_names *names)
{
	struct module **sorted = ep_calloc(names->module_count, sizeof(*sorted));

	for (size_t i = 0; i < names->module_count; i++)
		sorted[i] = &names->modules[i];
	qsort(sorted, names->module_count, sizeof(*sorted), compare_identity);
	for (size_t i = 0; i < names->module_count; i++) {
		struct module *one = sorted[i], *before = i ? sorted[i - 1] : NULL;
		bool same = before && same_file(one->facts, before->facts);

		one->file = same ? before->file : names->file_count++;
		one->canonical = (size_t)(one - names->modules);
		if (same && before->facts->bias == one->facts->bias &&
		    before->facts->start == one->facts->start)
			one->canonical = before->canonical;
	}
	free(sorted);
	names->files = ep_calloc(names->file_count, sizeof(*names->files));
}

static void set_modules(struct ep_names *names, const struct ep_trace_module *modules, size_t count)
{
	uint64_t reach = 0;

	names->modules = ep_calloc(count, sizeof(*names->modules));
	for (size_t i = 0; i < count; i++)
		names->modules[i].facts = &modules[i];
	names->module_count = count;
	qsort(names->modules, count, sizeof(*names->modules), compare_modules);
	for (size_t i = 0; i < count; i++) {
		struct module *one = &names->modules[i];
		const char *base = ep_path_base(one->facts->path);

		if (one->facts->end > reach)
			reach = one->facts->end;
		one->reach = reach;
		one->name = ep_utf8_escape(base, strlen(base));
	}
	identify_modules(names);
}

/* *alone: no other module was ever at this address. */
static struct module *find_module(struct ep_names *names, uint64_t address, uint64_t tsc,
				  bool *alone)
{
	size_t low;
	struct module *found = NULL;

	if (tsc == 0)
		tsc = UINT64_MAX;
	*alone = true;
	low = ep_partition_point(names->module_count, i, names->modules[i].facts->start <= address);
	while (low-- > 0 && names->modules[low].reach > address) {
		struct module *one = &names->modules[low];

		if (address >= one->facts->end)
			continue;
		*alone = !found;
		if (!found || ep_trace_module_fits(one->facts, found->facts, tsc))
			found = one;
	}
	return found;
}

/* ---- files ---- */

static void add_warning(struct ep_names *names, const char *code, const char *text)
{
	ep_array_push(&names->warnings,
		      ((struct warning){code, ep_utf8_escape(text, strlen(text))}));
}

static void load_file(struct ep_names *names, const struct module *module,
		      struct ep_named_file *file)
{
	struct ep_module_file *found = &file->found;
	struct ep_err err;
	char text[sizeof(err.text) + 300];

	ep_module_file_open(found, module->facts, &names->options);
	if (found->warning[0])
		add_warning(names,
			    found->other_build             ? "other-build-id"
			    : !found->elf && !found->debug ? "no-file"
							   : OTHER_WARNING,
			    found->warning);
	if (!found->elf && !found->debug)
		return;
	file->symbols = ep_symbols_create(found->elf, found->debug, &err);
	if (err.code != EP_OK) {
		snprintf(text, sizeof(text), "%.250s: %s", module->name, err.text);
		add_warning(names, OTHER_WARNING, text);
	}
}

static struct ep_named_file *open_file(struct ep_names *names, const struct module *module)
{
	struct ep_named_file *file = &names->files[module->file];
	char *loading;

	if (file->opened)
		return file;
	file->opened = true;
	file->raw = names->options.no_demangle;
	loading = ep_asprintf("loading symbols of %s, %zu of %zu modules", module->name,
			      ++names->opened_count, names->file_count);
	ep_progress_inner(loading);
	load_file(names, module, file);
	ep_progress_inner_end();
	free(loading);
	return file;
}

/* ---- functions ---- */

static uint32_t hash_function(size_t module, uint64_t key)
{
	return ep_hash_number(key ^ (uint64_t)module << 48);
}

static struct function *known_function(const struct ep_names *names, size_t module, uint64_t key)
{
	uint32_t hash = hash_function(module, key), at = 0, id;

	while ((id = ep_hash_next(&names->by_place, hash, &at)) != EP_HASH_NONE) {
		struct function *one = names->functions.list[id];

		if (one->module == module && one->key == key)
			return one;
	}
	return NULL;
}

/* With the next id, and no name. */
static struct function *make_function(struct ep_names *names, size_t module, uint64_t key)
{
	struct function *function = ep_calloc(1, sizeof(*function));

	function->public.id = (uint32_t)names->functions.count;
	function->public.symbol = function->public.module = "";
	function->module = module;
	function->key = key;
	ep_hash_add(&names->by_place, hash_function(module, key), function->public.id);
	ep_array_push(&names->functions, function);
	return function;
}

/* As in the symbol table, less its version (memcpy@@GLIBC_2.14). */
static char *raw_name(const struct ep_symbol *symbol)
{
	const char *version = strchr(symbol->name, '@');

	if (!version || version == symbol->name)
		return ep_strdup(symbol->name);
	return ep_strndup(symbol->name, (size_t)(version - symbol->name));
}

/* What people read: demangled, valid UTF-8. */
static char *readable(const struct ep_names *names, const char *raw, bool plt)
{
	char *whole, *name = ep_demangle_shown(raw, names->options.no_demangle);

	if (!plt)
		return name;
	whole = ep_asprintf("%s@plt", name);
	free(name);
	return whole;
}

static char *unknown_name(const struct module *module, uint64_t address)
{
	if (!module)
		return ep_asprintf("0x%" PRIx64, address);
	return ep_asprintf("%s+0x%" PRIx64, module->name, address - module->facts->bias);
}

/* `symbol` NULL: nothing is known but the address. */
static void name_function(const struct ep_names *names, struct function *function,
			  const struct module *module, const struct ep_symbol *symbol)
{
	struct ep_function *public = &function->public;

	if (!symbol || !symbol->name) {
		public->name = unknown_name(module, function->key);
		return;
	}
	function->raw = raw_name(symbol);
	public->symbol = function->raw;
	public->name = readable(names, function->raw, symbol->plt);
	public->known = true;
}

static struct function *add_function(struct ep_names *names, size_t index,
				     const struct ep_symbol *symbol, uint64_t key)
{
	const struct module *module = index == SIZE_MAX ? NULL : &names->modules[index];
	struct function *function = make_function(names, index, key);
	struct ep_function *public = &function->public;

	name_function(names, function, module, symbol);
	public->module = module ? module->name : "";
	public->in = module ? module->facts : NULL;
	public->start = symbol ? symbol->start + module->facts->bias : key;
	public->end = symbol ? symbol->end + module->facts->bias : key;
	public->exported_guess = symbol && symbol->inexact;
	return function;
}

/* Neither addresses nor spans are looked up below these. */
#define SPANS   (SIZE_MAX - 1)
#define NOTHING (SIZE_MAX - 2)

static struct function *nothing_of(struct ep_names *names)
{
	if (!names->nothing) {
		names->nothing = make_function(names, NOTHING, 0);
		names->nothing->public.name = ep_strdup("?");
		names->nothing->line_asked = true;
	}
	return names->nothing;
}

static struct function *function_at(struct ep_names *names, const struct module *module,
				    uint64_t address)
{
	const struct ep_symbol *symbol = NULL;
	size_t index = module ? module->canonical : SIZE_MAX;
	struct function *function;
	struct ep_named_file *file;
	uint64_t key = address;

	if (module) {
		file = open_file(names, module);
		if (file->symbols)
			symbol = ep_symbols_find(file->symbols, address - module->facts->bias);
		/* A made-up size may reach around the address space. */
		if (symbol && symbol->end - symbol->start > ~(symbol->start + module->facts->bias))
			symbol = NULL;
		if (symbol)
			key = symbol->start + module->facts->bias;
	}
	function = known_function(names, index, key);
	if (function)
		return function;
	if (!symbol && names->unknown_count >= UNKNOWN_MAX)
		return nothing_of(names);
	function = add_function(names, index, symbol, key);
	if (!symbol)
		names->unknown_count++;
	if (module && !(symbol && symbol->name))
		names->files[module->file].nameless++;
	return function;
}

const struct ep_function *ep_names_find(struct ep_names *names, uint64_t address, uint64_t tsc)
{
	struct cached *cached = &names->cache[(address ^ address >> 14) % CACHE_SIZE];
	const struct module *module;
	const struct ep_function *function;
	bool alone;

	if (cached->function && cached->address == address)
		return cached->function;
	module = find_module(names, address, tsc, &alone);
	function = &function_at(names, module, address)->public;
	if (alone)
		*cached = (struct cached){address, function};
	return function;
}

/* Linkage stubs are left out, and what has no name is counted. */
static void each_range(struct ep_names *names, const struct module *module, ep_names_range_fn *fn,
		       void *context)
{
	struct ep_named_file *file = open_file(names, module);
	uint64_t bias = module->facts->bias, start, end;
	const struct ep_symbol *symbol;

	for (size_t i = 0;
	     file->symbols && (symbol = ep_symbols_range(file->symbols, i, &start, &end)); i++)
		if (!symbol->name)
			file->nameless++;
		else if (!symbol->plt)
			fn(context, ep_names_find(names, start + bias, 0), start + bias,
			   end + bias);
}

void ep_names_each_range(struct ep_names *names, ep_names_range_fn *fn, void *context)
{
	for (size_t i = 0; i < names->module_count; i++)
		if (!names->modules[i].facts->unload_tsc && names->modules[i].canonical == i)
			each_range(names, &names->modules[i], fn, context);
}

/* ---- lines ---- */

/* As ep_named_file_lines; what of them is not read is said once. */
static struct ep_named_file *open_lines(struct ep_names *names, const struct module *module)
{
	struct ep_named_file *file = open_file(names, module);
	bool asked = file->lines_asked;
	char *text;

	ep_named_file_lines(file);
	if (asked || !file->unread[0])
		return file;
	text = ep_asprintf("%s: its debug information %s", module->name, file->unread);
	add_warning(names, OTHER_WARNING, text);
	free(text);
	return file;
}

struct ep_line ep_names_function_line(struct ep_names *names, const struct ep_function *public)
{
	/* Every function that we answered lies inside one of ours. */
	struct function *function = (struct function *)(uintptr_t) public;
	const struct module *module;

	if (function->line_asked || function->module == SIZE_MAX || public->start == public->end)
		return function->line;
	function->line_asked = true;
	module = &names->modules[function->module];
	function->line = ep_named_file_beginning(open_lines(names, module),
						 public->start - module->facts->bias);
	function->line.file = ep_path_map_find(&names->path_map, function->line.file);
	return function->line;
}

struct ep_line ep_names_address_line(struct ep_names *names, uint64_t address, uint64_t tsc)
{
	bool alone;
	const struct module *module = find_module(names, address, tsc, &alone);
	struct ep_lines *lines = module ? ep_named_file_lines(open_lines(names, module)) : NULL;
	struct ep_line line = {0};

	if (!lines)
		return line;
	line = ep_lines_find(lines, address - module->facts->bias);
	line.file = ep_path_map_find(&names->path_map, line.file);
	line.directory = ep_path_map_find(&names->path_map, line.directory);
	return line;
}

size_t ep_names_inlined(struct ep_names *names, uint64_t address, uint64_t tsc,
			struct ep_inlined out[EP_INLINED_MAX])
{
	bool alone;
	const struct module *module = find_module(names, address, tsc, &alone);
	struct ep_inlines *inlines =
		module ? ep_named_file_inlines(open_lines(names, module)) : NULL;
	size_t count;

	if (!inlines)
		return 0;
	count = ep_inlines_find(inlines, address - module->facts->bias, out);
	for (size_t i = 0; i < count; i++)
		out[i].call.file = ep_path_map_find(&names->path_map, out[i].call.file);
	return count;
}

bool ep_names_debug(struct ep_names *names, uint64_t address, struct ep_names_debug *out)
{
	bool alone;
	const struct module *module = find_module(names, address, 0, &alone);
	struct ep_named_file *file = module ? open_lines(names, module) : NULL;
	struct ep_inlines *inlines = file ? ep_named_file_inlines(file) : NULL;
	struct stat status;

	if (!inlines)
		return false;
	*out = (struct ep_names_debug){
		.inlines = inlines,
		.bias = module->facts->bias,
		.sysroot = names->options.sysroot,
	};
	if (file->found.elf && file->found.fd >= 0 && fstat(file->found.fd, &status) == 0)
		out->written = status.st_mtime;
	return true;
}

const char *ep_names_mapped_folder(const struct ep_names *names, const char *file)
{
	for (size_t i = 0; i < names->path_map.rules.count; i++) {
		const char *folder = names->path_map.rules.list[i].to;
		size_t length = strlen(folder);

		if (length && strncmp(file, folder, length) == 0 && file[length] == '/')
			return folder;
	}
	return NULL;
}

const char *ep_names_undebugged(struct ep_names *names, uint64_t address)
{
	bool alone;
	const struct module *module = find_module(names, address, 0, &alone);

	return module ? open_lines(names, module)->unread : "";
}

bool ep_names_source(struct ep_names *names, uint64_t address, const char *file, char out[PATH_MAX],
		     const char **why)
{
	bool alone;
	const struct module *module = find_module(names, address, 0, &alone);

	*why = "";
	return module && names->options.debuginfod &&
	       ep_debuginfod_find(out, EP_DEBUGINFOD_SOURCE, module->facts->build_id,
				  module->facts->build_id_size, file, names->options.progress, why);
}

size_t ep_names_code(struct ep_names *names, uint64_t address, void *out, size_t size)
{
	bool alone;
	const struct module *module = find_module(names, address, 0, &alone);

	if (!module)
		return 0;
	return ep_module_file_read(&open_file(names, module)->found, address - module->facts->bias,
				   out, size);
}

size_t ep_names_constant(struct ep_names *names, uint64_t address, void *out, size_t size)
{
	bool alone;
	const struct module *module = find_module(names, address, 0, &alone);

	if (!module)
		return 0;
	return ep_constant_bytes_of_file(&open_file(names, module)->found,
					 address - module->facts->bias, out, size);
}

bool ep_names_word(const struct ep_names *names, uint64_t address, uint64_t *out)
{
	return names->options.memory && ep_source_read(names->options.memory, address, out,
						       sizeof(*out), NULL, NULL) == EP_OK;
}

const char *ep_names_constant_string(struct ep_names *names, uint64_t address, uint64_t tsc)
{
	bool alone;
	const struct module *module = find_module(names, address, tsc, &alone);
	const char *text = NULL;

	if (module)
		text = ep_constant_strings_of_file(&names->strings, module->canonical,
						   &open_file(names, module)->found,
						   address - module->facts->bias);
	return text ? text
		    : ep_constant_strings_of_memory(&names->strings, names->options.memory,
						    address);
}

/* ---- spans ---- */

/* By a number made of the name; of two names with one number the second gets the next. */
static uint64_t number_of(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return hash;
}

static struct function *add_span(struct ep_names *names, const char *name, uint64_t key)
{
	struct function *function = make_function(names, SPANS, key);

	function->public.name = ep_strdup(name);
	function->public.known = function->public.span = true;
	function->line_asked = true;
	names->unknown_count++;
	return function;
}

const struct ep_function *ep_names_span(struct ep_names *names, const char *name)
{
	uint64_t key = number_of(name);
	struct function *function;

	while ((function = known_function(names, SPANS, key)) != NULL &&
	       strcmp(function->public.name, name) != 0)
		key++;
	if (!function && names->unknown_count < UNKNOWN_MAX)
		function = add_span(names, name, key);
	return function ? &function->public : &nothing_of(names)->public;
}

/* ---- the whole ---- */

static void copy_options(struct ep_names *names, const struct ep_names_options *options)
{
	const char **paths = ep_calloc(options->debug_path_count, sizeof(*paths));

	names->options = *options;
	names->options.debug_paths = paths;
	names->options.path_maps = NULL;
	if (options->executable)
		names->options.executable = ep_strdup(options->executable);
	if (options->sysroot)
		names->options.sysroot = ep_strdup(options->sysroot);
	for (size_t i = 0; i < options->path_map_count; i++)
		ep_path_map_add(&names->path_map, options->path_maps[i]);
	for (size_t i = 0; i < options->debug_path_count; i++)
		paths[i] = ep_strdup(options->debug_paths[i]);
}

struct ep_names *ep_names_create(const struct ep_trace_module *modules, size_t count,
				 const struct ep_names_options *options)
{
	struct ep_names *names = ep_calloc(1, sizeof(*names));

	if (options)
		copy_options(names, options);
	set_modules(names, modules, count);
	return names;
}

void ep_names_destroy(struct ep_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->functions.count; i++) {
		free((char *)names->functions.list[i]->public.name);
		free(names->functions.list[i]->raw);
		free(names->functions.list[i]);
	}
	ep_array_deinit(&names->functions);
	ep_hash_deinit(&names->by_place);
	ep_constant_strings_deinit(&names->strings);
	for (size_t i = 0; i < names->file_count; i++)
		ep_named_file_deinit(&names->files[i]);
	for (size_t i = 0; i < names->module_count; i++)
		free(names->modules[i].name);
	for (size_t i = 0; i < names->warnings.count; i++)
		free(names->warnings.list[i].text);
	for (size_t i = 0; i < names->options.debug_path_count; i++)
		free((char *)names->options.debug_paths[i]);
	free((void *)names->options.debug_paths);
	free((char *)names->options.executable);
	free((char *)names->options.sysroot);
	ep_path_map_deinit(&names->path_map);
	ep_array_deinit(&names->warnings);
	free(names->files);
	free(names->modules);
	free(names);
}

bool ep_names_incomplete(const struct ep_names *names)
{
	for (size_t i = 0; i < names->file_count; i++)
		if (names->files[i].inlines && ep_inlines_incomplete(names->files[i].inlines))
			return true;
	return names->nothing != NULL;
}

const char *ep_names_warning(const struct ep_names *names, size_t index)
{
	if (index < names->warnings.count)
		return names->warnings.list[index].text;
	if (index > names->warnings.count || !ep_names_incomplete(names))
		return NULL;
	return "some names and lines are missing: more than a million addresses are unknown, or "
	       "debug information is too large";
}

const struct ep_trace_module *ep_names_stripped(const struct ep_names *names, size_t index,
						size_t *count)
{
	for (size_t i = 0; i < names->module_count; i++) {
		const struct module *module = &names->modules[i];
		const struct ep_named_file *file = &names->files[module->file];

		if (module->canonical != i || !file->nameless || !file->symbols ||
		    !ep_symbols_stripped(file->symbols) || index-- > 0)
			continue;
		*count = file->nameless;
		return module->facts;
	}
	return NULL;
}

const char *ep_names_warning_code(const struct ep_names *names, size_t index)
{
	return index < names->warnings.count ? names->warnings.list[index].code : OTHER_WARNING;
}
