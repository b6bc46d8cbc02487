/* SPDX-License-Identifier: BSD-2-Clause */
/* funtrace.c: a funtrace.raw as a source: one segment, the arena that was made of one of its
 * samples. */
#include "coredump/funtrace/funtrace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/funtrace/funtrace_impl.h"
#include "coredump/util/alloc.h"

/* ---- reading ---- */

static int arena_fault(const struct ep_source *source, const struct ep_segment *segment,
		       uint64_t at, struct ep_err *err)
{
	(void)segment;
	return ep_fail(err, EP_E_UNMAPPED, at,
		       "%s: nothing but the trace was saved, and 0x%" PRIx64 " is not of it",
		       source->name, at);
}

static void arena_fill(struct ep_source *source, const struct ep_funtrace_content *content,
		       const struct ep_funtrace_codes *codes, struct ep_funtrace_arena *arena)
{
	struct ep_funtrace_facts *facts = &source->funtrace->facts;

	facts->entries = facts->entries_refused = facts->returns_unknown = 0;
	ep_funtrace_arena_begin(arena, content);
	arena->codes = codes;
	for (size_t i = 0; i < content->buffers.count; i++)
		ep_funtrace_entries(arena, &content->buffers.list[i], (uint32_t)i + 1, facts);
	ep_funtrace_arena_end(arena);
}

static void content_free(struct ep_funtrace *funtrace)
{
	if (funtrace->content)
		ep_funtrace_unload(funtrace->content);
	free(funtrace->content);
	funtrace->content = NULL;
}

/* The entries once more, now that symbols say which function an XRay return goes on in. The arena
 * is the same but for the records. */
static void settle_returns(struct ep_source *source)
{
	struct ep_funtrace *funtrace = source->funtrace;
	struct ep_segment *segment = &source->segments.list[0];
	struct ep_funtrace_codes codes = {0};
	struct ep_funtrace_arena arena;

	ep_funtrace_codes(source, &codes);
	if (codes.count) {
		const struct ep_arena *before = (void *)funtrace->arena;

		arena_fill(source, funtrace->content, &codes, &arena);
		for (uint32_t i = 0; i < before->section_count; i++)
			if (before->sections[i].type == EP_SECTION_MODULES)
				memcpy(arena.bytes.list + before->sections[i].offset,
				       funtrace->arena + before->sections[i].offset,
				       before->sections[i].size);
		free(funtrace->arena);
		funtrace->arena = arena.bytes.list;
		segment->memory_size = segment->saved_size = segment->present_size =
			arena.bytes.count;
	}
	if (funtrace->facts.returns_unknown)
		ep_source_warn(source,
			       "%s: %" PRIu64
			       " returns are left out: XRay logged them without their function",
			       source->path, funtrace->facts.returns_unknown);
	ep_array_deinit(&codes);
	content_free(funtrace);
}

static int arena_read(struct ep_source *source, const struct ep_segment *segment, uint64_t at,
		      void *out, size_t size, size_t *got, struct ep_err *err)
{
	/* Not before it is known where the modules' files are. */
	if (!source->funtrace->placed) {
		ep_funtrace_place_modules(source);
		if (source->funtrace->content)
			settle_returns(source);
	}
	source->funtrace->placed = true;
	if (at - segment->address + size > source->segments.list[0].saved_size)
		return arena_fault(source, segment, at, err);
	memcpy(out, source->funtrace->arena + (at - segment->address), size);
	*got = size;
	return EP_OK;
}

static void arena_close(struct ep_source *source)
{
	free(source->funtrace->arena);
	free(source->funtrace->text);
	content_free(source->funtrace);
	free(source->funtrace);
}

static const struct ep_source_ops ops = {
	.read = arena_read,
	.fault = arena_fault,
	.close = arena_close,
};

/* ---- what the file says ---- */

