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
#include "coredump/files/regularfile.h"

/* Not before it is known where the modules' files are. */
static void place_once(struct ep_source *source)
{
	if (!source->arena_placed)
		ep_funtrace_place_modules(source);
	source->arena_placed = true;
}

static int arena_read(struct ep_source *source, uint64_t address, void *out, size_t size,
		      size_t *done, struct ep_err *err)
{
	const struct ep_segment *segment = ep_source_segment_at(source, address);
	uint64_t offset, left;

	*done = 0;
	place_once(source);
	if (!segment)
		return ep_fail(err, EP_E_UNMAPPED, address,
			       "%s: nothing but the trace was saved, and "
			       "0x%" PRIx64 " is not of it",
			       source->name, address);
	offset = address - segment->address;
	left = segment->present_size - offset;
	*done = size < left ? size : left;
	memcpy(out, source->arena + offset, *done);
	return *done == size ? EP_OK
			     : ep_fail(err, EP_E_UNMAPPED, address + *done,
				       "%s: 0x%" PRIx64 " is behind the trace", source->name,
				       address + *done);
}

static uint64_t arena_next_data(struct ep_source *source, uint64_t address, uint64_t limit)
{
	(void)source;
	return address < limit ? address : limit;
}

/* ---- what the source tells ---- */

