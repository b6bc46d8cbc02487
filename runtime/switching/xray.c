/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xray.c: the modules that have sleds, in a list of their own structs. Who finds the list taken
 * leaves word, and who has it looks once more: a signal handler waits for nobody.
 */
#include "runtime/switching/xray.h"

#include <fcntl.h>
#include <stddef.h>

#include "runtime/arena/arena.h"
#include "runtime/lib/files.h"
#include "runtime/lib/hookcode.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"
#include "runtime/sled_code.h"
#include "runtime/switching/flip.h"
#include "runtime/switching/patch.h"
#include "runtime/switching/switched.h"
#include "runtime/switching/switches.h"

static struct ep_sleds *modules;
static uint32_t locked; /* somebody has the list */
static uint32_t wanted; /* … and somebody else wants all of them on */

static uint64_t place_of(const struct ep_sled *sled)
{
	return (uint64_t)&sled->place + (uint64_t)sled->place;
}

static bool is_off(void)
{
	return __atomic_load_n(&ep_arena->gate, __ATOMIC_SEQ_CST) & (EP_GATE_OFF | EP_GATE_STOPPED);
}

/* For who looks from outside. */
static void publish(void)
{
	if (!ep_overwritten() && ep_switches())
		ep_switches()->sleds = (uint64_t)modules;
}

/* ---- a pass over a module's sleds ---- */

static void prepare_sled(struct ep_patch *patch, const struct ep_sleds *sleds,
			 enum ep_sled_shape shape, uint64_t place)
{
	bool entry = shape == EP_SLED_AT_ENTRY;
	const char *far = entry ? sleds->to_entry : sleds->to_return;
	uint8_t *code = ep_patch_at(patch, place, EP_SLED_SIZE);

	if (!ep_sled_prepare(shape, code, place, ep_hook_address(entry ? 4 : 5)))
		ep_sled_prepare(shape, code, place, (uint64_t)far);
}

/* `on`: nobody runs this code yet. */
static void prepare(struct ep_sleds *sleds, long fd, bool on)
{
	struct ep_patch patch;

	ep_patch_begin(&patch, fd);
	for (const struct ep_sled *sled = sleds->begin; sled < sleds->end; sled++) {
		const struct ep_sled_bytes *as = &ep_sled_shapes[ep_sled_shape_of(sled)];
		uint64_t place = place_of(sled);

		if (!as->kind || !ep_sled_is_fit(ep_sled_shape_of(sled), (const uint8_t *)place))
			continue;
		prepare_sled(&patch, sleds, ep_sled_shape_of(sled), place);
		if (on)
			*ep_patch_at(&patch, place + as->decides, 1) =
				ep_site_byte(as->kind, false);
	}
	if (ep_patch_end(&patch))
		sleds->state = EP_SLEDS_PREPARED;
}

static void switch_on(struct ep_flip *flip, const struct ep_sleds *sleds, bool entries)
{
	for (const struct ep_sled *sled = sleds->begin; sled < sleds->end; sled++) {
		enum ep_sled_shape shape = ep_sled_shape_of(sled);
		const struct ep_sled_bytes *as = &ep_sled_shapes[shape];
		uint64_t place = place_of(sled);

		if (as->kind && (shape == EP_SLED_AT_ENTRY) == entries &&
		    ep_sled_is_prepared(shape, (const uint8_t *)place) &&
		    !(ep_switched_from_outside(place) & EP_SWITCH_CONTROL))
			ep_flip_write(flip, place + as->decides, ep_site_byte(as->kind, false));
	}
}

/* Threads run this code. */
static void prepare_late(struct ep_flip *flip, struct ep_sleds *sleds)
{
	prepare(sleds, flip->fd, false);
	if (sleds->state != EP_SLEDS_PREPARED)
		return;
	switch_on(flip, sleds, false);
	switch_on(flip, sleds, true);
}

static void prepare_early(struct ep_flip *flip, void *argument)
{
	prepare(argument, flip->fd, true);
}

/*
 * Where code must not change any more, because a filter of system calls could mind or valgrind has
 * translated it: this is before any of it has run, and a file is opened and written, as the module
 * was a moment ago. Otherwise such programs would have no trace at all.
 */
static void prepare_anyway(struct ep_sleds *sleds)
{
	long fd = ep_fd_open_own("mem", O_RDWR);

	prepare(sleds, fd, true);
	if (fd >= 0)
		ep_fd_close(fd);
}

/* ---- modules ---- */

static bool try_lock(void)
{
	return !__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE);
}

static void lock(void)
{
	while (!try_lock())
		ep_syscall0(SYS_sched_yield);
}

static void unlock(void)
{
	__atomic_store_n(&locked, 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&wanted, __ATOMIC_SEQ_CST))
		ep_xray_on();
}

static void all_on(struct ep_flip *flip, void *unused)
{
	(void)unused;
	for (struct ep_sleds *sleds = modules; sleds; sleds = sleds->next)
		if (sleds->state == EP_SLEDS_NEW)
			prepare_late(flip, sleds);
}

void ep_xray_on(void)
{
	__atomic_store_n(&wanted, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&wanted, __ATOMIC_SEQ_CST) && try_lock()) {
		__atomic_store_n(&wanted, 0, __ATOMIC_SEQ_CST);
		if (!is_off())
			ep_flip_run(all_on, NULL);
		__atomic_store_n(&locked, 0, __ATOMIC_SEQ_CST);
	}
}

void ep_xray_add(struct ep_sleds *sleds)
{
	lock();
	sleds->next = modules;
	modules = sleds;
	publish();
	if (!is_off() && !ep_jailed() && !ep_flip_run(prepare_early, sleds))
		prepare_anyway(sleds);
	unlock();
}

void ep_xray_remove(struct ep_sleds *sleds)
{
	lock();
	for (struct ep_sleds **at = &modules; *at; at = &(*at)->next)
		if (*at == sleds) {
			*at = sleds->next;
			break;
		}
	publish();
	unlock();
}

void ep_xray_reset(void)
{
	__atomic_store_n(&locked, 0, __ATOMIC_RELAXED);
	publish();
}
