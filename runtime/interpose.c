/* SPDX-License-Identifier: BSD-2-Clause */
/* interpose.c: what stands in front of libc's functions. Each does what libc's
 * does, with its results, its errno and its dlerror(). */
#include "runtime/interpose.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "runtime/loadmap.h"
#include "runtime/thread.h"

#define PUBLIC __attribute__((visibility("default")))
#ifdef EP_SHARED
#define NAME(name) name
#else
#define NAME(name) epitaph_##name
#endif

/* A static program has none. */
#pragma weak dlsym

typedef void *(*any_fn)(void);

static any_fn real_dlopen, real_dlmopen;
static int (*real_dlclose)(void *handle);
static int (*real_setname)(pthread_t thread, const char *name);

static void *absent(void)
{
	return NULL;
}

static void *next(const char *name)
{
	return dlsym ? dlsym(RTLD_NEXT, name) : NULL;
}

/* Another library's constructor may call before ours ran: then it is looked up
 * here, in a place that is about to call the dynamic linker anyway. */
static any_fn find(any_fn *real, const char *name)
{
	if (!*real)
		*real = (any_fn)next(name);
	return *real ? *real : absent;
}

/* Called by interpose.S. */
any_fn ep_interpose_dlopen(void);
any_fn ep_interpose_dlmopen(void);

any_fn ep_interpose_dlopen(void)
{
	ep_loadmap_stale();
	return find(&real_dlopen, "dlopen");
}

any_fn ep_interpose_dlmopen(void)
{
	ep_loadmap_stale();
	return find(&real_dlmopen, "dlmopen");
}

PUBLIC int NAME(dlclose)(void *handle);
PUBLIC int NAME(pthread_setname_np)(pthread_t thread, const char *name);

/* Looks before and after, at once and not at the next block: what came lately
 * is noted before it goes, and what is mapped there next is not taken for it.
 */
int NAME(dlclose)(void *handle)
{
	int result;

	if (!find((any_fn *)&real_dlclose, "dlclose") || !real_dlclose)
		return -1;
	ep_loadmap_refresh();
	result = real_dlclose(handle);
	ep_loadmap_stale();
	ep_loadmap_refresh();
	return result;
}

/* Only the caller's own name: another thread's entry is that thread's, which
 * takes its name again from time to time. */
int NAME(pthread_setname_np)(pthread_t thread, const char *name)
{
	int result = ENOSYS;

	find((any_fn *)&real_setname, "pthread_setname_np");
	if (real_setname)
		result = real_setname(thread, name);
	if (!result && thread == pthread_self())
		ep_thread_rename(name);
	return result;
}

void ep_interpose_start(void)
{
	find(&real_dlopen, "dlopen");
	find(&real_dlmopen, "dlmopen");
	find((any_fn *)&real_dlclose, "dlclose");
	find((any_fn *)&real_setname, "pthread_setname_np");
}
