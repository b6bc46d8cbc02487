/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.h: an arena image taken apart and validated, once: process facts, clock, threads with their
 * blocks in order, modules. Everything above reads this and never the image. Damage never stops it:
 * what was readable is kept, the rest is counted and told.
 */
#ifndef EPITAPH_TRACE_H
#define EPITAPH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coredump/snapshot/image.h"
#include "coredump/util/array.h"
#include "decoder/trace/transitions.h"

/* Strings are copies, valid UTF-8 without control characters: bytes that are neither came out as
 * \xNN (the traced program chooses them). */
struct ep_trace_process {
	bool known; /* false: the section could not be read */
	uint32_t pid, parent_pid, uid, gid;
	uint64_t start_tsc;
	uint64_t start_realtime; /* ns since 1970 */
	const char *executable, *directory, *host, *kernel, *cgroup, *runtime;
	const char *command_line;                   /* words separated by blanks, for people */
	uint32_t file_full, file_lost, two_writers; /* struct ep_process */
};

struct ep_trace_module {
	uint64_t start, end;           /* process virtual, end exclusive */
	uint64_t bias;                 /* address in the process - address in the file */
	uint64_t load_tsc, unload_tsc; /* unload 0: still loaded */
	uint32_t flags;                /* EP_MODULE_ */
	const char *path;              /* as it is: not necessarily UTF-8 */
	uint8_t build_id[EP_BUILD_ID_MAX];
	uint32_t build_id_size;
};

/* One block whose check word held. */
struct ep_trace_block {
	const struct ep_block *block; /* borrowed from the image */
	uint64_t tsc, sequence;
	uint64_t lost_before; /* blocks of this thread missing just before it */
	uint32_t words;       /* records up to the last that is not zero */
	bool may_have_text;   /* one of them is worth a look for that */
	uint32_t over_count;  /* stretches of them that text lies over … */
	uint64_t first_over;  /* … in the trace's list */
};

/* Text that was written over records of one block: from somewhere in the first to somewhere in the
 * last of them. */
struct ep_trace_over {
	uint32_t from, end; /* records, end exclusive */
	bool stamp;         /* the stamp of the one before may be text, too */
	uint32_t at, size;  /* of some of the text: bytes from the block's start */
};

/* The thread had made so many of the block's records at `tsc` (struct ep_look_taken). */
struct ep_trace_look {
	uint64_t tsc, sequence;
	uint32_t serial;
	uint16_t records;
};

struct ep_trace_thread {
	uint32_t serial;
	bool known;            /* false: blocks of it exist, its table entry does not */
	uint32_t tid;          /* 0 unknown */
	uint32_t state;        /* EP_THREAD_ */
	uint32_t flags;        /* EP_THREAD_ */
	char name[4 * 32 + 1]; /* as the process's strings; "" unknown */
	uint64_t start_tsc, end_tsc;
	uint32_t gate;           /* its own pauses, counted; 0: none */
	uint32_t timing;         /* setting of its own; 0: the process's */
	uint64_t lost_records;   /* said by the runtime */
	uint64_t blocks_entered; /* since its start, said by the runtime */
	uint64_t ring_blocks;    /* that its ring has room for; 0 unknown */
	uint64_t ring_first;     /* number of the first in its present ring */
	uint64_t blocks_missed; /* were in its ring and are not here: entered anew before they could
				   be copied */
	struct ep_trace_block *blocks; /* ascending sequence */
	size_t block_count;
	bool from_start; /* history is whole: its first block is among them, and it began with the
			    thread */
	bool forked; /* its first block is among them, and it began with a fork: the calls it was in
			are in the parent's trace */
	uint64_t first_tsc, last_tsc;       /* of what is left; 0 when no block is */
	const struct ep_absences *absences; /* when it was off its CPU (absences.h); NULL: not
					       known. Borrowed from the schedule */
};

struct ep_trace_watchdog {
	uint64_t id;
	const char *name;
	bool paused;
	uint32_t action;             /* EP_WATCHDOG_ABORT … */
	int64_t deadline;            /* ns */
	uint32_t created_by, fed_by; /* tids; 0 unknown */
	uint64_t fed_tsc;
	uint64_t misses;
	uint64_t missed_tsc; /* the last one was seen then; 0: none */
	uint64_t missed_fed; /* … when it had been fed then … */
	uint32_t missed_by;  /* … by whom */
};

/* Of a thread, taken by itself at a miss. */
struct ep_trace_stack {
	uint32_t tid;
	uint64_t tsc;
	uint64_t address, size; /* of the bytes, process virtual */
	const uint8_t *bytes;   /* borrowed from the image */
	uint64_t registers[27]; /* as in NT_PRSTATUS */
};

/* TSC ↔ time. */
struct ep_trace_clock {
	bool known;
	double ns_per_tick;
	uint64_t error_ppb;     /* bound of the rate's error */
	uint64_t tsc;           /* reference point … */
	uint64_t realtime;      /* … and its time, ns since 1970 */
	uint64_t monotonic_raw; /* … ns */
	unsigned anchors;       /* valid ones */
	uint64_t read_cost;     /* TSC cycles that a read of the TSC takes in a hook; 0 unknown */
};

#define EP_TRACE_END_UNKNOWN (-1)

/* What is known of the process's end (end.h). */
struct ep_trace_end {
	const char *source;  /* "snapshot", for programs; NULL: nothing but the last record */
	int64_t least, most; /* ns after that; EP_TRACE_END_UNKNOWN */
	uint64_t tsc; /* the last record, and `least` more: what ages and --last count back from */
	bool later;   /* it has ended, then or later: ages are at least that long */
};

