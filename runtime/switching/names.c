/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c: patterns that were given, and what they say of each module's symbols. */
#include "runtime/switching/names.h"

#include <errno.h>
#include <sched.h>

#include "runtime/arena/arena.h"
#include "runtime/lib/glob.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/switching/flip.h"
#include "runtime/switching/mangled.h"
#include "runtime/switching/range.h"
#include "runtime/switching/site.h"
#include "runtime/switching/switched.h"
#include "runtime/switching/switches.h"
#include "runtime/switching/symbol_file.h"

#define NAME_SIZE 1024 /* longer scoped names match as symbols only */

struct wish {
	char pattern[EP_PATTERN_SIZE];
	bool off;
};

/* All of it is the lock's. */
static struct wish wishes[EP_SWITCH_PATTERNS];
static unsigned count;
static uint64_t seen_tsc; /* modules that were loaded until then were looked at */
static uint32_t forgot;   /* some of them must be looked at again */
static uint32_t busy;

static void lock(void)
{
	while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		ep_syscall0(SYS_sched_yield);
}

static void unlock(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* ---- does a name match ---- */

/* A symbol in the ways that a pattern may name it. */
struct name {
	const char *symbol;
	char stem[NAME_SIZE];   /* before the first dot; "" none */
	char scoped[NAME_SIZE]; /* "" none */
};

static void name_make(struct name *name, const char *symbol)
{
	struct ep_text stem;
	size_t length = 0;

	name->symbol = symbol;
	while (symbol[length] && (symbol[length] != '.' || !length) && symbol[length] != '@')
		length++;
	ep_text_init(&stem, name->stem, sizeof(name->stem));
	ep_text_add_bytes(&stem, symbol, length);
	if (stem.cut || !ep_scoped_name(name->stem, name->scoped, sizeof(name->scoped)))
		name->scoped[0] = '\0';
}

static bool matches(const struct name *name, const char *pattern)
{
	return ep_glob_match(pattern, name->symbol) || ep_glob_match(pattern, name->stem) ||
	       (name->scoped[0] && ep_glob_match(pattern, name->scoped));
}

/* ---- a module ---- */

struct look {
	const struct wish *list; /* the latest that matches holds */
	unsigned count;
	uint64_t bias;
	int switched;
};

/* Only what begins there: a label inside of a function is not that function. *start: behind nops,
 * which may stand before it. */
static bool has_hooks(uint64_t address, uint64_t *start)
{
	struct ep_place place;
	uint64_t end;

	return ep_function_range(address, start, &end) && *start >= address &&
	       !ep_site_is_hook(address) && ep_sites_in(*start, end, &place, 1) == 1;
}

static void wish_fulfil(uint64_t address, bool off)
{
	if (!off)
		ep_switch_keep(address, true);
	ep_switch_function(address, EP_SWITCH_NAME, off);
	if (!off)
		ep_switch_function(address, EP_SWITCH_BUDGET, false);
}

static void look_at(void *context, const char *symbol, uint64_t address)
{
	static struct name name; /* the lock's */
	struct look *look = context;
	unsigned i = look->count, before;

	name_make(&name, symbol);
	while (i && !matches(&name, look->list[i - 1].pattern))
		i--;
	if (!i || !has_hooks(look->bias + address, &address))
		return;
	before = ep_switch_reasons(address);
	wish_fulfil(address, look->list[i - 1].off);
	look->switched += ep_switch_reasons(address) != before;
}

static bool module_path(const struct ep_module *module, char *path, size_t size)
{
	const char *section = ep_arena_section(EP_SECTION_MODULES, NULL);
	struct ep_text text;

	ep_text_init(&text, path, size);
	if (module->flags & EP_MODULE_EXECUTABLE)
		ep_text_add(&text, "/proc/thread-self/exe");
	else
		ep_text_add_bytes(&text, section + module->path.offset, module->path.length);
	return path[0] == '/' && !text.cut;
}

static int look_through(const struct ep_module *module, const struct wish *list, unsigned wanted)
{
	static char path[4096]; /* the lock's */
	struct look look = {.list = list, .count = wanted, .bias = module->bias};

	if (!(module->flags & EP_MODULE_VDSO) && module_path(module, path, sizeof(path)))
		ep_symbol_file_read(path, module, look_at, &look);
	return look.switched;
}

/* All that are loaded, and were seen after `since`. */
static int look_everywhere(const struct wish *list, unsigned wanted, uint64_t since)
{
	const struct ep_modules *modules = ep_arena_section(EP_SECTION_MODULES, NULL);
	const struct ep_module *all = (const struct ep_module *)(modules + 1);
	int switched = 0;

	for (uint32_t i = 0; i < modules->count; i++) {
		if (__atomic_load_n(&all[i].state, __ATOMIC_ACQUIRE) != EP_MODULE_VALID ||
		    all[i].unload_tsc || all[i].load_tsc <= since)
			continue;
		if (all[i].load_tsc > seen_tsc)
			seen_tsc = all[i].load_tsc;
		switched += look_through(&all[i], list, wanted);
	}
	return switched;
}

/* ---- patterns ---- */

/* The latest comes last; one that is repeated moves there. NULL: no room. */
static const struct wish *wish_add(const char *pattern, bool off)
{
	struct ep_text text;
	unsigned at = 0;

	while (at < count && !ep_string_equal(wishes[at].pattern, pattern))
		at++;
	if (at == EP_SWITCH_PATTERNS)
		return NULL;
	if (at == count)
		count++;
	for (; at + 1 < count; at++)
		wishes[at] = wishes[at + 1];
	ep_text_init(&text, wishes[at].pattern, EP_PATTERN_SIZE);
	ep_text_add(&text, pattern);
	wishes[at].off = off;
	return &wishes[at];
}

int ep_switch_names(const char *pattern, bool off)
{
	const struct wish *wish;
	int switched = -ENOSPC;

	if (!pattern[0] || ep_string_length(pattern) >= EP_PATTERN_SIZE)
		return -EINVAL;
	if (!ep_switches() || !ep_flip_possible())
		return -ENOTSUP;
	lock();
	wish = wish_add(pattern, off);
	if (wish)
		switched = look_everywhere(wish, 1, 0);
	unlock();
	return switched;
}

void ep_switch_names_refresh(void)
{
	if (!__atomic_load_n(&count, __ATOMIC_RELAXED) || !ep_switches() || !ep_flip_possible())
		return;
	lock();
	if (__atomic_exchange_n(&forgot, 0, __ATOMIC_RELAXED))
		seen_tsc = 0;
	look_everywhere(wishes, count, seen_tsc);
	unlock();
}

void ep_switch_names_forget(void)
{
	__atomic_store_n(&forgot, 1, __ATOMIC_RELAXED);
}

void ep_switch_names_start(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELAXED);
}
