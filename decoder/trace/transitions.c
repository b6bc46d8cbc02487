/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transitions.c: pairs are looked at twice, as a few that waited would be most of a mean: first how
 * long they take by orders of magnitude, then the mean of those that are not slower by far. Reading
 * the clock takes some of it, which pairs without a time do not have: how much of it, is known by
 * what is between two times with many of them in between.
 */
#include "decoder/trace/transitions.h"

#include <math.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/trace/trace.h"

#define SIZE_FIRST ((size_t)1 << 10)
#define SIZE_MOST  ((size_t)1 << 19) /* 12 MiB while it learns, 8 MiB then */
#define PROBES     64u               /* whoever makes keys collide has them left out */
#define CLOCK_MOST 8                 /* times what reading the clock takes */
#define FEW        8u
#define FAR        16.0F /* times as long as usual: something else was in it */

struct learned {
	uint64_t key;
	uint32_t count;
	float logarithm, cycles; /* means */
};

struct learning {
	struct learned *slots;
	size_t size, used; /* a power of 2 */
	bool again;        /* the second time */
	double cycles;     /* of all that count */
	uint64_t pairs;
	double weighted, weight; /* of what a record takes less where it has no time */
};

static uint64_t key_of(uint64_t before, uint64_t after)
{
	uint64_t mask = EP_RETURN_BIT | EP_ADDRESS_MASK;
	uint64_t key = (before & mask) * UINT64_C(0x9e3779b97f4a7c15);

	key = (key ^ key >> 29 ^ (after & mask)) * UINT64_C(0xbf58476d1ce4e5b9);
	key ^= key >> 32;
	return key ? key : 1;
}

/* Its slot, or the free one where it belongs; NULL: neither is near. */
static struct learned *find(const struct learning *l, uint64_t key)
{
	for (size_t i = 0; i < PROBES; i++) {
		struct learned *one = &l->slots[((size_t)key + i) & (l->size - 1)];

		if (!one->key || one->key == key)
			return one;
	}
	return NULL;
}

static void grow(struct learning *l)
{
	struct learning old = *l;

	l->size = old.size ? old.size * 2 : SIZE_FIRST;
	l->slots = ep_calloc(l->size, sizeof(*l->slots));
	l->used = 0;
	for (size_t i = 0; i < old.size; i++) {
		struct learned *one = old.slots[i].key ? find(l, old.slots[i].key) : NULL;

		if (one)
			*one = old.slots[i];
		l->used += one != NULL;
	}
	free(old.slots);
}

/* NULL: it is new, and there are too many. */
static struct learned *add(struct learning *l, uint64_t key)
{
	struct learned *one;

	if (l->used * 2 >= l->size && l->size < SIZE_MOST)
		grow(l);
	one = find(l, key);
	if (!one || (!one->key && l->used * 2 >= l->size))
		return NULL;
	l->used += !one->key;
	one->key = key;
	return one;
}

static void learn_pair(struct learning *l, uint64_t key, float cycles)
{
	struct learned *one = l->again ? find(l, key) : add(l, key);

	if (!one || !one->key)
		return;
	if (!l->again) {
		one->count++;
		one->logarithm += (logf(cycles) - one->logarithm) / (float)one->count;
	} else if (cycles <= FAR * expf(one->logarithm)) {
		one->count++;
		one->cycles += (cycles - one->cycles) / (float)one->count;
		l->cycles += (double)cycles;
		l->pairs++;
	}
}

/*
 * Events one behind the other, each with a stamp: as no escape stands between them, it is less than
 * EP_GAP_CYCLES. Where not all have one, three in a row may stand around a wait: one that was due,
 * one that was asked for, and the one behind that.
 */
#define AROUND_WAIT 3u

static void learn_block(struct learning *l, const struct ep_trace_block *block)
{
	const uint64_t *words = block->block->records;
	unsigned timed = block->block->every > 1 ? 0 : AROUND_WAIT; /* in a row */

	for (uint32_t i = 1; i < block->words; i++) {
		uint64_t before = words[i - 1], after = words[i], cycles;

		if (!(before >> EP_STAMP_SHIFT) || !(after >> EP_STAMP_SHIFT) ||
		    !ep_word_is_event(before) || !ep_word_is_event(after)) {
			timed = block->block->every > 1 ? 0 : AROUND_WAIT;
			continue;
		}
		if (timed++ < AROUND_WAIT - 1)
			continue;
		cycles = (((after >> EP_STAMP_SHIFT) - (before >> EP_STAMP_SHIFT)) & 0xffff)
			 << EP_TICK_SHIFT;
		if (cycles > EP_GAP_CYCLES) /* a step backwards */
			continue;
		learn_pair(l, key_of(before, after), (float)(cycles + 1));
		learn_pair(l, key_of(before, 0), (float)(cycles + 1));
	}
}

