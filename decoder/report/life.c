/* SPDX-License-Identifier: BSD-2-Clause */
/* life.c: says what is known of the end and nothing more: a process that is killed leaves neither a
 * signal nor a time behind. */
#include "decoder/report/life.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "decoder/util/timetext.h"

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* How long the last record is before `moment`; "" unknown. */
static void last_record(char *out, size_t size, const struct ep_trace *trace, uint64_t moment,
			const char *before)
{
	uint64_t last = trace && trace->last_tsc ? ep_trace_realtime(trace, trace->last_tsc) : 0;
	char text[EP_TIMETEXT_SIZE];

	out[0] = '\0';
	if (last && moment >= last)
		snprintf(out, size, "; its last record is %s %s",
			 ep_timetext(text, (int64_t)(moment - last)), before);
}

void ep_life_state_text(char *out, size_t size, const struct ep_arena_file *file,
			const struct ep_trace *trace, uint64_t ended)
{
	char last[96];

	switch (file->life) {
	case EP_LIFE_RUNS:
		last_record(last, sizeof(last), trace, now(), "old");
		snprintf(out, size, "is running (%s), and went on while it was read%s", file->how,
			 last);
		return;
	case EP_LIFE_ENDED:
		last_record(last, sizeof(last), trace, ended, "before its end");
		snprintf(out, size, "has ended: %s%s", file->how,
			 last[0] ? last
				 : "; when is not known, but that it was after its last record");
		return;
	default:
		snprintf(out, size, "unknown: %s", file->how);
	}
}

void ep_life_cause_text(char *out, size_t size, const struct ep_arena_file *file)
{
	out[0] = '\0';
	if (file->life != EP_LIFE_ENDED || !file->oom_known)
		return;
	if (!file->oom_kills)
		snprintf(out, size, "no OOM kill in its memory cgroup since it started");
	else
		snprintf(out, size,
			 "out of memory, likely: the kernel killed %" PRIu64
			 " process%s of its memory cgroup since it started",
			 file->oom_kills, file->oom_kills == 1 ? "" : "es");
}
