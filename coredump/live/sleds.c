/* SPDX-License-Identifier: BSD-2-Clause */
/* sleds.c: the process's list of modules, the map of each, and the bytes that do not run. */
#include "coredump/live/sleds.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "runtime/dso/sleds.h"

#define MODULES_MAX 4096
#define SLEDS_MAX   ((uint64_t)1 << 24)

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

/* The byte that decides is as it was. */
static int write_rest(struct ep_control *control, const uint8_t *code, unsigned decides,
		      uint64_t place, struct ep_err *err)
{
	unsigned from = decides + 1;

	return ep_control_poke(control, place + from, code + from, EP_SLED_SIZE - from, err);
}

static int prepare(struct ep_control *control, const struct module *module,
		   const struct ep_sled *sled, uint64_t entry,
		   const uint64_t hooks[EP_SWITCH_HOOKS], struct ep_found_sites *out,
		   struct ep_err *err)
{
	enum ep_sled_shape shape = ep_sled_shape_of(sled);
	const struct ep_sled_bytes *as = &ep_sled_shapes[shape];
	uint64_t place = entry + (uint64_t)sled->place;
	uint8_t code[EP_SLED_SIZE + 2];
	int rc = EP_OK;

	if (shape == EP_SLED_NONE ||
	    ep_control_peek(control, place, code, sizeof(code), NULL) != EP_OK)
		return EP_OK;
	if (ep_sled_is_fit(shape, code)) {
		if (!prepare_bytes(code, shape, place, module, hooks))
			return EP_OK;
		rc = write_rest(control, code, as->decides, place, err);
	} else if (!ep_sled_is_prepared(shape, code)) {
		return EP_OK;
	}
	ep_array_push(out, ((struct ep_found_site){.place = place + as->decides,
						   .kind = as->kind,
						   .is_return = shape != EP_SLED_AT_ENTRY,
						   .off = true}));
	return rc;
}

/* ---- modules ---- */

static int prepare_module(struct ep_control *control, const struct module *module,
			  const uint64_t hooks[EP_SWITCH_HOOKS], struct ep_found_sites *out,
			  struct ep_err *err)
{
	uint64_t map = (uint64_t)module->sleds.begin, size = (uint64_t)module->sleds.end - map;
	struct ep_sled *list;
	int rc = EP_OK;

	if (size / sizeof(*list) > SLEDS_MAX)
		return EP_OK;
	list = ep_malloc(size);
	if (ep_control_peek(control, map, list, size, NULL) == EP_OK)
		for (uint64_t i = 0; rc == EP_OK && i < size / sizeof(*list); i++)
			rc = prepare(control, module, &list[i], map + i * sizeof(*list), hooks, out,
				     err);
	free(list);
	return rc;
}

int ep_sleds_prepare(struct ep_control *control, uint64_t first,
		     const uint64_t hooks[EP_SWITCH_HOOKS], struct ep_found_sites *out,
		     struct ep_err *err)
{
	struct module module;
	unsigned count = 0;
	int rc = EP_OK;

	for (uint64_t at = first; rc == EP_OK && count < MODULES_MAX; count++) {
		if (!next_module(control, &module, at))
			break;
		if (module.sleds.state == EP_SLEDS_NEW)
			rc = prepare_module(control, &module, hooks, out, err);
		at = (uint64_t)module.sleds.next;
	}
	return rc;
}

int ep_sleds_done(struct ep_control *control, uint64_t first, struct ep_err *err)
{
	const uint64_t state = EP_SLEDS_PREPARED;
	struct module module;
	unsigned count = 0;
	int rc = EP_OK;

	for (uint64_t at = first; rc == EP_OK && count < MODULES_MAX; count++) {
		if (!next_module(control, &module, at))
			break;
		if (module.sleds.state == EP_SLEDS_NEW)
			rc = ep_control_poke(control, at + offsetof(struct ep_sleds, state), &state,
					     sizeof(state), err);
		at = (uint64_t)module.sleds.next;
	}
	return rc;
}
