/* SPDX-License-Identifier: BSD-2-Clause */
/* backing.c: making, naming, locking and allocating the arena's file. One thread at a time, before
 * others record, but for what backing.h says. */
#include "runtime/arena/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "runtime/arena/leftover_files.h"
#include "runtime/arena/root.h"
#include "runtime/lib/complain.h"
#include "runtime/lib/new_file.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/settings/pattern.h"
#include "runtime/settings/settings.h"

#define TRIES 1000
#define HIGH  1000 /* descriptors that programs do not get by counting up */

static struct {
	int fd; /* holds the lock; maybe not ours any more, see is_own */
	bool on;
	bool named;
	uint64_t device, inode;
	char pattern[EP_PATH_MAX]; /* absolute */
	char path[EP_PATH_MAX];
	char aside[EP_PATH_MAX]; /* its name until it has that */
} backing = {.fd = -1};

static atomic_flag complained = ATOMIC_FLAG_INIT;

void ep_backing_complain(const char *words, long error)
{
	char line[1024];
	struct ep_text text;

	if (atomic_flag_test_and_set(&complained))
		return;
	ep_text_init(&text, line, sizeof line);
	ep_text_add(&text, "epitaph: EPITAPH_FILE=");
	ep_text_add(&text, ep_settings.file);
	ep_text_add(&text, ": ");
	ep_text_add(&text, words);
	if (error) {
		ep_text_add(&text, " (error ");
		ep_text_add_number(&text, (uint64_t)error);
		ep_text_add(&text, ")");
	}
	ep_text_add(&text, "; tracing goes on\n");
	ep_complain(&text);
}

/* ---- descriptors ---- */

/* The program may have closed it, and opened something else under its number. */
static bool is_own(void)
{
	struct stat st;

	return backing.fd >= 0 && !ep_syscall2(SYS_fstat, backing.fd, (long)&st) &&
	       st.st_dev == backing.device && st.st_ino == backing.inode;
}

static void close_own(void)
{
	if (is_own())
		ep_syscall1(SYS_close, backing.fd);
	backing.fd = -1;
}

/* Out of the way of programs that count on the numbers they get. */
static long move_up(long fd)
{
	struct rlimit limit = {0};
	long least = HIGH, moved;

	ep_syscall2(SYS_getrlimit, RLIMIT_NOFILE, (long)&limit);
	if (limit.rlim_cur < 2 * HIGH)
		least = (long)limit.rlim_cur / 2;
	moved = ep_syscall3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, least);
	if (moved < 0)
		moved = ep_syscall3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
	ep_syscall1(SYS_close, fd);
	return moved;
}

/* ---- names ---- */

/* The program may change its directory before it forks. */
static bool keep_pattern(void)
{
	struct ep_text text;
	long got = 1;

	ep_text_init(&text, backing.pattern, sizeof backing.pattern);
	if (ep_settings.file[0] != '/') {
		got = ep_syscall2(SYS_getcwd, (long)backing.pattern, sizeof backing.pattern);
		text.used = got > 0 ? (size_t)got - 1 : 0;
		ep_text_add(&text, "/");
	}
	ep_text_add(&text, ep_settings.file);
	return got > 0 && !text.cut;
}

static bool expand(uint64_t number)
{
	struct ep_text text;

	ep_text_init(&text, backing.path, sizeof backing.path);
	ep_path_pattern_expand(backing.pattern, number, &text);
	return !text.cut;
}

/* ---- making one ---- */

static long open_aside(void)
{
	long fd = ep_aside_open(backing.aside, backing.path, ep_syscall0(SYS_getpid), O_RDWR);

	if (fd < 0)
		return fd;
	fd = move_up(fd);
	if (fd < 0)
		ep_syscall3(SYS_unlinkat, AT_FDCWD, (long)backing.aside, 0);
	return fd;
}

/* A file beyond the limit would raise SIGXFSZ. */
static long set_size(long fd, uint64_t size)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

	ep_syscall2(SYS_getrlimit, RLIMIT_FSIZE, (long)&limit);
	if (limit.rlim_cur < size)
		return -EFBIG;
	return ep_syscall2(SYS_ftruncate, fd, (long)size);
}

static long prepare(long fd, uint64_t size)
{
	struct flock all = {.l_type = F_WRLCK};
	struct stat st;
	long error = ep_syscall2(SYS_fstat, fd, (long)&st);

	if (error)
		return error;
	backing.device = st.st_dev;
	backing.inode = st.st_ino;
	/* A file system without locks: pid and start time must do. */
	ep_syscall3(SYS_fcntl, fd, F_OFD_SETLK, (long)&all);
	return set_size(fd, size);
}

