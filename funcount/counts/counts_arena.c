/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counts_arena.c: counts as a process has them in its memory (format.h, "counts"). Any page may be
 * missing or damaged: extents are taken by their check words, and what should be there and is not
 * makes the run incomplete.
 */
#include "funcount/counts/counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/find/root.h"
#include "coredump/util/alloc.h"
#include "decoder/trace/trace.h"

#define PAGE 4096u

struct extent {
	struct ep_counts_extent head;
	const uint8_t *entries; /* borrowed from the image */
	uint64_t offset;        /* of the entries, from the arena's start */
};

struct reading {
	const struct ep_trace *trace;
	struct ep_counts *counts;
	uint64_t start, end; /* of the section, from the arena's start */
	uint64_t taken;      /* bytes of it that the process took */
	struct ep_counts_head head;
	EP_ARRAY(struct extent) extents;
	struct ep_count_site *sites; /* by number; address 0: unknown */
	uint64_t site_count;
	size_t *modules;         /* of `counts`, by module of the trace */
	uint64_t pages_missing;  /* of the section */
	uint64_t calls_nameless; /* whose site is not known */
	uint64_t pages_damaged;  /* not empty, and of no extent */
	struct ep_err *err;
};

/* ---- extents -------------------------------------------------------------- */

static bool extent_holds(const struct reading *reading, const struct ep_counts_extent *extent,
			 uint64_t offset)
{
	uint64_t entry =
		extent->kind == EP_EXTENT_SITES ? sizeof(struct ep_count_site) : sizeof(uint64_t);

	return extent->check ==
		       ep_extent_check(extent, offset, reading->trace->image->root.identity) &&
	       (extent->kind == EP_EXTENT_SITES || extent->kind == EP_EXTENT_COUNTERS) &&
	       extent->size % PAGE == 0 && extent->size && extent->size <= reading->end - offset &&
	       extent->capacity <= (extent->size - sizeof(*extent)) / entry &&
	       /* Each number before it has its place in the section. */
	       extent->first <= reading->end / sizeof(uint64_t);
}

static void add_extent(struct reading *reading, const struct ep_counts_extent *head,
		       uint64_t offset)
{
	offset += sizeof(*head);
	ep_array_push(&reading->extents, ((struct extent){
						 .head = *head,
						 .entries = reading->trace->image->bytes + offset,
						 .offset = offset,
					 }));
}

static bool page_is_empty(const uint8_t *page)
{
	for (size_t i = 0; i < PAGE; i++)
		if (page[i])
			return false;
	return true;
}

/* One page that no extent begins on. */
static void pass_over(struct reading *reading, uint64_t offset)
{
	const struct ep_image *image = reading->trace->image;

	if (!ep_image_has(image, offset, PAGE))
		reading->pages_missing++;
	else if (!page_is_empty(image->bytes + offset))
		reading->pages_damaged++;
}

static void find_extents(struct reading *reading)
{
	const struct ep_image *image = reading->trace->image;
	uint64_t offset = reading->start + PAGE;

	while (offset + PAGE <= reading->end) {
		struct ep_counts_extent head = {0};

		if (ep_image_has(image, offset, sizeof(head)))
			memcpy(&head, image->bytes + offset, sizeof(head));
		if (head.check && extent_holds(reading, &head, offset)) {
			add_extent(reading, &head, offset);
			offset += head.size;
		} else {
			pass_over(reading, offset);
			offset += PAGE;
		}
	}
}

/* The entry's bytes, or false: its page was not saved. */
static bool read_entry(const struct reading *reading, const struct extent *extent, uint64_t index,
		       uint64_t size, void *out)
{
	if (!ep_image_has(reading->trace->image, extent->offset + index * size, size))
		return false;
	memcpy(out, extent->entries + index * size, size);
	return true;
}

/* ---- sites ---------------------------------------------------------------- */

