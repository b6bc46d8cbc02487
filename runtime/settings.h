/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings.h: EPITAPH_* from the environment, read once at start, before any
 * other thread exists. A bad value is named once on stderr, counted, and the
 * default is used. Sizes take K M G (KiB, MiB, GiB; also KB, KiB), times ns us
 * ms s.
 */
#ifndef EPITAPH_SETTINGS_H
#define EPITAPH_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct ep_settings {
	bool on;              /* EPITAPH=on|off; off starts paused */
	uint64_t ring_size;   /* EPITAPH_RING: bytes, power of two >= 4 KiB */
	uint64_t memory_size; /* EPITAPH_MEMORY: bytes */
	uint64_t keep_size;   /* EPITAPH_KEEP: bytes for kept snapshots, 0 none
			       */
	uint32_t timestamp_every; /* EPITAPH_TIMESTAMP_EVERY: 0 auto, 1 … 64 */
	uint32_t clock_budget;    /* EPITAPH_CLOCK_BUDGET: parts per million */
	uint64_t min_duration;    /* EPITAPH_MIN_DURATION: ns, 0 none */
	const char *output;       /* EPITAPH_OUTPUT: snapshot pattern */
	int snapshot_signal;      /* EPITAPH_SIGNAL: 0 none, default SIGTRAP */
	uint32_t refused;         /* bad values met */
};

/* Constant after ep_settings_read. What may change later, the gate and one time
 * stamp in how many records, is in the arena. */
extern struct ep_settings ep_settings;

/* Fills ep_settings from `environment` (NULL-terminated, as environ). */
void ep_settings_read(char *const *environment);

#endif
