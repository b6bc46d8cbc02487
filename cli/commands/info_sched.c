/* SPDX-License-Identifier: BSD-2-Clause */
/* info_sched.c: scheduling events: from where, since when, of how many threads, and what is
 * missing; or why there are none. */
#include "cli/commands/info_sched.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decoder/kernel/schedule.h"
#include "decoder/util/timetext.h"

#define SINCE_MINOR 3 /* versions before had none */

static const char *source_text(const struct ep_sched *head)
{
	return head->source == EP_SCHED_FTRACE ? "ftrace"
	       : head->source == EP_SCHED_PERF ? "perf"
					       : "none";
}

static const char *state_text(const struct ep_sched *head)
{
	static const char *const words[] = {
		[EP_SCHED_OFF] = "not-begun",   [EP_SCHED_STARTING] = "starting",
		[EP_SCHED_ON] = "on",           [EP_SCHED_STOPPED] = "stopped",
		[EP_SCHED_REFUSED] = "refused", [EP_SCHED_COSTLY] = "costly",
	};

	return head->state < sizeof(words) / sizeof(*words) ? words[head->state] : "unknown";
}

/* Threads of the process of which something is known. */
static unsigned threads_known(const struct ep_trace *trace)
{
	unsigned count = 0;

	for (size_t i = 0; i < trace->thread_count; i++)
		count += ep_schedule_task(trace->schedule, trace->threads[i].tid) != NULL;
	return count;
}

/* ---- occupancy, of the whole machine ---- */

#define CPUS 1024

struct occupancy {
	uint64_t busy, own; /* TSC cycles: by anybody, by this process */
	bool met;
};

static bool is_own(const struct ep_trace *trace, uint32_t tid)
{
	for (size_t i = 0; i < trace->thread_count; i++)
		if (trace->threads[i].tid == tid)
			return true;
	return false;
}

/* By CPU. */
static void occupancy_of(const struct ep_trace *trace, struct occupancy cpus[CPUS])
{
	const struct ep_schedule *schedule = trace->schedule;

	memset(cpus, 0, CPUS * sizeof(*cpus));
	for (size_t i = 0; i < schedule->occupation_count; i++) {
		const struct ep_occupation *one = &schedule->occupations[i];
		struct occupancy *cpu = &cpus[one->cpu % CPUS];
		uint64_t length = one->end - one->begin;

		cpu->met = true;
		cpu->busy += one->tid ? length : 0;
		cpu->own += one->tid && is_own(trace, one->tid) ? length : 0;
	}
}

static void print_occupancy(const struct ep_trace *trace)
{
	const struct ep_schedule *schedule = trace->schedule;
	static struct occupancy cpus[CPUS];
	double all = (double)(schedule->last - schedule->first);

	occupancy_of(trace, cpus);
	for (unsigned i = 0; i < CPUS && all > 0; i++)
		if (cpus[i].met)
			printf("           CPU %u: %.1f %% busy, %.1f %% with this process\n", i,
			       (double)cpus[i].busy / all * 100, (double)cpus[i].own / all * 100);
}

static void json_occupancy(struct ep_json *json, const struct ep_trace *trace)
{
	static struct occupancy cpus[CPUS];

	occupancy_of(trace, cpus);
	ep_json_member_array(json, "cpus");
	for (unsigned i = 0; i < CPUS; i++) {
		if (!cpus[i].met)
			continue;
		ep_json_object(json);
		ep_json_member_uint(json, "cpu", i);
		ep_json_member_int(json, "busy_ns", ep_trace_ns(trace, 0, cpus[i].busy));
		ep_json_member_int(json, "own_ns", ep_trace_ns(trace, 0, cpus[i].own));
		ep_json_object_end(json);
	}
	ep_json_array_end(json);
}

/* ---- the whole ---- */

#define COSTLY                                                                  \
	"its switches are too many for EPITAPH_BUDGET and EPITAPH_IDLE_BUDGET " \
	"(EPITAPH_SCHED=auto: nevertheless)"

