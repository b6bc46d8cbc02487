/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_trace.c: any bytes as an arena: taken apart, decoded to records, paired to calls, merged.
 * Each input is taken three times: as it is; with magic, version and all check words repaired, so
 * that a flip gets past them; and so with a page that was not saved.
 *
 * Invariants: those of build_trace_check, and that everything told is inside of what was there.
 */
#include "decoder/calls/calls.h"
#include "tests/fuzz/arena.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/build_trace.h"
#include "tests/unit/fake_names.h"

#define PAGE 4096u

static struct ep_names names;

static void repair(struct ep_image *image)
{
	if (image->size < PAGE)
		return;
	fuzz_repair_arena(image->bytes, image->size);
	memcpy(&image->root, image->bytes, sizeof(image->root));
}

static void check_blocks(const struct ep_trace *trace)
{
	const struct ep_image *image = trace->image;
	uint64_t blocks = 0;

	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct ep_trace_thread *thread = &trace->threads[i];

		MUST(thread->known || thread->block_count);
		MUST(memchr(thread->name, 0, sizeof(thread->name)));
		blocks += thread->block_count;
		for (size_t n = 0; n < thread->block_count; n++) {
			const struct ep_trace_block *b = &thread->blocks[n];
			uint64_t offset = (uint64_t)((const uint8_t *)b->block - image->bytes);

			MUST(ep_image_has(image, offset, EP_BLOCK_SIZE));
			MUST(b->block->owner == thread->serial);
			MUST(b->words <= EP_BLOCK_RECORDS);
			MUST(n == 0 || b->sequence == b[-1].sequence + 1 + b->lost_before);
		}
	}
	MUST(blocks == trace->block_count);
	MUST(blocks + trace->damage.blocks_torn <= image->size / PAGE);
}

static void check_modules(const struct ep_trace *trace)
{
	for (size_t i = 0; i < trace->module_count; i++) {
		const struct ep_trace_module *m = &trace->modules[i], *found;

		MUST(m->start < m->end && m->path != NULL);
		MUST(m->build_id_size <= EP_BUILD_ID_MAX);
		found = ep_trace_module_at(trace, m->start, m->load_tsc);
		MUST(found && found->start <= m->start && m->start < found->end);
	}
}

static void check_facts(const struct ep_trace *trace)
{
	const struct ep_trace_process *p = &trace->process;

	MUST(p->executable && p->directory && p->host && p->kernel && p->cgroup && p->runtime &&
	     p->command_line);
	MUST(ep_trace_ns(trace, 5, 5) == 0);
	MUST(ep_trace_ns(trace, 0, 12345) == -ep_trace_ns(trace, 12345, 0));
	MUST(!trace->clock.known || trace->clock.ns_per_tick > 0);
	MUST(trace->warning_count <= 65);
	for (size_t i = 0; i < trace->warning_count; i++)
		MUST(trace->warnings[i][0] && !strchr(trace->warnings[i], '\n'));
}

static void take(const struct ep_image *image)
{
	struct ep_err err = {0};
	struct ep_trace *trace;
	int result = ep_trace_create(&trace, image, &err);

	if (result != EP_OK) {
		MUST(result == EP_E_CORRUPT || result == EP_E_VERSION);
		MUST(err.text[0] != '\0' && err.code == result);
		return;
	}
	check_facts(trace);
	check_modules(trace);
	check_blocks(trace);
	build_trace_check(trace, &names);
	ep_trace_destroy(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct ep_image image;

	build_image(&image, bytes, size);
	take(&image);
	repair(&image);
	take(&image);
	if (size >= PAGE) {
		build_image_lose(&image, bytes[size - 1] % (size / PAGE));
		take(&image);
	}
	build_image_free(&image);
	fake_names_free(&names);
	names.count = 0;
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
	if (seed % 8 == 1)
		fuzz_put_marks(bytes, size, seed / 8);
	return fuzz_mutate(bytes, size, max_size, seed, seed % 4 ? fuzz_repair_arena : NULL);
}