static void read_sites_of(struct reading *reading, const struct extent *extent)
{
	struct ep_count_site *to = reading->sites + extent->head.first;

	for (uint64_t i = 0; i < extent->head.capacity; i++)
		read_entry(reading, extent, i, sizeof(*to), &to[i]);
}

static void read_sites(struct reading *reading)
{
	for (size_t i = 0; i < reading->extents.count; i++) {
		const struct ep_counts_extent *head = &reading->extents.list[i].head;

		if (head->kind == EP_EXTENT_SITES &&
		    head->first + head->capacity > reading->site_count)
			reading->site_count = head->first + head->capacity;
	}
	reading->sites = ep_calloc(reading->site_count + 1, sizeof(*reading->sites));
	for (size_t i = 0; i < reading->extents.count; i++)
		if (reading->extents.list[i].head.kind == EP_EXTENT_SITES)
			read_sites_of(reading, &reading->extents.list[i]);
}

/* ---- modules -------------------------------------------------------------- */

#define NOT_YET SIZE_MAX

/* The module's number among the counts; the last one stands for none. */
static int module_number(struct reading *reading, const struct ep_trace_module *module, size_t *out)
{
	const struct ep_trace *trace = reading->trace;
	size_t *known = &reading->modules[module ? module - trace->modules
						 : (ptrdiff_t)trace->module_count];
	int result = EP_OK;

	if (*known == NOT_YET)
		result = ep_counts_module(reading->counts, module ? module->path : "",
					  module ? module->build_id : NULL,
					  module ? module->build_id_size : 0, known, reading->err);
	if (!result && module && module->flags & EP_MODULE_EXECUTABLE)
		reading->counts->modules.list[*known].executable = true;
	*out = *known;
	return result;
}

static int add_calls(struct reading *reading, const struct ep_count_site *site, uint64_t calls)
{
	const struct ep_trace_module *module =
		ep_trace_module_at(reading->trace, site->address, site->tsc);
	size_t number;
	int result = module_number(reading, module, &number);

	if (!result)
		ep_counts_add(reading->counts, number, site->address - (module ? module->bias : 0),
			      calls);
	return result;
}

/* ---- counters ------------------------------------------------------------- */

static void sum(uint64_t *to, uint64_t calls, bool *overflow)
{
	if (__builtin_add_overflow(*to, calls, to)) {
		*to = UINT64_MAX;
		*overflow = true;
	}
}

/* Adds the extent's counters to those of all, by number. */
static void sum_counters(struct reading *reading, const struct extent *extent, uint64_t *calls)
{
	bool *overflow = &reading->counts->overflow;
	uint64_t missing = UINT64_MAX, one;

	for (uint64_t i = 0; i < extent->head.capacity; i++) {
		uint64_t number = extent->head.first + i;
		uint64_t page = (extent->offset + i * sizeof(one)) / PAGE;

		if (!read_entry(reading, extent, i, sizeof(one), &one)) {
			reading->pages_missing += page != missing;
			missing = page;
		} else if (number < reading->site_count && reading->sites[number].address) {
			sum(&calls[number], one, overflow);
		} else {
			sum(&reading->calls_nameless, one, overflow);
		}
	}
}

static int read_counters(struct reading *reading)
{
	uint64_t *calls = ep_calloc(reading->site_count + 1, sizeof(*calls));
	int result = EP_OK;

	for (size_t i = 0; i < reading->extents.count; i++)
		if (reading->extents.list[i].head.kind == EP_EXTENT_COUNTERS)
			sum_counters(reading, &reading->extents.list[i], calls);
	for (uint64_t i = 0; i < reading->site_count && !result; i++)
		if (calls[i])
			result = add_calls(reading, &reading->sites[i], calls[i]);
	free(calls);
	return result;
}

/* ---- the run -------------------------------------------------------------- */

