/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stalls.c: stalls DIR CONTENT STALL: a file system at DIR with one file, "file", which holds what
 * CONTENT does, until there is a file STALL: from then on it takes what it is asked and answers
 * nothing. linux/fuse.h, without a library. Ends with SIGTERM.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char *content;
static size_t size;
static int device;

static void answer(uint64_t unique, int error, const void *bytes, size_t length)
{
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + length), .error = error, .unique = unique};
	struct iovec all[2] = {{&head, sizeof(head)}, {(void *)bytes, length}};

	if (writev(device, all, length ? 2 : 1) < 0)
		perror("answer");
}

static void attributes(struct fuse_attr *out, uint64_t node)
{
	memset(out, 0, sizeof(*out));
	out->ino = node;
	out->nlink = 1;
	out->mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0755;
	out->size = node == FUSE_ROOT_ID ? 0 : size;
	out->blksize = 4096;
}

static void serve(const struct fuse_in_header *in)
{
	const struct fuse_read_in *read_in = (const void *)(in + 1);
	struct fuse_init_out init = {
		.major = 7, .minor = 31, .max_write = 65536, .max_readahead = 0};
	struct fuse_attr_out attr = {.attr_valid = 1000000};
	struct fuse_entry_out entry = {.nodeid = 2, .entry_valid = 1000000, .attr_valid = 1000000};
	struct fuse_open_out opened = {.open_flags = 0};
	struct fuse_statfs_out statfs = {.st.bsize = 4096, .st.namelen = 255};

	switch (in->opcode) {
	case FUSE_INIT:
		answer(in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_GETATTR:
		attributes(&attr.attr, in->nodeid);
		answer(in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_LOOKUP:
		attributes(&entry.attr, 2);
		if (strcmp((const char *)(in + 1), "file") == 0)
			answer(in->unique, 0, &entry, sizeof(entry));
		else
			answer(in->unique, -ENOENT, NULL, 0);
		break;
	case FUSE_OPEN:
		answer(in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		if (read_in->offset >= size)
			answer(in->unique, 0, NULL, 0);
		else
			answer(in->unique, 0, content + read_in->offset,
			       read_in->size < size - read_in->offset ? read_in->size
								      : size - read_in->offset);
		break;
	case FUSE_STATFS:
		answer(in->unique, 0, &statfs, sizeof(statfs));
		break;
	case FUSE_RELEASE:
	case FUSE_FLUSH:
		answer(in->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(in->unique, -ENOSYS, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char request[1 << 20];
	char options[128];
	int file;
	struct stat st;

	if (argc < 4 || (file = open(argv[2], O_RDONLY)) < 0 || fstat(file, &st) != 0)
		return 2;
	size = (size_t)st.st_size;
	content = malloc(size);
	if (read(file, content, size) != (ssize_t)size)
		return 2;
	device = open("/dev/fuse", O_RDWR);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 device);
	if (device < 0 || mount("stalls", argv[1], "fuse", MS_NODEV | MS_NOSUID, options) != 0)
		return 77;
	for (;;) {
		ssize_t n = read(device, request, sizeof(request));

		if (n < 0 && errno != EINTR)
			return 1;
		if (n > 0 && access(argv[3], F_OK) != 0)
			serve((const struct fuse_in_header *)request);
	}
}
