/* SPDX-License-Identifier: BSD-2-Clause */
/* hook_sites.c: each e8, e9, a9 and c3 of a function, and where the four bytes behind it lead; and
 * sleds. */
#include "coredump/live/hook_sites.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "runtime/sled_code.h"

#define FUNCTION_MAX (UINT64_C(8) << 20)
#define WINDOW       ((size_t)64 << 10) /* bytes of code that are read at once */
#define INT3         0xcc
#define STUBS        2  /* one behind the other */
#define WORK_BYTES   64 /* of code that are one of ep_control_work */

static bool is_sled(unsigned kind)
{
	return kind == EP_SITE_XRAY_ENTRY || kind == EP_SITE_XRAY_EXIT;
}

/* Bytes of it, from the one that decides on. */
static size_t size_of(const struct ep_found_site *site)
{
	return is_sled(site->kind) ? EP_SLED_CODE_SIZE : EP_SITE_CODE_SIZE;
}

void ep_hook_finder_init(struct ep_hook_finder *finder, struct ep_control *control,
			 const uint64_t hooks[EP_SWITCH_HOOKS])
{
	*finder = (struct ep_hook_finder){.control = control};
	memcpy(finder->hooks, hooks, sizeof(finder->hooks));
}

void ep_hook_finder_deinit(struct ep_hook_finder *finder)
{
	ep_array_deinit(&finder->targets);
	ep_hash_deinit(&finder->by_address);
}

/* ---- targets ---- */

static enum ep_hook_role own_role(const struct ep_hook_finder *finder, uint64_t address)
{
	static const enum ep_hook_role roles[EP_SWITCH_HOOKS] = {
		EP_HOOK_OF_ENTRY,  EP_HOOK_OF_RETURN,     EP_HOOK_OF_ENTRY,
		EP_HOOK_OF_RETURN, EP_HOOK_OF_SLED_ENTRY, EP_HOOK_OF_SLED_RETURN,
	};

	for (unsigned i = 0; i < EP_SWITCH_HOOKS; i++)
		if (address && finder->hooks[i] == address)
			return roles[i];
	return EP_HOOK_NONE;
}

/* Through at most STUBS stubs. */
static enum ep_hook_role follow(struct ep_hook_finder *finder, uint64_t address)
{
	uint8_t code[EP_STUB_SIZE];

	for (unsigned i = 0; i < STUBS; i++) {
		unsigned stub;

		if (ep_control_peek(finder->control, address, code, sizeof(code), NULL))
			return EP_HOOK_NONE;
		stub = ep_stub_look(code, address, &address);
		if (stub == EP_STUB_NONE ||
		    (stub == EP_STUB_SLOT &&
		     ep_control_peek(finder->control, address, &address, sizeof(address), NULL)))
			return EP_HOOK_NONE;
		if (own_role(finder, address))
			return own_role(finder, address);
	}
	return EP_HOOK_NONE;
}

static enum ep_hook_role role_of(struct ep_hook_finder *finder, uint64_t address)
{
	uint32_t hash = ep_hash_number(address), at = 0, number;
	enum ep_hook_role role = own_role(finder, address);

	if (role)
		return role;
	while ((number = ep_hash_next(&finder->by_address, hash, &at)) != EP_HASH_NONE)
		if (finder->targets.list[number].address == address)
			return finder->targets.list[number].role;
	role = follow(finder, address);
	ep_hash_add(&finder->by_address, hash, (uint32_t)finder->targets.count);
	ep_array_push(&finder->targets, ((struct ep_hook_target){address, role}));
	return role;
}

/* ---- finding ---- */

/* A jump to the hook of the entry is a stub's, never a site. Under a breakpoint either may be. */
static unsigned call_kind(struct ep_hook_finder *finder, const uint8_t *code, uint64_t address,
			  enum ep_hook_role *role)
{
	uint64_t target;
	unsigned kind = ep_site_code_look(code, address, &target);

	if (code[0] == INT3)
		kind = EP_SITE_CALL;
	*role = kind ? role_of(finder, target) : EP_HOOK_NONE;
	if (kind == EP_SITE_JUMP && *role == EP_HOOK_OF_ENTRY)
		return 0;
	return *role == EP_HOOK_OF_ENTRY || *role == EP_HOOK_OF_RETURN ? kind : 0;
}

/* A breakpoint may be on the `ret` of one; elsewhere no instruction begins with the byte that
 * decides. */