int ep_backing_create(uint64_t size)
{
	long fd, error;

	if (!ep_settings.file)
		return -1;
	backing.named = false;
	if ((!backing.pattern[0] && !keep_pattern()) || !expand(1)) {
		ep_backing_complain("the path is too long", 0);
		return -1;
	}
	fd = open_aside();
	if (fd < 0) {
		ep_backing_complain("no file can be made there", -fd);
		return -1;
	}
	backing.fd = (int)fd;
	backing.on = true;
	error = prepare(fd, size);
	if (!error)
		return backing.fd;
	ep_backing_complain("no file of that size (EPITAPH_MEMORY)", -error);
	ep_backing_drop();
	return -1;
}

void ep_backing_drop(void)
{
	if (!backing.on)
		return;
	if (!backing.named)
		ep_syscall3(SYS_unlinkat, AT_FDCWD, (long)backing.aside, 0);
	ep_backing_leave();
}

/* ---- naming it ---- */

/* 0; -EEXIST: somebody was faster, look again; another negative errno. */
static long claim_name(void)
{
	const char *why = NULL;
	long error = ep_backing_put_aside(backing.path, &why);

	if (why)
		ep_backing_complain(why, 0);
	if (why || error)
		return error ? error : -EBUSY;
	return ep_rename_fresh(backing.aside, backing.path);
}

static long claim_numbered_name(void)
{
	long error = -EEXIST;

	for (uint64_t n = 1; n < TRIES && error == -EEXIST && expand(n); n++)
		error = ep_rename_fresh(backing.aside, backing.path);
	return error;
}

bool ep_backing_name(void)
{
	long error = -EEXIST;

	if (ep_path_pattern_has(backing.pattern, 'n'))
		error = claim_numbered_name();
	else
		for (int i = 0; i < TRIES && error == -EEXIST; i++)
			error = claim_name();
	backing.named = !error;
	if (error)
		ep_backing_complain("the file cannot have that name", -error);
	else
		ep_backing_prune(backing.pattern, backing.path);
	return !error;
}

/* A clone may share its maker's table of descriptors, and not its memory. */
static bool shares_table(void)
{
	return !ep_syscall5(SYS_kcmp, ep_syscall0(SYS_getpid), epitaph_root.pid, KCMP_FILES, 0, 0);
}

bool ep_backing_forget(void)
{
	bool own = backing.on && (ep_path_pattern_has(backing.pattern, 'p') ||
				  ep_path_pattern_has(backing.pattern, 'n'));

	/* A file of ours would be open there, too. */
	if (shares_table()) {
		backing.fd = -1;
		own = false;
	}
	close_own();
	backing.on = false;
	backing.named = false;
	return own;
}

bool ep_backing_on(void)
{
	return backing.on;
}

void ep_backing_leave(void)
{
	close_own();
	backing.on = false;
	ep_backing_publish();
}

void ep_backing_publish(void)
{
	size_t length = ep_string_length(backing.path);
	bool fits = length < EP_ROOT_REST;

	epitaph_root.file_device = backing.on ? backing.device : 0;
	epitaph_root.file_inode = backing.on ? backing.inode : 0;
	epitaph_root.file_path = backing.on ? sizeof epitaph_root : 0;
	epitaph_root.file_path_size = backing.on && fits ? (uint32_t)length : 0;
	if (fits)
		ep_bytes_copy(ep_root_rest(), backing.path, length);
}

/* ---- allocating ---- */

#define POPULATE_WRITE 23 /* MADV_, Linux 5.14 */
#define REMOVE         9  /* MADV_ */
#define PAGE           4096u

/* Lets the kernel write to each page, which answers what a store of ours would be killed for. */
static long touch(uint64_t address, uint64_t size)
{
	for (uint64_t at = address; at < address + size; at += PAGE) {
		long error = ep_syscall4(SYS_rt_sigprocmask, 0, 0, (long)at, 8);

		if (error)
			return error;
		*(volatile uint64_t *)at = 0;
	}
	return 0;
}

bool ep_backing_cut(uint64_t size)
{
	struct stat st;

	return is_own() && !ep_syscall2(SYS_fstat, backing.fd, (long)&st) &&
	       (uint64_t)st.st_size < size;
}

bool ep_backing_allocate(uint64_t address, uint64_t size)
{
	long error = ep_syscall3(SYS_madvise, (long)address, (long)size, POPULATE_WRITE);

	if (error == -EINVAL)
		error = touch(address, size);
	if (!error)
		return true;
	if (ep_backing_cut(address + size - (uint64_t)ep_arena))
		return false;
	ep_syscall3(SYS_madvise, (long)address, (long)size, REMOVE);
	ep_backing_complain("its file system has no more room", 0);
	return false;
}
