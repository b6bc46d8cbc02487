/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c: which module, then which function of its file. A module's file is opened when the first
 * address of it is asked for; modules that are the same file share it, and those at the same place
 * too share their functions.
 */
#include "decoder/names/names.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/names/constant_strings.h"
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
	size_t canonical; /* index of the first module of the same file at the
			     same place */
	uint64_t reach;   /* the highest end of this and all before it */
};

struct function {
	struct ep_function public; /* first: the two are cast to each other */
	struct function *next;     /* in its bucket */
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
	size_t file_count;
	struct ep_names_options options;
	struct ep_path_map path_map;
	struct function **buckets; /* of functions, by module and key */
	size_t bucket_count;       /* a power of two */
	size_t function_count, unknown_count;
	struct warning *warnings;
	size_t warning_count;
	bool starved;                        /* memory ran out once: something is missing */
	struct function nothing;             /* answered when memory is out, or too much is
						unknown; its name is NULL until then */
	struct ep_constant_strings literals; /* by canonical module, SIZE_MAX: memory */
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
static int identify_modules(struct ep_names *names)
{
	struct module **sorted = calloc(names->module_count + 1, sizeof(*sorted));

	if (!sorted)
		return EP_E_MEMORY;
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
	names->files = calloc(names->file_count + 1, sizeof(*names->files));
	return names->files ? EP_OK : EP_E_MEMORY;
}

static int take_modules(struct ep_names *names, const struct ep_trace_module *modules, size_t count)
{
	uint64_t reach = 0;

	names->modules = calloc(count + 1, sizeof(*names->modules));
	if (!names->modules)
		return EP_E_MEMORY;
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
		if (!one->name)
			return EP_E_MEMORY;
	}
	return identify_modules(names);
}

/* Is `a` the better answer for `tsc` than `b`? A module is first seen some time after it was
 * loaded, so one that was seen later beats one that had gone. */
static bool fits_better(const struct ep_trace_module *a, const struct ep_trace_module *b,
			uint64_t tsc)
{
	bool a_gone = a->unload_tsc != 0 && a->unload_tsc <= tsc;
	bool b_gone = b->unload_tsc != 0 && b->unload_tsc <= tsc;
	bool a_later = a->load_tsc > tsc, b_later = b->load_tsc > tsc;

	if (a_gone != b_gone)
		return b_gone;
	if (a_gone)
		return a->unload_tsc > b->unload_tsc;
	if (a_later != b_later)
		return b_later;
	return a_later ? a->load_tsc < b->load_tsc : a->load_tsc > b->load_tsc;
}

/* *alone: no other module was ever at this address. */
static struct module *find_module(struct ep_names *names, uint64_t address, uint64_t tsc,
				  bool *alone)
{
	size_t low = 0, high = names->module_count;
	struct module *found = NULL;

	if (tsc == 0)
		tsc = UINT64_MAX;
	*alone = true;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names->modules[middle].facts->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0 && names->modules[low].reach > address) {
		struct module *one = &names->modules[low];

		if (address >= one->facts->end)
			continue;
		*alone = !found;
		if (!found || fits_better(one->facts, found->facts, tsc))
			found = one;
	}
	return found;
}

/* ---- files ---- */

static void add_warning(struct ep_names *names, const char *code, const char *text)
{
	char *copy = ep_utf8_escape(text, strlen(text));
	struct warning *grown =
		realloc(names->warnings, (names->warning_count + 1) * sizeof(*grown));

	if (grown)
		names->warnings = grown;
	if (!grown || !copy) {
		names->starved = true;
		free(copy);
		return;
	}
	names->warnings[names->warning_count++] = (struct warning){code, copy};
}

static struct ep_named_file *open_file(struct ep_names *names, const struct module *module)
{
	struct ep_named_file *file = &names->files[module->file];
	struct ep_module_file *found = &file->found;
	struct ep_err err;
	char text[sizeof(err.text) + 300];
	int rc;

