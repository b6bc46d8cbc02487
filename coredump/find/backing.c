/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * backing.c: a core whose arena lies in a file that the root names. That file may have been renamed
 * since, or be another's by now: identity and generation tell.
 */
#include "coredump/find/backing.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/files/held.h"
#include "coredump/files/regularfile.h"
#include "coredump/find/root_check.h"
#include "coredump/memory/source_impl.h"

#define ASIDE_MAX 1000 /* PATH.1 … that are looked at */

/* The descriptor, if it is of the file that holds this very arena; else -1, and it is closed. */
static int try_descriptor(int fd, const struct ep_root *root)
{
	struct ep_root there;

	if (fd < 0)
		return -1;
	if (pread(fd, &there, sizeof(there), 0) == sizeof(there) &&
	    ep_root_check(&there, EP_ARENA_MAGIC, root->arena_address, NULL) == EP_OK &&
	    there.identity == root->identity && there.generation == root->generation)
		return fd;
	close(fd);
	return -1;
}

/* Under its name, or one that it was renamed to. */
static int find_name(const char *path, const struct ep_root *root)
{
	char aside[4400];
	int fd = try_descriptor(ep_regular_file_open(path), root);

	for (int i = 1; i <= ASIDE_MAX && fd < 0; i++) {
		snprintf(aside, sizeof(aside), "%s.%d", path, i);
		if (access(aside, F_OK) == 0)
			fd = try_descriptor(ep_regular_file_open(aside), root);
	}
	return fd;
}

static int path_read(struct ep_source *source, uint64_t root_address, const struct ep_root *root,
		     char *out, size_t size)
{
	size_t prefix = source->sysroot ? strlen(source->sysroot) : 0;

	if (root->file_path < sizeof(*root) || root->file_path_size == 0 ||
	    root->file_path > EP_PAGE || root->file_path_size > EP_PAGE - root->file_path ||
	    prefix + root->file_path_size >= size)
		return EP_END;
	if (prefix)
		memcpy(out, source->sysroot, prefix);
	out[prefix + root->file_path_size] = '\0';
	if (ep_source_read(source, root_address + root->file_path, out + prefix,
			   root->file_path_size, NULL, NULL) != EP_OK)
		return EP_END;
	/* The runtime writes it absolute; nothing is looked for from here. */
	return out[prefix] == '/' ? EP_OK : EP_END;
}

static int find_file(struct ep_source *source, uint64_t root_address, const struct ep_root *root)
{
	char path[4352];

	if (source->held)
		return try_descriptor(ep_held_file_at(source->held, root->arena_address), root);
	if (path_read(source, root_address, root, path, sizeof(path)))
		return -1;
	return find_name(path, root);
}

static int compare(const void *a, const void *b)
{
	const struct ep_segment *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* ep_segment_read_fn */
static int backing_read(struct ep_source *source, const struct ep_segment *segment, uint64_t at,
			void *out, size_t size, size_t *got, struct ep_err *err)
{
	return ep_file_read(source->arena_fd, source->path, at - segment->address, out, size, got,
			    err);
}

/* The core's segments there hold nothing: this one takes their place. */
static void segment_put(struct ep_source *source, const struct ep_root *root, uint64_t file_size)
{
	uint64_t start = root->arena_address, end = start + root->arena_size;
	uint64_t size = (file_size < root->arena_size ? file_size : root->arena_size) &
			~(uint64_t)(EP_PAGE - 1);
	size_t count = 0;

	for (size_t i = 0; i < source->segments.count; i++) {
		const struct ep_segment *one = &source->segments.list[i];

		if (one->address + one->memory_size <= start || one->address >= end)
			source->segments.list[count++] = *one;
	}
	source->segments.count = count;
	ep_array_push(&source->segments, ((struct ep_segment){
						 .address = start,
						 .memory_size = size,
						 .saved_size = size,
						 .present_size = size,
						 .flags = PF_R | PF_W,
						 .read = backing_read,
					 }));
	ep_array_sort(&source->segments, compare);
}

int ep_backing_follow(struct ep_source *source, uint64_t root_address, const struct ep_root *root)
{
	struct stat st;
	int fd;

	if (source->kind != EP_SOURCE_CORE || source->arena_fd >= 0 || !root->file_inode ||
	    !root->arena_address)
		return EP_END;
	fd = find_file(source, root_address, root);
	if (fd < 0)
		return EP_END;
	if (fstat(fd, &st) != 0 || st.st_size < EP_PAGE) {
		close(fd);
		return EP_END;
	}
	segment_put(source, root, (uint64_t)st.st_size);
	source->arena_fd = fd;
	return EP_OK;
}
