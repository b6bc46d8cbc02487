/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.h: an arena image taken apart and validated, once: process facts,
 * clock, threads with their blocks in order, modules. Everything above reads
 * this and never the image. Damage never stops it: what was readable is kept,
 * the rest is counted and told.
 */
#ifndef EPITAPH_TRACE_H
#define EPITAPH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coredump/image.h"

/* Strings are copies, valid UTF-8 without control characters: bytes that are
 * neither came out as \xNN (the traced program chooses them). */
struct ep_trace_process {
	bool known; /* false: the section could not be read */
	uint32_t pid, parent_pid, uid, gid;
	uint64_t start_tsc;
	uint64_t start_realtime; /* ns since 1970 */
	const char *executable, *directory, *host, *kernel, *cgroup, *runtime;
	const char *command_line; /* words separated by blanks, for people */
};

struct ep_trace_module {
	uint64_t start, end; /* process virtual, end exclusive */
	uint64_t bias;       /* address in the process - address in the file */
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
};

struct ep_trace_thread {
	uint32_t serial;
	bool known;   /* false: blocks of it exist, its table entry does not */
	uint32_t tid; /* 0 unknown */
	uint32_t state;        /* EP_THREAD_ */
	uint32_t flags;        /* EP_THREAD_ */
	char name[4 * 32 + 1]; /* as the process's strings; "" unknown */
	uint64_t start_tsc, end_tsc;
	uint32_t gate;           /* its own pauses, counted; 0: none */
	uint32_t timing;         /* setting of its own; 0: the process's */
	uint64_t lost_records;   /* said by the runtime */
	uint64_t blocks_entered; /* since its start, said by the runtime */
	struct ep_trace_block *blocks; /* ascending sequence */
	size_t block_count;
	bool from_start; /* history is whole: its first block is among them */
	uint64_t first_tsc, last_tsc; /* of what is left; 0 when no block is */
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
};

struct ep_trace_damage {
	uint64_t pages_missing;  /* of the arena, not saved or unreadable */
	uint64_t blocks_torn;    /* non-zero, but the check word fails; those
				    being entered are not among them */
	uint64_t blocks_text;    /* of those: look like text was written over */
	uint64_t blocks_foreign; /* valid, of an earlier generation */
	uint64_t blocks_duplicate;
	uint64_t threads_corrupt;
	uint64_t modules_corrupt;
	uint64_t holes; /* zero words before the last record of a block */
	uint64_t blocks_entering; /* header written, check word still 0: at most
				     one per live thread is normal */
	uint64_t blocks_backward; /* begin before their predecessor's begin */
};

struct ep_trace {
	const struct ep_image *image; /* borrowed: must outlive the trace */
	struct ep_arena arena;        /* settings and counters as written */
	struct ep_trace_process process;
	struct ep_trace_clock clock;
	struct ep_trace_thread *threads; /* ascending serial; also dead ones */
	size_t thread_count;
	struct ep_trace_module *modules; /* as loaded */
	size_t module_count;
	struct ep_trace_damage damage;
	uint64_t first_tsc, last_tsc; /* of all records that are left; 0 none */
	uint64_t block_count;
	char **warnings; /* one line each */
	size_t warning_count;
	/* private */
	struct ep_trace_block *all_blocks; /* the threads' blocks lie in it */
	struct ep_trace_text *texts;       /* the strings above */
	void **plans; /* by thread, from malloc: pairing.c's, so that it
			 reads a thread ahead but once; NULL: none are kept */
	bool starved; /* memory ran out while reading */
};

/*
 * EP_OK also with damage. Without a first page that makes sense, the blocks
 * that are left are taken, with a warning; EP_E_CORRUPT when there is none
 * either. EP_E_VERSION for another major, EP_E_MEMORY. Memory is bounded by
 * the image's size.
 */
int ep_trace_create(struct ep_trace **out, const struct ep_image *image,
		    struct ep_err *err);
void ep_trace_destroy(struct ep_trace *trace);

/* Module at `address` at time `tsc` (0: any time, the latest); NULL: none. */
const struct ep_trace_module *ep_trace_module_at(const struct ep_trace *trace,
						 uint64_t address,
						 uint64_t tsc);

/* Nanoseconds between two times, signed; exact to the clock's error bound. */
int64_t ep_trace_ns(const struct ep_trace *trace, uint64_t from, uint64_t to);
/* ns since 1970 of a TSC; 0 unknown. */
uint64_t ep_trace_realtime(const struct ep_trace *trace, uint64_t tsc);

#endif
