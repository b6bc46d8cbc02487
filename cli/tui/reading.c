/* SPDX-License-Identifier: BSD-2-Clause */
/* reading.c: the watcher of progress while there is a screen. */
#include "cli/tui/reading.h"

#include <stdio.h>

#include "cli/common/progress.h"
#include "cli/common/session.h"
#include "cli/tui/give_back.h"
#include "cli/tui/screen.h"
#include "coredump/util/progress.h"

/* Keys that were typed just before are likely not meant for it. */
#define QUIET_MS 100
#define LOOK_MS  30

static struct {
	bool on, left;
	int64_t begun, looked; /* CLOCK_MONOTONIC, ms */
} reading;

void ep_reading_print(const char *text)
{
	struct ep_row row = ep_row_at(ep_screen_rows() - 1, false);

	ep_row_text(&row, EP_INK_BOLD, text);
	ep_row_blank(&row);
	ep_screen_show();
}

static bool is_time(void)
{
	int64_t now = ep_progress_now();

	if (!reading.on || now - reading.begun < QUIET_MS || now - reading.looked < LOOK_MS)
		return false;
	reading.looked = now;
	return true;
}

static bool goes_on(void)
{
	if (reading.left)
		return false;
	reading.left = is_time() && ep_screen_leaves();
	if (reading.left)
		ep_reading_print("leaving off");
	return !reading.left;
}

/* What comes from coredump/util/progress.h. */
static bool show(const char *what, uint64_t done, uint64_t total)
{
	static struct ep_progress_clock clock;
	char text[160], line[200];

	if (!what) {
		clock.what = NULL;
	} else if (goes_on() && ep_progress_text(&clock, ep_progress_now(), what, done, total, text,
						 sizeof(text))) {
		snprintf(line, sizeof(line), "%s  (q leaves off)", text);
		ep_reading_print(line);
	}
	return !reading.left;
}

/* Of a download, which can be done without. */
static bool show_download(const char *module, long done, long total)
{
	char line[200];

	if (done < 0 || !is_time())
		return true;
	snprintf(line, sizeof(line), "debuginfod: %.100s: %.1f of %.1f MB  (q goes on without)",
		 module, (double)done / 1e6, (double)total / 1e6);
	ep_reading_print(line);
	return !ep_screen_leaves();
}

void ep_reading_watch(bool on)
{
	ep_progress_watch(on ? show : NULL);
	ep_session_watch_downloads(on ? show_download : NULL);
}

void ep_reading_begin(void)
{
	reading.on = true;
	reading.left = false;
	reading.begun = ep_progress_now();
	ep_give_back_hold_interrupt(true);
}

bool ep_reading_end(void)
{
	bool left = reading.left || ep_give_back_interrupted();

	ep_give_back_hold_interrupt(false);
	reading.on = reading.left = false;
	return left;
}
