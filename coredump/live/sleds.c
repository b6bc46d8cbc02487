/* SPDX-License-Identifier: BSD-2-Clause */
/* sleds.c: the process's list of modules, the map of each, and the bytes that do not run. */
#include "coredump/live/sleds.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "runtime/dso/sleds.h"

#define MODULES_MAX 4096
#define SLEDS_MAX   ((uint64_t)1 << 21) /* of a module: 64 MiB of them */
#define WORK_SLEDS  16                  /* that are one of ep_control_work */

/* One module, as it lies in the process. */
struct module {
	struct ep_sleds sleds;
	uint64_t address; /* of that struct there */
};

/* The next one of the list; false: there is none. */
static bool next_module(struct ep_control *control, struct module *module, uint64_t address)
{
	module->address = address;
	return address && ep_control_peek(control, address, &module->sleds, sizeof(module->sleds),
					  NULL) == EP_OK;
}

/* ---- a sled ---- */

static bool prepare_bytes(uint8_t code[EP_SLED_SIZE], enum ep_sled_shape shape, uint64_t place,
			  const struct module *module, const uint64_t hooks[EP_SWITCH_HOOKS])
{
	bool entry = shape == EP_SLED_AT_ENTRY;
	const char *far = entry ? module->sleds.to_entry : module->sleds.to_return;

	return ep_sled_prepare(shape, code, place, hooks[entry ? 4 : 5]) ||
	       ep_sled_prepare(shape, code, place, (uint64_t)far);
}

/* ---- a stretch of them ---- */

#define STRETCH 65536u
#define GAP     2048u /* no page is in between that has none of them */

/* Code that is read, changed and written at once: bytes that do not run, as long as sleds are not
 * prepared. */
struct stretch {
	uint64_t start, end;
	bool changed;
	uint8_t code[STRETCH + 2];
};

static uint64_t place_of(const struct ep_sled *sled, uint64_t entry)
{
	return entry + (uint64_t)sled->place;
}

/* How many of the sleds lie in one stretch with the first. */
static uint64_t measure(const struct ep_sled *sleds, uint64_t entry, uint64_t count,
			struct stretch *stretch)
{
	uint64_t n = 0, place = place_of(sleds, entry);

	stretch->start = stretch->end = place;
	stretch->changed = false;
	do {
		stretch->end = place + EP_SLED_SIZE;
		n++;
		place = n < count ? place_of(&sleds[n], entry + n * sizeof(*sleds)) : 0;
	} while (n < count && place >= stretch->end && place - stretch->end < GAP &&
		 place + EP_SLED_SIZE - stretch->start <= STRETCH);
	return n;
}

static void prepare(struct stretch *stretch, const struct module *module, enum ep_sled_shape shape,
		    uint64_t place, const uint64_t hooks[EP_SWITCH_HOOKS],
		    struct ep_found_sites *out)
{
	const struct ep_sled_bytes *as = &ep_sled_shapes[shape];
	uint8_t *code = stretch->code + (place - stretch->start);

	if (ep_sled_is_fit(shape, code)) {
		if (!prepare_bytes(code, shape, place, module, hooks))
			return;
		stretch->changed = true;
	} else if (!ep_sled_is_prepared(shape, code)) {
		return;
	}
	ep_array_push(out, ((struct ep_found_site){.place = place + as->decides,
						   .kind = as->kind,
						   .is_return = shape != EP_SLED_AT_ENTRY,
						   .off = true}));
}

static int prepare_stretch(struct ep_control *control, const struct module *module,
			   const struct ep_sled *sleds, uint64_t entry, uint64_t count,
			   struct stretch *stretch, const uint64_t hooks[EP_SWITCH_HOOKS],
			   struct ep_found_sites *out, struct ep_err *err)
{
	uint64_t size = stretch->end - stretch->start;
	size_t before = out->count;