static int compare_tids(const void *a, const void *b)
{
	const struct ep_source_thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void drop_twins(struct ep_source *source)
{
	struct ep_source_thread *list = source->threads;
	size_t kept = 0;

	if (source->thread_count)
		qsort(list, source->thread_count, sizeof(*list), compare_tids);
	for (size_t i = 0; i < source->thread_count; i++)
		if (!kept || list[kept - 1].tid != list[i].tid)
			list[kept++] = list[i];
	source->thread_count = kept;
}

/* Each tid once, though it may have been given to several, or be unknown. */
static int take_threads(struct ep_source *source, const struct ep_funtrace *sample,
			struct ep_err *err)
{
	source->threads = calloc(sample->buffer_count + 1, sizeof(*source->threads));
	if (!source->threads)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	for (size_t i = 0; i < sample->buffer_count; i++) {
		const struct ep_funtrace_id *id = &sample->buffers[i].id;
		struct ep_source_thread *thread = &source->threads[source->thread_count];

		if (id->pid && !source->pid)
			source->pid = (pid_t)id->pid;
		if ((uint32_t)id->tid == 0)
			continue;
		thread->tid = (uint32_t)id->tid;
		memcpy(thread->name, id->name, sizeof(id->name));
		source->thread_count++;
	}
	drop_twins(source);
	return EP_OK;
}

static int take_arena(struct ep_source *source, struct ep_funtrace_arena *arena, struct ep_err *err)
{
	const struct ep_arena *head = (void *)arena->bytes;

	source->segments = calloc(1, sizeof(*source->segments));
	if (!source->segments)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	source->segments[0] = (struct ep_segment){
		.address = head->root.self,
		.memory_size = arena->size,
		.saved_size = arena->size,
		.present_size = arena->size,
		.flags = PF_R | PF_W,
	};
	source->segment_count = 1;
	source->arena = arena->bytes;
	arena->bytes = NULL;
	return EP_OK;
}

static int arena_make(struct ep_source *source, const struct ep_funtrace *from, bool *followed,
		      struct ep_err *err)
{
	struct ep_funtrace_arena arena = {0};
	int rc = ep_funtrace_arena_begin(&arena, from, from->modules, from->module_count, err);

	if (!rc)
		arena.code = ep_funtrace_code_create(source, from->modules, from->module_count,
						     arena.program);
	for (size_t i = 0; i < from->buffer_count && !rc; i++)
		rc = ep_funtrace_events(&arena, &from->buffers[i], (uint32_t)i + 1,
					source->funtrace, err);
	*followed = arena.followed;
	ep_funtrace_code_destroy(arena.code);
	if (!rc) {
		ep_funtrace_arena_end(&arena);
		rc = take_arena(source, &arena, err);
	}
	free(arena.bytes);
	return rc;
}

/* What code is where was asked of the files at their own paths; now it is known that they are
 * elsewhere. Without memory it stays as it is. */
static void make_again(struct ep_source *source)
{
	struct ep_funtrace_facts facts = *source->funtrace;
	struct ep_segment *segments = source->segments;
	uint8_t *arena = source->arena;
	struct ep_err err = {0};
	bool followed;

	source->funtrace->entries = source->funtrace->entries_refused = 0;
	source->funtrace->returns_unknown = 0;
	source->funtrace->catches_unnamed = 0;
	if (arena_make(source, source->funtrace_sample, &followed, &err) == EP_OK) {
		free(segments);
		free(arena);
		return;
	}
	*source->funtrace = facts;
	source->segments = segments;
	source->arena = arena;
}

void ep_funtrace_forget(struct ep_source *source)
{
	if (source->funtrace_sample)
		ep_funtrace_unload(source->funtrace_sample);
	free(source->funtrace_sample);
	source->funtrace_sample = NULL;
}

static void files_set(struct ep_source *source)
{
	if (source->funtrace_sample && (source->executable || source->sysroot))
		make_again(source);
	ep_funtrace_forget(source);
	place_once(source);
	if (source->funtrace->catches_unnamed)
		ep_source_warn(source,
			       "%s: %" PRIu64 " exceptions were caught in code "
			       "that no symbol names: which calls they left is "
			       "unknown",
			       source->path, source->funtrace->catches_unnamed);
}

static const struct ep_source_ops ops = {
	.read = arena_read,
	.next_data = arena_next_data,
	.files_set = files_set,
};

static void tell_losses(struct ep_source *source, const struct ep_funtrace_sample *sample)
{
	const struct ep_funtrace_facts *facts = source->funtrace;

	if (!sample->closed)
		ep_source_warn(source,
			       "%s: sample %zu does not end with ENDTRACE: "
			       "it may be cut off",
			       source->path, facts->sample);
	if (facts->entries_refused)
		ep_source_warn(source,
			       "%s: %" PRIu64 " entries are left out: their "
			       "address or time makes no sense",
			       source->path, facts->entries_refused);
	if (facts->scheduling_refused)
		ep_source_warn(source,
			       "%s: %" PRIu64 " lines of FTRACETX are left "
			       "out: they have no time",
			       source->path, facts->scheduling_refused);
	if (facts->returns_unknown)
		ep_source_warn(source,
			       "%s: %" PRIu64 " returns are left out: XRay "
			       "logged them without their function",
			       source->path, facts->returns_unknown);
}

/* ---- opening ---- */

static int choose(struct ep_source *source, size_t *sample, size_t count, struct ep_err *err)
{
	if (count == 0)
		return ep_fail(err, EP_E_TRUNCATED, source->file_size,
			       "%s: a funtrace.raw without a sample: it ends "
			       "before the first entries",
			       source->path);
	if (*sample == EP_FUNTRACE_NEWEST)
		*sample = count - 1;
	if (*sample >= count)
		return ep_fail(err, EP_END, 0, "%s: there is no sample %zu, only 0 to %zu",
			       source->path, *sample, count - 1);
	source->funtrace->sample = *sample;
	source->funtrace->samples = count;
	return EP_OK;
}

static bool head_is(int fd)
{
	char head[EP_FUNTRACE_MAGIC_SIZE];

	return ep_file_read(fd, "", 0, head, sizeof(head), NULL, NULL) == EP_OK &&
	       ep_funtrace_is(head, sizeof(head));
}

bool ep_funtrace_file_is(const char *path)
{
	/* To open a pipe and close it again would end who writes into it. */
	int fd = ep_regular_file_open(path);
	bool is = fd >= 0 && head_is(fd);

	if (fd >= 0)
		close(fd);
	return is;
}

static int file_open(struct ep_source *source, struct ep_err *err)
{
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
	if (head_is(source->fd))
		return EP_OK;
	return ep_fail(err, EP_E_FORMAT, 0, "%s: not a funtrace.raw", source->path);
}

/* Kept where the files decide what it says. */
static int arena_load(struct ep_source *source, struct ep_funtrace *sample, struct ep_err *err)
{
	bool followed = false;
	int rc = ep_funtrace_modules(source, sample, &sample->modules, &sample->module_count, err);

	rc = rc ? rc : arena_make(source, sample, &followed, err);
	if (rc || !followed || !sample->module_count)
		return rc;
	source->funtrace_sample = malloc(sizeof(*sample));
	if (!source->funtrace_sample)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	*source->funtrace_sample = *sample;
	memset(sample, 0, sizeof(*sample));
	return EP_OK;
}

static int load(struct ep_source *source, size_t wanted, struct ep_err *err)
{
	struct ep_funtrace_sample *list = NULL;
	struct ep_funtrace sample = {0};
	size_t count = 0;
	int rc = file_open(source, err);

	rc = rc ? rc : ep_funtrace_index(source, &list, &count, err);
	rc = rc ? rc : choose(source, &wanted, count, err);
	rc = rc ? rc : ep_funtrace_load(&sample, source, &list[wanted], err);
	rc = rc ? rc : take_threads(source, &sample, err);
	if (!rc) {
		source->funtrace->scheduling = sample.text_size;
		source->funtrace->text = sample.text;
		sample.text = NULL;
		ep_funtrace_count_lines(source->funtrace);
		rc = arena_load(source, &sample, err);
	}
	if (!rc)
		tell_losses(source, &list[wanted]);
	ep_funtrace_unload(&sample);
	free(list);
	return rc;
}

int ep_source_open_funtrace(struct ep_source **out, const char *path, size_t sample,
			    struct ep_err *err)
{
	struct ep_source *source = ep_source_new(EP_SOURCE_FUNTRACE, &ops, path);
	int rc;

	if (source) {
		source->path = strdup(path);
		source->funtrace = calloc(1, sizeof(*source->funtrace));
	}
	if (source && source->path && source->funtrace)
		rc = load(source, sample, err);
	else
		rc = ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	if (rc)
		ep_source_close(source);
	else
		*out = source;
	return rc;
}

const struct ep_funtrace_facts *ep_source_funtrace(const struct ep_source *source)
{
	return source->funtrace;
}
