/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_modules.c: the load map, and who was at an address at a time. */
#include <inttypes.h>
#include <string.h>

#include "coredump/snapshot/redacted.h"
#include "coredump/util/alloc.h"
#include "decoder/trace/trace_parts.h"

#define PATH_LIMIT 4096u /* PATH_MAX of Linux: longer is nonsense */

static bool head_is_right(const struct ep_modules *head, const struct ep_trace_section *section)
{
	uint64_t entries = (uint64_t)head->capacity * section->entry_size;

	return head->count <= head->capacity && entries <= section->size - sizeof(*head) &&
	       head->strings >= sizeof(*head) + entries && head->strings_end >= head->strings;
}

/* Entries by a head that may lie: as many as the section can hold. */
static uint32_t entry_count(struct ep_trace *trace, const struct ep_trace_section *section)
{
	struct ep_modules head;
	const void *bytes = NULL;
	uint64_t most;

	if (section->size < sizeof(head))
		return 0;
	bytes = ep_trace_view(trace, section->offset, sizeof(head));
	if (!bytes) {
		ep_trace_warn(trace, "the load map was not saved");
		return 0;
	}
	memcpy(&head, bytes, sizeof(head));
	if (head_is_right(&head, section))
		return head.count;
	ep_trace_warn(trace,
		      "the load map's head is damaged (%" PRIu32 " entries of %" PRIu32
		      "): what is valid is kept",
		      head.count, head.capacity);
	most = (section->size - sizeof(head)) / section->entry_size;
	return head.count < most ? head.count : (uint32_t)most;
}

static const char *module_fault(const struct ep_module *from)
{
	if (from->reserved != 0)
		return "a reserved field is not 0";
	if (from->start >= from->end)
		return "its addresses make no sense";
	if (from->build_id_size > EP_BUILD_ID_MAX)
		return "its build-id is too long";
	if (from->path.length > PATH_LIMIT)
		return "its path is too long";
	return NULL;
}

static void add_module(struct ep_trace *trace, const struct ep_trace_section *section,
		       const struct ep_module *from)
{
	struct ep_trace_module *to = &trace->modules[trace->module_count++];
	const uint8_t *path = ep_trace_string(trace, section, from->path);
	char named[EP_REDACTED_PATH_MAX];

	to->start = from->start;
	to->end = from->end;
	to->bias = from->bias;
	to->load_tsc = from->load_tsc;
	to->unload_tsc = from->unload_tsc;
	to->flags = from->flags;
	to->build_id_size = from->build_id_size;
	memcpy(to->build_id, from->build_id, from->build_id_size);
	to->path = path ? ep_trace_keep(trace, path, from->path.length) : "";
	if (trace->image->redacted & EP_REDACTED_PATHS && !*to->path) {
		ep_redacted_path(named, to->build_id, to->build_id_size, trace->module_count);
		to->path = from->flags & EP_MODULE_VDSO
				   ? "[vdso]"
				   : ep_trace_keep(trace, named, strlen(named));
	} else if (!path && from->path.length)
		ep_trace_warn(trace, "module at 0x%" PRIx64 ": its path was not saved",
			      from->start);
}

static void read_entry(struct ep_trace *trace, const struct ep_trace_section *section,
		       uint32_t index)
{
	uint64_t offset =
		section->offset + sizeof(struct ep_modules) + (uint64_t)index * section->entry_size;
	const void *bytes = ep_trace_view(trace, offset, sizeof(struct ep_module));
	struct ep_module from;
	const char *fault;

	if (!bytes) {
		trace->damage.modules_corrupt++;
		return;
	}
	memcpy(&from, bytes, sizeof(from));
	if (from.state == EP_MODULE_FREE)
		return;
	fault = from.state == EP_MODULE_VALID ? module_fault(&from) : "its state is unknown";
	if (!fault) {
		add_module(trace, section, &from);
		return;
	}
	trace->damage.modules_corrupt++;
	ep_trace_warn(trace, "module %" PRIu32 " is left out: %s", index, fault);
}

void ep_trace_read_modules(struct ep_trace *trace, const struct ep_trace_section *section)
{
	uint32_t count = section->there ? entry_count(trace, section) : 0;
	/* Entries may share one long string: what is kept of them is bounded by what the image can
	 * hold. */
	uint64_t budget = trace->image->size;

	trace->modules = ep_calloc(count, sizeof(*trace->modules));
	for (uint32_t i = 0; i < count; i++) {
		size_t before = trace->module_count;

		read_entry(trace, section, i);
		if (trace->module_count == before)
			continue;
		uint64_t size = strlen(trace->modules[before].path);
		if (size > budget) {
			ep_trace_warn(trace, "the load map's paths are longer than the arena");
			return;
		}
		budget -= size;
	}
}

/* A module is first seen some time after it was loaded, so one that was seen later beats one that
 * had gone. */
bool ep_trace_module_fits(const struct ep_trace_module *a, const struct ep_trace_module *b,
			  uint64_t tsc)
{
	bool a_gone = a->unload_tsc != 0 && a->unload_tsc <= tsc;
	bool b_gone = b->unload_tsc != 0 && b->unload_tsc <= tsc;
	bool a_later = a->load_tsc > tsc, b_later = b->load_tsc > tsc;

	if (a_gone != b_gone)
		return b_gone;
	if (a_gone)
		return a->unload_tsc > b->unload_tsc;
	if (a_later != b_later)
		return b_later;
	return a_later ? a->load_tsc < b->load_tsc : a->load_tsc > b->load_tsc;
}

const struct ep_trace_module *ep_trace_module_at(const struct ep_trace *trace, uint64_t address,
						 uint64_t tsc)
{
	const struct ep_trace_module *best = NULL;

	if (tsc == 0)
		tsc = UINT64_MAX;
	for (size_t i = 0; i < trace->module_count; i++) {
		const struct ep_trace_module *one = &trace->modules[i];

		if (address >= one->start && address < one->end &&
		    (!best || ep_trace_module_fits(one, best, tsc)))
			best = one;
	}
	return best;
}
