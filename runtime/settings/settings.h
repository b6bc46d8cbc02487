/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings.h: EPITAPH_* from the environment, read once at start, before any other thread exists. A
 * bad value is named once on stderr, counted, and the default is used. Sizes take K M G (KiB, MiB,
 * GiB; also KB, KiB), times ns us ms s.
 */
#ifndef EPITAPH_SETTINGS_H
#define EPITAPH_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#define EP_SCHED_WANT_FTRACE 1u
#define EP_SCHED_WANT_PERF   2u

struct ep_settings {
	bool foreign; /* who set the environment has fewer privileges than the program: of all of it
			 EPITAPH=off counts */
	bool on;      /* EPITAPH=on|off; off starts paused */
	bool looks;   /* EPITAPH_LOOKS */
	bool counting;             /* EPITAPH_MODE=count */
	uint64_t ring_size;        /* EPITAPH_RING: bytes, power of two >= 4 KiB */
	uint64_t ring_most;        /* EPITAPH_RING=auto: bytes, what a ring that reaches back little
				      may grow to; else ring_size */
	uint64_t memory_size;      /* EPITAPH_MEMORY: bytes */
	uint64_t keep_size;        /* EPITAPH_KEEP: bytes for kept snapshots, 0 none */
	uint32_t timestamp_every;  /* EPITAPH_TIMESTAMP_EVERY: 0 auto, 1 … 64 */
	uint32_t budget;           /* EPITAPH_BUDGET: parts per million; 0: none, or not in force */
	uint32_t clock_budget;     /* EPITAPH_CLOCK_BUDGET: parts per million */
	uint32_t idle_budget;      /* EPITAPH_IDLE_BUDGET: parts per million of one processor's
				      time, that tracing may take of any process; 0: none */
	uint64_t min_duration;     /* EPITAPH_MIN_DURATION: ns, 0 none */
	const char *output;        /* EPITAPH_OUTPUT: snapshot pattern */
	const char *counts_output; /* … in count mode: of the counts; then snapshots have their
				      default */
	int snapshot_signal;       /* EPITAPH_SIGNAL: 0 none, default SIGTRAP */
	const char *file;          /* EPITAPH_FILE: pattern; NULL: no file */
	uint64_t file_keep;        /* EPITAPH_FILE_KEEP: files of the dead */
	uint64_t file_keep_size;   /* EPITAPH_FILE_KEEP_SIZE: bytes, of those */
	bool crash_snapshot;       /* EPITAPH_ON_CRASH=snapshot */
	unsigned sched;            /* EPITAPH_SCHED: EP_SCHED_WANT_ */
	bool sched_asked;          /* … was there: at once, and not in silence */
	bool sched_machine;        /* EPITAPH_SCHED_SCOPE=process|machine */
	uint32_t sched_events;     /* EPITAPH_SCHED_EVENTS: EP_SCHED_SYSCALLS … */
	uint64_t sched_memory; /* EPITAPH_SCHED_MEMORY: bytes, half of them in the arena, half in
				  the kernel */
	uint32_t refused;      /* bad values met */
};

/* Constant after ep_settings_read. What may change later, the gate and one time stamp in how many
 * records, is in the arena. */
extern struct ep_settings ep_settings;

/* Fills ep_settings from `environment` (NULL-terminated, as environ). */
void ep_settings_read(char *const *environment);

#endif
