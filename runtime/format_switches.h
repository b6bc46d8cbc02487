/* SPDX-License-Identifier: BSD-2-Clause */
/* format_switches.h: functions whose hooks were switched off in the code: the rest of format.h's
 * layout, by its rules. Since 1.7. */
#ifndef EPITAPH_FORMAT_SWITCHES_H
#define EPITAPH_FORMAT_SWITCHES_H

#include <assert.h>
#include <stdint.h>

/*
 * EP_SECTION_SWITCHES: struct ep_switches, then `capacity` entries of entry_size bytes. A function
 * is a range of code as PT_GNU_EH_FRAME's table has it; a part of it that lies elsewhere (.cold) is
 * another. Intervals are written without a lock: a reader takes one for what its order allows
 * (off_begin <= off_end <= on_begin <= on_end, 0: not yet) and ignores others.
 */

/* How code is changed here. */
#define EP_FLIP_UNKNOWN  0 /* it was not wanted yet */
#define EP_FLIP_FILE     1 /* /proc/self/mem */
#define EP_FLIP_MPROTECT 2 /* code is writable for the moment */
#define EP_FLIP_NONE     3 /* not at all: hooks that are off still run, and do nothing */

/* Why not (EP_FLIP_NONE). */
#define EP_FLIP_REFUSED  1 /* the kernel refuses both */
#define EP_FLIP_JAIL     2 /* a filter of system calls, which may kill */
#define EP_FLIP_EMULATOR 3 /* valgrind, which has translated the code already */
#define EP_FLIP_MEMORY   4 /* no room for the table of sites */

struct ep_off_interval {
	uint64_t off_begin; /* TSC before the first hook went off; 0: none */
	uint64_t off_end;   /* … after the last did; 0: not yet */
	uint64_t on_begin;  /* … before the first came back; 0: it is off */
	uint64_t on_end;    /* … after the last did; 0: not yet */
};

#define EP_ALL_OFF      8 /* intervals of everything that are kept, the latest; by number % 8 */
#define EP_SWITCHED_OFF 3 /* those of one function; by number % 3 */

/* ep_switches.hooks: by number; odd ones are of the return. */
#define EP_SWITCH_HOOKS 6

struct ep_switches {
	uint32_t capacity; /* entries that the process may make */
	uint32_t count;    /* of those, begun */
	/* behind them are entries that are written from outside only (`epitaph control`), one
	 * writer at a time */
	uint32_t control_capacity;
	uint32_t control_count;
	uint32_t untold;  /* functions that were switched and have no entry */
	uint32_t how;     /* EP_FLIP_ */
	uint32_t why_not; /* EP_FLIP_NONE: EP_FLIP_REFUSED … */
	uint32_t pages;   /* of code that were written to, and so are private copies */
	uint64_t flips;   /* bytes of code changed */
	uint64_t sites;   /* struct ep_hook_site [] outside of the arena; 0: none */
	uint64_t site_count;
	uint64_t unflippable; /* times that a site could not be: no such instruction, or somebody's
				 breakpoint */
	uint32_t budget;      /* setting: parts per million of CPU time, EPITAPH_BUDGET; 0 none */
	uint32_t all_count;   /* times that everything went off; its intervals are in `all` */
	/* what tracing is thought to have cost, at cost_tsc; all since the start */
	uint64_t cost_tsc;
	uint64_t cost;       /* TSC cycles: hooks, clock reads, switching */
	uint64_t cost_clock; /* of them, clock reads */
	uint64_t cost_own;   /* of them, the runtime's own thread and work */
	uint64_t cpu;        /* TSC cycles of CPU time of the process, with the cost in it */
	uint64_t cost_last;  /* the same of the last second or so */
	uint64_t cpu_last;
	/* the process's hooks: __fentry__, __return__, __cyg_profile_func_enter and _exit,
	 * __xray_entry__ and __xray_return__, of this very runtime; who looks from outside finds
	 * sites by them. 0: none */
	uint64_t hooks[EP_SWITCH_HOOKS];
	uint64_t sleds; /* struct ep_sleds (dso/sleds.h) of the module that came last; 0: none */
	uint64_t all_budget; /* 1.9: what all_count was when everything went off for the budget: as
			      * it is now, that is why it is off; 0: never */
	struct ep_off_interval all[EP_ALL_OFF];
};
static_assert(sizeof(struct ep_switches) == 448 && EP_SWITCH_HOOKS == 6, "format");

/* Why a function is off: bits. */
#define EP_SWITCH_NAME    1u    /* epitaph_untrace */
#define EP_SWITCH_BUDGET  2u    /* it cost too much */
#define EP_SWITCH_CONTROL 4u    /* `epitaph control PID untrace`; in entries from outside only */
#define EP_SWITCH_KEPT    0x80u /* no reason: somebody wants it traced, the budget leaves it alone */

struct ep_switched {
	uint64_t start, end; /* [start, end) code, process virtual; start 0: not there yet */
	uint64_t rate;       /* calls a second when the budget switched it off last; 0 unknown */
	uint32_t count;      /* times that it went off */
	uint8_t reasons;     /* EP_SWITCH_ now */
	uint8_t unused[3];
	struct ep_off_interval off[EP_SWITCHED_OFF];
};
static_assert(sizeof(struct ep_switched) == 128, "format");

/*
 * The table of sites, which no core holds: `epitaph control` works on it. A site is off while one
 * of its reasons is set, or an entry from outside covers it; each byte has one kind of writer, and
 * who has changed code looks at all of them once more.
 */
#define EP_SITE_CALL       1 /* e8, a9 when off */
#define EP_SITE_JUMP       2 /* e9, c3 */
#define EP_SITE_XRAY_ENTRY 3 /* 00, 09: the distance of a jump */
#define EP_SITE_XRAY_EXIT  4 /* 48, c3 */

struct ep_hook_site {
	uint64_t place;    /* the byte's address; written last; 0: not there yet */
	uint8_t kind;      /* EP_SITE_ */
	uint8_t is_return; /* 0: of an entry */
	uint8_t all;       /* reasons: everything was off when it ran */
	uint8_t name;      /* … EP_SWITCH_NAME */
	uint8_t budget;    /* … EP_SWITCH_BUDGET */
	uint8_t unused[3];
};
static_assert(sizeof(struct ep_hook_site) == 16, "written from outside");

#endif
