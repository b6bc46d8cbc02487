/* SPDX-License-Identifier: BSD-2-Clause */
/* zstd.c: libarchive's raw format through its zstd filter, behind stdio; loaded when it is asked
 * for, as bytestream.c does. */
#include "cli/common/zstd.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/util/alloc.h"

#define LIBRARY "libarchive.so.13"
static_assert(ARCHIVE_VERSION_NUMBER / 1000000 == 3, LIBRARY);

#define FUNCTIONS(X)                             \
	X(archive_write_new)                     \
	X(archive_write_free)                    \
	X(archive_write_add_filter_zstd)         \
	X(archive_write_set_format_raw)          \
	X(archive_write_set_bytes_in_last_block) \
	X(archive_write_open_fd)                 \
	X(archive_write_header)                  \
	X(archive_write_data)                    \
	X(archive_write_close)                   \
	X(archive_error_string)                  \
	X(archive_errno)                         \
	X(archive_entry_new)                     \
	X(archive_entry_free)                    \
	X(archive_entry_set_filetype)

static struct {
	bool ready;
#define MEMBER(name) __typeof__(&name) name;
	FUNCTIONS(MEMBER)
#undef MEMBER
} library;

static int library_load(struct ep_err *err)
{
	void *handle;
	bool all = true;

	if (library.ready)
		return EP_OK;
	handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return ep_fail(err, EP_E_IO, 0,
			       "zstd is written with libarchive (package libarchive13): %s",
			       dlerror());
#define TAKE(name)                           \
	library.name = dlsym(handle, #name); \
	all = all && library.name;
	FUNCTIONS(TAKE)
#undef TAKE
	if (!all)
		return ep_fail(err, EP_E_IO, 0, LIBRARY " lacks a function");
	library.ready = true;
	return EP_OK;
}

static void set_errno(struct archive *archive)
{
	int number = library.archive_errno(archive);

	errno = number > 0 ? number : EIO;
}

static ssize_t write_some(void *cookie, const char *bytes, size_t size)
{
	if (library.archive_write_data(cookie, bytes, size) == (la_ssize_t)size)
		return (ssize_t)size;
	set_errno(cookie);
	/* stdio knows a failed write by this, and not by -1. */
	return 0;
}

static int close_it(void *cookie)
{
	int rc = library.archive_write_close(cookie), reason;

	if (rc != ARCHIVE_OK)
		set_errno(cookie);
	reason = errno;
	library.archive_write_free(cookie);
	errno = reason;
	return rc == ARCHIVE_OK ? 0 : EOF;
}

/* The one member of a raw "archive" is a file, of whatever size comes. */
static int begin(struct archive *archive, int fd)
{
	struct archive_entry *entry = library.archive_entry_new();
	int rc = entry ? ARCHIVE_OK : ARCHIVE_FATAL;

	if (!rc)
		library.archive_entry_set_filetype(entry, AE_IFREG);
	rc = rc ? rc : library.archive_write_add_filter_zstd(archive);
	/* Built without the library, it would start a program. */
	rc = rc ? rc : library.archive_write_set_format_raw(archive);
	rc = rc ? rc : library.archive_write_set_bytes_in_last_block(archive, 1);
	rc = rc ? rc : library.archive_write_open_fd(archive, fd);
	rc = rc ? rc : library.archive_write_header(archive, entry);
	library.archive_entry_free(entry);
	return rc;
}

int ep_zstd_open(FILE **out, int fd, struct ep_err *err)
{
	const cookie_io_functions_t functions = {.write = write_some, .close = close_it};
	struct archive *archive;
	int rc = library_load(err);

	if (rc)
		return rc;
	archive = library.archive_write_new();
	if (!archive)
		ep_out_of_memory();
	if (begin(archive, fd) != ARCHIVE_OK) {
		rc = ep_fail(err, EP_E_IO, 0, "zstd: %s", library.archive_error_string(archive));
		library.archive_write_free(archive);
		return rc;
	}
	*out = fopencookie(archive, "w", functions);
	if (!*out)
		ep_out_of_memory();
	return EP_OK;
}
