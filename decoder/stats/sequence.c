/* SPDX-License-Identifier: BSD-2-Clause */
/* sequence.c: sequences as arrays of numbers, the same for the same step on either side. */
#include "decoder/stats/sequence.h"

#include <stdlib.h>
#include <string.h>

/* A step: twice the function's number, + 1 when a call ends. */
struct sequence {
	uint32_t *steps;
	size_t count, room;
};

/* ---- one number for a function on both sides ---- */

struct entry {
	const struct ep_function *function; /* NULL: free */
	uint32_t number;
};

struct numbers {
	struct entry *entries;
	size_t room; /* a power of two, or 0 */
	uint32_t used;
};

static const char *name_of(const struct ep_function *function)
{
	return function->symbol[0] ? function->symbol : function->name;
}

static size_t hash(const struct ep_function *function)
{
	size_t key = 5381;

	for (const char *c = name_of(function); *c; c++)
		key = key * 33 ^ (uint8_t)*c;
	for (const char *c = function->module; *c; c++)
		key = key * 33 ^ (uint8_t)*c;
	return key;
}

static struct entry *entry_find(const struct numbers *numbers, const struct ep_function *function)
{
	size_t at = hash(function) & (numbers->room - 1);

	for (;; at = (at + 1) & (numbers->room - 1)) {
		struct entry *entry = &numbers->entries[at];

		if (!entry->function || (strcmp(name_of(entry->function), name_of(function)) == 0 &&
					 strcmp(entry->function->module, function->module) == 0))
			return entry;
	}
}

static bool numbers_grow(struct numbers *numbers)
{
	struct numbers grown = {.room = numbers->room ? 2 * numbers->room : 256,
				.used = numbers->used};

	grown.entries = calloc(grown.room, sizeof(*grown.entries));
	if (!grown.entries)
		return false;
	for (size_t i = 0; i < numbers->room; i++)
		if (numbers->entries[i].function)
			*entry_find(&grown, numbers->entries[i].function) = numbers->entries[i];
	free(numbers->entries);
	*numbers = grown;
	return true;
}

/* UINT32_MAX: out of memory. */
static uint32_t number_of(struct numbers *numbers, const struct ep_function *function)
{
	struct entry *entry;

	if (numbers->used * 2 >= numbers->room && !numbers_grow(numbers))
		return UINT32_MAX;
	entry = entry_find(numbers, function);
	if (!entry->function)
		*entry = (struct entry){function, numbers->used++};
	return entry->number;
}

/* ---- reading ---- */

static bool is_step(const struct ep_event *event)
{
	return (event->kind == EP_EVENT_BEGIN || event->kind == EP_EVENT_END) && event->function &&
	       !event->function->span;
}

static bool append(struct sequence *sequence, uint32_t step)
{
	if (sequence->count == sequence->room) {
		size_t room = sequence->room ? 2 * sequence->room : 1024;
		uint32_t *grown = reallocarray(sequence->steps, room, sizeof(*grown));

		if (!grown)
			return false;
		sequence->steps = grown;
		sequence->room = room;
	}
	sequence->steps[sequence->count++] = step;
	return true;
}

static int sequence_read(struct sequence *out, const struct ep_side *side,
			 const struct ep_trace_thread *thread, struct numbers *numbers,
			 struct ep_err *err)
{
	const struct ep_event *event;
	struct ep_calls *calls;
	int rc = ep_calls_create(&calls, side->trace, thread, side->names, err);

	if (rc)
		return rc;
	while ((rc = ep_calls_next(calls, &event)) == EP_OK) {
		uint32_t number;

		if (!is_step(event))
			continue;
		number = number_of(numbers, event->function);
		if (number == UINT32_MAX ||
		    !append(out, 2 * number + (event->kind == EP_EVENT_END))) {
			rc = EP_E_MEMORY;
			break;
		}
	}
	ep_calls_destroy(calls);
	return rc < 0 ? ep_fail(err, rc, 0, "%s", ep_error_text(rc)) : EP_OK;
}

