/* SPDX-License-Identifier: BSD-2-Clause */
/* reasons.c: two sorted lists. */
#include "coredump/live/reasons.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "coredump/util/search.h"

#define SITES_MAX (UINT64_C(1) << 20) /* that the runtime has room for: switching/site_table.c */

static int compare_rows(const void *a, const void *b)
{
	const struct ep_site_row *x = a, *y = b;

	return (x->site.place > y->site.place) - (x->site.place < y->site.place);
}

int ep_site_rows_read(struct ep_site_rows *rows, struct ep_control *control,
		      const struct ep_switches *head, struct ep_err *err)
{
	struct ep_hook_site *sites;
	size_t size;
	int rc;

	rows->count = 0;
	if (!head->sites || !head->site_count)
		return EP_OK;
	if (head->site_count > SITES_MAX)
		return ep_fail(err, EP_E_CORRUPT, head->sites,
			       "pid %d: its table of hooks makes no sense", (int)control->pid);
	size = head->site_count * sizeof(*sites);
	ep_control_work(control, EP_CONTROL_SORT(head->site_count));
	sites = ep_malloc(size);
	rc = ep_control_peek(control, head->sites, sites, size, err);
	for (size_t i = 0; rc == EP_OK && i < head->site_count; i++)
		if (sites[i].place && sites[i].kind >= EP_SITE_CALL &&
		    sites[i].kind <= EP_SITE_XRAY_EXIT)
			ep_array_push(rows, ((struct ep_site_row){
						    sites[i], head->sites + i * sizeof(*sites)}));
	free(sites);
	ep_array_sort(rows, compare_rows);
	return rc;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct ep_off_piece *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void read_pieces(struct ep_reasons *reasons, const struct ep_switched_list *list)
{
	size_t kept = 0;

	reasons->pieces.count = 0;
	for (size_t i = 0; i < list->control_count; i++)
		if (list->control[i].start && list->control[i].reasons & EP_SWITCH_CONTROL)
			ep_array_push(&reasons->pieces,
				      ((struct ep_off_piece){list->control[i].start,
							     list->control[i].end}));
	ep_array_sort(&reasons->pieces, compare_pieces);
	for (size_t i = 0; i < reasons->pieces.count; i++) {
		struct ep_off_piece *last = kept ? &reasons->pieces.list[kept - 1] : NULL;

		if (last && reasons->pieces.list[i].start <= last->end)
			last->end = reasons->pieces.list[i].end > last->end
					    ? reasons->pieces.list[i].end
					    : last->end;
		else
			reasons->pieces.list[kept++] = reasons->pieces.list[i];
	}
	reasons->pieces.count = kept;
}

int ep_reasons_read(struct ep_reasons *reasons, struct ep_control *control,
		    const struct ep_switched_list *list, struct ep_err *err)
{
	read_pieces(reasons, list);
	return ep_site_rows_read(&reasons->rows, control, &list->head, err);
}

void ep_reasons_deinit(struct ep_reasons *reasons)
{
	ep_array_deinit(&reasons->rows);
	ep_array_deinit(&reasons->pieces);
}

bool ep_reasons_off(const struct ep_reasons *reasons, uint64_t place)
{
	const struct ep_site_row *rows = reasons->rows.list;
	const struct ep_off_piece *pieces = reasons->pieces.list;
	size_t row = ep_partition_point(reasons->rows.count, i, rows[i].site.place < place);
	size_t piece = ep_partition_point(reasons->pieces.count, i, pieces[i].end <= place);

	if (piece < reasons->pieces.count && pieces[piece].start <= place)
		return true;
	for (; row < reasons->rows.count && rows[row].site.place == place; row++)
		if (rows[row].site.all | rows[row].site.name | rows[row].site.budget)
			return true;
	return false;
}
