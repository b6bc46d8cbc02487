/* SPDX-License-Identifier: BSD-2-Clause */
/* api.c: the functions of epitaph.h, and those that a traced shared library's registrar calls. */
#include "runtime/epitaph.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/integrity.h"
#include "runtime/arena/pause.h"
#include "runtime/budget/keep.h"
#include "runtime/counting/counts_file.h"
#include "runtime/dso/registrar.h"
#include "runtime/dso/sleds.h"
#include "runtime/facts/clock.h"
#include "runtime/facts/loadmap.h"
#include "runtime/record/ring.h"
#include "runtime/settings/settings.h"
#include "runtime/snapshot/kept.h"
#include "runtime/snapshot/snapshot.h"
#include "runtime/start.h"
#include "runtime/switching/everything.h"
#include "runtime/switching/names.h"
#include "runtime/switching/switches.h"
#include "runtime/switching/xray.h"
#include "runtime/watchdogs/watchdog.h"
#include "runtime/x86_64/tsc.h"

#define PUBLIC __attribute__((visibility("default")))

/* ---- pausing ---- */

PUBLIC void epitaph_pause(void)
{
	ep_start();
	if (ep_pause_begin())
		ep_ring_pause_here();
}

/* A program that was started with EPITAPH=off is switched on, for good. */
static void switch_on(void)
{
	if (!ep_start())
		return;
	ep_everything_switch(false);
	ep_xray_on();
}

PUBLIC void epitaph_resume(void)
{
	ep_start();
	if (!ep_pause_end())
		switch_on();
}

/* ---- functions by name ---- */

static int switch_names(const char *pattern, bool off)
{
	int switched = ep_start() ? -EINVAL : -ENODEV;

	if (switched == -EINVAL && pattern) {
		ep_loadmap_refresh();
		switched = ep_switch_names(pattern, off);
	}
	if (switched >= 0)
		return switched;
	errno = -switched;
	return -1;
}

PUBLIC int epitaph_trace(const char *pattern)
{
	return switch_names(pattern, false);
}

PUBLIC int epitaph_untrace(const char *pattern)
{
	return switch_names(pattern, true);
}

/* ---- time ---- */

PUBLIC uint64_t epitaph_time(void)
{
	return ep_tsc();
}

PUBLIC uint64_t epitaph_ticks_per_second(void)
{
	return ep_start() ? ep_clock_cycles(UINT64_C(1000000000)) : 0;
}

/* ---- snapshots ---- */

static int answer(int result)
{
	if (result >= 0)
		return 0;
	errno = -result;
	return -1;
}

PUBLIC int epitaph_snapshot_write(const char *path)
{
	ep_start();
	return answer(ep_snapshot_write(path, NULL));
}

/* What the program holds is a number in the guise of a pointer: nothing lies there, and one that is
 * stale means nothing else. */
static struct epitaph_snapshot *take(uint64_t since)
{
	int64_t number = ep_start() ? ep_kept_take(since) : -ENODEV;

	return answer((int)(number < 0 ? number : 0)) ? NULL : (struct epitaph_snapshot *)number;
}

PUBLIC struct epitaph_snapshot *epitaph_snapshot_take(void)
{
	return take(0);
}

PUBLIC struct epitaph_snapshot *epitaph_snapshot_take_since(uint64_t since)
{
	return take(since);
}

PUBLIC int epitaph_snapshot_save(const struct epitaph_snapshot *snapshot, const char *path)
{
	if (!ep_start())
		return answer(-EINVAL);
	return answer(ep_snapshot_save((uint64_t)snapshot, path));
}

PUBLIC void epitaph_snapshot_free(struct epitaph_snapshot *snapshot)
{
	if (snapshot && ep_start())
		ep_kept_free((uint64_t)snapshot);
}

/* ---- watchdogs (the rest: watchdog.c) ---- */

PUBLIC struct epitaph_watchdog *epitaph_watchdog_create(const char *name, uint64_t deadline_ns,
							epitaph_watchdog_action action)
{
	return ep_watchdog_create(name, deadline_ns, action, ep_start());
}

/* ---- traced shared libraries ---- */

PUBLIC void epitaph_dso_loaded(void)
{
	ep_start();
	ep_loadmap_loads();
	ep_loadmap_refresh();
	ep_switches_look_again();
	ep_switch_names_refresh();
}

PUBLIC void epitaph_dso_keeps(const uint64_t *from, const uint64_t *to)
{
	if (from < to)
		ep_keep_add(from, to);
	else
		ep_keep_remove(from);
}

PUBLIC void epitaph_dso_unloading(void)
{
	ep_loadmap_unloads();
	if (ep_settings.counting)
		ep_counting_library_ends();
}

PUBLIC void epitaph_sleds_loaded(struct ep_sleds *sleds)
{
	if (ep_start())
		ep_xray_add(sleds);
}

PUBLIC void epitaph_sleds_unloading(struct ep_sleds *sleds)
{
	ep_xray_remove(sleds);
}
