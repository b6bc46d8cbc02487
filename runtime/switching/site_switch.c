/* SPDX-License-Identifier: BSD-2-Clause */
/* site_switch.c: some of them at a time. */
#include "runtime/switching/site_switch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"
#include "runtime/switching/function.h"
#include "runtime/switching/switched.h"

#define PAGE         UINT64_C(4096)
#define MAPPED_FILES 4u /* core(5): bit 2 */

static enum { UNKNOWN, DUMPED, LEFT_OUT } files;

/* Hexadecimal, eight digits and the end of a line. */
static bool wants_files(void)
{
	char text[16];
	long size = ep_fd_load("/proc/self/coredump_filter", text, sizeof(text));
	char last = size >= 2 ? text[size - 2] : '4';

	return (unsigned)(last <= '9' ? last - '0' : last - 'a' + 10) & MAPPED_FILES;
}

/* A page of code that was written to is a private copy, and makes the kernel dump all of its
 * mapping into a core (fs/coredump.c, vma_dump_size), where before there was none of it. The
 * segment of code that holds `address` stays out of cores as before, by madvise, which also holds
 * in forked children: but where its module's ELF header lies in it, which a core must hold, and
 * where the user wants mapped files in cores (bit 2 of /proc/PID/coredump_filter, core(5)). Some
 * us; opens a file at its first call (ep_flip_run). */
static void leave_out_of_cores(uint64_t address)
{
	uint64_t start, end;
	bool has_header;

	if (files == UNKNOWN)
		files = wants_files() ? DUMPED : LEFT_OUT;
	if (files == DUMPED || !ep_code_segment(address, &start, &end, &has_header) || has_header)
		return;
	start &= -PAGE;
	end = (end + PAGE - 1) & -PAGE;
	ep_syscall3(SYS_madvise, (long)start, (long)(end - start), MADV_DONTDUMP);
}

#define SITES_MOST 1024 /* at once */
/* Of so many the last one is changed some 10 us after all were read; of more each is read again
 * just before: a debugger may come in between, or the code go. */
#define FRESH_MOST 32

static struct ep_place places[SITES_MOST];

static bool is_off_outside(uint64_t place)
{
	return ep_switched_from_outside(place) & EP_SWITCH_CONTROL;
}

struct ep_hook_site *ep_site_switch_enter(const struct ep_place *place)
{
	uint32_t pages = ep_site_pages();
	struct ep_hook_site *site = ep_site_note(place);

	if (site && ep_site_pages() != pages)
		leave_out_of_cores(place->place);
	return site;
}

bool ep_site_switch_is_off(const struct ep_hook_site *site)
{
	return ep_site_is_off(site, is_off_outside);
}

struct ep_hook_site *ep_site_switch_note(const struct ep_place *place, enum ep_site_reason reason,
					 bool off)
{
	struct ep_hook_site *site = ep_site_switch_enter(place);

	if (site)
		ep_site_set(site, reason, off);
	return site;
}

bool ep_site_switch_apply(struct ep_flip *flip, struct ep_hook_site *site)
{
	bool changed = ep_site_apply(flip, site, is_off_outside);

	ep_switches()->flips += changed;
	return changed;
}

/* `fresh`: what lies there was seen a moment ago. */
static bool set_site(struct ep_flip *flip, const struct ep_place *place, enum ep_site_reason reason,
		     bool off, bool fresh)
{
	struct ep_hook_site *site = ep_site_switch_note(place, reason, off);
	bool changed;

	if (!site)
		return false;
	if (!fresh)
		return ep_site_switch_apply(flip, site);
	changed = ep_site_apply_seen(flip, site, place->is_off, is_off_outside);
	ep_switches()->flips += changed;
	return changed;
}

static void set_places(struct ep_flip *flip, size_t count, enum ep_site_reason reason, bool off,
		       struct ep_site_switch_sum *sum)
{
	sum->found += count;
	for (unsigned turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < count; i++)
			if (places[i].is_return == (turn == (unsigned)off))
				sum->changed += set_site(flip, &places[i], reason, off,
							 count <= FRESH_MOST);
}

void ep_site_switch(struct ep_flip *flip, uint64_t start, uint64_t end, enum ep_site_reason reason,
		    bool off, struct ep_site_switch_sum *sum)
{
	size_t count;

	do {
		count = ep_sites_in(start, end, places, SITES_MOST);
		set_places(flip, count, reason, off, sum);
		start = count ? places[count - 1].place + ep_place_size(&places[count - 1]) : end;
	} while (count == SITES_MOST);
}

void ep_site_switch_publish(void)
{
	struct ep_switches *head = ep_switches();
	uint64_t count;

	head->sites = (uint64_t)ep_site_table(&count);
	head->site_count = count;
	head->pages = ep_site_pages();
	head->how = ep_flip_how(&head->why_not);
}
