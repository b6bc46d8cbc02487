/* SPDX-License-Identifier: BSD-2-Clause */
/* start.c: the runtime comes to life once per process, at the first hook or at its constructor,
 * whichever is first. */
#include "runtime/start.h"

#include <stdatomic.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/backing.h"
#include "runtime/arena/integrity.h"
#include "runtime/arena/pause.h"
#include "runtime/arena/rescue.h"
#include "runtime/budget/budget.h"
#include "runtime/counting/counter.h"
#include "runtime/facts/clock.h"
#include "runtime/facts/loadmap.h"
#include "runtime/facts/process.h"
#include "runtime/fatal/crash.h"
#include "runtime/fatal/fatal.h"
#include "runtime/fatal/trigger.h"
#include "runtime/intercept/contexts.h"
#include "runtime/kernel/sched.h"
#include "runtime/lib/interpose.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/text.h"
#include "runtime/record/asks.h"
#include "runtime/record/looks.h"
#include "runtime/record/ring.h"
#include "runtime/record/thread.h"
#include "runtime/settings/environment.h"
#include "runtime/settings/pattern.h"
#include "runtime/settings/settings.h"
#include "runtime/snapshot/kept.h"
#include "runtime/snapshot/snapshot.h"
#include "runtime/switching/everything.h"
#include "runtime/switching/family.h"
#include "runtime/switching/names.h"
#include "runtime/switching/switches.h"
#include "runtime/switching/xray.h"
#include "runtime/watchdogs/watchdog.h"
#include "runtime/x86_64/tsc.h"

enum { NEW, STARTING, ON, OFF };

static atomic_int state = NEW;

/* What the arena's readers want to know of the settings, and what needs the clock. */
static void note_settings(void)
{
	ep_arena->settings_refused = ep_settings.refused;
	ep_arena->min_duration = ep_clock_cycles(ep_settings.min_duration);
	ep_pause_apply();
}

static void module_goes(const struct ep_module *module)
{
	ep_switches_forget(module->start, module->end);
	ep_switch_names_forget();
	if (ep_settings.counting)
		ep_counting_forget(module);
}

static void module_returns(const struct ep_module *module)
{
	if (ep_settings.counting)
		ep_counting_recall(module);
}

static const struct ep_loadmap_watch watch = {module_goes, module_returns};

static void describe(bool inherited)
{
	if (inherited) {
		ep_clock_inherit();
		ep_process_inherit();
		ep_loadmap_inherit(&watch);
	} else {
		ep_clock_start();
		ep_process_start();
		ep_loadmap_start(&watch);
	}
	ep_switches_start();
	ep_switch_names_start();
	ep_budget_start();
	if (ep_settings.counting)
		ep_counting_start();
	/* All that took a while, so this anchor gives a usable rate. */
	ep_clock_refresh(UINT64_MAX);
	note_settings();
}

static void begin(bool child)
{
	ep_looks_begin();
	ep_sched_begin(child);
	ep_watchdog_begin();
}

/* The linker's names for where the object's image begins and ends. */
extern const char own_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern const char own_end[] __asm__("_end") __attribute__((visibility("hidden")));

/* In the object that this runtime is part of: the executable, or the shared runtime. */
static bool is_own(const void *address)
{
	return (const char *)address >= own_start && (const char *)address < own_end;
}

static bool start_slow(void)
{
	int expected = NEW;

	if (!atomic_compare_exchange_strong(&state, &expected, STARTING))
		return expected == ON;
	/*
	 * Two runtimes in one process: epitaph_root is that of the one whose hooks the dynamic
	 * linker finds first. The other is never called, and must not write there.
	 */
	if (!is_own(&epitaph_root)) {
		atomic_store(&state, OFF);
		return false;
	}
	ep_settings_read(ep_environment());
	ep_jail_start();
	ep_path_pattern_start();
	if (!ep_arena_start(describe)) {
		atomic_store(&state, OFF);
		return false;
	}
	ep_family_start();
	begin(false);
	atomic_store(&state, ON);
	return true;
}

void ep_start_refill(void)
{
	if (!ep_rescue_lost_facts())
		return;
	ep_sched_leave();
	describe(false);
	begin(false);
}

/* A handler's hook meanwhile finds no ring, and the runtime starting. */
static void restart(bool recorded)
{
	atomic_store(&state, STARTING);
	if (recorded && ep_backing_on())
		ep_thread_shared();
	if (ep_tls.thread)
		ep_vfork_reset(ep_tls.thread->tid);
	ep_thread_reset();
	ep_rescue_reset();
	ep_fatal_reset();
	ep_crash_reset();
	ep_switches_keep();
	ep_arena_restart();
	ep_snapshot_reset();
	ep_kept_reset();
	ep_xray_reset();
	begin(true);
	ep_thread_restore();
	atomic_store(&state, ON);
}

/* In a forked child that shares no memory with its parent. `recorded`: it did, unknowing. */
static void start_child(bool recorded)
{
	if (atomic_load_explicit(&state, memory_order_acquire) == ON && !ep_overwritten() &&
	    ep_arena_forked())
		restart(recorded);
}

bool ep_start(void)
{
	if (ep_overwritten())
		return false;
	if (atomic_load_explicit(&state, memory_order_acquire) != ON)
		return start_slow();
	start_child(!ep_ring_is_to_look());
	return true;
}

static void before_fork(void)
{
	if (atomic_load_explicit(&state, memory_order_acquire) != ON || ep_overwritten() ||
	    ep_settings.counting)
		return;
	ep_everything_before_fork();
	ep_budget_before_fork();
}

/* The first code of ours that runs in the child: it has recorded nothing. */
static void after_fork(void)
{
	start_child(false);
}

/*
 * Registers a fork handler. Not pthread_atfork, which before glibc 2.34 lies in a library of its
 * own; weak, so that a static program without fork does without.
 */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *object) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

/* Before the program's own constructors, as far as those have no lower priority, and after the C
 * library's: what needs libc is done here. */
__attribute__((constructor(101))) static void start_early(void)
{
	bool started;

	if (__register_atfork)
		__register_atfork(before_fork, NULL, after_fork, &__dso_handle);
	ep_interpose_start();
	started = ep_start();
	if (ep_settings.foreign)
		ep_environment_clean();
	if (!started)
		return;
	ep_asks_start();
	if (ep_interpose_blind(EP_REAL__Unwind_SetIP))
		ep_arena->blind |= EP_BLIND_EXCEPTIONS;
	ep_trigger_start();
	ep_fatal_start();
}

#ifndef EP_SHARED
/* They place their shadow first, and want the addresses for it. */
extern void __asan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

/*
 * Before the constructors of all libraries: where snapshots of deaths are asked for, those are to
 * be seen, too. An executable's, since shared objects may not have such a section (ELF gABI, 5).
 */
static void start_first(int count, char **arguments, char **environment)
{
	(void)count, (void)arguments;
	if (__asan_init || __hwasan_init || __msan_init || __tsan_init)
		return;
	for (; environment && *environment; environment++)
		if (ep_string_starts(*environment, "EPITAPH_ON_CRASH=") && ep_start())
			ep_fatal_start();
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **,
									    char **) = start_first;
#endif

/* After those of the program. */
__attribute__((destructor(101))) static void end_late(void)
{
	if (atomic_load(&state) == ON)
		ep_sched_end();
}
