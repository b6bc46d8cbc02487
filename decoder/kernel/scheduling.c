/* SPDX-License-Identifier: BSD-2-Clause */
/* scheduling.c: the events and threads that a schedule is made of, as they are met. */
#include "decoder/kernel/scheduling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/utf8.h"

#define NAME_MAX_BYTES 16u

void ep_scheduling_add(struct ep_scheduling *s, const struct ep_sched_event *event)
{
	struct ep_sched_event *added = ep_array_add(&s->events);

	*added = *event;
	added->order = (uint32_t)(s->events.count - 1);
}

struct ep_task_builder *ep_scheduling_known(const struct ep_scheduling *s, uint32_t tid)
{
	uint32_t hash = ep_hash_number(tid), at = 0, row;

	while ((row = ep_hash_next(&s->by_tid, hash, &at)) != EP_HASH_NONE)
		if (s->rows.list[row].task.tid == tid)
			return &s->rows.list[row];
	return NULL;
}

struct ep_task_builder *ep_scheduling_row(struct ep_scheduling *s, uint32_t tid)
{
	struct ep_task_builder *row = ep_scheduling_known(s, tid);

	if (row)
		return row;
	ep_hash_add(&s->by_tid, ep_hash_number(tid), (uint32_t)s->rows.count);
	row = ep_array_add(&s->rows);
	row->task.tid = tid;
	return row;
}

void ep_scheduling_name(struct ep_scheduling *s, uint32_t tid, uint64_t tsc, const uint8_t *name,
			size_t size, bool given)
{
	struct ep_task_builder *row = ep_scheduling_row(s, tid);
	struct ep_task *task = &row->task;
	char *shown;

	size = size < NAME_MAX_BYTES ? size : NAME_MAX_BYTES;
	size = strnlen((const char *)name, size);
	if (given) {
		struct ep_naming *naming = ep_array_add(&s->namings);

		naming->tsc = tsc;
		naming->tid = tid;
		shown = ep_utf8_escape((const char *)name, size);
		snprintf(naming->name, sizeof(naming->name), "%s", shown);
		free(shown);
	}
	if (tsc < row->named)
		return;
	row->named = tsc;
	/* Nearly always it is what it was. */
	if (strlen(task->name) == size && memcmp(task->name, name, size) == 0)
		return;
	shown = ep_utf8_escape((const char *)name, size);
	snprintf(task->name, sizeof(task->name), "%s", shown);
	free(shown);
}
