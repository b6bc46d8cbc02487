/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * held.h: descriptors of a process that the kernel holds while it dumps it, opened by one who may,
 * for one who may nothing (confine.h): its memory, the files that it has mapped, what the kernel
 * traced for it. Files come by the mapping and not by their names (/proc/PID/map_files, proc(5)),
 * so that no path of the process's own is followed.
 */
#ifndef EPITAPH_HELD_H
#define EPITAPH_HELD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "coredump/util/array.h"
#include "coredump/util/error.h"

struct ep_held_file {
	uint64_t start; /* process virtual, of the mapping of its first byte */
	int fd;
};

/* A buffer of an ftrace instance, of one CPU (leftover.h). */
struct ep_held_buffer {
	char instance[64];
	unsigned cpu;
	int fd;
};

/* Bytes of a core's headers and notes: what the relay passes on of them at most (relay.h). */
#define EP_HELD_HEAD (UINT64_C(65) << 20)

struct ep_held {
	int memory;
	int head; /* a file in memory for headers and notes, which cannot grow beyond EP_HELD_HEAD;
		     ep_source_open_held takes it over */
	EP_ARRAY(struct ep_held_file) files; /* ascending */
	EP_ARRAY(struct ep_held_buffer) buffers;
};

/* `proc` is a descriptor of its /proc/PID, `inner` its pid in its own namespace. Only the memory
 * and the file for the head are indispensable: EP_E_IO. What is no regular file is left out. */
int ep_held_open(struct ep_held *held, int proc, pid_t inner, struct ep_err *err);

/* A descriptor, to be closed, of the file whose first byte is mapped there;
 * -1: none. */
int ep_held_file_at(const struct ep_held *held, uint64_t start);

#endif