	if (file->opened)
		return file;
	file->opened = true;
	file->raw = names->options.no_demangle;
	ep_module_file_open(found, module->facts, &names->options);
	if (found->warning[0])
		add_warning(names,
			    found->other_build             ? "other-build-id"
			    : !found->elf && !found->debug ? "no-file"
							   : OTHER_WARNING,
			    found->warning);
	if (!found->elf && !found->debug)
		return file;
	rc = ep_symbols_create(&file->symbols, found->elf, found->debug, &err);
	if (rc)
		file->symbols = NULL;
	file->starved |= rc == EP_E_MEMORY;
	if (err.code != EP_OK) {
		snprintf(text, sizeof(text), "%.250s: %s", module->name, err.text);
		add_warning(names, OTHER_WARNING, text);
	}
	return file;
}

/* ---- functions ---- */

static size_t hash_function(size_t module, uint64_t key)
{
	uint64_t x = (key ^ (uint64_t)module << 48) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(x ^ x >> 29);
}

static void rehash(struct ep_names *names)
{
	size_t count = names->bucket_count ? 2 * names->bucket_count : 1024;
	struct function **buckets = calloc(count, sizeof(*buckets));

	if (!buckets)
		return;
	for (size_t i = 0; i < names->bucket_count; i++) {
		struct function *one = names->buckets[i], *next;

		for (; one; one = next) {
			size_t at = hash_function(one->module, one->key) & (count - 1);

			next = one->next;
			one->next = buckets[at];
			buckets[at] = one;
		}
	}
	free(names->buckets);
	names->buckets = buckets;
	names->bucket_count = count;
}

static struct function *known_function(const struct ep_names *names, size_t module, uint64_t key)
{
	struct function *one;

	if (names->bucket_count == 0)
		return NULL;
	one = names->buckets[hash_function(module, key) & (names->bucket_count - 1)];
	while (one && (one->module != module || one->key != key))
		one = one->next;
	return one;
}

static char *__attribute__((format(printf, 1, 2))) formatted(const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	return length < 0 ? NULL : text;
}

/* As in the symbol table, less its version (memcpy@@GLIBC_2.14). */
static char *raw_name(const struct ep_symbol *symbol)
{
	const char *version = strchr(symbol->name, '@');

	if (!version || version == symbol->name)
		return strdup(symbol->name);
	return strndup(symbol->name, (size_t)(version - symbol->name));
}

/* What people read: demangled, valid UTF-8. */
static char *readable(const struct ep_names *names, const char *raw, bool plt)
{
	char *whole, *name = ep_demangle_shown(raw, names->options.no_demangle);

	if (!name || !plt)
		return name;
	whole = formatted("%s@plt", name);
	free(name);
	return whole;
}

static char *unknown_name(const struct module *module, uint64_t address)
{
	if (!module)
		return formatted("0x%" PRIx64, address);
	return formatted("%s+0x%" PRIx64, module->name, address - module->facts->bias);
}

static void free_function(struct function *function)
{
	free((char *)function->public.name);
	free(function->raw);
	free(function);
}

/* `symbol` NULL: nothing is known but the address. False: no memory. */
static bool name_function(const struct ep_names *names, struct function *function,
			  const struct module *module, const struct ep_symbol *symbol)
{
	struct ep_function *public = &function->public;

	public->symbol = "";
	if (!symbol || !symbol->name) {
		public->name = unknown_name(module, function->key);
		return public->name != NULL;
	}
	function->raw = raw_name(symbol);
	if (!function->raw)
		return false;
	public->symbol = function->raw;
	public->name = readable(names, function->raw, symbol->plt);
	public->known = true;
	return public->name != NULL;
}

static void enter_function(struct ep_names *names, struct function *function)
{
	size_t at = hash_function(function->module, function->key) & (names->bucket_count - 1);

	function->public.id = (uint32_t)names->function_count++;
	function->next = names->buckets[at];
	names->buckets[at] = function;
}