static int compare_tids(const void *a, const void *b)
{
	const struct ep_source_thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void drop_twins(struct ep_source *source)
{
	struct ep_source_thread *list = source->threads.list;
	size_t kept = 0;

	if (source->threads.count)
		qsort(list, source->threads.count, sizeof(*list), compare_tids);
	for (size_t i = 0; i < source->threads.count; i++)
		if (!kept || list[kept - 1].tid != list[i].tid)
			list[kept++] = list[i];
	source->threads.count = kept;
}

/* Each tid once, though it may have been given to several, or be unknown. */
static void threads_add(struct ep_source *source, const struct ep_funtrace_content *content)
{
	for (size_t i = 0; i < content->buffers.count; i++) {
		const struct ep_funtrace_id *id = &content->buffers.list[i].id;
		struct ep_source_thread *thread;

		if (id->pid && !source->pid)
			source->pid = (pid_t)id->pid;
		if ((uint32_t)id->tid == 0)
			continue;
		thread = ep_array_add(&source->threads);
		thread->tid = (uint32_t)id->tid;
		memcpy(thread->name, id->name, sizeof(id->name));
	}
	drop_twins(source);
}

static void arena_make(struct ep_source *source, const struct ep_funtrace_content *content)
{
	struct ep_funtrace_arena arena;

	arena_fill(source, content, NULL, &arena);
	source->funtrace->arena = arena.bytes.list;
	*ep_array_add(&source->segments) = (struct ep_segment){
		.address = ((const struct ep_arena *)(void *)arena.bytes.list)->root.self,
		.memory_size = arena.bytes.count,
		.saved_size = arena.bytes.count,
		.present_size = arena.bytes.count,
		.flags = PF_R | PF_W,
	};
}

static void losses_warn(struct ep_source *source, const struct ep_funtrace_sample *sample)
{
	const struct ep_funtrace_facts *facts = &source->funtrace->facts;

	if (!sample->closed)
		ep_source_warn(source,
			       "%s: sample %zu does not end with ENDTRACE: it may be cut off",
			       source->path, facts->sample);
	if (facts->entries_refused)
		ep_source_warn(source,
			       "%s: %" PRIu64
			       " entries are left out: their address or time makes no sense",
			       source->path, facts->entries_refused);
	if (facts->scheduling_refused)
		ep_source_warn(source,
			       "%s: %" PRIu64 " lines of FTRACETX are left out: they have no time",
			       source->path, facts->scheduling_refused);
}

/* ---- opening ---- */

/* The text becomes the source's. */
static void text_take(struct ep_funtrace *funtrace, struct ep_funtrace_content *content)
{
	funtrace->text = content->text.list;
	funtrace->facts.text = funtrace->text;
	funtrace->facts.scheduling = content->text.count;
	memset(&content->text, 0, sizeof(content->text));
	ep_funtrace_count_lines(&funtrace->facts);
}

static int choose(struct ep_source *source, size_t *sample, size_t count, struct ep_err *err)
{
	if (count == 0)
		return ep_fail(
			err, EP_E_TRUNCATED, source->file_size,
			"%s: a funtrace.raw without a sample: it ends before the first entries",
			source->path);
	if (*sample == EP_FUNTRACE_NEWEST)
		*sample = count - 1;
	if (*sample >= count)
		return ep_fail(err, EP_END, 0, "%s: there is no sample %zu, only 0 to %zu",
			       source->path, *sample, count - 1);
	source->funtrace->facts.sample = *sample;
	source->funtrace->facts.samples = count;
	return EP_OK;
}

static int file_open(struct ep_source *source, struct ep_err *err)
{
	char head[EP_FUNTRACE_MAGIC_SIZE];
	struct stat st;

	source->fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (source->fd < 0 || fstat(source->fd, &st) != 0)
		return ep_fail(err, errno == EACCES ? EP_E_PERMISSION : EP_E_IO, 0, "%s: %m",
			       source->path);
	if (!S_ISREG(st.st_mode))
		return ep_fail(err, EP_E_FORMAT, 0, "%s: not a regular file", source->path);
	source->file_size = (uint64_t)st.st_size;
	source->origin_device = st.st_dev;
	source->origin_inode = st.st_ino;
	if (ep_file_read(source->fd, "", 0, head, sizeof(head), NULL, NULL) == EP_OK &&
	    ep_funtrace_is(head, sizeof(head)))
		return EP_OK;
	return ep_fail(err, EP_E_FORMAT, 0, "%s: not a funtrace.raw", source->path);
}

static bool has_xray(const struct ep_funtrace_content *content)
{
	struct ep_funtrace_entry entry;

	for (size_t i = 0; i < content->buffers.count; i++) {
		struct ep_cursor cursor = content->buffers.list[i].entries;

		while (ep_cursor_take(&cursor, &entry, sizeof(entry)) == EP_OK)
			if ((entry.code & EP_FUNTRACE_CATCH) == EP_FUNTRACE_RETURN_INTO)
				return true;
	}
	return false;
}

static int sample_load(struct ep_source *source, const struct ep_funtrace_sample *sample,
		       struct ep_err *err)
{
	struct ep_funtrace_content content;
	int rc = ep_funtrace_load(&content, source, sample, err);

	if (rc)
		return rc;
	ep_funtrace_modules(source, &content);
	threads_add(source, &content);
	text_take(source->funtrace, &content);
	arena_make(source, &content);
	losses_warn(source, sample);
	if (has_xray(&content)) {
		source->funtrace->content = ep_malloc(sizeof(content));
		*source->funtrace->content = content;
	} else {
		ep_funtrace_unload(&content);
	}
	return EP_OK;
}

int ep_source_open_funtrace(struct ep_source **out, const char *path, size_t sample,
			    struct ep_err *err)
{
	struct ep_source *source = ep_source_new(EP_SOURCE_FUNTRACE, &ops, path, path);
	struct ep_funtrace_samples samples = {0};
	int rc;

	source->funtrace = ep_calloc(1, sizeof(*source->funtrace));
	rc = file_open(source, err);
	rc = rc ? rc : ep_funtrace_index(source, &samples, err);
	rc = rc ? rc : choose(source, &sample, samples.count, err);
	rc = rc ? rc : sample_load(source, &samples.list[sample], err);
	ep_array_deinit(&samples);
	if (rc)
		ep_source_close(source);
	else
		*out = source;
	return rc;
}

const struct ep_funtrace_facts *ep_source_funtrace(const struct ep_source *source)
{
	return source->funtrace ? &source->funtrace->facts : NULL;
}
