/* SPDX-License-Identifier: BSD-2-Clause */
/* absences.c: when a thread was not on a CPU; sums make each question one binary search. */
#include "decoder/trace/absences.h"

#include "coredump/util/search.h"
#include "coredump/util/array.h"

void ep_absences_add(struct ep_absences *absences, uint64_t begin, uint64_t end)
{
	struct ep_absence *last = absences->count ? &absences->list[absences->count - 1] : NULL;

	if (begin == end)
		return;
	if (last && last->end == begin) {
		last->end = end;
		return;
	}
	ep_array_push(absences,
		      ((struct ep_absence){
			      .begin = begin,
			      .end = end,
			      .before = last ? last->before + (last->end - last->begin) : 0,
		      }));
}

void ep_absences_deinit(struct ep_absences *absences)
{
	ep_array_deinit(absences);
}

/* How many begin at or before `tsc`. */
static size_t begun(const struct ep_absences *absences, uint64_t tsc)
{
	return ep_partition_point(absences->count, i, absences->list[i].begin <= tsc);
}

static uint64_t until(const struct ep_absences *absences, uint64_t tsc)
{
	size_t at = begun(absences, tsc);
	const struct ep_absence *last = at ? &absences->list[at - 1] : NULL;

	return last ? last->before + (tsc < last->end ? tsc : last->end) - last->begin : 0;
}

uint64_t ep_absences_within(const struct ep_absences *absences, uint64_t from, uint64_t to)
{
	if (!absences || to <= from)
		return 0;
	return until(absences, to) - until(absences, from);
}

uint64_t ep_absences_begin(const struct ep_absences *absences, uint64_t from, uint64_t to)
{
	size_t at = absences ? begun(absences, from) : 0;

	return absences && at < absences->count && absences->list[at].begin < to
		       ? absences->list[at].begin
		       : to;
}

const struct ep_absence *ep_absences_at(const struct ep_absences *absences, uint64_t tsc)
{
	size_t at = absences ? begun(absences, tsc) : 0;

	return at && absences->list[at - 1].end > tsc ? &absences->list[at - 1] : NULL;
}

uint64_t ep_absences_skip(const struct ep_absences *absences, uint64_t from, uint64_t cycles)
{
	size_t at = absences ? begun(absences, from) : 0;

	for (at -= at > 0; absences && at < absences->count; at++) {
		const struct ep_absence *one = &absences->list[at];

		if (one->end <= from)
			continue;
		if (one->begin > from && one->begin - from >= cycles)
			break;
		cycles -= one->begin > from ? one->begin - from : 0;
		from = one->end;
	}
	return from + cycles;
}
