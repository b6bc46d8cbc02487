/* SPDX-License-Identifier: BSD-2-Clause */
/* sequence.c: sequences as arrays of numbers, the same for the same step on either side. */
#include "decoder/stats/sequence.h"

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/util/hash.h"
#include "decoder/calls/calls.h"

/* A step: twice the function's number, + 1 when a call ends. */
struct sequence {
	EP_ARRAY(uint32_t) steps;
};

/* ---- one number for a function on both sides ---- */

struct numbers {
	EP_ARRAY(const struct ep_function *) functions; /* by number: the first that was met */
	struct ep_hash by_name;
};

static const char *name_of(const struct ep_function *function)
{
	return function->symbol[0] ? function->symbol : function->name;
}

static uint32_t number_of(struct numbers *numbers, const struct ep_function *function)
{
	uint32_t hash = ep_hash_text(name_of(function)) ^ ep_hash_text(function->module);
	uint32_t at = 0, number;

	while ((number = ep_hash_next(&numbers->by_name, hash, &at)) != EP_HASH_NONE) {
		const struct ep_function *other = numbers->functions.list[number];

		if (other == function || (strcmp(name_of(other), name_of(function)) == 0 &&
					  strcmp(other->module, function->module) == 0))
			return number;
	}
	number = (uint32_t)numbers->functions.count;
	ep_hash_add(&numbers->by_name, hash, number);
	ep_array_push(&numbers->functions, function);
	return number;
}

/* ---- reading ---- */

static bool is_step(const struct ep_event *event)
{
	return (event->kind == EP_EVENT_BEGIN || event->kind == EP_EVENT_END) && event->function &&
	       !event->function->span;
}

struct reading {
	struct sequence *sequence;
	struct numbers *numbers;
};

/* A sink. */
static int sequence_event(void *context, const struct ep_event *event,
			  const struct ep_nest_thread *none)
{
	const struct reading *reading = context;

	(void)none;
	if (is_step(event))
		ep_array_push(&reading->sequence->steps,
			      2 * number_of(reading->numbers, event->function) +
				      (event->kind == EP_EVENT_END));
	return EP_OK;
}

static void sequence_read(struct sequence *out, const struct ep_side *side,
			  const struct ep_trace_thread *thread, struct numbers *numbers)
{
	struct reading reading = {out, numbers};
	const struct ep_sink sink = {.context = &reading, .event = sequence_event};
	struct ep_calls *calls = ep_calls_create(side->trace, thread, side->names);

	ep_calls_read(calls, &sink);
	ep_calls_destroy(calls);
}

/* Looks for one step. */
struct search {
	const struct ep_trace *trace;
	const struct ep_calls *calls;
	uint64_t left; /* steps before it */
	struct ep_step *out;
};

/* A sink. */
static int step_event(void *context, const struct ep_event *event,
		      const struct ep_nest_thread *none)
{
	struct search *search = context;
	bool ends = event->kind == EP_EVENT_END;
	const struct ep_event *open;
	size_t depth;

	(void)none;
	if (!is_step(event) || search->left-- > 0)
		return EP_OK;
	/* What is open now has the call itself, when it begins here. */
	open = ep_calls_open(search->calls, &depth);
	depth -= !ends && depth;
	*search->out = (struct ep_step){
		.any = true,
		.ends = ends,
		.function = event->function,
		.inside = depth ? open[depth - 1].function : NULL,
		.since = ep_trace_ns(search->trace, event->thread->first_tsc,
				     ends ? event->end.best : event->begin.best),
	};
	return EP_END;
}

/* Step number `index` of the thread. */
static void step_read(struct ep_step *out, const struct ep_side *side,
		      const struct ep_trace_thread *thread, uint64_t index)
{
	struct ep_calls *calls = ep_calls_create(side->trace, thread, side->names);
	struct search search = {side->trace, calls, index, out};
	const struct ep_sink sink = {.context = &search, .event = step_event};

	ep_calls_read(calls, &sink);
	ep_calls_destroy(calls);
}

/* ---- comparing ---- */

static size_t common_from(const struct sequence *a, size_t i, const struct sequence *b, size_t j)
{
	size_t count = 0;

	while (i + count < a->steps.count && j + count < b->steps.count &&
	       a->steps.list[i + count] == b->steps.list[j + count])
		count++;
	return count;
}

/* Step number i of `late` followed by `early`. */
static uint32_t step_of(const struct sequence *late, const struct sequence *early, size_t i)
{
	return i < late->steps.count ? late->steps.list[i]
				     : early->steps.list[i - late->steps.count];
}

/*
 * Where in `early` the longest stretch begins that is also the beginning of `late`: *common steps.
 * By the Z-function of `late` followed by `early` (z[i]: how far what begins at i is like the
 * beginning), in linear time: in a loop every turn looks alike.
 */
static void head_find(const struct sequence *late, const struct sequence *early, size_t *place,
		      size_t *common)
{
	size_t head = late->steps.count, all = head + early->steps.count, left = 0, right = 0;
	uint32_t *z = ep_calloc(all, sizeof(*z));

	*place = *common = 0;
	for (size_t i = 1; i < all; i++) {
		size_t most = i < head ? all - i : head, n = 0;

		if (i < right)
			n = z[i - left] < right - i ? z[i - left] : right - i;
		while (i + n < all && n < most &&
		       step_of(late, early, n) == step_of(late, early, i + n))
			n++;
		z[i] = (uint32_t)n;
		if (i + n > right) {
			left = i;
			right = i + n;
		}
		if (i >= head && n > *common) {
			*common = n;
			*place = i - head;
		}
	}
	free(z);
}

static void align(struct ep_parting *parting, const struct sequence both[2])
{
	const struct ep_trace_thread *const *threads = parting->threads;
	size_t forward, backward, a, b;

	if (threads[0]->from_start && threads[1]->from_start) {
		parting->common = common_from(&both[0], 0, &both[1], 0);
		return;
	}
	head_find(&both[0], &both[1], &b, &forward);
	head_find(&both[1], &both[0], &a, &backward);
	if (forward >= backward) {
		parting->skipped[1] = b;
		parting->common = forward;
	} else {
		parting->skipped[0] = a;
		parting->common = backward;
	}
}

static void judge(struct ep_parting *parting, const struct ep_side sides[2],
		  const struct sequence both[2])
{
	size_t ended = 0;

	for (int i = 0; i < 2; i++) {
		uint64_t next = parting->skipped[i] + parting->common;

		ended += next == both[i].steps.count;
		step_read(&parting->steps[i], &sides[i], parting->threads[i], next);
	}
	parting->kind = ended == 2   ? EP_PARTING_NEVER
			: ended == 1 ? EP_PARTING_ENDED
				     : EP_PARTING_THERE;
	if (!parting->common &&
	    !(parting->threads[0]->from_start && parting->threads[1]->from_start))
		parting->kind = EP_PARTING_NOTHING;
}

void ep_sequences_part(struct ep_parting *parting, const struct ep_side sides[2])
{
	struct sequence both[2] = {0};
	struct numbers numbers = {0};

	for (int i = 0; i < 2; i++)
		sequence_read(&both[i], &sides[i], parting->threads[i], &numbers);
	align(parting, both);
	judge(parting, sides, both);
	ep_array_deinit(&numbers.functions);
	ep_hash_deinit(&numbers.by_name);
	ep_array_deinit(&both[0].steps);
	ep_array_deinit(&both[1].steps);
}
