/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * funtrace.h: the API of the funtrace project (github.com/yosefk/funtrace, funtrace.h) on
 * epitaph's: a program written for it builds unchanged with epitaph-cc or epitaph-c++ and -I on
 * this folder, as C and as C++. Nothing else is linked: each function is a few calls of epitaph.h.
 *
 * The files written are epitaph's snapshots, ELF cores, whatever their names: `epitaph report`,
 * `replay`, `stats` … read them, and so does gdb. To make what funtrace2viz reads: epitaph export
 * -f funtrace FILE -o funtrace.raw
 *
 * docs/funtrace.md tells what differs. Signal safe where epitaph.h is.
 */
#ifndef EPITAPH_COMPAT_FUNTRACE_H
#define EPITAPH_COMPAT_FUNTRACE_H

#include <stdint.h>

/* Installed; in the source tree; or wherever -I leads. */
#if defined(__has_include)
#if __has_include("../epitaph.h")
#include "../epitaph.h"
#elif __has_include("../runtime/epitaph.h")
#include "../runtime/epitaph.h"
#else
#include <epitaph.h>
#endif
#else
#include <epitaph.h>
#endif

#ifdef __cplusplus
extern "C" {
#define EPITAPH_FUNTRACE inline NOFUNTRACE
#else
#define EPITAPH_FUNTRACE static inline NOFUNTRACE
#endif

/* Opaque: a snapshot kept in memory (struct epitaph_snapshot). */
struct funtrace_snapshot;
struct funtrace_procmaps;
#ifndef __cplusplus
/* In C++ a struct's name is a type; C code written for that builds too. */
typedef struct funtrace_snapshot funtrace_snapshot;
typedef struct funtrace_procmaps funtrace_procmaps;
#endif

/* One for all files of a program that include this: whether tracing was disabled, and how many
 * files funtrace_pause_and_write_current_snapshot has written. */
__attribute__((weak)) int epitaph_funtrace_disabled;
__attribute__((weak)) unsigned epitaph_funtrace_written;

/* ---- time ---- */

/* TSC. */
EPITAPH_FUNTRACE uint64_t funtrace_time(void)
{
	return epitaph_time();
}

/* 0 when the runtime is off. */
EPITAPH_FUNTRACE uint64_t funtrace_ticks_per_second(void)
{
	return epitaph_ticks_per_second();
}

/* ---- snapshots ---- */

/*
 * Writes what is recorded now to funtrace.raw in the working directory, the next ones of a process
 * to funtrace.1.raw, funtrace.2.raw … (a snapshot is one file; funtrace appends). Threads go on
 * meanwhile. A failure is silent, as there; epitaph_snapshot_write tells it.
 */
EPITAPH_FUNTRACE void funtrace_pause_and_write_current_snapshot(void)
{
	unsigned number = __atomic_fetch_add(&epitaph_funtrace_written, 1, __ATOMIC_RELAXED);
	char digits[12], name[32] = "funtrace.raw";
	unsigned count = 0, at = 9;

	if (number) {
		for (; number; number /= 10)
			digits[count++] = (char)('0' + number % 10);
		while (count)
			name[at++] = digits[--count];
		name[at++] = '.';
		name[at++] = 'r';
		name[at++] = 'a';
		name[at++] = 'w';
		name[at] = '\0';
	}
	epitaph_snapshot_write(name);
}

/* NULL when it does not fit (EPITAPH_KEEP), or the runtime is off. */
EPITAPH_FUNTRACE struct funtrace_snapshot *funtrace_pause_and_get_snapshot(void)
{
	return (struct funtrace_snapshot *)(void *)epitaph_snapshot_take();
}

/* What was recorded since `time`, of funtrace_time(); up to 507 older records a thread come
 * along. */
EPITAPH_FUNTRACE struct funtrace_snapshot *funtrace_pause_and_get_snapshot_starting_at_time(
	uint64_t time)
{
	return (struct funtrace_snapshot *)(void *)epitaph_snapshot_take_since(time);
}

/* `max_event_age`: ticks of funtrace_time(). */
EPITAPH_FUNTRACE struct funtrace_snapshot *funtrace_pause_and_get_snapshot_up_to_age(
	uint64_t max_event_age)
{
	uint64_t now = epitaph_time();

	return funtrace_pause_and_get_snapshot_starting_at_time(
		max_event_age < now ? now - max_event_age : 0);
}

/* NULL is allowed. */
EPITAPH_FUNTRACE void funtrace_free_snapshot(struct funtrace_snapshot *snapshot)
{
	epitaph_snapshot_free((struct epitaph_snapshot *)(void *)snapshot);
}

/* NULL writes nothing. The snapshot stays. */
EPITAPH_FUNTRACE void funtrace_write_snapshot(const char *filename,
					      struct funtrace_snapshot *snapshot)
{
	if (snapshot)
		epitaph_snapshot_save((struct epitaph_snapshot *)(void *)snapshot, filename);
}

/* ---- of earlier versions: a snapshot holds its load map now ---- */

EPITAPH_FUNTRACE struct funtrace_procmaps *funtrace_get_procmaps(void)
{
	static char held;

	return (struct funtrace_procmaps *)(void *)&held;
}

EPITAPH_FUNTRACE void funtrace_free_procmaps(struct funtrace_procmaps *procmaps)
{
	(void)procmaps;
}

EPITAPH_FUNTRACE void funtrace_write_saved_snapshot(const char *filename,
						    struct funtrace_procmaps *procmaps,
						    struct funtrace_snapshot *snapshot)
{
	(void)procmaps;
	funtrace_write_snapshot(filename, snapshot);
}

/* ---- what is traced ---- */

/* For good. */
EPITAPH_FUNTRACE void funtrace_ignore_this_thread(void)
{
	epitaph_ignore_thread();
}

/*
 * A buffer of 2^log_buf_size bytes for the calling thread; below 5 it is ignored from then on.
 * epitaph's smallest ring is 4 KiB (12), its largest 1 GiB (30), and a record takes half of
 * funtrace's 16 bytes.
 */
EPITAPH_FUNTRACE void funtrace_set_thread_log_buf_size(int log_buf_size)
{
	int log = log_buf_size < 12 ? 12 : log_buf_size > 30 ? 30 : log_buf_size;

	if (log_buf_size < 5)
		epitaph_ignore_thread();
	else
		epitaph_set_thread_ring((size_t)1 << log);
}

/* Of the whole process. Neither nests: one enable undoes any number of disables, and one without a
 * disable does nothing, also in a program that was started with EPITAPH=off. */
EPITAPH_FUNTRACE void funtrace_disable_tracing(void)
{
	if (!__atomic_exchange_n(&epitaph_funtrace_disabled, 1, __ATOMIC_SEQ_CST))
		epitaph_pause();
}

EPITAPH_FUNTRACE void funtrace_enable_tracing(void)
{
	if (__atomic_exchange_n(&epitaph_funtrace_disabled, 0, __ATOMIC_SEQ_CST))
		epitaph_resume();
}

#undef EPITAPH_FUNTRACE

#ifdef __cplusplus
}
#endif

#endif
