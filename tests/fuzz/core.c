/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core.c: a core, or the file of an arena, opened, read, searched for a root, copied and extracted.
 *
 * Invariants: segments ascend and are disjoint; a read says how much it did and leaves the rest
 * alone; a failure has words; an image is accounted for; a snapshot of what was found can be opened
 * again and holds the same arena.
 */
#include "tests/fuzz/core.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "coredump/kinds/arena_file.h"
#include "coredump/extract/extract.h"
#include "coredump/snapshot/image.h"
#include "coredump/extract/extract_kept.h"
#include "coredump/snapshot/redacted.h"
#include "decoder/names/modules.h"
#include "tests/fuzz/fuzz.h"

static void check_read(struct ep_source *source, uint64_t address)
{
	uint8_t out[300];
	struct ep_err err = {0};
	size_t done = 0;
	int rc;

	memset(out, 0xee, sizeof(out));
	rc = ep_source_read(source, address, out, sizeof(out), &done, &err);
	MUST(done <= sizeof(out));
	MUST((rc == EP_OK) == (done == sizeof(out)));
	if (rc)
		fuzz_check_failure(rc, &err);
	for (size_t i = done; i < sizeof(out); i++)
		MUST(out[i] == 0xee);
}

static void check_segments(struct ep_source *source)
{
	const struct ep_segment *list;
	size_t count;

	list = ep_source_segments(source, &count);
	for (size_t i = 0; i < count; i++) {
		MUST(list[i].present_size <= list[i].saved_size);
		MUST(list[i].saved_size <= list[i].memory_size);
		MUST(list[i].memory_size != 0);
		if (i)
			MUST(list[i].address - list[i - 1].address >= list[i - 1].memory_size);
		if (i > 64)
			continue;
		check_read(source, list[i].address);
		check_read(source, list[i].address + list[i].present_size - 100);
		check_read(source, list[i].address + list[i].memory_size - 1);
	}
	check_read(source, UINT64_MAX - 10);
}

static void check_facts(struct ep_source *source)
{
	const struct ep_source_thread *threads;
	const struct ep_mapping *mappings;
	const struct ep_note *notes;
	size_t count, sum = 0;
	char text[40];

	mappings = ep_source_mappings(source, &count);
	for (size_t i = 0; i < count; i++) {
		MUST(mappings[i].start < mappings[i].end);
		sum += strlen(mappings[i].path);
	}
	notes = ep_source_notes(source, &count);
	for (size_t i = 0; i < count; i++) {
		sum += strlen(notes[i].name);
		if (notes[i].desc_size)
			sum += notes[i].desc[0] + notes[i].desc[notes[i].desc_size - 1];
	}
	threads = ep_source_threads(source, &count);
	for (size_t i = 0; i < count; i++) {
		MUST((threads[i].prstatus_size == 0) ==
		     (ep_source_kind(source) == EP_SOURCE_ARENA));
		ep_source_read_string(source, threads[i].registers.sp, text, sizeof(text), NULL);
		sum += strlen(text);
	}
	for (size_t i = 0; ep_source_warning(source, i); i++)
		MUST(i < 64 && ep_source_warning(source, i)[0]);
	MUST(sum != (size_t)-1); /* all of it was read */
}

/* The snapshot's arena is what the image was of. */
static void check_snapshot(int fd, const struct ep_image *image)
{
	char path[64];
	struct ep_source *source;
	struct ep_root_found found;
	struct ep_image again;
	struct ep_err err = {0};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	MUST(ep_source_open_core(&source, path, &err) == EP_OK);
	MUST(ep_source_kind(source) == EP_SOURCE_SNAPSHOT);
	check_segments(source);
	if (ep_root_find(source, &found, &err) == EP_OK && found.arena_address == image->address &&
	    ep_image_read(&again, source, &found, &err) == EP_OK) {
		size_t size = again.size < image->size ? again.size : image->size;

		for (size_t at = 0; at + 4096 <= size; at += 4096)
			if (again.present[at / 4096] && image->present[at / 4096])
				MUST(memcmp(again.bytes + at, image->bytes + at, 4096) == 0);
		ep_image_deinit(&again);
	}
	ep_source_close(source);
}

