/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * funtrace.h: the layout of funtrace.raw, the file of the funtrace project, and that file as a
 * source. The facts are those of the README of github.com/yosefk/funtrace, "Funtrace file format",
 * and of what its decoder funtrace2viz accepts: chunks of magic, size and content, little endian.
 *
 *   PROCMAPS  text as /proc/PID/maps: for all samples up to the next one
 *   BUILDIDS  ours, optional: "START BUILD-ID\n" for lines of PROCMAPS, in
 *             hexadecimal; funtrace2viz skips chunks that it does not know
 *   FUNTRACE  8 bytes: TSC ticks per second; a sample begins
 *   CMD LINE  its words, separated by blanks
 *   THREADID  32 bytes, and the TRACEBUF that it is of: 16 bytes an entry, in
 *   TRACEBUF  any order; entries of zeroes are unused
 *   FTRACETX  text of the kernel's scheduling events, as trace_pipe has it
 *   ENDTRACE  empty; the sample ends
 */
#ifndef EPITAPH_FUNTRACE_H
#define EPITAPH_FUNTRACE_H

#include <assert.h>

#include "coredump/memory/source.h"

#define EP_FUNTRACE_MAGIC_SIZE 8

struct ep_funtrace_chunk {
	char magic[EP_FUNTRACE_MAGIC_SIZE]; /* no NUL */
	uint64_t size;                      /* bytes that follow */
};
static_assert(sizeof(struct ep_funtrace_chunk) == 16, "format");

struct ep_funtrace_id {
	uint64_t pid, tid;
	char name[16]; /* NUL padded */
};
static_assert(sizeof(struct ep_funtrace_id) == 32, "format");

struct ep_funtrace_entry {
	uint64_t code; /* code address, and flags */
	uint64_t tsc;  /* 0: unused */
};
static_assert(sizeof(struct ep_funtrace_entry) == 16, "format");

/* Flags of an entry; none: a call, the address is of the function. */
#define EP_FUNTRACE_RETURN (UINT64_C(1) << 63) /* … of the one that returns */
/* A return, the address is of the function that goes on (XRay). */
#define EP_FUNTRACE_RETURN_INTO (UINT64_C(1) << 62)
/* Both: an exception is caught, the address is of the one that catches it. */
#define EP_FUNTRACE_CATCH (EP_FUNTRACE_RETURN | EP_FUNTRACE_RETURN_INTO)
/* Of a call: it logs a return also when an exception leaves it (gcc's -finstrument-functions). Of a
 * return, ours, which funtrace2viz ignores: the call was left, it did not return. */
#define EP_FUNTRACE_UNWOUND (UINT64_C(1) << 61)
#define EP_FUNTRACE_FLAGS   (EP_FUNTRACE_CATCH | EP_FUNTRACE_UNWOUND)

/* True when a file that begins with these bytes is a funtrace.raw. */
bool ep_funtrace_is(const void *head, size_t size);

#define EP_FUNTRACE_NEWEST SIZE_MAX

/*
 * Opens a funtrace.raw as what epitaph would have left in a process: one segment with an arena that
 * holds the records of one sample, counted from 0 as funtrace2viz does; EP_FUNTRACE_NEWEST: the
 * last one. There are no registers, stacks or notes. Damage is told by warnings, and what was
 * readable is kept. EP_E_FORMAT: not a funtrace.raw; EP_E_TRUNCATED: it has no sample; EP_END: not
 * this one.
 */
int ep_source_open_funtrace(struct ep_source **out, const char *path, size_t sample,
			    struct ep_err *err);

struct ep_funtrace_facts {
	size_t samples;           /* in the file */
	size_t sample;            /* the one that was taken */
	uint64_t entries;         /* of it */
	uint64_t entries_refused; /* neither unused nor sensible: left out */
	uint64_t returns_unknown; /* XRay's, of functions that nothing tells */
	uint64_t scheduling;      /* bytes of ftrace's text */
	uint64_t scheduling_events, scheduling_refused; /* lines of it */
	const char *text;                               /* the source's */
};

/* A line of ftrace's text, taken apart at its time. Borrowed from the text. */
struct ep_funtrace_line {
	uint64_t tsc;
	const char *before,
		*after; /* "main-7 [010] d.... ", ": sched_switch…", both not terminated */
	size_t before_size, after_size;
};

/* The next one from byte *at of the text on, which begins with 0; lines that have no time are
 * counted in *refused. False: no more. */
bool ep_funtrace_line_next(const struct ep_funtrace_facts *facts, size_t *at,
			   struct ep_funtrace_line *line, uint64_t *refused);

/* NULL: the source is no funtrace.raw. Borrowed. */
const struct ep_funtrace_facts *ep_source_funtrace(const struct ep_source *source);

#endif
