/* SPDX-License-Identifier: BSD-2-Clause */
/* source.c: what all sources have in common. */
#include "coredump/memory/source_impl.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/util/alloc.h"
#include "coredump/util/search.h"
#include "runtime/format.h"

/* ---- life ---- */

struct ep_source *ep_source_new(enum ep_source_kind kind, const struct ep_source_ops *ops,
				const char *name, const char *path)
{
	struct ep_source *source = ep_calloc(1, sizeof(*source));

	source->kind = kind;
	source->ops = ops;
	source->fd = source->arena_fd = source->folder = source->process = -1;
	source->name = ep_strdup(name);
	source->path = path ? ep_strdup(path) : NULL;
	return source;
}

void ep_source_close(struct ep_source *source)
{
	if (!source)
		return;
	if (source->ops->close)
		source->ops->close(source);
	if (source->fd >= 0)
		close(source->fd);
	if (source->folder >= 0)
		close(source->folder);
	if (source->process >= 0)
		close(source->process);
	if (source->arena_fd >= 0)
		close(source->arena_fd);
	for (size_t i = 0; i < source->warning_count; i++)
		free(source->warnings[i]);
	free(source->owned_auxv);
	free(source->over);
	free(source->mapping_text);
	ep_array_deinit(&source->threads);
	ep_array_deinit(&source->mappings);
	ep_array_deinit(&source->notes);
	ep_array_deinit(&source->segments);
	free(source->sysroot);
	free(source->executable);
	free(source->path);
	free(source->name);
	free(source);
}

static void string_replace(char **slot, const char *value)
{
	free(*slot);
	*slot = value ? ep_strdup(value) : NULL;
}

void ep_source_set_files(struct ep_source *source, const char *executable, const char *sysroot)
{
	string_replace(&source->executable, executable);
	string_replace(&source->sysroot, sysroot);
}

/* ---- reading ---- */

const struct ep_segment *ep_source_segment_at(const struct ep_source *source, uint64_t address)
{
	const struct ep_segment *list = source->segments.list;
	size_t behind = ep_partition_point(source->segments.count, i, list[i].address <= address);

	return behind && address - list[behind - 1].address < list[behind - 1].memory_size
		       ? &list[behind - 1]
		       : NULL;
}

/* What was read at `address` is replaced where something lies over it. */
static void read_over(const struct ep_source *source, uint64_t address, void *out, size_t size)
{
	uint64_t from = source->over_address, end = from + source->over_size;
	uint64_t low = address > from ? address : from;
	uint64_t high = address + size < end ? address + size : end;

	if (low < high)
		memcpy((uint8_t *)out + (low - address), source->over + (low - from), high - low);
}

/* Some bytes at `at`, at most `size`. */
static int read_some(struct ep_source *source, uint64_t at, void *out, size_t size, size_t *got,
		     struct ep_err *err)
{
	const struct ep_segment *segment = ep_source_segment_at(source, at);
	uint64_t within, left;

	if (source->ops->unbounded)
		return source->ops->read(source, segment, at, out, size, got, err);
	within = segment ? at - segment->address : 0;
	if (!segment || within >= segment->present_size)
		return source->ops->fault(source, segment, at, err);
	left = segment->present_size - within;
	return (segment->read ? segment->read : source->ops->read)(
		source, segment, at, out, size < left ? size : left, got, err);
}

int ep_source_read(struct ep_source *source, uint64_t address, void *out, size_t size, size_t *done,
		   struct ep_err *err)
{
	size_t own_done, got;
	int rc = EP_OK;

	done = done ? done : &own_done;
	for (*done = 0; *done < size && rc == EP_OK; *done += got) {
		uint64_t at = address + *done;

		got = 0;
		rc = at < address
			     ? source->ops->fault(source, NULL, at, err)
			     : read_some(source, at, (char *)out + *done, size - *done, &got, err);
	}
	if (source->over)
		read_over(source, address, out, *done);
	return rc;
}

uint64_t ep_source_next_data(struct ep_source *source, uint64_t address, uint64_t limit)
{
	if (source->ops->next_data)
		return source->ops->next_data(source, address, limit);
	return address < limit ? address : limit;
}

void ep_source_lay_over(struct ep_source *source, uint64_t address, uint8_t *bytes, uint64_t size)
{
	free(source->over);
	source->over = bytes;
	source->over_address = address;
	source->over_size = size;
}

int ep_source_read_string(struct ep_source *source, uint64_t address, char *out, size_t size,
			  struct ep_err *err)
{
	size_t used = 0;

	if (size == 0)
		return ep_fail(err, EP_E_LIMIT, address, "no room for a text");
	while (used < size - 1) {
		uint64_t at = address + used;
		size_t want = EP_PAGE - at % EP_PAGE, got, end;
		int rc;

		if (want > size - 1 - used)
			want = size - 1 - used;
		rc = ep_source_read(source, at, out + used, want, &got, err);
		end = strnlen(out + used, got);
		used += end;
		out[used] = '\0';
		if (end < got)
			return EP_OK;
		if (rc)
			return rc;
	}
	out[used] = '\0';
	return ep_fail(err, EP_E_LIMIT, address,
		       "%s: text at 0x%" PRIx64 " is longer than %zu bytes", source->name, address,
		       size - 1);
}

