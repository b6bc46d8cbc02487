/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_create.c: the arena's first page and its section table, and the order in which the parts
 * are read. A section that is wrong is dropped with a warning; the others are kept.
 */
#include "decoder/trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/trace/trace_parts.h"

#define PAGE           4096u
#define SECTION_ALIGN  64u
#define ENTRY_SIZE_MAX (1u << 20)
#define ANY_ENTRY_SIZE 0u

/* ---- the first page ---- */

/* The copy of the root that opens the arena must be the image's own. */
static bool read_header(struct ep_trace *trace)
{
	const struct ep_image *image = trace->image;
	const void *page = ep_trace_view(trace, 0, PAGE);

	if (image->off_reason == EP_OFF_OVERWRITTEN)
		ep_trace_warn(trace, "the program wrote over the memory that holds the trace: "
				     "tracing ended there");
	if (image->off_reason == EP_OFF_NO_TSC)
		ep_trace_warn(trace, "the program gave up reading the processor's time (prctl, "
				     "PR_SET_TSC): tracing ended there");

	if (!page) {
		ep_trace_warn(trace,
			      "the arena's first page was not saved: only blocks can be read");
		return false;
	}
	memcpy(&trace->arena, page, sizeof(trace->arena));
	if (memcmp(trace->arena.root.magic, EP_ARENA_MAGIC, EP_MAGIC_SIZE) == 0 &&
	    trace->arena.root.identity == image->root.identity &&
	    trace->arena.block_size == EP_BLOCK_SIZE) {
		if (!trace->arena.off_reason)
			trace->arena.off_reason = image->off_reason;
		return true;
	}
	ep_trace_warn(trace, "the arena's first page is damaged: only blocks can be read");
	memset(&trace->arena, 0, sizeof(trace->arena));
	return false;
}

/* Smallest entry that this reader can do with, by section type. */
static uint32_t smallest_entry(uint32_t type)
{
	static const uint32_t sizes[EP_TRACE_SECTIONS] = {
		[EP_SECTION_PROCESS] = sizeof(struct ep_process),
		[EP_SECTION_CLOCK] = sizeof(struct ep_clock),
		[EP_SECTION_THREADS] = sizeof(struct ep_thread),
		[EP_SECTION_MODULES] = sizeof(struct ep_module),
		[EP_SECTION_RINGS] = ANY_ENTRY_SIZE,
		[EP_SECTION_SCHED] = sizeof(struct ep_sched),
	};

	return sizes[type];
}

static const char *section_name(uint32_t type)
{
	static const char *const names[EP_TRACE_SECTIONS] = {
		[EP_SECTION_PROCESS] = "process", [EP_SECTION_CLOCK] = "clock",
		[EP_SECTION_THREADS] = "threads", [EP_SECTION_MODULES] = "modules",
		[EP_SECTION_RINGS] = "rings",     [EP_SECTION_SCHED] = "sched",
	};

	return names[type];
}

/* What is wrong with a section, or NULL. */
static const char *section_fault(const struct ep_trace *trace, const struct ep_section *section)
{
	uint32_t align = section->type == EP_SECTION_RINGS ? PAGE : SECTION_ALIGN;
	uint64_t end;

	if (section->offset % align != 0)
		return "its offset is not aligned";
	if (__builtin_add_overflow(section->offset, section->size, &end))
		return "its size overflows";
	if (section->offset < PAGE)
		return "it lies on the arena's first page";
	if (end > trace->image->root.arena_size && trace->image->root.arena_size)
		return "it ends beyond the arena";
	/* Before the first thread has a ring, the rings begin at the end. */
	if (section->offset >= trace->image->size &&
	    !(section->type == EP_SECTION_RINGS && section->offset == trace->image->size))
		return "it lies beyond what was saved";
	if (section->entry_size < smallest_entry(section->type))
		return "its entries are too small";
	if (section->entry_size % 8 != 0 || section->entry_size > ENTRY_SIZE_MAX)
		return "the size of its entries makes no sense";
	return NULL;
}

static bool overlaps(const struct ep_section *a, const struct ep_section *b)
{
	return a->offset < b->offset + b->size && b->offset < a->offset + a->size;
}

/* The index of an earlier section, taken already, that shares bytes with `index`, or -1. */
static int overlapped(const struct ep_section *sections, uint32_t taken, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (taken >> i & 1 && overlaps(&sections[i], &sections[index]))
			return (int)i;
	return -1;
}

static void add_section(struct ep_trace *trace, uint32_t index, uint32_t *taken,
			struct ep_trace_section *out)
{
	const struct ep_section *section = &trace->arena.sections[index];
	const char *name = section_name(section->type);
	const char *fault = section_fault(trace, section);
	uint64_t left;
	int other;

