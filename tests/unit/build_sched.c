/* SPDX-License-Identifier: BSD-2-Clause */
/* build_sched.c: texts as the kernel writes them, pages entry by entry. */
#include "tests/unit/build_sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMATS (8 * 4096u)

#define COMMON                                                               \
	"format:\n"                                                          \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;" \
	"\n\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\t"        \
	"signed:0;\n\tfield:unsigned char common_preempt_count;\toffset:3;"  \
	"\tsize:1;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;"  \
	"\tsigned:1;\n\n"

static const char switch_text[] = "name: sched_switch\nID: 1\n" COMMON
				  "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				  "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				  "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
				  "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
				  "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
				  "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
				  "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
				  "\nprint fmt: \"prev_comm=%s\", REC->prev_comm\n";

static const char waking_text[] = "name: sched_waking\nID: 2\n" COMMON
				  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				  "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				  "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
				  "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"
				  "\nprint fmt: \"comm=%s\", REC->comm\n";

static const char enter_text[] =
	"name: sys_enter\nID: 3\n" COMMON "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n"
	"\nprint fmt: \"NR %ld\", REC->id\n";

static void must(bool holds, const char *words)
{
	if (!holds) {
		fprintf(stderr, "build_sched: %s\n", words);
		abort();
	}
}

struct ep_sched *build_sched_attach(struct build_arena *b, const void *bytes, size_t size)
{
	void *section = build_arena_section(b, EP_SECTION_SCHED, sizeof(struct ep_sched), size);

	if (bytes && size)
		memcpy(section, bytes, size);
	return section;
}

void build_sched_format(struct build_sched *s, const char *text)
{
	uint8_t *base = (uint8_t *)s->head + s->head->formats_offset;
	struct ep_sched_format head = {EP_SCHED_EVENT, (uint32_t)strlen(text)};
	uint64_t size = sizeof(head) + ((head.size + 7u) & ~7u);

	must(size <= s->head->formats_size - s->head->formats_used, "formats do not fit");
	base += s->head->formats_used;
	memcpy(base, &head, sizeof(head));
	memcpy(base + sizeof(head), text, head.size);
	s->head->formats_used += size;
}

void build_sched_init(struct build_sched *s, struct build_arena *b, uint64_t tsc)
{
	memset(s, 0, sizeof(*s));
	s->arena = b;
	s->name = "task";
	s->head = build_sched_attach(b, NULL, BUILD_SCHED_SIZE);
	*s->head = (struct ep_sched){
		.state = EP_SCHED_ON,
		.source = EP_SCHED_FTRACE,
		.formats_offset = 4096,
		.formats_size = FORMATS,
		.pool_offset = 4096 + FORMATS,
		.pool_size = 4 * EP_SCHED_SEGMENT,
		.segment_size = EP_SCHED_SEGMENT,
		.start_tsc = tsc,
		.drained_tsc = tsc,
	};
	s->at = s->head->pool_offset;
	build_sched_format(s, switch_text);
	build_sched_format(s, waking_text);
	build_sched_format(s, enter_text);
}

/* ---- pages ---- */

void build_sched_page(struct build_sched *s, uint64_t tsc)
{
	memset(s->page, 0, sizeof(s->page));
	memcpy(s->page, &tsc, sizeof(tsc));
	s->used = 16;
	s->tsc = tsc;
}

static void put_word(struct build_sched *s, uint32_t word)
{
	must(s->used + sizeof(word) <= sizeof(s->page), "the page is full");
	memcpy(s->page + s->used, &word, sizeof(word));
	s->used += sizeof(word);
}

/* An entry of `size` bytes at `tsc`, after a longer pause an extension. */
static void put(struct build_sched *s, uint64_t tsc, const void *data, uint32_t size)
{
	uint64_t delta = tsc - s->tsc;

	if (delta >> 27) {
		put_word(s, (uint32_t)(delta << 5) | 30);
		put_word(s, (uint32_t)(delta >> 27));
		delta = 0;
	}
	s->tsc = tsc;
	put_word(s, (uint32_t)delta << 5 | size / 4);
	must(s->used + size <= sizeof(s->page), "the page is full");
	memcpy(s->page + s->used, data, size);
	s->used += size;
}

