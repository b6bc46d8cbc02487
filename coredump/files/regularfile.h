/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regularfile.h: the one way to a file whose name was chosen by somebody else: a core names modules
 * and the trace's file, those name debug files and sources. What lies there may by now be a FIFO,
 * which keeps a reader waiting, or a device, which does something when it is opened (tapes rewind,
 * watchdogs start); so what it is is learned before it is opened. libdw opens files by itself, too:
 * its open() comes here as well (elffile.h).
 */
#ifndef EPITAPH_REGULARFILE_H
#define EPITAPH_REGULARFILE_H

/*
 * A descriptor to read from, which does not block; -1 and errno. EINVAL: what lies there is no
 * regular file, or one that the kernel makes up as it is read (/proc/kmsg, /sys/…/trace_pipe):
 * those have side effects, too, or no end. Of the rest nothing was opened but its name (O_PATH,
 * open(2)).
 */
int ep_regular_file_open(const char *path);

/* The same, and also what the kernel makes up for a control group. */
int ep_cgroup_file_open(const char *path);

/*
 * The same where root and the reader alone could choose what lies there: each folder, link and file
 * on the way belongs to one of them (effective user id), and nobody else may rename what is in a
 * folder. EPERM: one does not, or /proc is on the way. For text that is shown, whose name somebody
 * else chose. `path` is absolute.
 */
int ep_regular_file_open_owned(const char *path);

/*
 * The same for what lies below `folder`, a descriptor of a directory: neither "..", nor a symbolic
 * link, nor an absolute path leads out of it (EXDEV). Kernels without openat2 (5.6) follow no link
 * at all (ELOOP).
 */
int ep_regular_file_open_below(int folder, const char *path);

#endif
