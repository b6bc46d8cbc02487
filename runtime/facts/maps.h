/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * maps.h: /proc/self/maps line by line, and the ELF images that its file mappings belong to.
 * Async-signal-safe: the caller lends the buffer.
 */
#ifndef EPITAPH_MAPS_H
#define EPITAPH_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/format.h"

#define EP_MAP_READ  4u /* = PF_R … */
#define EP_MAP_WRITE 2u
#define EP_MAP_EXEC  1u

/* A line: [start, end) process virtual. `path` is NUL-terminated, decoded (\012), may end in "
 * (deleted)", may be no UTF-8; "" for anonymous memory. Borrowed until the next line. */
struct ep_map_line {
	uint64_t start, end;
	uint64_t file_offset;
	uint64_t device; /* major << 32 | minor */
	uint64_t inode;  /* 0: no file */
	uint32_t flags;  /* EP_MAP_ */
	const char *path;
	size_t path_length;
};

/* A line has at most 100 bytes before a path of PATH_MAX, 4 times as long when all of it is
 * escaped. */
#define EP_MAPS_BUFFER (20u << 10)

struct ep_maps {
	long fd;
	char *buffer;    /* EP_MAPS_BUFFER bytes of the caller's */
	size_t from, to; /* unread bytes in it */
	bool failed;     /* what was read is not all of it */
};

/* False: no /proc, or no descriptor left. */
bool ep_maps_open(struct ep_maps *maps, char *buffer);
void ep_maps_close(struct ep_maps *maps);

/* The next line; false at the end (then look at maps->failed). */
bool ep_maps_next(struct ep_maps *maps, struct ep_map_line *line);

/*
 * Asks the kernel for one line (PROCMAP_QUERY, Linux 6.11): the mapping that holds `address`; with
 * `flags` the first one at or behind it that has these EP_MAP_ rights. `fd`: of an open
 * /proc/self/maps; `buffer`: EP_MAPS_BUFFER bytes for its path, or NULL. False: there is none, or
 * the kernel cannot be asked.
 */
bool ep_maps_ask(long fd, uint64_t address, uint32_t flags, char *buffer, struct ep_map_line *line);

/* What the ELF header at a mapping of a file's first bytes says. */
struct ep_mapped_image {
	uint64_t bias;          /* address in process - address in file */
	uint64_t start, end;    /* all loaded segments, whole pages */
	uint64_t dynamic;       /* PT_DYNAMIC's address in the process, 0 none */
	uint64_t dynamic_size;  /* bytes */
	uint32_t build_id_size; /* bytes, 0 none */
	uint8_t build_id[EP_BUILD_ID_MAX];
	bool gone; /* nothing could be read there: it was unmapped meanwhile */
};

/* False: no ELF header and program headers at `address`; image->gone tells why, the rest of it is
 * unknown. */
bool ep_mapped_image_read(uint64_t address, struct ep_mapped_image *image);

#endif
