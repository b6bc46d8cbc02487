/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counts.h: how often each address of each module was called, and in which runs that was counted. A
 * module is its build-id, wherever it lay; one without a build-id is its path. Addresses are those
 * in the module's file, so that runs of many machines can be added up.
 *
 * Call counts are exact or the run says what is missing: a run is a process that counted,
 * `incomplete` says in words what it could not count.
 */
#ifndef EPITAPH_COUNTS_H
#define EPITAPH_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "coredump/util/array.h"
#include "coredump/util/error.h"
#include "runtime/format.h"

/* Calls of the function that `address` lies in. Hooks know an address inside of the function: with
 * -mfentry the end of the hook's call, a few bytes after the function's first. */
struct ep_counts_entry {
	uint64_t address; /* in the module's file (p_vaddr) */
	uint64_t calls;
};

struct ep_counts_module {
	char *path; /* as it is, not necessarily UTF-8; "": calls outside of all modules, their
		       addresses are the process's */
	uint8_t build_id[EP_BUILD_ID_MAX];
	uint32_t build_id_size; /* bytes, 0 none */
	bool executable;        /* the program itself */
	uint64_t calls;         /* of all entries, once settled */
	EP_ARRAY(struct ep_counts_entry)
	entries; /* ascending, no two of an address, once settled */
};

/* One process that counted. Strings are never NULL, "" is unknown; times are nanoseconds, 0 is
 * unknown. */
struct ep_counts_run {
	uint64_t identity; /* random: tells two runs apart; 0 unknown */
	char *program;     /* path of the executable */
	char *host;
	char *incomplete; /* what is missing, in words; "" nothing */
	uint32_t pid;
	uint64_t start;    /* since 1970 */
	uint64_t duration; /* from there to the end, or to when it was read */
	uint64_t cpu;      /* of all threads together */
	uint64_t threads;  /* that counted */
	uint64_t memory;   /* bytes that counting took: numbers, counters, and what leads to them */
	uint64_t lost;     /* calls known to be missing */
};

struct ep_counts {
	EP_ARRAY(struct ep_counts_module) modules;
	EP_ARRAY(struct ep_counts_run) runs;
	uint64_t calls; /* of all modules, once settled */
	bool overflow;  /* a sum was more than 64 bits, and stays at the most */
};

struct ep_counts *ep_counts_create(void);
void ep_counts_destroy(struct ep_counts *counts); /* NULL is allowed */

/*
 * The module's number, made if it is new: the same build-id, or neither has one and the paths are
 * equal. Of several paths the first of the alphabet stays. Numbers hold until ep_counts_settle.
 * EP_E_LIMIT: the build-id is longer than EP_BUILD_ID_MAX.
 */
int ep_counts_module(struct ep_counts *counts, const char *path, const void *build_id,
		     size_t build_id_size, size_t *out, struct ep_err *err);

/* Adds to what is there. After the last one: ep_counts_settle. */
void ep_counts_add(struct ep_counts *counts, size_t module, uint64_t address, uint64_t calls);

/* Copies the run and its strings; NULL strings are "". EP_E_MISMATCH: a run of this identity is
 * there already. */
int ep_counts_add_run(struct ep_counts *counts, const struct ep_counts_run *run,
		      struct ep_err *err);

/* Sorts entries, adds up those of one address, drops those without calls; sorts modules by path and
 * build-id, and runs by their start: the order in which they were added is gone. */
void ep_counts_settle(struct ep_counts *counts);

/* Adds all of `from`, settled or not; `into` is settled then. EP_E_MISMATCH: a run of `from` is in
 * `into` already; nothing was added. */
int ep_counts_merge(struct ep_counts *into, const struct ep_counts *from, struct ep_err *err);

/* Of settled counts: calls of exactly this address; of all in [start, end). */
uint64_t ep_counts_at(const struct ep_counts_module *module, uint64_t address);
uint64_t ep_counts_between(const struct ep_counts_module *module, uint64_t start, uint64_t end);

/* Another module of the same path and another build-id; NULL: none. */
const struct ep_counts_module *ep_counts_other_build(const struct ep_counts *counts,
						     const struct ep_counts_module *module);

/* Something is missing: a run says so, or a sum did not fit. */
bool ep_counts_incomplete(const struct ep_counts *counts);

/* Of all runs, at most UINT64_MAX: nanoseconds; 0 when any run does not know its own. */
uint64_t ep_counts_duration(const struct ep_counts *counts);
uint64_t ep_counts_cpu(const struct ep_counts *counts);
/* The same of bytes of memory. */
uint64_t ep_counts_memory(const struct ep_counts *counts);

/* ---- files (docs/format.md, "Counts files") ---- */

/*
 * Counts of `name`: a counts file, or any SOURCE of a process that counts (the file that it wrote
 * at its end, a core, a snapshot, a pid). Settled.
 * EP_END: there is a trace, and no counts. Damage that leaves counts usable makes the run
 * incomplete.
 */
int ep_counts_load(struct ep_counts **out, const char *name, struct ep_err *err);

/*
 * The counts that an arena holds; of a trace whose damage was printed already. Modules are those of
 * the addresses at the time of their first call.
 * EP_END: it holds none, the process traced.
 */
struct ep_trace;
int ep_counts_from_trace(struct ep_counts **out, const struct ep_trace *trace, struct ep_err *err);

/* From the text of a counts file; `name` is for messages. EP_E_FORMAT: this is none; EP_E_VERSION,
 * EP_E_TRUNCATED, EP_E_CORRUPT: it is damaged. */
int ep_counts_parse(struct ep_counts **out, const void *text, size_t size, const char *name,
		    struct ep_err *err);

/* Whether the bytes begin as a counts file's do. */
bool ep_counts_is_text(const void *bytes, size_t size);

/* Writes settled counts. The same counts give the same bytes, in whatever order they were added. 0,
 * or -1: the FILE took no more. */
int ep_counts_print(const struct ep_counts *counts, FILE *out);

#endif
