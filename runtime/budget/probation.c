/* SPDX-License-Identifier: BSD-2-Clause */
/* probation.c: a table that remembers whom it has seen: a function that comes back and must go
 * again soon is the same one. */
#include "runtime/budget/probation.h"

#include <stddef.h>

/* A trial is no longer than 1/100 s. */
#define TRIAL 100

/* On again for so many times its distance: it begins anew. */
#define FORGIVEN 4

/* Seconds that somebody who could not go off is left alone. */
#define REFUSED 10

static struct ep_probation_function *find(struct ep_probation *p, uint64_t address)
{
	uint64_t at = address * UINT64_C(0x9e3779b97f4a7c15) >> 51;

	static_assert(EP_PROBATION_SLOTS == 1 << 13, "the hash's bits");
	while (p->functions[at].address && p->functions[at].address != address)
		at = (at + 1) % EP_PROBATION_SLOTS;
	if (p->functions[at].address)
		return &p->functions[at];
	if (p->used >= EP_PROBATION_SLOTS / 4 * 3)
		return NULL;
	p->used++;
	p->functions[at].address = address;
	return &p->functions[at];
}

/* Not all at once: up to a quarter more. */
static void postpone(struct ep_probation *p, struct ep_probation_function *f, uint64_t now)
{
	uint64_t wait = p->second << f->distance;
	uint64_t random = (f->address ^ now) * UINT64_C(0xff51afd7ed558ccd) >> 48;

	f->due = now + wait + (wait >> 18) * random;
	if (f->due < p->next_due)
		p->next_due = f->due;
}

static void change(struct ep_probation *p, struct ep_probation_function *f, uint8_t state,
		   uint64_t now)
{
	p->off -= f->state == EP_PROBATION_OFF;
	p->off += state == EP_PROBATION_OFF;
	p->refused -= f->state == EP_PROBATION_REFUSED;
	p->refused += state == EP_PROBATION_REFUSED;
	f->state = state;
	f->since = now;
}

bool ep_probation_off(struct ep_probation *p, uint64_t address, uint64_t rate, uint64_t now)
{
	struct ep_probation_function *f = find(p, address);
	bool again;

	if (!f)
		return false;
	again = f->state == EP_PROBATION_TRIAL ||
		(f->state == EP_PROBATION_ON && f->since &&
		 now - f->since < FORGIVEN * (p->second << f->distance));
	if (!again)
		f->distance = 0;
	else if (f->distance < EP_PROBATION_DISTANCE)
		f->distance++;
	f->rate = rate;
	change(p, f, EP_PROBATION_OFF, now);
	postpone(p, f, now);
	return true;
}

void ep_probation_refuse(struct ep_probation *p, uint64_t address, uint64_t now)
{
	struct ep_probation_function *f = find(p, address);

	if (f)
		change(p, f, EP_PROBATION_REFUSED, now);
}

uint64_t ep_probation_refused(const struct ep_probation *p, unsigned index, uint64_t now)
{
	const struct ep_probation_function *f = &p->functions[index];

	return f->state == EP_PROBATION_REFUSED && now - f->since < REFUSED * p->second ? f->address
											: 0;
}

void ep_probation_cancel(struct ep_probation *p, uint64_t address, uint64_t now)
{
	struct ep_probation_function *f = find(p, address);

	if (!f)
		return;
	change(p, f, EP_PROBATION_OFF, now);
	postpone(p, f, now);
}

