/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_limits.c: what the folder of snapshots may take, and who of it: disk and places are shared,
 * so that whoever has most gives way first, and nobody's crashes cost another's snapshots.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "coredump/files/procfile.h"
#include "coredump/handler/store.h"

/* ---- places ---- */

#define SHARE_MOST 4096u /* places of one user, at most */
/* Of the file "places", which stays empty: a byte for each place of each user, behind all of them
 * one for the process that lets files go, and then one for each place of all users together. */
#define TIDYING  ((off_t)SHARE_MOST << 32)
#define TOGETHER (TIDYING + 1)

static int places_open(const struct ep_store *store)
{
	char path[PATH_MAX];

	if (ep_store_path(path, store->path, "places", NULL))
		return -1;
	/* Not a lock of the folder: whoever can open that could hold it. */
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static bool place_lock(int fd, off_t at, bool wait)
{
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = at,
		.l_len = 1,
	};

	return fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) == 0;
}

unsigned long ep_store_pipe_limit(void)
{
	char limit[16];

	ep_procfile_line("/proc/sys/kernel/core_pipe_limit", limit, sizeof(limit));
	return strtoul(limit, NULL, 10);
}

/* The first of `count` bytes that nobody holds. EP_END: all are held; EP_E_IO: no locks here. */
static int one_lock(int fd, off_t from, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (place_lock(fd, from + i, false))
			return EP_OK;
		if (errno != EAGAIN && errno != EACCES)
			return EP_E_IO;
	}
	return EP_END;
}

/* The lock is the open file's: it goes when all that have it have ended. */
int ep_store_enter(const struct ep_store *store, uid_t account, int *place, struct ep_err *err)
{
	unsigned long limit = ep_store_pipe_limit();
	unsigned most = limit && limit < EP_HANDLED_AT_ONCE ? (unsigned)limit : EP_HANDLED_AT_ONCE;
	unsigned share = most > 1 ? most / 2 : 1;
	int fd = places_open(store), rc = EP_E_IO;

	if (fd >= 0)
		rc = one_lock(fd, (off_t)account * SHARE_MOST, share);
	if (rc == EP_END)
		rc = ep_fail(err, EP_E_LIMIT, 0,
			     "user %u has %u crashes at once already, which is half of all: this "
			     "one is left out, and its core",
			     (unsigned)account, share);
	else if (rc == EP_OK && one_lock(fd, TOGETHER, most) == EP_END)
		rc = ep_fail(err, EP_E_LIMIT, 0,
			     "%u crashes are handled at once already: this one is left out, and "
			     "its core",
			     most);
	if (rc && fd >= 0)
		close(fd);
	*place = rc ? -1 : fd;
	return rc == EP_E_LIMIT ? rc : EP_OK;
}

/* ---- who has most ---- */

struct stock {
	struct ep_stored *list; /* owned; by account, then oldest first */
	size_t count;           /* that are there; those that went have no name */
	uint64_t left, bytes;
	const char *keep; /* its base name; NULL: none */
};

