/* SPDX-License-Identifier: BSD-2-Clause */
/* progress.h: a line on stderr for what takes more than a second: what is done, how much of it, and
 * how long it will take. On a terminal only, and wiped when it is over. */
#ifndef EPITAPH_CLI_PROGRESS_H
#define EPITAPH_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shows what coredump/util/progress.h tells, if stderr is a terminal. */
void ep_progress_show(void);
/* No more: stdout is the terminal, and what is found goes there while it is looked for. */
void ep_progress_hide(void);
/* Before anything else is written to the terminal: the line comes again, when it is time to. Safe
 * in a signal handler. */
void ep_progress_wipe(void);

/* How long work goes on, of which one piece may follow another. Zeroes: none was begun. */
struct ep_progress_clock {
	const char *what;     /* the piece; NULL: all is over */
	uint64_t first, done; /* when it was heard of first, and last */
	int64_t since, begun; /* all of it, the piece: CLOCK_MONOTONIC, ms */
	int64_t shown;        /* 0: not yet */
};

/* "reading calls: 43 %, about 3 s left" into `out`. False: it is not time to show it: less than a
 * second has passed since the first piece began, or one was shown just now. */
bool ep_progress_text(struct ep_progress_clock *clock, int64_t now_ms, const char *what,
		      uint64_t done, uint64_t total, char *out, size_t size);

/* CLOCK_MONOTONIC, ms. */
int64_t ep_progress_now(void);

#endif