	/* The two bytes behind the last one are another instruction, or not there. */
	memset(stretch->code + size, 0, 2);
	if (ep_control_peek(control, stretch->start, stretch->code, size + 2, NULL) != EP_OK &&
	    ep_control_peek(control, stretch->start, stretch->code, size, NULL) != EP_OK)
		return EP_OK;
	for (uint64_t i = 0; i < count; i++) {
		enum ep_sled_shape shape = ep_sled_shape_of(&sleds[i]);

		if (shape != EP_SLED_NONE)
			prepare(stretch, module, shape,
				place_of(&sleds[i], entry + i * sizeof(*sleds)), hooks, out);
	}
	ep_control_work(control, out->count - before);
	if (!stretch->changed)
		return ep_control_limit(control, err);
	return ep_control_poke(control, stretch->start, stretch->code, size, err);
}

/* ---- modules ---- */

static int prepare_all(struct ep_control *control, const struct module *module,
		       const struct ep_sled *sleds, uint64_t count,
		       const uint64_t hooks[EP_SWITCH_HOOKS], struct ep_found_sites *out,
		       struct ep_err *err)
{
	uint64_t map = (uint64_t)module->sleds.begin;
	struct stretch *stretch = ep_malloc(sizeof(*stretch));
	int rc = EP_OK;

	for (uint64_t i = 0, n; rc == EP_OK && i < count; i += n) {
		uint64_t entry = map + i * sizeof(*sleds);

		n = measure(&sleds[i], entry, count - i, stretch);
		rc = prepare_stretch(control, module, &sleds[i], entry, n, stretch, hooks, out,
				     err);
	}
	free(stretch);
	return rc;
}

static int prepare_module(struct ep_control *control, const struct module *module,
			  const uint64_t hooks[EP_SWITCH_HOOKS], struct ep_found_sites *out,
			  struct ep_err *err)
{
	uint64_t map = (uint64_t)module->sleds.begin, size = (uint64_t)module->sleds.end - map;
	struct ep_sled *list;
	int rc = EP_OK;

	if (size / sizeof(*list) > SLEDS_MAX)
		return EP_OK;
	ep_control_work(control, size / sizeof(*list) / WORK_SLEDS);
	if (ep_control_limit(control, err))
		return EP_E_LIMIT;
	list = ep_malloc(size);
	if (ep_control_peek(control, map, list, size, NULL) == EP_OK)
		rc = prepare_all(control, module, list, size / sizeof(*list), hooks, out, err);
	free(list);
	return rc;
}

/* Modules that came while everything was off; how many it may go on with. */
struct walk {
	struct ep_control *control;
	struct module module;
	uint64_t at; /* of the module; then of the next */
	unsigned left;
};

/* The next one that is new; false: no more. */
static bool walk_on(struct walk *walk)
{
	while (walk->left && next_module(walk->control, &walk->module, walk->at)) {
		walk->left--;
		if (walk->module.sleds.state == EP_SLEDS_NEW)
			return true;
		walk->at = (uint64_t)walk->module.sleds.next;
	}
	return false;
}

int ep_sleds_prepare(struct ep_control *control, uint64_t first,
		     const uint64_t hooks[EP_SWITCH_HOOKS], struct ep_found_sites *out,
		     struct ep_err *err)
{
	struct walk walk = {.control = control, .at = first, .left = MODULES_MAX};
	int rc = EP_OK;

	while (rc == EP_OK && walk_on(&walk)) {
		rc = prepare_module(control, &walk.module, hooks, out, err);
		walk.at = (uint64_t)walk.module.sleds.next;
	}
	return rc ? rc : ep_control_limit(control, err);
}

int ep_sleds_done(struct ep_control *control, uint64_t first, struct ep_err *err)
{
	struct walk walk = {.control = control, .at = first, .left = MODULES_MAX};
	const uint64_t state = EP_SLEDS_PREPARED;
	int rc = EP_OK;

	while (rc == EP_OK && walk_on(&walk)) {
		rc = ep_control_poke(control, walk.at + offsetof(struct ep_sleds, state), &state,
				     sizeof(state), err);
		walk.at = (uint64_t)walk.module.sleds.next;
	}
	return rc;
}
