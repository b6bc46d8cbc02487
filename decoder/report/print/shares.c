/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shares.c: who gives up lines when a page is longer than a screen. Down to a fair share the one
 * gives that has most of its own above it, then down to the least; then lines are cut instead of
 * continued, and in the end the first part of the page is.
 */
#include "decoder/report/print/page.h"

#define BOUNDS 2u

static const struct {
	size_t most, bounds[BOUNDS]; /* fair, least */
} limits[EP_SHARES] = {
	[EP_SHARE_VARIABLES] = {12, {4, 1}}, [EP_SHARE_WATCHDOGS] = {4, {2, 1}},
	[EP_SHARE_ROWS] = {16, {6, 4}},      [EP_SHARE_CALLS] = {8, {3, 1}},
	[EP_SHARE_GROUPS] = {6, {4, 2}},     [EP_SHARE_WARNINGS] = {6, {3, 1}},
};

void ep_page_shares_init(struct ep_page_shares *shares, bool brief)
{
	*shares = (struct ep_page_shares){.head = SIZE_MAX};
	for (size_t i = 0; i < EP_SHARES; i++)
		shares->most[i] = brief ? limits[i].most : SIZE_MAX;
	if (!brief)
		shares->most[EP_SHARE_WATCHDOGS] = limits[EP_SHARE_WATCHDOGS].most;
}

/* How much of what it may give up it has still, in thousandths. */
static size_t surplus(const struct ep_page_shares *shares, size_t i)
{
	size_t least = limits[i].bounds[shares->least], printed = shares->printed[i];

	if (printed > shares->most[i])
		printed = shares->most[i];
	return printed > least ? (printed - least) * 1000 / (limits[i].most - least) : 0;
}

static bool take_one(struct ep_page_shares *shares)
{
	size_t from = 0;

	for (size_t i = 1; i < EP_SHARES; i++)
		if (surplus(shares, i) > surplus(shares, from))
			from = i;
	if (!surplus(shares, from))
		return false;
	if (shares->printed[from] < shares->most[from])
		shares->most[from] = shares->printed[from];
	shares->most[from]--;
	return true;
}

bool ep_page_shares_shrink(struct ep_page_shares *shares, size_t lines, size_t head)
{
	size_t over = lines > EP_PAGE_LINES ? lines - EP_PAGE_LINES : 0;

	if (!over || shares->head != SIZE_MAX)
		return false;
	if (shares->printed[EP_SHARE_GROUPS] > shares->most[EP_SHARE_GROUPS]) {
		shares->spare += over;
		return true;
	}
	while (!take_one(shares)) {
		if (shares->least + 1 < BOUNDS) {
			shares->least++;
			continue;
		}
		if (shares->tight)
			shares->head = head > over + 1 ? head - over - 1 : 1;
		shares->tight = true;
		break;
	}
	return true;
}
