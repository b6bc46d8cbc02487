/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.c: TSC ↔ time from the anchors, with a bound of the error. Each anchor is right to half of
 * its width either way, so the pair that is far apart and narrow bounds the rate best; fitting all
 * would only hide what is wrong.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/trace/trace_parts.h"

#define NS_PER_TICK_MIN 0.05 /* 20 GHz */
#define NS_PER_TICK_MAX 100. /* 10 MHz */
#define BILLION         1e9

struct anchors {
	struct ep_anchor list[EP_ANCHORS]; /* valid ones, ascending tsc */
	unsigned count;
};

static bool is_valid(const struct ep_anchor *a)
{
	return a->tsc != 0 &&
	       a->check == (a->tsc ^ a->monotonic_raw ^ a->realtime ^ a->width ^ EP_ANCHOR_KEY);
}

static int compare_anchors(const void *a, const void *b)
{
	const struct ep_anchor *x = a, *y = b;

	return (x->tsc > y->tsc) - (x->tsc < y->tsc);
}

static void collect(struct anchors *anchors, const struct ep_clock *clock)
{
	for (unsigned i = 0; i < EP_ANCHORS; i++)
		if (is_valid(&clock->anchors[i]))
			anchors->list[anchors->count++] = clock->anchors[i];
	ep_array_sort(anchors, compare_anchors);
}

/* Takes the pair's rate when its bound is better than *bound (a fraction). */
static void try_pair(const struct ep_anchor *a, const struct ep_anchor *b, double *rate,
		     double *bound)
{
	double ticks = (double)(b->tsc - a->tsc), ns, error;

	if (b->tsc <= a->tsc || b->monotonic_raw <= a->monotonic_raw)
		return;
	ns = (double)(b->monotonic_raw - a->monotonic_raw);
	if (ns / ticks < NS_PER_TICK_MIN || ns / ticks > NS_PER_TICK_MAX)
		return;
	/* Half a width at each end, and a nanosecond that is not counted. */
	error = ((double)a->width + (double)b->width) / 2 / ticks + 1 / ns;
	if (error < *bound) {
		*bound = error;
		*rate = ns / ticks;
	}
}

static double clamp_ppb(double fraction)
{
	return fraction * BILLION < 1e18 ? fraction * BILLION : 1e18;
}

/* How far the anchors lie from the line through the reference, beyond what their widths and the
 * rate's bound allow, as a fraction: a counter that was stopped or moved to another machine. */
static double excess(const struct anchors *anchors, double rate, double bound)
{
	const struct ep_anchor *end = &anchors->list[anchors->count - 1];
	double worst = 0;

	for (unsigned i = 0; i + 1 < anchors->count; i++) {
		const struct ep_anchor *a = &anchors->list[i];
		double ticks = (double)(end->tsc - a->tsc);
		double ns = (double)(int64_t)(end->monotonic_raw - a->monotonic_raw);
		double off = fabs(ns - ticks * rate);
		double allowed = ticks * rate * bound + 1 +
				 ((double)a->width + (double)end->width) / 2 * rate;

		if (ticks > 0 && off > allowed && off / (ticks * rate) > worst)
			worst = off / (ticks * rate);
	}
	return worst;
}

static void use_anchors(struct ep_trace *trace, const struct anchors *anchors)
{
	struct ep_trace_clock *clock = &trace->clock;
	const struct ep_anchor *last;
	double rate = 0, bound = 1, worst;

	if (anchors->count == 0)
		return;
	last = &anchors->list[anchors->count - 1];
	clock->tsc = last->tsc;
	clock->realtime = last->realtime;
	clock->monotonic_raw = last->monotonic_raw;
	clock->anchors = anchors->count;
	for (unsigned i = 0; i < anchors->count; i++)
		for (unsigned j = i + 1; j < anchors->count; j++)
			try_pair(&anchors->list[i], &anchors->list[j], &rate, &bound);
	if (rate == 0)
		return;
	worst = excess(anchors, rate, bound);
	if (worst > 0) {
		ep_trace_warn(trace,
			      "the TSC and CLOCK_MONOTONIC_RAW did not run together: times are "
			      "right to %.0f ppm only",
			      worst * 1e6);
		bound += worst;
	}
	clock->known = true;
	clock->ns_per_tick = rate;
	clock->error_ppb = (uint64_t)ceil(clamp_ppb(bound));
}

