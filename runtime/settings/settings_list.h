/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings_list.h: every setting of the runtime, once. The runtime takes a variable's name, the
 * function that sets it, its default and its values from here; the tool takes the texts, for the
 * man page, the options of `epitaph run` and the table of docs/settings.md (`make docs`).
 *
 *   X(variable, set, otherwise, values, option, letter, metavar, page, text)
 *
 * otherwise: the default, as one would write it; words with blanks, where no value says it.
 * values: what it may be, as a bad value's message has it behind "not"; a word between commas and
 * "or" is a value, and "from A to B" are its bounds (check_settings.c tries all of them).
 * page: of docs/, which says more; NULL: none. text: what it does, without a full stop.
 */
#ifndef EPITAPH_SETTINGS_LIST_H
#define EPITAPH_SETTINGS_LIST_H

#define EP_OUTPUT_DEFAULT "epitaph.%p.%n.core"
#define EP_COUNTS_DEFAULT "epitaph.%p.counts"
#define EP_PATTERN_VALUES "a name of at most 4095 bytes, with no % but %p %e %h %t %n %%"

/* In bytes: what EPITAPH_MEMORY is by default, and what a ring begins with under EPITAPH_RING=auto
 * and may grow to. */
#define EP_MEMORY_DEFAULT (64u << 20)
#define EP_RING_DEFAULT   (1u << 20)
#define EP_RING_MOST      (4u << 20)

