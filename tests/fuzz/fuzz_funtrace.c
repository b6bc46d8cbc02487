/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_funtrace.c: any bytes as a funtrace.raw: each of its first samples is opened and taken
 * apart.
 *
 * Invariants: what is made of it is an arena without any damage, whatever the file was; it holds no
 * more than the file did; each entry is a record, unused, or counted as refused; and those of
 * build_trace_check.
 */
#include <unistd.h>

#include "coredump/funtrace/funtrace.h"
#include "decoder/calls/calls.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/build_trace.h"
#include "tests/unit/fake_names.h"

#define SAMPLES 3 /* that are looked at */

static struct ep_names names;

static void check_damage(const struct ep_trace_damage *damage)
{
	static const struct ep_trace_damage none;

	MUST(memcmp(damage, &none, sizeof(none)) == 0);
}

static void check_trace(struct ep_trace *trace, size_t size)
{
	uint64_t words = 0;

	check_damage(&trace->damage);
	MUST(trace->process.known);
	for (size_t i = 0; i < trace->warning_count; i++)
		MUST(strstr(trace->warnings[i], "clock"));
	for (size_t i = 0; i < trace->thread_count; i++)
		for (size_t n = 0; n < trace->threads[i].block_count; n++)
			words += trace->threads[i].blocks[n].words;
	/* An entry of 16 bytes: an escape and a mark for itself, and one for the call that it may
	 * end. */
	MUST(words <= size / 16 * 7);
	build_trace_check(trace, &names);
}

static void check_facts(const struct ep_source *source, size_t sample, size_t size)
{
	const struct ep_funtrace_facts *facts = ep_source_funtrace(source);

	MUST(facts && facts->sample < facts->samples);
	MUST(sample == EP_FUNTRACE_NEWEST ? facts->sample + 1 == facts->samples
					  : facts->sample == sample);
	MUST(facts->samples <= size / 16);
	MUST(facts->entries + facts->entries_refused <= size / 16);
	MUST(facts->returns_unknown <= facts->entries);
	MUST(facts->scheduling <= size);
	MUST(facts->scheduling_events * 3 + facts->scheduling_refused <= size);
	for (size_t i = 0; ep_source_warning(source, i); i++)
		MUST(i < 64 && ep_source_warning(source, i)[0] &&
		     !strchr(ep_source_warning(source, i), '\n'));
}

static void take(struct ep_source *source, size_t size)
{
	struct ep_root_found found;
	struct ep_image image;
	struct ep_trace *trace;
	struct ep_err err = {0};

	MUST(ep_root_find(source, &found, &err) == EP_OK);
	MUST(found.how == EP_FOUND_SEGMENT);
	MUST(ep_image_read(&image, source, &found, &err) == EP_OK);
	MUST(image.pages_missing == 0);
	MUST(image.size <= (65u << 20) + 16 * size);
	MUST(ep_trace_create(&trace, &image, &err) == EP_OK);
	check_trace(trace, size);
	ep_trace_destroy(trace);
	ep_image_deinit(&image);
}

static size_t take_sample(const char *path, size_t sample, size_t size)
{
	struct ep_source *source;
	struct ep_err err = {0};
	size_t samples;
	int rc = ep_source_open_funtrace(&source, path, sample, &err);

	if (rc) {
		if (rc != EP_END)
			fuzz_check_failure(rc, &err);
		return 0;
	}
	check_facts(source, sample, size);
	samples = ep_source_funtrace(source)->samples;
	take(source, size);
	ep_source_close(source);
	return samples;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[64];
	int fd = fuzz_file(bytes, size, path);
	size_t count = take_sample(path, EP_FUNTRACE_NEWEST, size);

	for (size_t i = 0; i + 1 < count && i < SAMPLES; i++)
		MUST(take_sample(path, i, size) == count);
	MUST(take_sample(path, count, size) == 0);
	close(fd);
	fake_names_free(&names);
	names.count = 0;
	return 0;
}
