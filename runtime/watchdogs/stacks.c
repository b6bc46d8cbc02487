/* SPDX-License-Identifier: BSD-2-Clause */
/* stacks.c: who is asked, what is copied. An entry is written by its thread alone once that was
 * asked, and counts when its state is written, last. */
#include "runtime/watchdogs/stacks.h"

#include "runtime/arena/arena.h"
#include "runtime/facts/tasks.h"
#include "runtime/format_watchdogs.h"
#include "runtime/lib/files.h"
#include "runtime/lib/futex.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/x86_64/registers.h"
#include "runtime/x86_64/tsc.h"

#define THREADS_MOST 128u
#define ROOM_LEAST   4096u
#define ROOM_MOST    65536u
#define WAIT_MOST    100 /* ms */

static struct ep_stacks *stacks; /* NULL: no room */
static uint64_t section_size;
static uint32_t answers;

void ep_stacks_begin(void)
{
	stacks = ep_arena_section(EP_SECTION_STACKS, &section_size);
}

static struct ep_stack_taken *entry_at(uint32_t entry)
{
	return (struct ep_stack_taken *)(stacks + 1) + entry;
}

/* Fewer threads have more room each. */
static void lay_out(uint32_t threads)
{
	uint64_t rest, room;

	stacks->capacity = threads < THREADS_MOST ? threads : THREADS_MOST;
	rest = section_size - sizeof(*stacks) - stacks->capacity * sizeof(struct ep_stack_taken);
	room = stacks->capacity ? rest / stacks->capacity & ~7ull : 0;
	if (room < ROOM_LEAST) {
		room = ROOM_LEAST;
		stacks->capacity = (uint32_t)(rest / ROOM_LEAST);
	}
	stacks->room = (uint32_t)(room < ROOM_MOST ? room : ROOM_MOST);
	stacks->count = stacks->unasked = 0;
}

static uint32_t self, left_out;
static void (*ask_thread)(uint32_t tid, uint32_t entry);

static void ask_one(uint32_t tid)
{
	struct ep_stack_taken *entry = entry_at(stacks->count);

	if (tid == self || tid == left_out)
		return;
	if (stacks->count == stacks->capacity) {
		stacks->unasked++;
		return;
	}
	ep_bytes_zero(entry, sizeof(*entry));
	entry->tid = tid;
	entry->offset = sizeof(*stacks) + stacks->capacity * sizeof(*entry) +
			stacks->count * (uint64_t)stacks->room;
	stacks->count++;
	ask_thread(tid, stacks->count - 1);
}

static void wait_for_answers(void)
{
	for (int i = 0; i < WAIT_MOST; i++) {
		if (__atomic_load_n(&answers, __ATOMIC_ACQUIRE) >= stacks->count)
			return;
		ep_nap(1000000);
	}
}

void ep_stacks_take(uint64_t watchdog, uint32_t except, void (*ask)(uint32_t tid, uint32_t entry))
{
	if (!stacks)
		return;
	self = (uint32_t)ep_syscall0(SYS_gettid);
	left_out = except;
	ask_thread = ask;
	stacks->tsc = 0;
	lay_out(ep_tasks_each(NULL));
	__atomic_store_n(&answers, 0, __ATOMIC_RELAXED);
	ep_tasks_each(ask_one);
	wait_for_answers();
	stacks->watchdog = watchdog;
	__atomic_store_n(&stacks->tsc, ep_tsc(), __ATOMIC_RELEASE);
}

/* As much of it as is mapped: its end is not known. */
static uint64_t copy_stack(void *to, uint64_t address, uint64_t room)
{
	uint64_t size = 0;

	while (size < room) {
		uint64_t piece = 4096 - (address + size) % 4096;

		if (piece > room - size)
			piece = room - size;
		if (!ep_memory_read(address + size, (char *)to + size, piece))
			break;
		size += piece;
	}
	return size;
}

void ep_stacks_answer(uint32_t number, const ucontext_t *context)
{
	struct user_regs_struct registers;
	struct ep_stack_taken *entry;

	if (!stacks || number >= stacks->count)
		return;
	entry = entry_at(number);
	if (entry->tid != (uint32_t)ep_syscall0(SYS_gettid))
		return;
	ep_bytes_zero(&registers, sizeof(registers));
	ep_registers_from(&registers, context);
	static_assert(sizeof(registers) == sizeof(entry->registers), "format");
	ep_bytes_copy(entry->registers, &registers, sizeof(registers));
	entry->tsc = ep_tsc();
	entry->address = registers.rsp - EP_STACK_RED_ZONE;
	entry->size = copy_stack((char *)stacks + entry->offset, entry->address, stacks->room);
	__atomic_store_n(&entry->state, 1, __ATOMIC_RELEASE);
	__atomic_add_fetch(&answers, 1, __ATOMIC_RELEASE);
}