static struct function *add_function(struct ep_names *names, size_t index,
				     const struct ep_symbol *symbol, uint64_t key)
{
	const struct module *module = index == SIZE_MAX ? NULL : &names->modules[index];
	struct function *function = calloc(1, sizeof(*function));
	struct ep_function *public;

	if (!function)
		return NULL;
	public = &function->public;
	function->module = index;
	function->key = key;
	if (names->function_count >= names->bucket_count)
		rehash(names);
	if (names->bucket_count == 0 || !name_function(names, function, module, symbol)) {
		free_function(function);
		return NULL;
	}
	public->module = module ? module->name : "";
	public->in = module ? module->facts : NULL;
	public->start = symbol ? symbol->start + module->facts->bias : key;
	public->end = symbol ? symbol->end + module->facts->bias : key;
	public->exported_guess = symbol && symbol->inexact;
	enter_function(names, function);
	return function;
}

/* Its id is the next one, too: whoever keeps a list by ids has room for it. */
static struct function *nothing_of(struct ep_names *names)
{
	names->starved = true;
	if (!names->nothing.public.name)
		names->nothing = (struct function){
			.public = {.id = (uint32_t)names->function_count++,
				   .name = "?",
				   .symbol = "",
				   .module = ""},
			.line_asked = true,
		};
	return &names->nothing;
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
	if (function && !symbol)
		names->unknown_count++;
	if (module && !(symbol && symbol->name))
		names->files[module->file].nameless++;
	return function ? function : nothing_of(names);
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

/* ---- lines ---- */

struct ep_line ep_names_function_line(struct ep_names *names, const struct ep_function *public)
{
	/* Every function that we answered lies inside one of ours. */
	struct function *function = (struct function *)(uintptr_t) public;
	const struct module *module;

	if (function->line_asked || function->module == SIZE_MAX || public->start == public->end)
		return function->line;
	function->line_asked = true;
	module = &names->modules[function->module];
	function->line = ep_named_file_beginning(open_file(names, module),
						 public->start - module->facts->bias);
	function->line.file = ep_path_map_find(&names->path_map, function->line.file);
	return function->line;
}

struct ep_line ep_names_address_line(struct ep_names *names, uint64_t address, uint64_t tsc)
{
	bool alone;
	const struct module *module = find_module(names, address, tsc, &alone);
	struct ep_lines *lines = module ? ep_named_file_lines(open_file(names, module)) : NULL;
	struct ep_line line = {0};

	if (!lines)
		return line;
	line = ep_lines_find(lines, address - module->facts->bias);
	line.file = ep_path_map_find(&names->path_map, line.file);
	return line;
}

size_t ep_names_inlined(struct ep_names *names, uint64_t address, uint64_t tsc,
			struct ep_inlined out[EP_INLINED_MAX])
{
	bool alone;
	const struct module *module = find_module(names, address, tsc, &alone);
	struct ep_inlines *inlines =
		module ? ep_named_file_inlines(open_file(names, module)) : NULL;
	size_t count;

	if (!inlines)
		return 0;
	count = ep_inlines_find(inlines, address - module->facts->bias, out);
	for (size_t i = 0; i < count; i++)
		out[i].call.file = ep_path_map_find(&names->path_map, out[i].call.file);
	return count;
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
		text = ep_constant_strings_of_file(&names->literals, module->canonical,
						   &open_file(names, module)->found,
						   address - module->facts->bias);
	return text ? text
		    : ep_constant_strings_of_memory(&names->literals, names->options.memory,
						    address);
}

/* ---- spans ---- */

/* Under a module of their own, by a number made of the name; of two names with one number the
 * second gets the next. */
#define SPANS (SIZE_MAX - 1)

static uint64_t number_of(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return hash;
}

static struct function *add_span(struct ep_names *names, const char *name, uint64_t key)
{
	struct function *function = calloc(1, sizeof(*function));