static float cycles_between(const struct learning *l, uint64_t before, uint64_t after)
{
	const struct learned *one = find(l, key_of(before, after));

	if (!one || !one->count)
		one = find(l, key_of(before, 0));
	return one && one->count ? one->cycles : 0;
}

/*
 * Of so many records between two times, which took `cycles` and by pairs with times `expected`:
 * each took less by the same amount. By least squares, where the error grows with the square root.
 */
static void learn_run(struct learning *l, uint64_t cycles, double expected, unsigned records)
{
	if (records < FEW || expected < 1 || (double)cycles > 2 * expected)
		return;
	l->weighted += records * (expected - (double)cycles) / expected;
	l->weight += (double)records * records / expected;
}

static void learn_runs(struct learning *l, const struct ep_trace_block *block)
{
	const uint64_t *words = block->block->records;
	uint64_t stamp =
		ep_word_is_event(words[0]) ? words[0] >> EP_STAMP_SHIFT : 0; /* of the last time */
	double expected = 0;
	unsigned records = 0;

	for (uint32_t i = 1; block->block->every > 1 && i < block->words; i++) {
		uint64_t before = words[i - 1], after = words[i], now = after >> EP_STAMP_SHIFT;
		float cycles = ep_word_is_event(before) && ep_word_is_event(after)
				       ? cycles_between(l, before, after)
				       : 0;

		expected += (double)cycles;
		records++;
		if (cycles <= 0)
			stamp = 0;
		if (!now)
			continue;
		if (stamp)
			learn_run(l, ((now - stamp) & 0xffff) << EP_TICK_SHIFT, expected, records);
		stamp = ep_word_is_event(after) ? now : 0;
		expected = 0;
		records = 0;
	}
}

static void learn_all(struct learning *l, const struct ep_trace *trace,
		      void (*learn)(struct learning *l, const struct ep_trace_block *block))
{
	for (size_t i = 0; i < trace->thread_count; i++)
		for (size_t n = 0; n < trace->threads[i].block_count; n++)
			if (!trace->threads[i].blocks[n].over_count)
				learn(l, &trace->threads[i].blocks[n]);
}

static bool has_untimed(const struct ep_trace *trace)
{
	for (size_t i = 0; i < trace->thread_count; i++)
		for (size_t n = 0; n < trace->threads[i].block_count; n++)
			if (trace->threads[i].blocks[n].block->every > 1)
				return true;
	return false;
}

static uint32_t units(double cycles, double less)
{
	double left = less > 0 ? cycles - less : cycles;

	/* The clock is not all of it. */
	left = left > cycles / 8 ? left : cycles / 8;
	return (uint32_t)(left * EP_TRANSITION_UNIT) + 1;
}

void ep_transitions_learn(struct ep_transitions *transitions, const struct ep_trace *trace)
{
	struct learning l = {0};
	double less;

	if (!has_untimed(trace))
		return;
	grow(&l);
	learn_all(&l, trace, learn_block);
	for (size_t i = 0; i < l.size; i++)
		l.slots[i].count = 0;
	l.again = true;
	learn_all(&l, trace, learn_block);
	if (l.pairs)
		learn_all(&l, trace, learn_runs);
	less = (double)trace->clock.read_cost;
	/* A few runs may tell of something else. */
	if (l.weight > 0 && l.weighted / l.weight < CLOCK_MOST * less)
		less = l.weighted / l.weight;
	if (l.pairs) {
		transitions->size = l.size;
		transitions->slots = ep_calloc(l.size, sizeof(*transitions->slots));
		transitions->usual = units(l.cycles / (double)l.pairs, less);
	}
	for (size_t i = 0; i < transitions->size; i++)
		transitions->slots[i] = (struct ep_transition){
			l.slots[i].key, l.slots[i].count ? units((double)l.slots[i].cycles, less)
							 : transitions->usual};
	free(l.slots);
}

void ep_transitions_deinit(struct ep_transitions *transitions)
{
	free(transitions->slots);
	*transitions = (struct ep_transitions){0};
}

/* 0: there is no such pair. */
static uint32_t usual(const struct ep_transitions *transitions, uint64_t key)
{
	for (size_t i = 0; i < PROBES; i++) {
		const struct ep_transition *one =
			&transitions->slots[((size_t)key + i) & (transitions->size - 1)];

		if (!one->key)
			return 0;
		if (one->key == key)
			return one->usual;
	}
	return 0;
}

uint32_t ep_transitions_between(const struct ep_transitions *transitions, uint64_t before,
				uint64_t after)
{
	uint32_t found;

	if (!transitions->size)
		return 1;
	if (!before)
		return transitions->usual;
	found = after ? usual(transitions, key_of(before, after)) : 0;
	if (!found)
		found = usual(transitions, key_of(before, 0));
	return found ? found : transitions->usual;
}