void build_sched_switch(struct build_sched *s, uint64_t tsc, uint32_t prev, uint64_t state,
			uint32_t next)
{
	struct {
		uint16_t type;
		uint8_t flags, count;
		uint32_t pid;
		char prev_comm[16];
		uint32_t prev, prev_prio;
		uint64_t state;
		char next_comm[16];
		uint32_t next, next_prio;
	} event = {.type = BUILD_SCHED_SWITCH,
		   .pid = prev,
		   .prev = prev,
		   .state = state,
		   .next = next};

	snprintf(event.prev_comm, sizeof(event.prev_comm), "%s-%u", s->name, prev);
	snprintf(event.next_comm, sizeof(event.next_comm), "%s-%u", s->name, next);
	put(s, tsc, &event, sizeof(event));
}

void build_sched_waking(struct build_sched *s, uint64_t tsc, uint32_t waker, unsigned flags,
			uint32_t tid)
{
	struct {
		uint16_t type;
		uint8_t flags, count;
		uint32_t pid;
		char comm[16];
		uint32_t tid, prio, cpu;
	} event = {.type = BUILD_SCHED_WAKING, .flags = (uint8_t)flags, .pid = waker, .tid = tid};

	snprintf(event.comm, sizeof(event.comm), "%s-%u", s->name, tid);
	put(s, tsc, &event, sizeof(event));
}

void build_sched_enter(struct build_sched *s, uint64_t tsc, uint32_t tid, uint64_t number,
		       uint64_t argument)
{
	struct {
		uint16_t type;
		uint8_t flags, count;
		uint32_t pid;
		uint64_t number, arguments[6];
	} event = {
		.type = BUILD_SCHED_ENTER, .pid = tid, .number = number, .arguments = {argument}};

	put(s, tsc, &event, sizeof(event));
}

struct ep_sched_chunk *build_sched_chunk(struct build_sched *s, const void *bytes, uint32_t size,
					 unsigned cpu, unsigned source)
{
	uint8_t *base = (uint8_t *)s->head;
	uint64_t pool = s->head->pool_offset;
	uint64_t room = EP_SCHED_SEGMENT - (s->at - pool) % EP_SCHED_SEGMENT;
	struct ep_sched_chunk *chunk;

	if (sizeof(*chunk) + ((size + 7u) & ~7u) > room)
		s->at += room;
	chunk = (struct ep_sched_chunk *)(base + s->at);
	*chunk = (struct ep_sched_chunk){.sequence = ++s->sequence,
					 .size = size,
					 .cpu = (uint16_t)cpu,
					 .source = (uint16_t)source,
					 .tsc = s->tsc};
	memcpy(chunk + 1, bytes, size);
	chunk->check = ep_sched_check(chunk, s->at, s->arena->arena->root.identity);
	s->at += sizeof(*chunk) + ((size + 7u) & ~7u);
	s->head->chunks++;
	if (s->tsc > s->head->drained_tsc)
		s->head->drained_tsc = s->tsc;
	return chunk;
}

void build_sched_flush(struct build_sched *s, unsigned cpu, bool missed)
{
	uint64_t commit = s->used - 16 + (missed ? 0x80000000u : 0);

	memcpy(s->page + 8, &commit, sizeof(commit));
	build_sched_chunk(s, s->page, s->used, cpu, EP_SCHED_FTRACE);
}

void build_sched_seal(uint8_t *section, size_t size, uint64_t identity)
{
	struct ep_sched head;
	uint64_t at, end, room;

	if (size < sizeof(head))
		return;
	memcpy(&head, section, sizeof(head));
	end = size;
	for (at = head.pool_offset; at % 8 == 0 && at < end;) {
		struct ep_sched_chunk *chunk = (void *)(section + at);

		room = EP_SCHED_SEGMENT - (at - head.pool_offset) % EP_SCHED_SEGMENT;
		if (end - at < sizeof(*chunk))
			break;
		if (!chunk->sequence || room < sizeof(*chunk) ||
		    chunk->size > room - sizeof(*chunk) ||
		    ((chunk->size + 7u) & ~7u) > end - at - sizeof(*chunk)) {
			if (room > end - at)
				break;
			at += room;
			continue;
		}
		chunk->check = ep_sched_check(chunk, at, identity);
		at += sizeof(*chunk) + ((chunk->size + 7u) & ~7u);
	}
}