/* The runtime may know the rate better than its anchors tell: from the start of a process that
 * lived for a moment only. */
static void use_stated_rate(struct ep_trace *trace, const struct ep_clock *from)
{
	struct ep_trace_clock *clock = &trace->clock;
	double rate;

	if (from->tsc_hz == 0 ||
	    (clock->known && (from->error_ppb == 0 || from->error_ppb >= clock->error_ppb)))
		return;
	rate = BILLION / (double)from->tsc_hz;
	if (rate < NS_PER_TICK_MIN || rate > NS_PER_TICK_MAX) {
		ep_trace_warn(trace, "clock: %" PRIu64 " ticks per second makes no sense",
			      from->tsc_hz);
		return;
	}
	clock->known = true;
	clock->ns_per_tick = rate;
	clock->error_ppb = from->error_ppb;
}

void ep_trace_read_clock(struct ep_trace *trace, const struct ep_trace_section *section)
{
	struct anchors anchors = {.count = 0};
	struct ep_clock clock;
	const void *bytes = NULL;

	if (section->there && section->size >= sizeof(clock))
		bytes = ep_trace_view(trace, section->offset, sizeof(clock));
	if (bytes) {
		memcpy(&clock, bytes, sizeof(clock));
		collect(&anchors, &clock);
		use_anchors(trace, &anchors);
		use_stated_rate(trace, &clock);
		trace->clock.read_cost = clock.read_cost;
	}
	if (trace->clock.anchors == 0 && trace->process.known) {
		trace->clock.tsc = trace->process.start_tsc;
		trace->clock.realtime = trace->process.start_realtime;
	}
	if (!trace->clock.known)
		ep_trace_warn(trace, "the clock's rate is unknown: times are in ticks");
}

int64_t ep_trace_ns(const struct ep_trace *trace, uint64_t from, uint64_t to)
{
	double rate = trace->clock.known ? trace->clock.ns_per_tick : 1;
	double ns = (double)(to >= from ? to - from : from - to) * rate;

	/* 2^63 itself does not fit; doubles next to it are 1,024 apart. */
	if (ns >= 9223372036854774784.0)
		return to >= from ? INT64_MAX : INT64_MIN;
	return to >= from ? (int64_t)(ns + 0.5) : -(int64_t)(ns + 0.5);
}

int64_t ep_trace_ago(const struct ep_trace *trace, uint64_t tsc)
{
	int64_t ns = ep_trace_ns(trace, tsc, trace->end.tsc);

	return ns > 0 ? ns : 0;
}

uint64_t ep_trace_tsc(const struct ep_trace *trace, int64_t ns)
{
	double rate = trace->clock.known ? trace->clock.ns_per_tick : 1;
	double ticks = (double)(ns > 0 ? ns : 0) / rate;

	if (ticks >= (double)(UINT64_MAX - trace->first_tsc))
		return UINT64_MAX;
	return trace->first_tsc + (uint64_t)(ticks + 0.5);
}

uint64_t ep_trace_realtime(const struct ep_trace *trace, uint64_t tsc)
{
	const struct ep_trace_clock *clock = &trace->clock;
	int64_t ns = ep_trace_ns(trace, clock->tsc, tsc);
	uint64_t result;

	if (!clock->known || clock->realtime == 0)
		return 0;
	if (ns < 0)
		return clock->realtime > (uint64_t) - (ns + 1)
			       ? clock->realtime - (uint64_t) - (ns + 1) - 1
			       : 0;
	if (__builtin_add_overflow(clock->realtime, (uint64_t)ns, &result))
		return 0;
	return result;
}
