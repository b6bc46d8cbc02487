/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libraryopen.c: open() as libraries call it. libdw opens what debug information names (.dwo files,
 * the common file of dwz) by a plain open(), and has no callback for it. A program's own function
 * stands before libc's for the libraries that it is linked with (ld.so(8)), so theirs comes to the
 * same door as ours. Ours say O_CLOEXEC, libdw says O_RDONLY and nothing else.
 */
#undef _FORTIFY_SOURCE /* which would define open() itself */
#include <fcntl.h>
#include <stdarg.h>

#include "coredump/find/objectfile.h"

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list more;

	if (flags == O_RDONLY)
		return ep_object_file_descriptor(path);
	va_start(more, flags);
	if (flags & (O_CREAT | __O_TMPFILE))
		mode = va_arg(more, mode_t);
	va_end(more);
	return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
