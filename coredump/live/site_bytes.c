/* SPDX-License-Identifier: BSD-2-Clause */
/* site_bytes.c: page by page, in four passes. */
#include "coredump/live/site_bytes.h"

#include "runtime/site_code.h"

#define PAGE 4096u

static int poke_code(struct ep_control *control, uint64_t place, const uint8_t *code, size_t size,
		     struct ep_err *err)
{
	uint8_t byte;
	int rc = ep_control_poke(control, place, code, size, err);

	/* The process is there, and its code may be read. */
	if (rc == EP_E_IO && ep_control_check(control, NULL) == EP_OK &&
	    ep_control_peek(control, place, &byte, 1, NULL) == EP_OK)
		return ep_fail(err, EP_E_PERMISSION, place,
			       "pid %d: its code cannot be written to: the kernel forbids it "
			       "(proc_mem.force_override), or the file is mapped shared; epitaph "
			       "control pause works",
			       (int)control->pid);
	return rc;
}

/* One page's, in order, read and written at once: 50,000 one by one took 136 ms. A breakpoint that
 * came since all of them were looked at must not be overwritten. */
static int flip_page(struct ep_control *control, struct ep_found_site *const *due, size_t count,
		     size_t *flipped, struct ep_err *err)
{
	const uint64_t start = due[0]->place;
	const size_t size = due[count - 1]->place - start + 1;
	uint8_t code[PAGE];
	size_t changed = 0;
	int rc = ep_control_peek(control, start, code, size, err);

	for (size_t i = 0; rc == EP_OK && i < count; i++) {
		uint8_t *byte = &code[due[i]->place - start];

		due[i]->held = *byte != ep_site_byte(due[i]->kind, due[i]->off);
		if (due[i]->held)
			continue;
		*byte = ep_site_byte(due[i]->kind, due[i]->want_off);
		changed++;
	}
	if (rc == EP_OK && changed)
		rc = poke_code(control, start, code, size, err);
	*flipped += rc == EP_OK ? changed : 0;
	return rc;
}

struct pass {
	bool off, is_return;
};

static bool is_due(const struct ep_found_site *site, const struct pass *pass)
{
	return site->want_off == pass->off && site->off != site->want_off &&
	       site->is_return == pass->is_return && !site->held && !site->replaced;
}

static int flip_pass(struct ep_control *control, struct ep_found_sites *sites,
		     const struct pass *pass, size_t *flipped, struct ep_err *err)
{
	struct ep_found_site *due[PAGE];
	size_t count = 0;
	int rc = EP_OK;

	for (size_t i = 0; rc == EP_OK && i < sites->count; i++) {
		struct ep_found_site *site = &sites->list[i];

		/* One may be known twice. */
		if (!is_due(site, pass) || (count && due[count - 1]->place == site->place))
			continue;
		if (count && due[0]->place / PAGE != site->place / PAGE) {
			rc = flip_page(control, due, count, flipped, err);
			count = 0;
		}
		due[count++] = site;
	}
	return rc || !count ? rc : flip_page(control, due, count, flipped, err);
}

int ep_sites_flip(struct ep_control *control, struct ep_found_sites *sites, size_t *flipped,
		  struct ep_err *err)
{
	static const struct pass passes[] = {
		{true, false}, {true, true}, {false, true}, {false, false}};
	int rc = EP_OK;

	for (size_t i = 0; rc == EP_OK && i < sizeof(passes) / sizeof(*passes); i++)
		rc = flip_pass(control, sites, &passes[i], flipped, err);
	return rc;
}