static int by_account(const void *left, const void *right)
{
	const struct ep_stored *a = left, *b = right;

	if (a->account != b->account)
		return a->account < b->account ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int stock_init(struct stock *stock, const struct ep_store *store, const char *keep,
		      struct ep_err *err)
{
	int rc;

	*stock = (struct stock){.keep = keep};
	rc = ep_store_list(store->path, &stock->list, &stock->count, err);
	if (rc)
		return rc;
	stock->left = stock->count;
	for (size_t i = 0; i < stock->count; i++)
		stock->bytes += stock->list[i].size;
	if (stock->count)
		qsort(stock->list, stock->count, sizeof(*stock->list), by_account);
	return EP_OK;
}

static bool may_go(const struct stock *stock, const struct ep_stored *one)
{
	return one->name[0] && (!stock->keep || strcmp(one->name, stock->keep));
}

/* The oldest of the user that has most, in bytes or in files; of two that have the same, of whom
 * has older ones. NULL: nothing may go. */
static struct ep_stored *victim_find(const struct stock *stock, bool by_bytes)
{
	struct ep_stored *victim = NULL;
	uint64_t most = 0;

	for (size_t i = 0, end; i < stock->count; i = end) {
		struct ep_stored *oldest = NULL;
		uint64_t sum = 0;

		for (end = i;
		     end < stock->count && stock->list[end].account == stock->list[i].account;
		     end++) {
			struct ep_stored *one = &stock->list[end];

			if (one->name[0])
				sum += by_bytes ? one->size : 1;
			if (!oldest && may_go(stock, one))
				oldest = one;
		}
		if (!oldest ||
		    (victim && (sum < most || (sum == most && oldest->time >= victim->time))))
			continue;
		victim = oldest;
		most = sum;
	}
	return victim;
}

/* False: nothing may go. */
static bool let_one_go(struct stock *stock, const struct ep_store *store, bool by_bytes)
{
	struct ep_stored *victim = victim_find(stock, by_bytes);
	char name[PATH_MAX];

	if (!victim)
		return false;
	if (ep_store_path(name, store->path, victim->name, NULL) == EP_OK)
		unlink(name);
	stock->left--;
	stock->bytes -= victim->size;
	victim->name[0] = '\0';
	return true;
}

static int limits_hold(const struct ep_store *store, const char *path, struct ep_err *err)
{
	struct stock stock;
	int rc = stock_init(&stock, store, strrchr(path, '/') + 1, err);

	while (rc == EP_OK && (stock.left > store->most_files || stock.bytes > store->most_bytes))
		if (!let_one_go(&stock, store, stock.left <= store->most_files))
			break;
	free(stock.list);
	return rc;
}

/* ---- room ---- */

/* Bytes that are free for others than root, of those that are to stay so: on a small file system a
 * tenth of it. */
static bool is_room(const struct ep_store *store)
{
	struct statvfs st;
	uint64_t spare = store->spare;

	if (statvfs(store->path, &st) != 0)
		return true;
	if (spare > (uint64_t)st.f_blocks * st.f_frsize / 10)
		spare = (uint64_t)st.f_blocks * st.f_frsize / 10;
	return (uint64_t)st.f_bavail * st.f_frsize >= spare;
}

int ep_store_make_room(const struct ep_store *store, struct ep_err *err)
{
	struct stock stock;
	int fd, rc = EP_OK;

	if (is_room(store))
		return EP_OK;
	fd = places_open(store);
	if (fd >= 0)
		place_lock(fd, TIDYING, true);
	rc = stock_init(&stock, store, NULL, err);
	while (rc == EP_OK && !is_room(store))
		if (!let_one_go(&stock, store, true))
			rc = ep_fail(
				err, EP_E_LIMIT, 0,
				"no snapshot: less is free in %s than is to stay so (--keep-free)",
				store->path);
	free(stock.list);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* ---- who may read ---- */

/* acl(5) as the kernel has it (linux/posix_acl_xattr.h): root reads and writes, that user reads,
 * nobody else does anything. */
static int reader_set(const char *path, uid_t user, struct ep_err *err)
{
	static const __u32 none = (__u32)ACL_UNDEFINED_ID;
	struct {
		struct posix_acl_xattr_header head;
		struct posix_acl_xattr_entry entries[5];
	} list = {
		{POSIX_ACL_XATTR_VERSION},
		{{ACL_USER_OBJ, ACL_READ | ACL_WRITE, none},
		 {ACL_USER, ACL_READ, user},
		 {ACL_GROUP_OBJ, 0, none},
		 {ACL_MASK, ACL_READ, none},
		 {ACL_OTHER, 0, none}},
	};

	if (setxattr(path, "system.posix_acl_access", &list, sizeof(list), 0) == 0)
		return EP_OK;
	return ep_fail(err, EP_E_PERMISSION, 0,
		       "%s: only root may read it: no access control list: %m", path);
}

int ep_store_keep(const struct ep_store *store, const struct ep_crash *crash, const char *path,
		  struct ep_err *err)
{
	int fd, rc = EP_OK, limits;

	/* Of a program that had privileges, the user must not see the memory. */
	if (crash->uid != 0 && ep_crash_is_users_own(crash))
		rc = reader_set(path, crash->uid, err);
	fd = places_open(store);
	if (fd >= 0)
		place_lock(fd, TIDYING, true);
	limits = limits_hold(store, path, rc ? NULL : err);
	if (fd >= 0)
		close(fd);
	return rc ? rc : limits;
}