struct ep_trace_damage {
	uint64_t pages_missing;  /* of the arena, not saved or unreadable */
	uint64_t blocks_torn;    /* non-zero, but the check word fails; those being entered are not
				    among them */
	uint64_t blocks_text;    /* of those: look like text was written over */
	uint64_t records_text;   /* of other blocks: text lies over them */
	char text[33];           /* some of it, up to 32 bytes; "" */
	uint64_t blocks_foreign; /* valid, of an earlier generation */
	uint64_t blocks_duplicate;
	uint64_t threads_corrupt;
	uint64_t modules_corrupt;
	uint64_t holes;           /* zero words before the last record of a block */
	uint64_t blocks_entering; /* header written, check word still 0: at most one per live thread
				     is normal */
	uint64_t blocks_backward; /* begin before their predecessor's begin */
	uint64_t blocks_missed;   /* of all threads: entered anew before they could be copied */
	uint64_t shared_threads;  /* EP_THREAD_SHARED */
	uint64_t other_stacks;    /* EP_THREAD_OTHER_STACKS */
};

/* A section that lies inside of the image, cut to what the image holds. */
struct ep_trace_section {
	bool there;
	uint32_t entry_size;
	uint64_t offset; /* bytes from the arena's start, a multiple of 64 */
	uint64_t size;   /* bytes, all of them inside of the image */
};

#define EP_TRACE_SECTIONS (EP_SECTION_SCHED + 1)

struct ep_trace {
	const struct ep_image *image;                        /* borrowed: must outlive the trace */
	struct ep_arena arena;                               /* settings and counters as written */
	struct ep_trace_section sections[EP_TRACE_SECTIONS]; /* by type */
	struct ep_trace_process process;
	struct ep_trace_clock clock;
	struct ep_trace_thread *threads; /* ascending serial; also dead ones */
	size_t thread_count;
	struct ep_trace_module *modules; /* as loaded */
	size_t module_count;
	struct ep_schedule *schedule;        /* attached by kernel/schedule.h; NULL: none */
	struct ep_trace_switches *switches;  /* switches.h; NULL: nothing was ever switched off */
	struct ep_trace_watchdog *watchdogs; /* those that there were at the end */
	size_t watchdog_count;
	struct ep_trace_stack *stacks; /* at the last miss */
	size_t stack_count;
	uint32_t drain;           /* tid of the runtime's other thread; 0 none */
	uint64_t stacks_tsc;      /* 0: none were taken */
	uint64_t stacks_watchdog; /* its id */
	uint64_t stacks_missing;  /* threads that did not answer */
	struct ep_trace_damage damage;
	uint64_t first_tsc, last_tsc; /* of all records that are left; 0 none */
	struct ep_trace_end end;      /* the last record, until ep_end_find */
	uint64_t block_count;
	char **warnings; /* one line each */
	size_t warning_count;
	/* private */
	struct ep_trace_block *all_blocks;    /* the threads' blocks lie in it */
	EP_ARRAY(struct ep_trace_over) overs; /* by block, ascending in it */
	EP_ARRAY(struct ep_trace_look) looks; /* by thread, block and records */
	struct ep_transitions transitions;
	EP_ARRAY(char *) texts; /* the strings above */
};

/*
 * EP_OK also with damage. Without a first page that makes sense, the blocks that are left are
 * taken, with a warning; EP_E_CORRUPT when there is none either. EP_E_VERSION for another major.
 * Memory is bounded by the image's size.
 */
int ep_trace_create(struct ep_trace **out, const struct ep_image *image, struct ep_err *err);
void ep_trace_destroy(struct ep_trace *trace);

/* One line, behind those that are there. */
void ep_trace_warn(struct ep_trace *trace, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* `size` bytes of the image, or NULL: outside of it, or not saved. */
static inline const void *ep_trace_view(const struct ep_trace *trace, uint64_t offset,
					uint64_t size)
{
	return ep_image_has(trace->image, offset, size) ? trace->image->bytes + offset : NULL;
}

/* The first record after each time off its processor has a time. */
static inline bool ep_thread_is_asked(const struct ep_trace_thread *thread)
{
	return thread->known && thread->flags & EP_THREAD_ASKED;
}

/* Module at `address` at time `tsc` (0: any time, the latest); NULL: none. */
const struct ep_trace_module *ep_trace_module_at(const struct ep_trace *trace, uint64_t address,
						 uint64_t tsc);

/* Of two modules at one address: is `a` the better answer for `tsc` than `b`? */
bool ep_trace_module_fits(const struct ep_trace_module *a, const struct ep_trace_module *b,
			  uint64_t tsc);

/* A thread of the runtime's own, which is no part of the program. */
bool ep_trace_is_helper(const struct ep_trace *trace, uint32_t tid);

/* By how many ns it is late, at the end of the trace or when that was seen; 0: it is not. */
int64_t ep_trace_watchdog_late(const struct ep_trace *trace,
			       const struct ep_trace_watchdog *watchdog);

/* Nanoseconds between two times, signed; exact to the clock's error bound. */
int64_t ep_trace_ns(const struct ep_trace *trace, uint64_t from, uint64_t to);
/* Nanoseconds from a time to the process's end; 0 of one that seems later. */
int64_t ep_trace_ago(const struct ep_trace *trace, uint64_t tsc);
/* Their sum, or the end of the range. */
static inline int64_t ep_ns_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}
/* The TSC `ns` after the trace's first record. */
uint64_t ep_trace_tsc(const struct ep_trace *trace, int64_t ns);
/* ns since 1970 of a TSC; 0 unknown. */
uint64_t ep_trace_realtime(const struct ep_trace *trace, uint64_t tsc);

#endif
