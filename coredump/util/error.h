/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * error.h: how every reader says what went wrong. 0 is done, EP_END is "nothing more" or "not
 * found", negative is a failure; the detail lies in a struct ep_err that the caller owns. Nothing
 * to free, no global state, thread safe.
 */
#ifndef EPITAPH_ERROR_H
#define EPITAPH_ERROR_H

#include <stdint.h>

#define EP_OK  0
#define EP_END 1

/*      name, value, text */
#define EP_ERRORS(X)                                              \
	X(EP_E_UNMAPPED, -1, "not mapped in the process")         \
	X(EP_E_UNSAVED, -2, "mapped, but not saved in the core")  \
	X(EP_E_TRUNCATED, -3, "truncated")                        \
	X(EP_E_CORRUPT, -4, "corrupt")                            \
	X(EP_E_VERSION, -5, "written by an incompatible version") \
	X(EP_E_FORMAT, -6, "not a file of this kind")             \
	X(EP_E_IO, -7, "cannot be read or written")               \
	X(EP_E_PERMISSION, -9, "permission denied")               \
	X(EP_E_MISMATCH, -10, "does not belong together")         \
	X(EP_E_LIMIT, -11, "exceeds a limit")                     \
	X(EP_E_USAGE, -12, "not understood")

enum ep_error {
#define EP_ERROR_ENUM(name, value, text) name = value,
	EP_ERRORS(EP_ERROR_ENUM)
#undef EP_ERROR_ENUM
};

struct ep_err {
	int code;        /* EP_E_ */
	uint64_t offset; /* bytes from the start of the file, or a process address; 0 where neither
			    applies */
	char text[512];  /* one line without a newline: what, where (file, offset), why */
};

/* The code's own words, for any int. Static. */
const char *ep_error_text(int code);

/*
 * Fills *err (may be NULL) and yields `code`. A macro, so that the compiler sees a constant that is
 * not 0: return ep_fail(err, EP_E_CORRUPT, at, "%s: note at 0x%" PRIx64 ": size overflows", path,
 * at);
 */
#define ep_fail(err, code, offset, ...) (ep_err_set((err), (code), (offset), __VA_ARGS__), (code))
void ep_err_set(struct ep_err *err, int code, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Puts "what: " before the text that is there, keeping code and offset. NULL is allowed. */
void ep_err_prefix(struct ep_err *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
