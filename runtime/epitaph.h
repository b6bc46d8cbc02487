/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epitaph.h: what a traced program may ask of the runtime. C and C++. Nothing
 * here is needed for tracing itself. Every function is thread safe, may be
 * called before main and after exit began, in a thread that was never traced,
 * and leaves errno alone unless it fails and says so; those that are
 * async-signal-safe say so.
 *
 * With EPITAPH_OPTIONAL defined before the first #include of this file, the
 * program also links and runs without the runtime: all functions are then weak,
 * and those that nobody provides are null. Ask epitaph_present() first:
 *
 *	if (epitaph_present())
 *		epitaph_pause();
 */
#ifndef EPITAPH_H
#define EPITAPH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef EPITAPH_OPTIONAL
#define EPITAPH_FUNCTION __attribute__((weak))
#else
#define EPITAPH_FUNCTION
#endif

/*
 * Never trace this function. DOFUNTRACE: trace it although a list or a
 * threshold would exclude it (epitaph-cc's filter). Both go before the return
 * type, and also hold for member functions, templates and lambdas' enclosing
 * functions.
 */
#define NOFUNTRACE __attribute__((no_instrument_function))
#define DOFUNTRACE

/* ---- pausing ------------------------------------------------------------- */

/*
 * Pauses recording in the whole process: at once for the caller, within one
 * block (508 records) for each other thread. Calls nest: the last resume
 * resumes, at each thread's next hook. A resume without a pause switches on a
 * program that was started with EPITAPH=off, and is ignored in any other; it
 * does not undo `epitaph control PID pause`. A forked child begins as paused
 * as its parent was. Async-signal-safe.
 */
EPITAPH_FUNCTION void epitaph_pause(void);
EPITAPH_FUNCTION void epitaph_resume(void);

/*
 * The same for the calling thread only, at once; counted apart from
 * epitaph_pause: a thread records when neither pauses it. A resume without a
 * pause is ignored. A forked child's thread begins as paused as the one that
 * forked. Async-signal-safe.
 */
EPITAPH_FUNCTION void epitaph_thread_pause(void);
EPITAPH_FUNCTION void epitaph_thread_resume(void);

/*
 * Never again records the calling thread, in forked children neither; nothing
 * undoes it. What it has recorded stays; one that has recorded nothing takes no
 * ring. Async-signal-safe.
 */
EPITAPH_FUNCTION void epitaph_ignore_thread(void);

/* ---- settings of one thread ---------------------------------------------- */

/*
 * Gives the calling thread a ring of `bytes` in place of EPITAPH_RING's: from 4
 * KiB to 1 GiB, rounded up to a power of two; it holds `bytes` / 8 records,
 * about. What was recorded stays where it is until another thread gets the old
 * ring. Making a ring takes about half a millisecond per MiB.
 *
 * Returns 0, or -1 with errno, the thread's ring being as before: EINVAL out of
 * range, ENOMEM when EPITAPH_MEMORY has no room for it, ENODEV when the runtime
 * is off or the thread cannot be traced. Not to be called by a signal handler,
 * which may have interrupted a hook that is writing to the ring.
 */
EPITAPH_FUNCTION int epitaph_set_thread_ring(size_t bytes);

/*
 * From the calling thread's next block on one record in `every` is timed: 1, 2,
 * 4 … 64; 0: as the process's (EPITAPH_TIMESTAMP_EVERY, `epitaph control PID
 * timing`). Returns 0, or -1 with errno: EINVAL for another number, and for any
 * above 1 while EPITAPH_MIN_DURATION is in force; ENODEV when the runtime is
 * off or the thread cannot be traced. Async-signal-safe.
 */
EPITAPH_FUNCTION int epitaph_set_thread_timing(unsigned every);

/* ---- time ---------------------------------------------------------------- */

/* The time stamp counter that records are stamped with. Async-signal-safe. */
EPITAPH_FUNCTION uint64_t epitaph_time(void);

/*
 * Ticks of epitaph_time() per second; 0 when the runtime is off. The error is
 * bounded and kept in the trace. Async-signal-safe.
 */
EPITAPH_FUNCTION uint64_t epitaph_ticks_per_second(void);

/* ---- snapshots ----------------------------------------------------------- */

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
EPITAPH_FUNCTION int epitaph_snapshot_write(const char *path);

/*
 * A snapshot kept in memory: what all threads had recorded at one moment, and
 * what it takes to decode it. To keep the slowest request: note epitaph_time()
 * when one begins; when it was slower than all before, take a snapshot since
 * then and free the one kept so far. Kept snapshots are part of any core and of
 * any other snapshot: `epitaph info` lists them, `epitaph extract --kept` makes
 * a file of each.
 */
struct epitaph_snapshot;

/*
 * Takes one; `_since`: of the blocks of 508 records only those that were not
 * full at `since`, a value of epitaph_time(): at least each live thread's
 * present one, and up to 507 older records per thread come along. Other threads
 * go on; what they overwrite while it is copied is left out, never torn. No
 * system call in general: about 2 us, and 0.1 us per block, more where memory
 * is used for the first time.
 *
 * NULL with errno: ENOMEM when it does not fit into EPITAPH_KEEP (64 MiB, less
 * what is kept) or 64 are kept; EBUSY when a signal handler interrupted another
 * call of these; ENODEV when the runtime is off. Async-signal-safe.
 */
EPITAPH_FUNCTION struct epitaph_snapshot *epitaph_snapshot_take(void);
EPITAPH_FUNCTION struct epitaph_snapshot *epitaph_snapshot_take_since(
	uint64_t since);

/*
 * Writes a kept snapshot to `path` (NULL as for epitaph_snapshot_write), and
 * keeps it; nobody may free it meanwhile. It has neither stacks nor registers,
 * otherwise it is a snapshot as any. Returns 0, or -1 with errno as
 * epitaph_snapshot_write; EINVAL for one that is not kept in this process: it
 * was freed, or taken before a fork. Async-signal-safe.
 */
EPITAPH_FUNCTION int epitaph_snapshot_save(
	const struct epitaph_snapshot *snapshot, const char *path);

/* Gives its memory back to the next one. NULL, and one that is not kept in this
 * process, are ignored. Async-signal-safe. */
EPITAPH_FUNCTION void epitaph_snapshot_free(struct epitaph_snapshot *snapshot);

/* ---- is there a runtime? ------------------------------------------------- */

/* True when the program was linked or started with the runtime, on or off;
 * always, without EPITAPH_OPTIONAL. */
NOFUNTRACE static inline int epitaph_present(void)
{
#ifdef EPITAPH_OPTIONAL
	return epitaph_time != NULL;
#else
	return 1;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