static unsigned sled_kind(struct ep_hook_finder *finder, const uint8_t *code, size_t size,
			  uint64_t address, enum ep_hook_role *role)
{
	uint8_t bytes[EP_SLED_CODE_SIZE];
	enum ep_sled_shape shape;
	uint64_t target;

	size = size < sizeof(bytes) ? size : sizeof(bytes);
	memcpy(bytes, code, size);
	if (bytes[0] == INT3)
		bytes[0] = ep_site_byte(EP_SITE_XRAY_EXIT, true);
	shape = ep_sled_code_look(bytes, size, address, &target);
	if (shape == EP_SLED_NONE)
		return 0;
	*role = role_of(finder, target);
	if (*role != (shape == EP_SLED_AT_ENTRY ? EP_HOOK_OF_SLED_ENTRY : EP_HOOK_OF_SLED_RETURN))
		return 0;
	return ep_sled_shapes[shape].kind;
}

static unsigned kind_at(struct ep_hook_finder *finder, const uint8_t *code, size_t size,
			uint64_t address, enum ep_hook_role *role)
{
	unsigned kind = call_kind(finder, code, address, role);

	return kind ? kind : sled_kind(finder, code, size, address, role);
}

static void find_in(struct ep_hook_finder *finder, const uint8_t *code, size_t size,
		    uint64_t address, struct ep_found_sites *out)
{
	for (size_t i = 0; i + EP_SITE_CODE_SIZE <= size; i++) {
		enum ep_hook_role role;
		unsigned kind = kind_at(finder, code + i, size - i, address + i, &role);

		if (!kind)
			continue;
		ep_array_push(out, ((struct ep_found_site){
					   .place = address + i,
					   .kind = (uint8_t)kind,
					   .is_return = role == EP_HOOK_OF_RETURN ||
							role == EP_HOOK_OF_SLED_RETURN,
					   .off = code[i] == ep_site_byte(kind, true),
					   .held = code[i] == INT3,
				   }));
		i += EP_SITE_CODE_SIZE - 1;
		ep_control_work(finder->control, 1);
		if (ep_control_limit(finder->control, NULL))
			return;
	}
}

int ep_hook_sites_find(struct ep_hook_finder *finder, uint64_t start, uint64_t end,
		       struct ep_found_sites *out, struct ep_err *err)
{
	uint8_t *code;

	if (end <= start || end - start > FUNCTION_MAX)
		return ep_fail(err, EP_E_CORRUPT, start, "no function is as long as that");
	if (role_of(finder, start))
		return EP_OK;
	ep_control_work(finder->control, (end - start) / WORK_BYTES);
	if (ep_control_limit(finder->control, err))
		return EP_E_LIMIT;
	code = ep_malloc(end - start);
	if (ep_control_peek(finder->control, start, code, end - start, NULL) == EP_OK)
		find_in(finder, code, end - start, start, out);
	free(code);
	return ep_control_limit(finder->control, err);
}

/* ---- looking ---- */

/* `code`: its bytes, size_of. */
static void look(struct ep_hook_finder *finder, struct ep_found_site *site, const uint8_t *code)
{
	enum ep_hook_role role;
	unsigned kind = is_sled(site->kind)
				? sled_kind(finder, code, EP_SLED_CODE_SIZE, site->place, &role)
				: call_kind(finder, code, site->place, &role);

	site->off = code[0] == ep_site_byte(site->kind, true);
	site->held = kind && code[0] == INT3;
	site->replaced = !site->held && kind != site->kind;
}

/* How many of the sites lie in one window with the first; *size: bytes up to the last one's end. */
static size_t window_of(const struct ep_found_site *sites, size_t count, size_t *size)
{
	size_t n = 0, end;

	*size = 0;
	do {
		end = sites[n].place - sites[0].place + size_of(&sites[n]);
		*size = end > *size ? end : *size;
		n++;
	} while (n < count && sites[n].place - sites[0].place < WINDOW / 2);
	return n;
}

void ep_hook_sites_look(struct ep_hook_finder *finder, struct ep_found_site *sites, size_t count)
{
	uint8_t *code = ep_malloc(WINDOW);

	for (size_t i = 0, n; i < count; i += n) {
		uint64_t start = sites[i].place;
		size_t size;
		bool there;

		n = window_of(sites + i, count - i, &size);
		there = ep_control_peek(finder->control, start, code, size, NULL) == EP_OK;
		for (size_t k = i; k < i + n; k++) {
			if (there)
				look(finder, &sites[k], code + (sites[k].place - start));
			else if (n > 1)
				ep_hook_sites_look(finder, &sites[k], 1);
			else
				sites[k].replaced = true;
		}
	}
	free(code);
}