/* Whatever the core is, what is redacted comes out as a snapshot, too. */
static void check_redacted(struct ep_source *source, const struct ep_root_found *found)
{
	struct ep_extract_options options = EP_EXTRACT_DEFAULTS;
	char dir[] = "/tmp/epitaph-fuzz.XXXXXX", path[64];
	struct ep_err err = {0};
	struct ep_source *again;
	int rc;

	options.pages.redact = EP_REDACTED_ALL;
	MUST(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/s", dir);
	rc = ep_extract(source, found, path, &options, NULL, &err);
	if (rc) {
		fuzz_check_failure(rc, &err);
	} else {
		MUST(ep_source_open_core(&again, path, &err) == EP_OK);
		MUST((ep_source_redacted(again) & EP_REDACTED_ALL) == EP_REDACTED_ALL);
		ep_source_close(again);
	}
	unlink(path);
	rmdir(dir);
}

static void check_extract(struct ep_source *source, const struct ep_root_found *found,
			  const struct ep_image *image, size_t size)
{
	struct ep_extract_options options = EP_EXTRACT_DEFAULTS;
	struct ep_extract_result result;
	struct ep_err err = {0};
	char dir[] = "/tmp/epitaph-fuzz.XXXXXX", path[64];
	int rc, fd;

	MUST(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/s", dir);
	rc = ep_extract(source, found, path, &options, &result, &err);
	if (rc) {
		fuzz_check_failure(rc, &err);
		MUST(access(path, F_OK) != 0);
	} else {
		MUST(result.arena_saved <= result.arena_wanted);
		MUST(result.pages_saved <= result.pages_wanted);
		/* each page at most once, and the headers */
		MUST(result.bytes_written < 4 * size + (1u << 20));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		MUST(fd >= 0);
		check_snapshot(fd, image);
		close(fd);
	}
	unlink(path);
	rmdir(dir);
}

static void check_kept(struct ep_source *source, const struct ep_root_found *found)
{
	char dir[] = "/tmp/epitaph-fuzz.XXXXXX", path[64];
	struct ep_extract_options options = EP_EXTRACT_DEFAULTS;
	struct ep_kept_result result;
	struct ep_kept_list kept;
	struct ep_err err = {0};

	ep_kept_list(&kept, source, found);
	MUST(kept.count <= EP_KEPT_MAX);
	for (size_t i = 0; i < kept.count && i < 2; i++) {
		int rc;

		MUST(kept.list[i].kept.size % 4096 == 0);
		MUST(kept.list[i].present <= kept.list[i].kept.size);
		MUST(ep_kept_at(&kept, kept.list[i].kept.number) != NULL);
		MUST(mkdtemp(dir) != NULL);
		snprintf(path, sizeof(path), "%s/s", dir);
		options.pages.redact = i ? EP_REDACTED_ALL : 0;
		rc = ep_kept_extract(source, found, &kept.list[i], path, &options, &result, &err);
		if (rc)
			fuzz_check_failure(rc, &err);
		else
			MUST(result.saved <= result.wanted);
		MUST((access(path, F_OK) == 0) == (rc == EP_OK));
		unlink(path);
		rmdir(dir);
		memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
	}
	ep_kept_list_deinit(&kept);
}

static void check_modules(struct ep_source *source)
{
	struct ep_trace_module *modules;
	size_t count;

	modules = ep_modules_from_source(&count, source, NULL);
	for (size_t i = 0; i < count && i < 16; i++) {
		void *memory = NULL;
		Elf *elf;

		MUST(modules[i].start < modules[i].end && modules[i].path);
		MUST(i == 0 || modules[i - 1].start <= modules[i].start);
		MUST(modules[i].build_id_size <= EP_BUILD_ID_MAX);
		elf = ep_module_image(&modules[i], source, &memory);
		elf_end(elf);
		free(memory);
	}
	free(modules);
}

static void check_root(struct ep_source *source, size_t size)
{
	struct ep_root_found found;
	struct ep_image image;
	struct ep_err err = {0};
	int rc = ep_root_find(source, &found, &err);

	if (rc) {
		fuzz_check_failure(rc, &err);
		return;
	}
	MUST(found.arena_address % 4096 == 0 && found.arena_address != 0);
	MUST(found.where[0] && found.how);
	rc = ep_image_read(&image, source, &found, &err);
	if (rc) {
		fuzz_check_failure(rc, &err);
		return;
	}
	MUST(image.size <= (64u << 20) + 4 * size);
	check_extract(source, &found, &image, size);
	check_redacted(source, &found);
	check_kept(source, &found);
	ep_image_deinit(&image);
}

/* `rc`: what opening it gave. */
static void check_source(int rc, struct ep_source *source, size_t size, const struct ep_err *err)
{
	if (rc) {
		fuzz_check_failure(rc, err);
		return;
	}
	check_segments(source);
	check_facts(source);
	check_modules(source);
	check_root(source, size);
	ep_source_close(source);
}

void fuzz_check_core(const uint8_t *bytes, size_t size)
{
	struct ep_source *source = NULL;
	struct ep_image image;
	struct ep_err err = {0};
	char path[64];
	int fd = memfd_create("fuzz", 0), rc;

	MUST(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = ep_source_open_core(&source, path, &err);
	check_source(rc, source, size, &err);
	rc = ep_source_open_arena(&source, path, &err);
	check_source(rc, source, size, &err);
	close(fd);
	rc = ep_image_from_bytes(&image, bytes, size, &err);
	if (rc == EP_OK)
		ep_image_deinit(&image);
	else
		fuzz_check_failure(rc, &err);
}