/* What is missing, in words; the caller frees it. */
static char *missing_words(const struct reading *reading)
{
	uint32_t off = reading->trace->arena.off_reason;
	const char *before = "";
	char *text = NULL;
	size_t size;
	FILE *out = ep_open_memstream(&text, &size);

	if (reading->head.lost) {
		fputs("calls found no memory: give more by EPITAPH_MEMORY", out);
		before = "; ";
	}
	if (reading->pages_missing) {
		fprintf(out, "%s%" PRIu64 " pages of counts were not saved", before,
			reading->pages_missing);
		before = "; ";
	}
	if (reading->pages_damaged || reading->calls_nameless) {
		fprintf(out, "%scounts in memory are damaged", before);
		before = "; ";
	}
	if (off)
		fprintf(out, "%s%s", before, ep_off_text(off));
	ep_close_memstream(out);
	return text;
}

static int add_run(struct reading *reading)
{
	const struct ep_trace *trace = reading->trace;
	const struct ep_trace_process *process = &trace->process;
	char *missing = missing_words(reading);
	struct ep_counts_run run = {
		.identity = trace->image->root.identity,
		.program = process->known ? (char *)process->executable : NULL,
		.host = process->known ? (char *)process->host : NULL,
		.incomplete = missing,
		.pid = trace->image->root.pid,
		.start = process->start_realtime,
		.duration = reading->head.duration,
		.cpu = reading->head.cpu,
		.threads = reading->head.threads,
		.memory = reading->taken,
		.lost = reading->head.lost,
	};
	int result;

	sum(&run.memory, reading->head.map_size, &reading->counts->overflow);
	sum(&run.lost, reading->calls_nameless, &reading->counts->overflow);
	result = ep_counts_add_run(reading->counts, &run, reading->err);
	free(missing);
	return result;
}

/* ---- all of it ------------------------------------------------------------ */

/* False: there is none. What lies outside of the image is cut off, and counted as missing. */
static bool find_section(struct reading *reading)
{
	const struct ep_arena *arena = &reading->trace->arena;
	uint64_t size = reading->trace->image->size, end;

	for (uint32_t i = 0; i < EP_SECTION_MAX && i < arena->section_count; i++) {
		const struct ep_section *section = &arena->sections[i];

		if (section->type != EP_SECTION_COUNTS || section->offset % PAGE ||
		    section->offset < PAGE ||
		    __builtin_add_overflow(section->offset, section->size, &end))
			continue;
		if (end > arena->committed)
			end = arena->committed;
		reading->taken = end > section->offset ? end - section->offset : 0;
		if (end > size) {
			reading->pages_missing += (end - size) / PAGE;
			end = size;
		}
		reading->start = section->offset;
		reading->end = end;
		return section->offset < arena->committed;
	}
	return false;
}

static void read_head(struct reading *reading)
{
	const struct ep_image *image = reading->trace->image;

	if (ep_image_has(image, reading->start, sizeof(reading->head)))
		memcpy(&reading->head, image->bytes + reading->start, sizeof(reading->head));
	else
		reading->pages_missing++;
}

static int read_all(struct reading *reading)
{
	size_t count = reading->trace->module_count + 1;
	int result;

	reading->counts = ep_counts_create();
	reading->modules = ep_malloc(count * sizeof(*reading->modules));
	for (size_t i = 0; i < count; i++)
		reading->modules[i] = NOT_YET;
	read_head(reading);
	find_extents(reading);
	read_sites(reading);
	result = read_counters(reading);
	return result ? result : add_run(reading);
}

int ep_counts_from_trace(struct ep_counts **out, const struct ep_trace *trace, struct ep_err *err)
{
	struct reading reading = {.trace = trace, .err = err};
	int result;

	if (!find_section(&reading))
		return ep_fail(
			err, EP_END, 0,
			"its process traced and did not count: run it with EPITAPH_MODE=count");
	result = read_all(&reading);
	ep_array_deinit(&reading.extents);
	free(reading.sites);
	free(reading.modules);
	if (result) {
		ep_counts_destroy(reading.counts);
		return result;
	}
	ep_counts_settle(reading.counts);
	*out = reading.counts;
	return EP_OK;
}