const char *ep_info_why_no_schedule(char out[EP_INFO_WHY], const struct ep_trace *trace)
{
	const struct ep_sched *head = trace->schedule ? &trace->schedule->head : NULL;

	if (!head)
		snprintf(out, EP_INFO_WHY, "not recorded (EPITAPH_SCHED=off)");
	else if (head->state == EP_SCHED_COSTLY)
		snprintf(out, EP_INFO_WHY, "not recorded: " COSTLY);
	else if (head->state == EP_SCHED_STARTING)
		snprintf(out, EP_INFO_WHY, "was about to be recorded");
	else if (head->state != EP_SCHED_REFUSED)
		snprintf(out, EP_INFO_WHY,
			 "not recorded yet: the process was young, or had not waited "
			 "(EPITAPH_SCHED=auto: from its start)");
	else
		snprintf(out, EP_INFO_WHY, "not recorded:%s%s%s%s%s",
			 head->ftrace_error ? " ftrace: " : "",
			 head->ftrace_error ? strerror((int)head->ftrace_error) : "",
			 head->ftrace_error && head->perf_error ? ";" : "",
			 head->perf_error ? " perf: " : "",
			 head->perf_error ? strerror((int)head->perf_error) : "");
	return out;
}

static const char *until(const struct ep_trace *trace, char *out, size_t size)
{
	int64_t ns = ep_trace_ago(trace, trace->schedule->last);
	char text[EP_TIMETEXT_SIZE];

	if (ns > 0)
		snprintf(out, size, "up to %s before the end", ep_timetext(text, ns));
	else
		snprintf(out, size, "up to the end");
	return out;
}

void ep_info_print_schedule(const struct ep_trace *trace)
{
	const struct ep_schedule *schedule = trace->schedule;
	char span[EP_TIMETEXT_SIZE], ago[EP_TIMETEXT_SIZE + 32], why[EP_INFO_WHY];

	if (!schedule || !schedule->head.start_tsc) {
		if (schedule || trace->arena.root.minor >= SINCE_MINOR)
			printf("scheduling %s\n", ep_info_why_no_schedule(why, trace));
		return;
	}
	printf("scheduling %s%s: %" PRIu64 " switches and %" PRIu64
	       " wakings, of %u threads; %s, %s\n",
	       source_text(&schedule->head), schedule->head.machine ? ", the whole machine" : "",
	       schedule->switches, schedule->wakings, threads_known(trace),
	       ep_timetext(span, ep_trace_ns(trace, schedule->first, schedule->last)),
	       until(trace, ago, sizeof(ago)));
	if (schedule->head.state == EP_SCHED_COSTLY)
		printf("           no more since then: " COSTLY "\n");
	if (schedule->kernel_event_count)
		printf("           %zu system calls, interrupts and page faults\n",
		       schedule->kernel_event_count);
	print_occupancy(trace);
	if (schedule->losses)
		printf("           in %" PRIu64 " places events were lost (EPITAPH_SCHED_MEMORY)\n",
		       schedule->losses);
	if (schedule->bad)
		printf("           %" PRIu64 " pieces of it make no sense\n", schedule->bad);
}

void ep_info_json_schedule(struct ep_json *json, const struct ep_trace *trace)
{
	const struct ep_schedule *schedule = trace->schedule;

	ep_json_key(json, "scheduling");
	if (!schedule) {
		ep_json_null(json);
		return;
	}
	ep_json_object(json);
	ep_json_member_text(json, "state", state_text(&schedule->head));
	ep_json_member_text(json, "source", source_text(&schedule->head));
	ep_json_member_bool(json, "machine", schedule->head.machine != 0);
	ep_json_member_uint(json, "ftrace_errno", schedule->head.ftrace_error);
	ep_json_member_uint(json, "perf_errno", schedule->head.perf_error);
	ep_json_member_int(json, "recorded_ns",
			   ep_trace_ns(trace, schedule->first, schedule->last));
	ep_json_key(json, "before_end_ns");
	if (schedule->last)
		ep_json_int(json, ep_trace_ago(trace, schedule->last));
	else
		ep_json_null(json);
	ep_json_member_uint(json, "switches", schedule->switches);
	ep_json_member_uint(json, "wakings", schedule->wakings);
	ep_json_member_uint(json, "others", schedule->kernel_event_count);
	ep_json_member_uint(json, "threads", threads_known(trace));
	ep_json_member_uint(json, "losses", schedule->losses);
	ep_json_member_uint(json, "bad", schedule->bad);
	json_occupancy(json, trace);
	ep_json_object_end(json);
}