unsigned ep_probation_begin(struct ep_probation *p, uint64_t now,
			    uint64_t address[EP_PROBATION_TRIALS])
{
	struct ep_probation_function *least[EP_PROBATION_TRIALS];
	unsigned count = 0;

	if (!p->off || p->next_due > now)
		return 0;
	p->next_due = UINT64_MAX;
	for (unsigned i = 0; i < EP_PROBATION_SLOTS; i++) {
		struct ep_probation_function *f = &p->functions[i];
		unsigned at = count;

		if (f->state != EP_PROBATION_OFF)
			continue;
		if (f->since < p->inherited) {
			f->distance = EP_PROBATION_DISTANCE;
			f->since = p->inherited;
			postpone(p, f, p->inherited);
		}
		if (f->due < p->next_due)
			p->next_due = f->due;
		if (f->due > now)
			continue;
		if (count < EP_PROBATION_TRIALS)
			count++;
		else if (f->rate >= least[--at]->rate)
			continue;
		for (; at && least[at - 1]->rate > f->rate; at--)
			least[at] = least[at - 1];
		least[at] = f;
	}
	for (unsigned i = 0; i < count; i++) {
		change(p, least[i], EP_PROBATION_TRIAL, now);
		p->calls[i] = 0;
		p->address[i] = address[i] = least[i]->address;
	}
	p->begin = now;
	p->blocks = 0;
	__atomic_store_n(&p->trials, count, __ATOMIC_RELEASE);
	return count;
}

void ep_probation_count(struct ep_probation *p, const struct ep_block *block)
{
	unsigned trials = __atomic_load_n(&p->trials, __ATOMIC_ACQUIRE);
	uint32_t calls[EP_PROBATION_TRIALS] = {0};

	if (!trials || trials > EP_PROBATION_TRIALS || block->tsc < p->begin)
		return;
	for (unsigned i = 0; i < EP_BLOCK_RECORDS; i++) {
		uint64_t call = block->records[i] & (EP_ADDRESS_MASK | EP_RETURN_BIT);

		for (unsigned j = 0; j < trials; j++)
			calls[j] += call == p->address[j];
	}
	for (unsigned j = 0; j < trials; j++)
		__atomic_fetch_add(&p->calls[j], calls[j], __ATOMIC_RELAXED);
	__atomic_fetch_add(&p->blocks, 1, __ATOMIC_RELAXED);
}

bool ep_probation_ripe(const struct ep_probation *p, uint64_t now)
{
	return p->trials &&
	       (p->blocks >= EP_PROBATION_BLOCKS || now - p->begin >= p->second / TRIAL);
}

/* Calls a second of what was counted; short as the trial was. */
static uint64_t rate_of(const struct ep_probation *p, unsigned index, uint64_t now)
{
	uint64_t cycles = now > p->begin ? now - p->begin : 1;
	uint64_t least = p->second >> 18; /* about 4 us: less tells nothing */

	return p->calls[index] * p->second / (cycles > least ? cycles : least + 1);
}

unsigned ep_probation_end(struct ep_probation *p, uint64_t now, uint64_t allowed,
			  uint64_t address[EP_PROBATION_TRIALS], uint64_t rate[EP_PROBATION_TRIALS])
{
	unsigned trials = p->trials, count = 0;

	__atomic_store_n(&p->trials, 0, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < trials; i++) {
		struct ep_probation_function *f = find(p, p->address[i]);
		uint64_t now_rate = rate_of(p, i, now);

		if (!f || f->state != EP_PROBATION_TRIAL)
			continue;
		if (now_rate <= allowed) {
			allowed -= now_rate;
			change(p, f, EP_PROBATION_ON, now);
			continue;
		}
		address[count] = f->address;
		rate[count++] = now_rate;
	}
	return count;
}

void ep_probation_inherit(struct ep_probation *p, uint64_t now)
{
	p->inherited = now;
	if (p->off)
		p->next_due = now + (p->second << EP_PROBATION_DISTANCE);
}

void ep_probation_again(struct ep_probation *p, uint64_t now)
{
	p->inherited = 0;
	for (unsigned i = 0; i < EP_PROBATION_SLOTS; i++) {
		struct ep_probation_function *f = &p->functions[i];

		if (f->state != EP_PROBATION_OFF)
			continue;
		f->distance = 0;
		postpone(p, f, now - p->second);
	}
}
