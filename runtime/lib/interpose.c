/* SPDX-License-Identifier: BSD-2-Clause */
/* interpose.c: looks up what we stand in front of. */
#include "runtime/lib/interpose.h"

#include <dlfcn.h>
#include <stddef.h>

#pragma weak dlsym

/* In a static program, from kit/early.S; libc.a may have a dlsym there, for its own use. */
extern const char epitaph_static __attribute__((weak));

static ep_any_fn real[EP_REAL_COUNT];

static const char *const names[EP_REAL_COUNT] = {
#define EP_NAME(name) [EP_REAL_##name] = #name,
	EP_INTERPOSED(EP_NAME)
#undef EP_NAME
};

/* In a static program, from kit/wrapped.S: what --wrap calls __real_NAME. */
extern const ep_any_fn epitaph_wrapped[EP_REAL_WRAPPED] __attribute__((weak));

static void *absent(void)
{
	return NULL;
}

static bool has_linker(void)
{
	return dlsym && !&epitaph_static;
}

/* Of the dynamic linker's own. A program that is linked with a traced library, and not traced, has
 * the C library before us, and then nothing comes next. */
static void *linkers(const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	return next ? next : dlsym(RTLD_DEFAULT, name);
}

/*
 * In the scope of the library that holds `place`. What is found there stays loaded, unless it is
 * that very library and `own` does not say so: its user may want to unload it. Then it is not kept.
 */
static ep_any_fn in_scope_of(ep_any_fn *cache, const char *name, uint64_t place, bool own)
{
	__typeof__(&dladdr) locate = linkers("dladdr");
	__typeof__(&dlopen) load = linkers("dlopen");
	__typeof__(&dlclose) unload = linkers("dlclose");
	Dl_info at, there;
	void *library, *found;

	if (!locate || !load || !unload || !locate((void *)place, &at))
		return NULL;
	library = load(at.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	found = library ? dlsym(library, name) : NULL;
	if (found && locate(found, &there) && (own || there.dli_fbase != at.dli_fbase) &&
	    load(there.dli_fname, RTLD_LAZY | RTLD_NOLOAD))
		*cache = (ep_any_fn)found;
	if (library)
		unload(library);
	return (ep_any_fn)found;
}

ep_any_fn ep_interpose_find(ep_any_fn *cache, const char *name, uint64_t place)
{
	if (*cache || !has_linker())
		return *cache;
	*cache = (ep_any_fn)dlsym(RTLD_NEXT, name);
	return *cache ? *cache : in_scope_of(cache, name, place, false);
}

void ep_interpose_keep(ep_any_fn *cache, const char *name, uint64_t place)
{
	if (!ep_interpose_find(cache, name, place) || *cache)
		return;
	in_scope_of(cache, name, place, true);
}

bool ep_interpose_own_unwinder(void)
{
	return epitaph_wrapped && epitaph_wrapped[EP_REAL__Unwind_SetIP];
}

/* Another library's constructor may call before ours ran: then it is looked up here, in a place
 * that is about to call the dynamic linker anyway. */
ep_any_fn ep_interpose_known(enum ep_interposed which, uint64_t place)
{
	if (ep_interpose_own_unwinder() && which <= EP_REAL__Unwind_SetIP)
		return epitaph_wrapped[which];
	if (real[which])
		return real[which];
	if (epitaph_wrapped && which < EP_REAL_WRAPPED)
		return epitaph_wrapped[which];
	return ep_interpose_find(&real[which], names[which], place);
}

ep_any_fn ep_interpose_ready(enum ep_interposed which)
{
	if (!real[which] && epitaph_wrapped && which < EP_REAL_WRAPPED)
		return epitaph_wrapped[which];
	return real[which];
}

ep_any_fn ep_interpose_real(enum ep_interposed which, uint64_t place)
{
	ep_any_fn found = ep_interpose_known(which, place);

	return found ? found : absent;
}

ep_any_fn ep_interpose_beside(enum ep_interposed which, uint64_t neighbour)
{
	ep_any_fn unkept = NULL, found = NULL;

	if (has_linker() && !ep_interpose_own_unwinder())
		found = in_scope_of(&unkept, names[which], neighbour, false);
	return found ? found : ep_interpose_real(which, neighbour);
}

void ep_interpose_start(void)
{
	for (unsigned i = 0; i < EP_REAL_COUNT && has_linker(); i++)
		real[i] = (ep_any_fn)dlsym(RTLD_NEXT, names[i]);
}

/* What all objects find first is what comes after us. */
bool ep_interpose_blind(enum ep_interposed which)
{
	return has_linker() && real[which] &&
	       (ep_any_fn)dlsym(RTLD_DEFAULT, names[which]) == real[which];
}