void ep_source_warn(struct ep_source *source, const char *format, ...)
{
	struct ep_err line; /* for its size, and for its control characters */
	char text[sizeof(line.text)];
	va_list args;

	if (source->warning_count == EP_WARNINGS_MAX)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (source->warning_count == EP_WARNINGS_MAX - 1)
		snprintf(text, sizeof(text), "more damage, not listed");
	ep_err_set(&line, 0, 0, "%s", text);
	source->warnings[source->warning_count++] = ep_strdup(line.text);
}

enum ep_source_kind ep_source_kind(const struct ep_source *source)
{
	return source->kind;
}

const char *ep_source_name(const struct ep_source *source)
{
	return source->name;
}

int ep_source_spare(const struct ep_source *source, const char *path, struct ep_err *err)
{
	struct stat out;

	if (source->origin_inode && stat(path, &out) == 0 && source->origin_device == out.st_dev &&
	    source->origin_inode == out.st_ino)
		return ep_fail(err, EP_E_USAGE, 0,
			       "%s: is what it is made from; choose another name", path);
	return EP_OK;
}

pid_t ep_source_pid(const struct ep_source *source)
{
	return source->pid;
}

int ep_source_owner(const struct ep_source *source, uint32_t *uid, uint32_t *gid)
{
	if (!source->owner_known)
		return EP_END;
	if (uid)
		*uid = source->uid;
	if (gid)
		*gid = source->gid;
	return EP_OK;
}

int ep_source_folder(const struct ep_source *source)
{
	return source->folder;
}

const char *ep_source_path(const struct ep_source *source)
{
	return source->path;
}

int ep_source_file(const struct ep_source *source)
{
	if (!source->elf)
		return -1;
	return fcntl(source->fd, F_DUPFD_CLOEXEC, 3);
}

const struct ep_segment *ep_source_segments(const struct ep_source *source, size_t *count)
{
	*count = source->segments.count;
	return source->segments.list;
}

const struct ep_note *ep_source_notes(const struct ep_source *source, size_t *count)
{
	*count = source->notes.count;
	return source->notes.list;
}

const struct ep_mapping *ep_source_mappings(const struct ep_source *source, size_t *count)
{
	*count = source->mappings.count;
	return source->mappings.list;
}

const struct ep_source_thread *ep_source_threads(const struct ep_source *source, size_t *count)
{
	*count = source->threads.count;
	return source->threads.list;
}

const struct ep_source_thread *ep_source_thread(const struct ep_source *source, uint32_t tid)
{
	for (size_t i = 0; i < source->threads.count; i++)
		if (source->threads.list[i].tid == tid)
			return &source->threads.list[i];
	return NULL;
}

void ep_source_leave_out(struct ep_source *source, uint32_t tid)
{
	size_t kept = 0;

	for (size_t i = 0; i < source->threads.count; i++)
		if (source->threads.list[i].tid != tid)
			source->threads.list[kept++] = source->threads.list[i];
	source->threads.count = kept;
}

void ep_source_death(const struct ep_source *source, struct ep_death *out)
{
	*out = source->death;
}

int ep_source_auxv(const struct ep_source *source, uint64_t type, uint64_t *value)
{
	for (size_t at = 0; source->auxv_size - at >= 16; at += 16) {
		uint64_t entry[2];

		memcpy(entry, source->auxv + at, sizeof(entry));
		if (entry[0] == type) {
			*value = entry[1];
			return EP_OK;
		}
		if (entry[0] == 0) /* AT_NULL */
			break;
	}
	return EP_END;
}

const uint8_t *ep_source_auxv_bytes(const struct ep_source *source, size_t *size)
{
	*size = source->auxv_size;
	return source->auxv;
}

uint32_t ep_source_snapshot_found(const struct ep_source *source)
{
	struct ep_snapshot_note head;
	size_t next = 0;

	return ep_source_snapshot_note(source, &next, &head) ? head.found : 0;
}

uint64_t ep_source_snapshot_taken(const struct ep_source *source)
{
	struct ep_snapshot_note head;
	size_t next = 0;

	return ep_source_snapshot_note(source, &next, &head) ? head.taken_tsc : 0;
}

uint64_t ep_source_snapshot_ended(const struct ep_source *source)
{
	struct ep_snapshot_note head;
	size_t next = 0;

	return ep_source_snapshot_note(source, &next, &head) ? head.ended : 0;
}

uint64_t ep_source_snapshot_written(const struct ep_source *source)
{
	struct ep_snapshot_note head;
	size_t next = 0;

	return ep_source_snapshot_note(source, &next, &head) ? head.written : 0;
}

/* A file's time may be one tick of the kernel's clock old (at 100 Hz). */
#define TICK UINT64_C(10000000)

uint64_t ep_source_written(const struct ep_source *source)
{
	struct stat status;

	if (!source->path || stat(source->path, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_mtim.tv_sec <= 0) /* 1970: of an archive without times */
		return 0;
	return (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec +
	       TICK;
}

const char *ep_source_warning(const struct ep_source *source, size_t index)
{
	return index < source->warning_count ? source->warnings[index] : NULL;
}
