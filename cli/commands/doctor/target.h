/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * target.h: what epitaph doctor looks at: a program that would be started here and now, or a
 * process that runs. All facts are gathered first, so that a check only judges.
 */
#ifndef EPITAPH_DOCTOR_TARGET_H
#define EPITAPH_DOCTOR_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/common/sanitizer.h"
#include "coredump/util/error.h"

#define EP_UNLIMITED UINT64_MAX

struct ep_doctor_target {
	pid_t pid;                /* 0: a program that does not run yet */
	int folder;               /* its /proc/TID, open as long as this program runs; -1: none */
	pid_t tid;                /* whose /proc/TID has its files (coredump/live/living.h) */
	char program[PATH_MAX];   /* its file, to be opened here; "" none named */
	char directory[PATH_MAX]; /* where a relative core would go */
	bool readable;            /* the file can be read, and is an ELF file */

	/* of the file */
	bool has_runtime; /* epitaph's root is in it */
	bool has_hooks;   /* it calls hooks that a library must bring */
	bool has_build_id;
	bool has_symbols;                     /* .symtab */
	bool has_debug;                       /* .debug_info */
	const struct ep_sanitizer *sanitizer; /* NULL: none was seen */
	bool has_rights;                      /* set-user-id, set-group-id, or capabilities */

	/* of the process: its own, or what it would inherit from us */
	uint64_t core_limit; /* RLIMIT_CORE, soft: bytes, EP_UNLIMITED */
	uint32_t filter;     /* coredump_filter */
	bool dumpable;
	bool contained;             /* in other pid or mount namespaces than init */
	uint64_t memory;            /* EPITAPH_MEMORY: bytes */
	bool off;                   /* EPITAPH=off, or paused */
	bool has_file;              /* EPITAPH_FILE */
	bool on_crash;              /* EPITAPH_ON_CRASH=snapshot */
	bool sanitizer_leaves_core; /* by its options */

	/* of the process's arena, pid only */
	bool traced;          /* an arena was found */
	struct ep_err unseen; /* why its memory cannot be read; code EP_OK: it was */
	bool seen_events;     /* threads have recorded */
	uint32_t off_reason;  /* EP_OFF_ */

	/* of the system */
	char pattern[256]; /* kernel.core_pattern */
	bool caught; /* it names epitaph catch, as a program or by the socket that the store knows
		      */
	char store[PATH_MAX]; /* of epitaph catch */
	uint64_t suid_dumpable;
	bool space_known;
	uint64_t free_bytes; /* where a core would go, for its user */
};

/* `name`: a pid, a program (looked for in PATH when it has no slash), NULL: only the system;
 * `store`: the folder of epitaph catch. EP_E_IO, EP_E_PERMISSION, EP_E_USAGE. */
int ep_doctor_target_examine(struct ep_doctor_target *target, const char *name, const char *store,
			     struct ep_err *err);

#endif
