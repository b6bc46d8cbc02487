/* SPDX-License-Identifier: BSD-2-Clause */
/* new_file.c: written aside, then renamed. */
#include "runtime/lib/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "runtime/lib/complain.h"
#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"

#define TRIES            1000
#define TRIES_IN_ORDER   16
#define RENAME_NOREPLACE 1

/* The default action of SIGXFSZ would end the traced program. */
static void hold_signal(struct ep_new_file *output)
{
	uint64_t held = EP_SIGNAL_BIT(SIGXFSZ), pending = 0;

	ep_syscall2(SYS_rt_sigpending, (long)&pending, sizeof pending);
	output->had_sigxfsz = pending & held;
	ep_syscall4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&held, (long)&output->signals,
		    sizeof held);
}

static void release_signal(struct ep_new_file *output)
{
	uint64_t held = EP_SIGNAL_BIT(SIGXFSZ);
	struct timespec at_once = {0, 0};

	if (!output->had_sigxfsz)
		ep_syscall4(SYS_rt_sigtimedwait, (long)&held, 0, (long)&at_once, sizeof held);
	ep_signals_restore(output->signals);
}

/* A short name in path's directory: path itself may have no room for more letters. */
static bool name_aside(char aside[EP_PATH_MAX], const char *path, uint64_t id, uint64_t number)
{
	struct ep_text text;
	size_t directory = ep_string_length(path);

	while (directory && path[directory - 1] != '/')
		directory--;
	ep_text_init(&text, aside, EP_PATH_MAX);
	ep_text_add_bytes(&text, path, directory);
	ep_text_add(&text, ".epitaph.");
	ep_text_add_number(&text, id);
	ep_text_add(&text, ".");
	ep_text_add_number(&text, number);
	ep_text_add(&text, ".part");
	return !text.cut;
}

long ep_aside_open(char aside[EP_PATH_MAX], const char *path, long id, int access)
{
	struct timespec now = {0, 0};
	long fd = -EEXIST;

	for (uint64_t i = 0; i < TRIES && fd == -EEXIST; i++) {
		uint64_t number = i;

		/* In a folder of all somebody may have taken the first thousand: the nanosecond of
		 * each try he cannot know. */
		if (i >= TRIES_IN_ORDER) {
			ep_syscall2(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now);
			number = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
		}
		if (!name_aside(aside, path, (uint64_t)id, number))
			return -ENAMETOOLONG;
		fd = ep_syscall4(SYS_openat, AT_FDCWD, (long)aside,
				 access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	return fd;
}

/* A program that closed its stderr goes on writing to descriptor 2: ours must not be one of the
 * first three. */
static long out_of_the_way(long fd)
{
	long moved;

	if (fd < 0 || fd > 2)
		return fd;
	moved = ep_syscall3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
	ep_syscall1(SYS_close, fd);
	return moved;
}

static void unlink_aside(const struct ep_new_file *output)
{
	ep_syscall3(SYS_unlinkat, AT_FDCWD, (long)output->aside, 0);
}

static long open_aside(struct ep_new_file *output, const char *path)
{
	long fd = ep_aside_open(output->aside, path, ep_syscall0(SYS_gettid), O_WRONLY);

	if (fd < 0)
		return fd;
	fd = out_of_the_way(fd);
	if (fd < 0)
		unlink_aside(output);
	return fd;
}

/* /dev/null, a pipe, /dev/stderr: renaming a file over it, as root may, would take it from
 * everybody. */
static bool is_special(const char *path)
{
	struct stat status;

	return !ep_syscall4(SYS_newfstatat, AT_FDCWD, (long)path, (long)&status, 0) &&
	       !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

int ep_new_file_begin(struct ep_new_file *output, const char *path)
{
	if (is_special(path))
		return -EINVAL;
	hold_signal(output);
	output->fd = open_aside(output, path);
	if (output->fd >= 0)
		return 0;
	release_signal(output);
	return (int)output->fd;
}

int64_t ep_new_file_write(struct ep_new_file *output, uint64_t offset, const void *bytes,
			  uint64_t size)
{
	uint64_t done = 0;

	while (done < size) {
		long got = ep_syscall4(SYS_pwrite64, output->fd, (long)bytes + (long)done,
				       (long)(size - done), (long)(offset + done));

		if (got == -EINTR)
			continue;
		if (got == -EFAULT)
			break;
		if (got <= 0)
			return got ? got : -ENOSPC;
		done += (uint64_t)got;
	}
	return (int64_t)done;
}

/* File systems without such a rename have links. */
long ep_rename_fresh(const char *from, const char *to)
{
	long result = ep_syscall5(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to,
				  RENAME_NOREPLACE);

	if (result != -EINVAL && result != -ENOSYS)
		return result;
	result = ep_syscall5(SYS_linkat, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0);
	if (!result)
		ep_syscall3(SYS_unlinkat, AT_FDCWD, (long)from, 0);
	return result;
}

int ep_new_file_name(struct ep_new_file *output, const char *path, bool fresh)
{
	long result = fresh ? ep_rename_fresh(output->aside, path)
			    : ep_syscall4(SYS_renameat, AT_FDCWD, (long)output->aside, AT_FDCWD,
					  (long)path);

	if (!result)
		output->aside[0] = '\0';
	return (int)result;
}

void ep_new_file_complain(const char *what, int error)
{
	char line[128];
	struct ep_text text;

	ep_text_init(&text, line, sizeof line);
	ep_text_add(&text, "epitaph: ");
	ep_text_add(&text, what);
	if (error == -EINVAL) {
		ep_text_add(&text, ": EPITAPH_OUTPUT is there and is no regular file\n");
	} else {
		ep_text_add(&text, ": error ");
		ep_text_add_number(&text, (uint64_t)-error);
		ep_text_add(&text, "\n");
	}
	ep_complain(&text);
}

void ep_new_file_end(struct ep_new_file *output)
{
	ep_syscall1(SYS_close, output->fd);
	if (output->aside[0])
		unlink_aside(output);
	release_signal(output);
}