/* clang-format off */
#define EP_SETTINGS(X)                                                                             \
	X("EPITAPH", set_on, "on", "on or off",                                                    \
	  "tracing", 0, "WHAT", NULL,                                                              \
	  "off starts the program paused; epitaph control PID on, or epitaph_resume(), "           \
	  "starts recording")                                                                      \
	X("EPITAPH_MODE", set_mode, "trace", "trace or count",                                     \
	  "mode", 0, "WHAT", "overhead",                                                           \
	  "count counts how often each function is called, and traces nothing; it takes "          \
	  "no rebuild")                                                                            \
	X("EPITAPH_RING", set_ring, "auto", "auto or a power of two from 4K to 1G",                \
	  "ring", 0, "SIZE", NULL,                                                                 \
	  "the most memory that one thread's history takes; auto is 1M, and under a "              \
	  "budget up to 4M while that reaches back less than a second and two thirds of "          \
	  "EPITAPH_MEMORY are free")                                                               \
	X("EPITAPH_MEMORY", set_memory, "64M", "a size from 512K to 32G",                          \
	  "memory", 0, "SIZE", NULL,                                                               \
	  "the memory of the whole trace: all threads' histories, and what is kept beside "        \
	  "them")                                                                                  \
	X("EPITAPH_KEEP", set_keep, "64M", "a size from 0 to 32G",                                 \
	  "keep-size", 0, "SIZE", "guide",                                                         \
	  "the memory of all snapshots that the program keeps (epitaph_snapshot_take); it "        \
	  "is taken when the first one is")                                                        \
	X("EPITAPH_TIMESTAMP_EVERY", set_timestamp_every, "auto",                                  \
	  "auto, 1, 2, 4, 8, 16, 32 or 64",                                                        \
	  "timestamp-every", 0, "N", "overhead",                                                   \
	  "one record in how many has a time of its own: 1 times every call and costs "            \
	  "most; auto keeps to EPITAPH_CLOCK_BUDGET")                                              \
	X("EPITAPH_BUDGET", set_budget, "5%", "none or a share from 0.1% to 100%",                 \
	  "budget", 0, "SHARE", "overhead",                                                        \
	  "how much of the process's CPU time tracing may take: functions that cost most "         \
	  "for the least time are switched off for it, and come back; with none "                  \
	  "everything stays on")                                                                   \
	X("EPITAPH_CLOCK_BUDGET", set_clock_budget, "half of EPITAPH_BUDGET",                      \
	  "a share from 0.01% to 100%",                                                            \
	  "clock-budget", 0, "SHARE", "overhead",                                                  \
	  "how much of a thread's time EPITAPH_TIMESTAMP_EVERY=auto may spend on reading "         \
	  "the clock; it is a part of EPITAPH_BUDGET, and 5% where that is none")                  \
	X("EPITAPH_LOOKS", set_looks, "on", "on or off",                                           \
	  "looks", 0, "WHAT", "waiting",                                                           \
	  "a thread of the runtime looks up to 250 times a second how far the others are, so "     \
	  "that calls without a time of their own lie between two looks")                          \
	X("EPITAPH_IDLE_BUDGET", set_idle_budget, "0.5%", "none or a share from 0.01% to 100%",    \
	  "idle-budget", 0, "SHARE", "waiting",                                                    \
	  "how much of one processor's time tracing may take of any process, where that "          \
	  "is more than EPITAPH_BUDGET: so a process that waits most of the time has its "         \
	  "waits recorded")                                                                        \
	X("EPITAPH_MIN_DURATION", set_min_duration, "0",                                           \
	  "a time with its unit (ns us ms s), from 0 to 3600s",                                    \
	  "min-duration", 0, "TIME", "overhead",                                                   \
	  "calls that returned sooner, and called nothing that was kept, are dropped: 5us "        \
	  "for one; every call is timed then, and EPITAPH_BUDGET is not in force")                 \
	X("EPITAPH_OUTPUT", set_output, EP_OUTPUT_DEFAULT, EP_PATTERN_VALUES,                      \
	  "output", 'o', "PATTERN", NULL,                                                          \
	  "where snapshots go: %p is the pid, %e the executable, %h the host, %t the time "        \
	  "in seconds, %n a number that makes the name new; with EPITAPH_MODE=count where "        \
	  "the counts go, by default " EP_COUNTS_DEFAULT)                                          \
	X("EPITAPH_SIGNAL", set_signal, "SIGTRAP", "none or a signal that can be handled",         \
	  "signal", 0, "SIGNAL", "guide",                                                          \
	  "the signal that makes the process write a snapshot, by its name or its number")         \
	X("EPITAPH_FILE", set_file, "private memory", EP_PATTERN_VALUES,                           \
	  "file", 0, "PATTERN", "guide",                                                           \
	  "the trace lies in this file, and outlives SIGKILL and the OOM killer; tmpfs is "        \
	  "best: /dev/shm/%e.%p")                                                                  \
	X("EPITAPH_FILE_KEEP", set_file_keep, "8", "a number from 0 to 10000",                     \
	  "file-keep", 0, "N", NULL,                                                               \
	  "how many files of EPITAPH_FILE stay when their processes are dead")                     \
	X("EPITAPH_FILE_KEEP_SIZE", set_file_keep_size, "256M", "a size",                          \
	  "file-keep-size", 0, "SIZE", NULL,                                                       \
	  "how large the files that stay may be together")                                         \
	X("EPITAPH_SCHED", set_sched, "auto", "auto, ftrace, perf or off",                         \
	  "sched", 0, "WHAT", "waiting",                                                           \
	  "from where it is known which thread ran and which waited; where this is set, "          \
	  "recording begins before the first call, and one line on stderr says why if it "         \
	  "cannot")                                                                                \
	X("EPITAPH_SCHED_SCOPE", set_sched_scope, "process", "process or machine",                 \
	  "sched-scope", 0, "WHAT", "waiting",                                                     \
	  "whose scheduling is recorded; machine: that of all threads of the machine")             \
	X("EPITAPH_SCHED_EVENTS", set_sched_events, "none",                                        \
	  "none, raw_syscalls, irq, page_faults or several with commas between them",              \
	  "sched-events", 0, "LIST", "waiting",                                                    \
	  "which events of the kernel are recorded besides; only ftrace has them")                 \
	X("EPITAPH_SCHED_MEMORY", set_sched_memory, "8M", "a size from 256K to 4G",                \
	  "sched-memory", 0, "SIZE", "waiting",                                                    \
	  "the memory of scheduling events: half of it lies in the arena, at most an "             \
	  "eighth of EPITAPH_MEMORY, and half in the kernel, for all CPUs together (256K "         \
	  "of perf, where EPITAPH_SCHED is not set)")                                              \
	X("EPITAPH_ON_CRASH", set_on_crash, "none", "snapshot or none",                            \
	  "on-crash", 0, "WHAT", NULL,                                                             \
	  "with snapshot a program that dies of a signal writes a snapshot first, with "           \
	  "the stack that it died on (for hosts without cores)")
/* clang-format on */

#endif
