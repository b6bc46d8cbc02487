/* SPDX-License-Identifier: BSD-2-Clause */
/* window.c: two copies of the code, and what the first one showed. */
#include "runtime/switching/window.h"

#include "runtime/lib/files.h"
#include "runtime/lib/text.h"
#include "runtime/sled_code.h"

#define ROOM (EP_WINDOW_SIZE + EP_SLED_CODE_SIZE) /* the last site may reach into the next page */

static struct {
	uint64_t start;
	size_t got, count;
	uint8_t seen[ROOM], code[ROOM];
	struct ep_place places[EP_WINDOW_SITES];
} window;

static bool look(uint64_t start, uint64_t end, uint64_t last)
{
	window.start = start;
	window.got = last - start < ROOM ? last - start : ROOM;
	window.count = 0;
	return end - start <= EP_WINDOW_SIZE && window.got >= EP_SITE_CODE_SIZE &&
	       ep_memory_read(start, window.seen, window.got);
}

const struct ep_place *ep_window_open(uint64_t start, uint64_t end, uint64_t last, size_t *count)
{
	if (!look(start, end, last))
		return NULL;
	window.count = ep_sites_of(window.seen, end - start, window.got, start, window.places,
				   EP_WINDOW_SITES);
	*count = window.count;
	return window.places;
}

const struct ep_place *ep_window_open_at(uint64_t start, uint64_t end, uint64_t last,
					 const uint64_t *places, size_t known, size_t *count)
{
	if (known > EP_WINDOW_SITES || !look(start, end, last))
		return NULL;
	window.count = ep_sites_at(window.seen, window.got, start, places, known, window.places);
	*count = window.count;
	return window.places;
}

size_t ep_window_spare(bool (*spares)(const struct ep_place *place))
{
	size_t kept = 0;

	for (size_t i = 0; i < window.count; i++)
		if (!spares(&window.places[i]))
			window.places[kept++] = window.places[i];
	window.count = kept;
	return kept;
}

static bool is_all(bool off)
{
	for (size_t i = 0; i < window.count; i++)
		if (window.places[i].is_off != off)
			return false;
	return true;
}

#define BREAKPOINT 0xcc /* int3: gdb's, a uprobe's, or what a linker fills gaps with */

static bool has_breakpoint(size_t from, size_t to)
{
	while (from < to && window.seen[from] != BREAKPOINT)
		from++;
	return from < to;
}

/*
 * From the first site that is changed to the last one by one write, but for breakpoints between
 * them: whoever put one there may take it away before we write, and it would be there again.
 */
bool ep_window_switch(struct ep_flip *flip, bool off, size_t *changed)
{
	size_t first = 0, behind = 0;
	bool done = true;

	*changed = 0;
	if (is_all(off))
		return true;
	/* A debugger stops us as we come back from reading, and writes then. */
	if (ep_flip_has_tracer(flip) || !ep_memory_read(window.start, window.code, window.got) ||
	    !ep_bytes_equal(window.code, window.seen, window.got))
		return false;
	for (size_t i = 0; i < window.count && done; i++) {
		const struct ep_place *place = &window.places[i];
		size_t at = place->place - window.start;

		if (place->is_off == off)
			continue;
		if (*changed && has_breakpoint(behind, at)) {
			done = ep_flip_write_all(flip, window.start + first, window.code + first,
						 behind - first);
			first = at;
		} else if (!*changed) {
			first = at;
		}
		window.code[at] = ep_site_byte(place->kind, off);
		behind = at + 1;
		++*changed;
	}
	return done &&
	       ep_flip_write_all(flip, window.start + first, window.code + first, behind - first);
}
