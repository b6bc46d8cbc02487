/* SPDX-License-Identifier: BSD-2-Clause */
/* progress.c: when to say how far it is. */
#include "cli/common/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "coredump/util/progress.h"

#define FIRST_MS 1000
#define AGAIN_MS 200

static volatile bool shown; /* there is a line of ours on the terminal */

int64_t ep_progress_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void print_left(char *out, size_t size, int64_t ms)
{
	int64_t seconds = (ms + 500) / 1000;

	if (seconds < 120)
		snprintf(out, size, ", about %" PRId64 " s left", seconds);
	else
		snprintf(out, size, ", about %" PRId64 " min left", (seconds + 30) / 60);
}

/* What follows another, or comes again from its beginning, has a speed of its own. */
static void begin_piece(struct ep_progress_clock *clock, int64_t now_ms, const char *what,
			uint64_t done)
{
	bool fresh = !clock->what;

	if (clock->what == what && done >= clock->done)
		return;
	clock->first = done;
	clock->begun = now_ms;
	clock->what = what;
	if (!fresh)
		return;
	clock->since = now_ms;
	clock->shown = 0;
}

bool ep_progress_text(struct ep_progress_clock *clock, int64_t now_ms, const char *what,
		      uint64_t done, uint64_t total, char *out, size_t size)
{
	int used;

	begin_piece(clock, now_ms, what, done);
	clock->done = done;
	if (now_ms - clock->since < FIRST_MS || (clock->shown && now_ms - clock->shown < AGAIN_MS))
		return false;
	clock->shown = now_ms;
	used = snprintf(out, size, "%s", what);
	if (!total || used < 0 || (size_t)used >= size)
		return true;
	if (done > total)
		done = total;
	used += snprintf(out + used, size - (size_t)used, ": %.0f %%",
			 (double)done * 100 / (double)total);
	if (done > clock->first && (size_t)used < size)
		print_left(out + used, size - (size_t)used,
			   (int64_t)((double)(now_ms - clock->begun) * (double)(total - done) /
				     (double)(done - clock->first)));
	return true;
}

void ep_progress_wipe(void)
{
	static const char wipe[] = "\r\033[K";

	if (shown && write(STDERR_FILENO, wipe, sizeof(wipe) - 1) < 0)
		return;
	shown = false;
}

static bool show(const char *what, uint64_t done, uint64_t total)
{
	static struct ep_progress_clock clock;
	char text[160];

	if (!what) {
		ep_progress_wipe();
		clock.what = NULL;
	} else if (ep_progress_text(&clock, ep_progress_now(), what, done, total, text,
				    sizeof(text))) {
		shown = true;
		fprintf(stderr, "\repitaph: %s\033[K", text);
		fflush(stderr);
	}
	return true;
}

void ep_progress_show(void)
{
	if (isatty(STDERR_FILENO))
		ep_progress_watch(show);
}

void ep_progress_hide(void)
{
	ep_progress_wipe();
	ep_progress_watch(NULL);
}