/* Step number `index` of the thread. */
static int step_read(struct ep_step *out, const struct ep_side *side,
		     const struct ep_trace_thread *thread, uint64_t index, struct ep_err *err)
{
	const struct ep_event *event;
	struct ep_calls *calls;
	int rc = ep_calls_create(&calls, side->trace, thread, side->names, err);

	if (rc)
		return rc;
	while ((rc = ep_calls_next(calls, &event)) == EP_OK) {
		size_t depth;
		const struct ep_event *open;

		if (!is_step(event) || index-- > 0)
			continue;
		/* What is open now has the call itself, when it begins here. */
		open = ep_calls_open(calls, &depth);
		if (event->kind == EP_EVENT_BEGIN && depth)
			depth--;
		*out = (struct ep_step){
			.any = true,
			.ends = event->kind == EP_EVENT_END,
			.function = event->function,
			.inside = depth ? open[depth - 1].function : NULL,
			.since = ep_trace_ns(side->trace, thread->first_tsc,
					     event->kind == EP_EVENT_END ? event->end.best
									 : event->begin.best),
		};
		break;
	}
	ep_calls_destroy(calls);
	return rc < 0 ? ep_fail(err, rc, 0, "%s", ep_error_text(rc)) : EP_OK;
}

/* ---- comparing ---- */

static size_t common_from(const struct sequence *a, size_t i, const struct sequence *b, size_t j)
{
	size_t count = 0;

	while (i + count < a->count && j + count < b->count &&
	       a->steps[i + count] == b->steps[j + count])
		count++;
	return count;
}

/* Step number i of `late` followed by `early`. */
static uint32_t step_of(const struct sequence *late, const struct sequence *early, size_t i)
{
	return i < late->count ? late->steps[i] : early->steps[i - late->count];
}

/*
 * Where in `early` the longest stretch begins that is also the beginning of `late`: *common steps.
 * By the Z-function of `late` followed by `early` (z[i]: how far what begins at i is like the
 * beginning), in linear time: in a loop every turn looks alike. EP_E_MEMORY.
 */
static int head_find(const struct sequence *late, const struct sequence *early, size_t *place,
		     size_t *common, struct ep_err *err)
{
	size_t all = late->count + early->count, left = 0, right = 0;
	uint32_t *z = calloc(all + 1, sizeof(*z));

	*place = *common = 0;
	if (!z)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	for (size_t i = 1; i < all; i++) {
		size_t most = i < late->count ? all - i : late->count, n = 0;

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
		if (i >= late->count && n > *common) {
			*common = n;
			*place = i - late->count;
		}
	}
	free(z);
	return EP_OK;
}

static int align(struct ep_parting *parting, const struct sequence both[2], struct ep_err *err)
{
	const struct ep_trace_thread *const *threads = parting->threads;
	size_t forward, backward, a, b;
	int rc;

	if (threads[0]->from_start && threads[1]->from_start) {
		parting->common = common_from(&both[0], 0, &both[1], 0);
		return EP_OK;
	}
	rc = head_find(&both[0], &both[1], &b, &forward, err);
	rc = rc ? rc : head_find(&both[1], &both[0], &a, &backward, err);
	if (rc)
		return rc;
	if (forward >= backward) {
		parting->skipped[1] = b;
		parting->common = forward;
	} else {
		parting->skipped[0] = a;
		parting->common = backward;
	}
	return EP_OK;
}

static int judge(struct ep_parting *parting, const struct ep_side sides[2],
		 const struct sequence both[2], struct ep_err *err)
{
	size_t ended = 0;
	int rc = EP_OK;

	for (int i = 0; i < 2 && !rc; i++) {
		uint64_t next = parting->skipped[i] + parting->common;

		ended += next == both[i].count;
		rc = step_read(&parting->steps[i], &sides[i], parting->threads[i], next, err);
	}
	parting->kind = ended == 2   ? EP_PARTING_NEVER
			: ended == 1 ? EP_PARTING_ENDED
				     : EP_PARTING_THERE;
	if (!parting->common &&
	    !(parting->threads[0]->from_start && parting->threads[1]->from_start))
		parting->kind = EP_PARTING_NOTHING;
	return rc;
}

int ep_sequences_part(struct ep_parting *parting, const struct ep_side sides[2], struct ep_err *err)
{
	struct sequence both[2] = {{0}, {0}};
	struct numbers numbers = {0};
	int rc = EP_OK;

	for (int i = 0; i < 2 && !rc; i++)
		rc = sequence_read(&both[i], &sides[i], parting->threads[i], &numbers, err);
	rc = rc ? rc : align(parting, both, err);
	rc = rc ? rc : judge(parting, sides, both, err);
	free(numbers.entries);
	free(both[0].steps);
	free(both[1].steps);
	return rc;
}
