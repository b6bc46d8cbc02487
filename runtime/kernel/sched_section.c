/* SPDX-License-Identifier: BSD-2-Clause */
/* sched_section.c: a chunk counts when its check word is written, last. */
#include "runtime/kernel/sched_section.h"

#include "runtime/arena/arena.h"
#include "runtime/facts/tasks.h"
#include "runtime/lib/files.h"
#include "runtime/lib/text.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/tsc.h"

#define PAGE UINT64_C(4096)

struct ep_sched *ep_sched;
static uint64_t copied; /* bytes */

#define POOL (PAGE + EP_SCHED_FORMATS) /* where the pool begins in the section */

static struct {
	uint64_t segments;
	uint64_t segment; /* of the pool, from 0 */
	uint64_t at;      /* in it */
	uint64_t sequence;
} pool;
static uint64_t formats_used; /* bytes */

bool ep_sched_lay_out(bool anyway)
{
	uint64_t size;

	pool.segment = pool.at = pool.sequence = formats_used = 0;
	ep_sched = ep_arena_section(EP_SECTION_SCHED, &size);
	pool.segments = 0;
	if (!ep_sched) {
		static struct ep_sched none;

		ep_sched = anyway ? &none : NULL;
		return anyway;
	}
	pool.segments = (size - POOL) / EP_SCHED_SEGMENT;
	ep_bytes_zero(ep_sched, sizeof(*ep_sched));
	ep_sched->machine = ep_settings.sched_machine;
	ep_sched->events = ep_settings.sched_events;
	ep_sched->formats_offset = PAGE;
	ep_sched->formats_size = EP_SCHED_FORMATS;
	ep_sched->segment_size = EP_SCHED_SEGMENT;
	ep_sched->pool_offset = POOL;
	ep_sched->pool_size = pool.segments * EP_SCHED_SEGMENT;
	return true;
}

struct ep_sched_chunk *ep_sched_segment_at(uint64_t segment)
{
	return (struct ep_sched_chunk *)((char *)ep_sched + POOL + segment * EP_SCHED_SEGMENT);
}

static struct ep_sched_chunk *chunk_at(uint64_t at)
{
	return (struct ep_sched_chunk *)((char *)ep_sched_segment_at(pool.segment) + at);
}

static void wipe(struct ep_sched_chunk *chunk)
{
	__atomic_store_n(&chunk->check, 0, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void *ep_sched_reserve(uint64_t size)
{
	uint64_t need = sizeof(struct ep_sched_chunk) + ((size + 7) & ~7ull);

	if (need > EP_SCHED_SEGMENT) {
		ep_sched->refused++;
		return NULL;
	}
	if (pool.at + need > EP_SCHED_SEGMENT) {
		pool.segment = (pool.segment + 1) % pool.segments;
		pool.at = 0;
	}
	wipe(chunk_at(pool.at));
	return chunk_at(pool.at) + 1;
}

void ep_sched_commit(uint64_t size, unsigned cpu, unsigned source)
{
	struct ep_sched_chunk *chunk = chunk_at(pool.at);
	uint64_t padded = (size + 7) & ~7ull;
	uint64_t check;

	if (!size)
		return;
	ep_bytes_zero((char *)(chunk + 1) + size, padded - size);
	chunk->sequence = ++pool.sequence;
	chunk->size = (uint32_t)size;
	chunk->cpu = (uint16_t)cpu;
	chunk->source = (uint16_t)source;
	chunk->tsc = ep_tsc();
	check = ep_sched_check(chunk, (uint64_t)chunk - (uint64_t)ep_sched, epitaph_root.identity);
	pool.at += sizeof(*chunk) + padded;
	/* What lay there from the lap before is not the next one. */
	if (pool.at + sizeof(*chunk) <= EP_SCHED_SEGMENT)
		wipe(chunk_at(pool.at));
	__atomic_store_n(&chunk->check, check, __ATOMIC_RELEASE);
	ep_sched->chunks++;
	copied += size;
}

uint64_t ep_sched_copied(void)
{
	return copied;
}

uint64_t ep_sched_segments(void)
{
	return pool.segments;
}

uint64_t ep_sched_segment(void)
{
	return __atomic_load_n(&pool.segment, __ATOMIC_RELAXED);
}

const char *ep_sched_formats(uint64_t *size)
{
	*size = formats_used;
	return (const char *)ep_sched + PAGE;
}

void ep_sched_drop_formats(void)
{
	formats_used = ep_sched->formats_used = 0;
}

void ep_sched_add_format(uint32_t kind, const char *path)
{
	struct ep_sched_format *format =
		(struct ep_sched_format *)((char *)ep_sched + PAGE + formats_used);
	uint64_t room = EP_SCHED_FORMATS - formats_used;
	long got;

	if (room <= sizeof(*format) + 8)
		return;
	room -= sizeof(*format) + 8;
	got = ep_fd_load(path, format + 1, room);
	if (got <= 0 || (uint64_t)got == room)
		return;
	format->kind = kind;
	format->size = (uint32_t)got;
	formats_used += sizeof(*format) + (((uint64_t)got + 7) & ~7ull);
	ep_sched->formats_used = formats_used;
}

static void (*call_thread)(uint32_t tid);

static void call_other(uint32_t tid)
{
	if (tid != ep_sched->tid)
		call_thread(tid);
}

void ep_sched_each_thread(void (*call)(uint32_t tid))
{
	call_thread = call;
	ep_tasks_each(call_other);
}