	if (!fault && out[section->type].there)
		fault = "there is another one";
	if (fault) {
		ep_trace_warn(trace,
			      "section %s (offset %" PRIu64 ", %" PRIu64 " bytes) is left out: %s",
			      name, section->offset, section->size, fault);
		return;
	}
	other = overlapped(trace->arena.sections, *taken, index);
	if (other >= 0) {
		ep_trace_warn(trace, "section %s is left out: it overlaps section %s", name,
			      section_name(trace->arena.sections[other].type));
		return;
	}
	*taken |= 1u << index;
	left = trace->image->size - section->offset;
	out[section->type] = (struct ep_trace_section){
		.there = true,
		.entry_size = section->entry_size,
		.offset = section->offset,
		.size = section->size < left ? section->size : left,
	};
}

static void read_sections(struct ep_trace *trace, struct ep_trace_section *out)
{
	uint32_t count = trace->arena.section_count, taken = 0;

	if (count > EP_SECTION_MAX) {
		ep_trace_warn(trace, "the arena names %" PRIu32 " sections, %d are possible", count,
			      EP_SECTION_MAX);
		count = EP_SECTION_MAX;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t type = trace->arena.sections[i].type;

		/* Others are somebody else's, or of a later minor version. */
		if (type < EP_TRACE_SECTIONS && section_name(type))
			add_section(trace, i, &taken, out);
	}
	for (uint32_t type = 1; type <= EP_SECTION_RINGS; type++)
		if (!out[type].there)
			ep_trace_warn(trace, "there is no section %s", section_name(type));
}

/* Pages that the arena had and the image has not, at its end too. */
static uint64_t pages_missing(const struct ep_trace *trace, bool header)
{
	const struct ep_image *image = trace->image;
	uint64_t missing = image->pages_missing;
	uint64_t committed = trace->arena.committed;

	if (header && committed <= image->root.arena_size && committed > image->size)
		missing += (committed - image->size + PAGE - 1) / PAGE;
	return missing;
}

static void read_all(struct ep_trace *trace, bool header)
{
	const struct ep_trace_section *sections = trace->sections;

	if (header)
		read_sections(trace, trace->sections);
	trace->damage.pages_missing = pages_missing(trace, header);
	ep_trace_read_process(trace, &sections[EP_SECTION_PROCESS]);
	ep_trace_read_clock(trace, &sections[EP_SECTION_CLOCK]);
	ep_trace_read_modules(trace, &sections[EP_SECTION_MODULES]);
	ep_trace_read_threads(trace, &sections[EP_SECTION_THREADS]);
	ep_trace_read_watchdogs(trace);
	ep_trace_read_looks(trace);
	ep_trace_read_switches(trace);
	ep_trace_read_blocks(trace, &sections[EP_SECTION_RINGS]);
	ep_transitions_learn(&trace->transitions, trace);
}

int ep_trace_create(struct ep_trace **out, const struct ep_image *image, struct ep_err *err)
{
	struct ep_trace *trace;
	bool header;

	if (image->root.major != EP_FORMAT_MAJOR)
		return ep_fail(err, EP_E_VERSION, 0,
			       "the arena has format %u.%u, this reader knows %d.x",
			       image->root.major, image->root.minor, EP_FORMAT_MAJOR);
	trace = ep_calloc(1, sizeof(*trace));
	trace->image = image;
	header = read_header(trace);
	read_all(trace, header);
	if (header || trace->block_count) {
		trace->end = (struct ep_trace_end){NULL, EP_TRACE_END_UNKNOWN, EP_TRACE_END_UNKNOWN,
						   trace->last_tsc, false};
		*out = trace;
		return EP_OK;
	}
	ep_trace_destroy(trace);
	return ep_fail(
		err, EP_E_CORRUPT, 0,
		"the arena's first page is missing or damaged, and no block of it is whole%s",
		image->off_reason == EP_OFF_OVERWRITTEN ? ": the program wrote over it" : "");
}

void ep_trace_destroy(struct ep_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->texts.count; i++)
		free(trace->texts.list[i]);
	ep_array_deinit(&trace->texts);
	for (size_t i = 0; i < trace->warning_count; i++)
		free(trace->warnings[i]);
	free(trace->warnings);
	free(trace->threads);
	free(trace->modules);
	free(trace->watchdogs);
	free(trace->stacks);
	ep_trace_free_switches(trace);
	free(trace->all_blocks);
	ep_array_deinit(&trace->overs);
	ep_array_deinit(&trace->looks);
	ep_transitions_deinit(&trace->transitions);
	free(trace);
}
