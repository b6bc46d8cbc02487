/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epitaph.h: what a traced program may ask of the runtime. C and C++. Nothing here is needed for
 * tracing itself. Every function is thread safe, may be called before main and after exit began, in
 * a thread that was never traced, and leaves errno alone unless it fails and says so; those that
 * are async-signal-safe say so.
 *
 * With EPITAPH_OPTIONAL defined before the first #include of this file, the program also links and
 * runs without the runtime: all functions are then weak, and those that nobody provides are null.
 * Ask epitaph_present() first:
 *
 * 	if (epitaph_present())
 * 		epitaph_pause();
 */
#ifndef EPITAPH_H
#define EPITAPH_H

#include <stdarg.h>
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
 * Never trace this function. DOFUNTRACE: trace it although a list or a threshold would exclude it
 * (epitaph-cc's filter), and whatever it costs (EPITAPH_BUDGET): the attribute lists where it
 * begins, for one nop. Both go before the return type, and also hold for member functions,
 * templates and lambdas' enclosing functions.
 */
#ifdef __clang__
#define NOFUNTRACE __attribute__((no_instrument_function, xray_never_instrument))
#else
#define NOFUNTRACE __attribute__((no_instrument_function))
#endif
#if defined(__has_attribute)
#if __has_attribute(patchable_function_entry)
#define DOFUNTRACE __attribute__((patchable_function_entry(1, 0)))
#endif
#endif
#ifndef DOFUNTRACE
#define DOFUNTRACE
#endif

/* ---- pausing ------------------------------------------------------------- */

/*
 * Pauses recording in the whole process: at once for the caller, within one block (508 records) for
 * each other thread. Calls nest: the last resume resumes, at each thread's next hook. A resume
 * without a pause switches on a program that was started with EPITAPH=off, and is ignored in any
 * other; it does not undo `epitaph control PID pause`. A forked child begins as paused as its
 * parent was. Async-signal-safe.
 */
EPITAPH_FUNCTION void epitaph_pause(void);
EPITAPH_FUNCTION void epitaph_resume(void);

/*
 * The same for the calling thread only, at once; counted apart from epitaph_pause: a thread records
 * when neither pauses it. A resume without a pause is ignored. A forked child's thread begins as
 * paused as the one that forked. Async-signal-safe.
 */
EPITAPH_FUNCTION void epitaph_thread_pause(void);
EPITAPH_FUNCTION void epitaph_thread_resume(void);

/*
 * Never again records the calling thread, in forked children neither; nothing undoes it. What it
 * has recorded stays; one that has recorded nothing takes no ring. Async-signal-safe.
 */
EPITAPH_FUNCTION void epitaph_ignore_thread(void);

/* ---- functions by name --------------------------------------------------- */

/*
 * Takes the hooks of functions out of the code, while all threads run, or puts them back. A pattern
 * (* ? [...], as in a shell) names functions as the linker has them, and those of C++ also by scope
 * without template arguments and parameters (net::Server::*). It holds for libraries that are
 * loaded later, too; of several patterns the latest that matches counts. epitaph_trace also keeps
 * them traced when the budget (EPITAPH_BUDGET) would take them. `epitaph control PID untrace` is
 * another reason to be off, which only `control PID trace` ends. A call that is open then ends
 * "switched off" in the trace. A forked child begins with what its parent had.
 *
 * Returns how many functions that was new for, which may be none; or -1 with errno: EINVAL for an
 * empty pattern or one of more than 255 bytes, ENOSPC for more than 64 of them, ENOTSUP where code
 * cannot be changed (under valgrind, with a filter of system calls), ENODEV when the runtime is
 * off. Reads the symbols of all files that are loaded, so it takes some milliseconds. Not for
 * signal handlers.
 */
EPITAPH_FUNCTION int epitaph_trace(const char *pattern);
EPITAPH_FUNCTION int epitaph_untrace(const char *pattern);

/* ---- settings of one thread ---------------------------------------------- */

/*
 * Gives the calling thread a ring of `bytes` in place of EPITAPH_RING's: from 4 KiB to 1 GiB,
 * rounded up to a power of two; it holds `bytes` / 8 records, about. What was recorded is in it as
 * far as it has room, the latest first; the rest stays where it is until another thread gets the
 * memory. Making a ring takes about half a millisecond per MiB.
 *
 * Returns 0, or -1 with errno, the thread's ring being as before: EINVAL out of range, ENOMEM when
 * EPITAPH_MEMORY has no room for it, ENODEV when the runtime is off or the thread cannot be traced.
 * Not to be called by a signal handler, which may have interrupted a hook that is writing to the
 * ring.
 */
EPITAPH_FUNCTION int epitaph_set_thread_ring(size_t bytes);

/*
 * From the calling thread's next block on one record in `every` is timed: 1, 2, 4 … 64; 0: as the
 * process's (EPITAPH_TIMESTAMP_EVERY, `epitaph control PID timing`). Returns 0, or -1 with errno:
 * EINVAL for another number, and for any above 1 while EPITAPH_MIN_DURATION is in force; ENODEV
 * when the runtime is off or the thread cannot be traced. Async-signal-safe.
 */
EPITAPH_FUNCTION int epitaph_set_thread_timing(unsigned every);

/* ---- notes and spans ----------------------------------------------------- */

/*
 * epitaph_note("cache %s resized to %d", name, n): a note in the calling thread's history, at its
 * place among the calls, checked like printf. What is recorded are the time, the format's address
 * and the raw arguments; the text is made when the trace is read, from the format in the program's
 * file (or in the core, when it lies there). All conversions of printf and glibc: strings are
 * copied, together up to 300 bytes, %m takes errno as it is, %n stores nothing. Up to 15 arguments.
 *
 * Takes about as long as a call and its return that are timed. Nothing is recorded where calls are
 * not: while paused, in a thread that is ignored, without the runtime (EPITAPH_OPTIONAL; the
 * arguments are not evaluated then). A call with a note in it is not dropped by
 * EPITAPH_MIN_DURATION. Async-signal-safe.
 */
#if !defined(__cplusplus) || __cplusplus >= 201103L
#define epitaph_note(...)                                                                \
	__extension__({                                                                  \
		static struct epitaph_note_site epitaph_site_;                           \
		if (epitaph_present())                                                   \
			epitaph_note_at(__builtin_constant_p(EPITAPH_FIRST(__VA_ARGS__)) \
						? &epitaph_site_                         \
						: (struct epitaph_note_site *)0,         \
					__VA_ARGS__);                                    \
	})
#endif

/* For functions that take a format themselves; the format must outlive the process, as literals do.
 * Async-signal-safe. */
EPITAPH_FUNCTION void epitaph_vnote(const char *format, va_list arguments)
	__attribute__((format(printf, 1, 0)));

/*
 * A span of time that is no function's: from epitaph_mark_begin to the epitaph_mark_end of the same
 * name in the same thread. Spans may be nested, overlap, and begin and end in different functions;
 * an end belongs to the innermost open span of its name. The name is copied: 87 bytes of it.
 * Otherwise as epitaph_note. Async-signal-safe.
 */
EPITAPH_FUNCTION void epitaph_mark_begin(const char *name);
EPITAPH_FUNCTION void epitaph_mark_end(const char *name);

/* What epitaph_note is made of: what is known of one place in the program. */
struct epitaph_note_site {
	const char *format;
	uint64_t arguments;
};
EPITAPH_FUNCTION void epitaph_note_at(struct epitaph_note_site *site, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
#if !defined(__cplusplus) || __cplusplus >= 201103L
#define EPITAPH_FIRST(...)           EPITAPH_FIRST_OF(__VA_ARGS__, 0)
#define EPITAPH_FIRST_OF(first, ...) first
#else
/* C++98 has no variadic macros: the arguments are evaluated in any case, and each note costs a look
 * at its format. */
NOFUNTRACE static inline int epitaph_present(void);
NOFUNTRACE __attribute__((format(printf, 1, 2))) static inline void epitaph_note(const char *format,
										 ...)
{
	va_list arguments;

	if (!epitaph_present())
		return;
	va_start(arguments, format);
	epitaph_vnote(format, arguments);
	va_end(arguments);
}
#endif

/* ---- watchdogs ----------------------------------------------------------- */

/*
 * A watchdog wants to be fed before its deadline has passed, again and again. The first one brings
 * a thread of the runtime into being, which looks at all of them; it has no part in what the
 * program sees, holds no descriptor of it, takes no signal, and sleeps until something may be late.
 *
 * A miss is seen at once (within a millisecond, on an idle machine), and once until the watchdog is
 * fed again. The thread that fed it last is interrupted by a real-time signal that was free, with
 * SA_RESTART: its history gets a mark that says how late it is, and then it does what the action
 * says. The stacks of all threads are taken the same way. System calls that SA_RESTART does not
 * restart (signal(7): sleeps, poll, epoll_wait, timeouts) may end with EINTR then; without a miss
 * nothing is ever interrupted. One that has blocked all signals goes on: then only SIGABRT of the
 * action is sent, to the process.
 *
 * While the process was stopped or the machine asleep nobody is late.
 */
struct epitaph_watchdog;

/* What is known of a miss: the watchdog, its name, how long ago it was fed and its deadline, both
 * in ns. Borrowed until the action returns. */
struct epitaph_miss {
	struct epitaph_watchdog *watchdog;
	const char *name;
	uint64_t unfed_ns, deadline_ns;
};

/*
 * Called in a signal handler of the thread that fed it last, when it has missed its deadline. Two
 * that are ready to be used: abort, for a core (SIGABRT, which the program may handle), and write a
 * snapshot, as epitaph_snapshot_write(NULL) does, and go on. These two are not meant to be called.
 */
typedef void (*epitaph_watchdog_action)(const struct epitaph_miss *miss);
EPITAPH_FUNCTION void epitaph_watchdog_abort(const struct epitaph_miss *miss);
EPITAPH_FUNCTION void epitaph_watchdog_snapshot(const struct epitaph_miss *miss);

/*
 * Makes one, fed just now. 39 bytes of the name are kept. NULL with errno: EINVAL for a deadline
 * below a millisecond or above an hour, or no action; ENOMEM when there are 64, or no thread can be
 * made; ENODEV when the runtime is off. A forked child has none. Not for signal handlers.
 */
EPITAPH_FUNCTION struct epitaph_watchdog *epitaph_watchdog_create(const char *name,
								  uint64_t deadline_ns,
								  epitaph_watchdog_action action);

/* In time. By any thread: the one that does is the one to blame later. Takes about as long as
 * reading the clock. Async-signal-safe. A watchdog that does not exist (any more) is ignored, by
 * the next two as well. */
EPITAPH_FUNCTION void epitaph_watchdog_feed(struct epitaph_watchdog *watchdog);

/* Until it is fed again nothing is late: the thread waits for work. Async-signal-safe. */
EPITAPH_FUNCTION void epitaph_watchdog_pause(struct epitaph_watchdog *watchdog);
EPITAPH_FUNCTION void epitaph_watchdog_destroy(struct epitaph_watchdog *watchdog);

/* ---- time ---------------------------------------------------------------- */

/* The time stamp counter that records are stamped with. Async-signal-safe. */
EPITAPH_FUNCTION uint64_t epitaph_time(void);

/*
 * Ticks of epitaph_time() per second; 0 when the runtime is off. The error is bounded and kept in
 * the trace. Async-signal-safe.
 */
EPITAPH_FUNCTION uint64_t epitaph_ticks_per_second(void);

/* ---- snapshots ----------------------------------------------------------- */

/*
 * Writes a snapshot of the trace, an ELF core of a few megabytes that gdb, eu-stack and epitaph
 * read, to `path`; NULL: to the pattern EPITAPH_OUTPUT (%p pid, %e executable, %h host, %t time, %n
 * a number that makes it new). Other threads go on meanwhile; it takes some milliseconds. The file
 * has mode 0600 and appears whole or not at all; an older one of that name is replaced. The runtime
 * also does this when somebody sends the signal EPITAPH_SIGNAL.
 *
 * Returns 0, or -1 with errno: EBUSY while another is being written, ENODEV when the runtime is
 * off, EINVAL when `path` is a device, a pipe or a socket (it is never replaced), ENAMETOOLONG, or
 * what the kernel said (EACCES, ENOSPC, EFBIG, EROFS …); a file size limit does not raise SIGXFSZ.
 * Async-signal-safe, also on an alternate stack of 8 KiB.
 */
EPITAPH_FUNCTION int epitaph_snapshot_write(const char *path);

/*
 * A snapshot kept in memory: what all threads had recorded at one moment, and what it takes to
 * decode it. To keep the slowest request: note epitaph_time() when one begins; when it was slower
 * than all before, take a snapshot since then and free the one kept so far. Kept snapshots are part
 * of any core and of any other snapshot: `epitaph info` lists them, `epitaph extract --kept` makes
 * a file of each.
 */
struct epitaph_snapshot;

/*
 * Takes one; `_since`: of the blocks of 508 records only those that were not full at `since`, a
 * value of epitaph_time(): at least each live thread's present one, and up to 507 older records per
 * thread come along. Other threads go on; what they overwrite while it is copied is left out, never
 * torn. No system call in general: about 2 us, and 0.1 us per block, more where memory is used for
 * the first time.
 *
 * NULL with errno: ENOMEM when it does not fit into EPITAPH_KEEP (64 MiB, less what is kept) or 64
 * are kept; EBUSY when a signal handler interrupted another call of these; ENODEV when the runtime
 * is off. Async-signal-safe.
 */
EPITAPH_FUNCTION struct epitaph_snapshot *epitaph_snapshot_take(void);
EPITAPH_FUNCTION struct epitaph_snapshot *epitaph_snapshot_take_since(uint64_t since);

/*
 * Writes a kept snapshot to `path` (NULL as for epitaph_snapshot_write), and keeps it; nobody may
 * free it meanwhile. It has neither stacks nor registers, otherwise it is a snapshot as any.
 * Returns 0, or -1 with errno as epitaph_snapshot_write; EINVAL for one that is not kept in this
 * process: it was freed, or taken before a fork. Async-signal-safe.
 */
EPITAPH_FUNCTION int epitaph_snapshot_save(const struct epitaph_snapshot *snapshot,
					   const char *path);

/* Gives its memory back to the next one. NULL, and one that is not kept in this process, are
 * ignored. Async-signal-safe. */
EPITAPH_FUNCTION void epitaph_snapshot_free(struct epitaph_snapshot *snapshot);

/* ---- is there a runtime? ------------------------------------------------- */

/* True when the program was linked or started with the runtime, on or off; always, without
 * EPITAPH_OPTIONAL. */
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
