/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epitaph.h: what a traced program may ask of the runtime. C and C++. Nothing
 * here is needed for tracing itself. Every function is thread safe, may be
 * called before main and after exit began, and leaves errno alone; those that
 * are async-signal-safe say so.
 */
#ifndef EPITAPH_H
#define EPITAPH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Never trace this function. DOFUNTRACE: trace it although a list or a
 * threshold would exclude it (epitaph-cc's filter). Both go before the return
 * type, and also hold for member functions, templates and lambdas' enclosing
 * functions.
 */
#define NOFUNTRACE __attribute__((no_instrument_function))
#define DOFUNTRACE

/*
 * Pauses recording in the whole process: at once for the caller, within one
 * block (508 records) for each other thread. Calls nest: the last resume
 * resumes, at each thread's next hook. A resume without a pause switches on a
 * program that was started with EPITAPH=off, and is ignored in any other.
 * Async-signal-safe.
 */
void epitaph_pause(void);
void epitaph_resume(void);

/* The time stamp counter that records are stamped with. Async-signal-safe. */
uint64_t epitaph_time(void);

/*
 * Ticks of epitaph_time() per second; 0 when the runtime is off. The error is
 * bounded and kept in the trace. Async-signal-safe.
 */
uint64_t epitaph_ticks_per_second(void);

/*
 * Writes a snapshot of the trace, an ELF core of a few megabytes that gdb,
 * eu-stack and epitaph read, to `path`; NULL: to the pattern EPITAPH_OUTPUT
 * (%p pid, %e executable, %h host, %t time, %n a number that makes it new).
 * Other threads go on meanwhile; it takes some milliseconds. The file has mode
 * 0600 and appears whole or not at all; an older one of that name is replaced.
 * The runtime also does this when somebody sends the signal EPITAPH_SIGNAL.
 *
 * Returns 0, or -1 with errno: EBUSY while another is being written, ENODEV
 * when the runtime is off, ENAMETOOLONG, or what the kernel said (EACCES,
 * ENOSPC, EFBIG, EROFS …); a file size limit does not raise SIGXFSZ.
 * Async-signal-safe, also on an alternate stack of 8 KiB.
 */
int epitaph_snapshot_write(const char *path);

#ifdef __cplusplus
}
#endif

#endif
