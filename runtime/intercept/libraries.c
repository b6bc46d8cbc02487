/* SPDX-License-Identifier: BSD-2-Clause */
/* libraries.c: what the program does by its libraries' functions that the load map and the table of
 * threads want to hear of. Each does what the real one does, with its results, errno and dlerror().
 */
#include <errno.h>
#include <pthread.h>

#include "runtime/facts/loadmap.h"
#include "runtime/intercept/frames.h"
#include "runtime/lib/interpose.h"
#include "runtime/record/tls.h"

/* ---- modules come and go ------------------------------------------------- */

EP_BEFORE(dlopen, dlopen, ep_loadmap_loads())
EP_BEFORE(dlmopen, dlmopen, ep_loadmap_loads())

EP_INTERPOSER int EP_INTERPOSER_NAME(dlclose)(void *handle);
EP_INTERPOSER int EP_INTERPOSER_NAME(pthread_setname_np)(pthread_t thread, const char *name);

/* Looks before and after, at once and not at the next block: what came lately is noted before it
 * goes, and what is mapped there next is not taken for it.
 */
int EP_INTERPOSER_NAME(dlclose)(void *handle)
{
	ep_any_fn found = ep_interpose_known(EP_REAL_dlclose, EP_PLACE);
	int result;

	if (!found)
		return -1;
	ep_loadmap_refresh();
	ep_frames_forget();
	result = ((int (*)(void *))(void (*)(void))found)(handle);
	ep_frames_forget();
	ep_loadmap_unloads();
	ep_loadmap_refresh();
	return result;
}

/* ---- a thread's name ----------------------------------------------------- */

typedef int (*setname_fn)(pthread_t thread, const char *name);

/* Called by interpose.S, too. */
int ep_setname(pthread_t thread, const char *name, setname_fn real_one);

/* Only the caller's own name: another thread's entry is that thread's, which takes its name again
 * from time to time. */
int ep_setname(pthread_t thread, const char *name, setname_fn real_one)
{
	int result = real_one(thread, name);

	if (!result && thread == pthread_self())
		ep_thread_rename(name);
	return result;
}

int EP_INTERPOSER_NAME(pthread_setname_np)(pthread_t thread, const char *name)
{
	ep_any_fn found = ep_interpose_known(EP_REAL_pthread_setname_np, EP_PLACE);

	return found ? ep_setname(thread, name, (setname_fn)(void (*)(void))found) : ENOSYS;
}
