/* SPDX-License-Identifier: BSD-2-Clause */
/* source.c: what all sources have in common, and which kind a name means. */
#include "coredump/kinds/arena_file.h"
#include "coredump/funtrace/funtrace.h"
#include "coredump/memory/source_impl.h"
#include "coredump/stream/spool.h"
#include "coredump/util/alloc.h"
#include "runtime/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A warning that there was no memory for: whoever reads it must not take the source for whole. */
static char starved[] = "damage that is not told: out of memory";

/* ---- life ---- */

struct ep_source *ep_source_new(enum ep_source_kind kind, const struct ep_source_ops *ops,
				const char *name)
{
	struct ep_source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->kind = kind;
	source->ops = ops;
	source->fd = source->arena_fd = -1;
	source->name = strdup(name);
	if (!source->name) {
		free(source);
		return NULL;
	}
	return source;
}

void ep_source_close(struct ep_source *source)
{
	if (!source)
		return;
	elf_end(source->elf);
	ep_spool_close(source->spool);
	if (source->fd >= 0)
		close(source->fd);
	if (source->arena_fd >= 0)
		close(source->arena_fd);
	for (size_t i = 0; i < source->warning_count; i++)
		if (source->warnings[i] != starved)
			free(source->warnings[i]);
	free(source->owned_auxv);
	free(source->over);
	free(source->arena);
	ep_funtrace_forget(source);
	if (source->funtrace)
		free(source->funtrace->text);
	free(source->funtrace);
	free(source->arena_file);
	free(source->threads);
	free(source->mapping_text);
	free(source->mappings);
	free(source->notes);
	free(source->segments);
	free(source->sysroot);
	free(source->executable);
	free(source->path);
	free(source->name);
	free(source);
}

/* ---- which kind ---- */

/* Digits and nothing else, of a pid's size. */
static bool pid_parse(const char *text, pid_t *pid)
{
	uint64_t value = 0;
	size_t length = strlen(text);

	if (length == 0 || length > 10 || strspn(text, "0123456789") != length)
		return false;
	for (; *text; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	if (value == 0 || value > INT32_MAX)
		return false;
	*pid = (pid_t)value;
	return true;
}

int ep_source_open(struct ep_source **out, const char *name, struct ep_err *err)
{
	struct stat st;
	pid_t pid;

	if (strncmp(name, "pid:", 4) == 0 && stat(name, &st) != 0) {
		if (!pid_parse(name + 4, &pid))
			return ep_fail(err, EP_E_USAGE, 0, "%s: a pid is a number from 1 on", name);
		return ep_source_open_live(out, pid, err);
	}
	if (pid_parse(name, &pid) && stat(name, &st) != 0)
		return ep_source_open_live(out, pid, err);
	if (ep_funtrace_file_is(name))
		return ep_source_open_funtrace(out, name, EP_FUNTRACE_NEWEST, err);
	if (ep_arena_file_is(name))
		return ep_source_open_arena(out, name, err);
	return ep_source_open_core(out, name, err);
}

int ep_source_open_sample(struct ep_source **out, const char *name, size_t sample,
			  struct ep_err *err)
{
	if (ep_funtrace_file_is(name))
		return ep_source_open_funtrace(out, name, sample, err);
	return ep_fail(err, EP_E_USAGE, 0, "%s: not a funtrace.raw, which alone has samples", name);
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
	if (source->ops->files_set)
		source->ops->files_set(source);
}

/* ---- reading ---- */

const struct ep_segment *ep_source_segment_at(const struct ep_source *source, uint64_t address)
{
	size_t low = 0, high = source->segment_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct ep_segment *segment = &source->segments[middle];

		if (address < segment->address)
			high = middle;
		else if (address - segment->address < segment->memory_size)
			return segment;
		else
			low = middle + 1;
	}
	return NULL;
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

int ep_source_read(struct ep_source *source, uint64_t address, void *out, size_t size, size_t *done,
		   struct ep_err *err)
{
	struct ep_err own_err;
	size_t own_done;
	int rc;

	done = done ? done : &own_done;
	*done = 0;
	if (size == 0)
		return EP_OK;
	rc = source->ops->read(source, address, out, size, done, err ? err : &own_err);
	if (source->over)
		read_over(source, address, out, *done);
	return rc;
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
	struct ep_err line; /* for its size, and for taming the text */
	char text[sizeof(line.text)], *copy;
	va_list args;

	if (source->warning_count == EP_WARNINGS_MAX)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (source->warning_count == EP_WARNINGS_MAX - 1)
		snprintf(text, sizeof(text), "more damage, not listed");
	ep_err_set(&line, 0, 0, "%s", text);
	copy = strdup(line.text);
	source->warnings[source->warning_count++] = copy ? copy : starved;
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
	*count = source->segment_count;
	return source->segments;
}

const struct ep_note *ep_source_notes(const struct ep_source *source, size_t *count)
{
	*count = source->note_count;
	return source->notes;
}

const struct ep_mapping *ep_source_mappings(const struct ep_source *source, size_t *count)
{
	*count = source->mapping_count;
	return source->mappings;
}

const struct ep_source_thread *ep_source_threads(const struct ep_source *source, size_t *count)
{
	*count = source->thread_count;
	return source->threads;
}

void ep_source_leave_out(struct ep_source *source, uint32_t tid)
{
	size_t kept = 0;

	for (size_t i = 0; i < source->thread_count; i++)
		if (source->threads[i].tid != tid)
			source->threads[kept++] = source->threads[i];
	source->thread_count = kept;
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

const char *ep_source_warning(const struct ep_source *source, size_t index)
{
	return index < source->warning_count ? source->warnings[index] : NULL;
}