	if (!function)
		return NULL;
	if (names->function_count >= names->bucket_count)
		rehash(names);
	function->public.name = strdup(name);
	if (names->bucket_count == 0 || !function->public.name) {
		free_function(function);
		return NULL;
	}
	function->public.symbol = function->public.module = "";
	function->public.known = function->public.span = true;
	function->line_asked = true;
	function->module = SPANS;
	function->key = key;
	enter_function(names, function);
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

static int copy_options(struct ep_names *names, const struct ep_names_options *options)
{
	char **paths;

	if (!options)
		return EP_OK;
	names->options = *options;
	names->options.debug_path_count = 0;
	paths = calloc(options->debug_path_count + 1, sizeof(*paths));
	names->options.debug_paths = (const char *const *)paths;
	if (options->executable)
		names->options.executable = strdup(options->executable);
	if (options->sysroot)
		names->options.sysroot = strdup(options->sysroot);
	if (!paths || (options->executable && !names->options.executable) ||
	    (options->sysroot && !names->options.sysroot))
		return EP_E_MEMORY;
	names->options.path_maps = NULL;
	for (size_t i = 0; i < options->path_map_count; i++)
		if (ep_path_map_add(&names->path_map, options->path_maps[i]))
			return EP_E_MEMORY;
	for (size_t i = 0; i < options->debug_path_count; i++) {
		paths[i] = strdup(options->debug_paths[i]);
		if (!paths[i])
			return EP_E_MEMORY;
		names->options.debug_path_count++;
	}
	return EP_OK;
}

int ep_names_create(struct ep_names **out, const struct ep_trace_module *modules, size_t count,
		    const struct ep_names_options *options, struct ep_err *err)
{
	struct ep_names *names = calloc(1, sizeof(*names));

	if (!names || copy_options(names, options) != EP_OK ||
	    take_modules(names, modules, count) != EP_OK) {
		ep_names_destroy(names);
		return ep_fail(err, EP_E_MEMORY, 0, "names: out of memory");
	}
	*out = names;
	return EP_OK;
}

static void free_functions(struct ep_names *names)
{
	for (size_t i = 0; i < names->bucket_count; i++) {
		struct function *one = names->buckets[i], *next;

		for (; one; one = next) {
			next = one->next;
			free_function(one);
		}
	}
	free(names->buckets);
}

void ep_names_destroy(struct ep_names *names)
{
	if (!names)
		return;
	free_functions(names);
	ep_constant_strings_deinit(&names->literals);
	for (size_t i = 0; names->files && i < names->file_count; i++)
		ep_named_file_deinit(&names->files[i]);
	for (size_t i = 0; i < names->module_count; i++)
		free(names->modules[i].name);
	for (size_t i = 0; i < names->warning_count; i++)
		free(names->warnings[i].text);
	for (size_t i = 0; i < names->options.debug_path_count; i++)
		free((char *)names->options.debug_paths[i]);
	free((void *)names->options.debug_paths);
	free((char *)names->options.executable);
	free((char *)names->options.sysroot);
	ep_path_map_deinit(&names->path_map);
	free(names->warnings);
	free(names->files);
	free(names->modules);
	free(names);
}

bool ep_names_starved(const struct ep_names *names)
{
	bool starved = names->starved;

	for (size_t i = 0; i < names->file_count; i++)
		starved = starved || ep_named_file_starved(&names->files[i]);
	return starved;
}

const char *ep_names_warning(const struct ep_names *names, size_t index)
{
	if (index < names->warning_count)
		return names->warnings[index].text;
	if (index > names->warning_count || !ep_names_starved(names))
		return NULL;
	return "some names and lines are missing: out of memory, or more than "
	       "a million addresses are unknown";
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
	return index < names->warning_count ? names->warnings[index].code : OTHER_WARNING;
}
