/* SPDX-License-Identifier: BSD-2-Clause */
/* check_arena.c: the arena of this very process: where it lies, how it grows, and what a forked
 * child's begins with. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/find/root.h"
#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/epitaph.h"
#include "runtime/settings/settings.h"
#include "runtime/start.h"

#define PAGE UINT64_C(4096)
#define GIB  (UINT64_C(1) << 30)

/* A sanitizer has that range for itself: the arena then lies anywhere. */
#ifdef __SANITIZE_ADDRESS__
#define LOW_END UINT64_MAX
#else
#define LOW_END (64 * GIB)
#endif

static bool is_open(uint64_t offset)
{
	unsigned char there;

	/* mincore: ENOMEM for what is not mapped; PROT_NONE is. */
	return mincore((char *)ep_arena + offset, PAGE, &there) == 0;
}

static void root_must_hold(const struct ep_root *root, const char *magic)
{
	ck_assert_int_eq(memcmp(root->magic, magic, EP_MAGIC_SIZE), 0);
	ck_assert_uint_eq(root->self, (uint64_t)root);
	ck_assert_uint_eq(root->crc, ep_crc32(root, offsetof(struct ep_root, crc)));
	ck_assert_uint_eq(root->arena_address, (uint64_t)ep_arena);
	ck_assert_uint_eq(root->pid, (uint32_t)getpid());
}

START_TEST(the_arena_lies_low_and_is_as_large_as_asked_for)
{
	ck_assert(ep_start());
	ck_assert_uint_eq((uint64_t)ep_arena % PAGE, 0);
	ck_assert_uint_ge((uint64_t)ep_arena, 4 * GIB);
	ck_assert_uint_lt((uint64_t)ep_arena, LOW_END);
	ck_assert_uint_eq(epitaph_root.arena_size, ep_settings.memory_size);
	ck_assert(is_open(epitaph_root.arena_size - PAGE));
}
END_TEST

START_TEST(both_roots_hold)
{
	ck_assert(ep_start());
	root_must_hold(&epitaph_root, EP_ROOT_MAGIC);
	root_must_hold(&ep_arena->root, EP_ARENA_MAGIC);
	ck_assert_uint_eq(ep_arena->root.identity, epitaph_root.identity);
}
END_TEST

START_TEST(sections_follow_on_each_other_and_rings_end_it)
{
	uint64_t end = PAGE;

	ck_assert(ep_start());
	for (uint32_t i = 0; i < ep_arena->section_count; i++) {
		const struct ep_section *section = &ep_arena->sections[i];

		ck_assert_uint_eq(section->offset, end);
		ck_assert_uint_eq(section->offset % 64, 0);
		ck_assert_ptr_eq(ep_arena_section(section->type, NULL), (char *)ep_arena + end);
		end = section->offset + section->size;
	}
	ck_assert_uint_eq(end, epitaph_root.arena_size);
	ck_assert_uint_eq(ep_arena->sections[ep_arena->section_count - 1].type, EP_SECTION_RINGS);
}
END_TEST

START_TEST(it_grows_at_its_end_until_it_is_full)
{
	uint64_t before, all, at;

	ck_assert(ep_start());
	before = ep_arena->committed;
	at = ep_arena_grow(8 * PAGE);
	ck_assert_uint_eq(at, before);
	memset((char *)ep_arena + at, 1, 8 * PAGE);
	ck_assert_uint_eq(ep_arena->committed, before + 8 * PAGE);
	all = ep_arena_free();
	ck_assert_uint_eq(all, epitaph_root.arena_size - ep_arena->committed);
	ck_assert_uint_eq(ep_arena_grow(all + PAGE), 0);
	ck_assert_uint_eq(ep_arena_free(), all);
	ck_assert_uint_ne(ep_arena_grow(all), 0);
	ck_assert_uint_eq(ep_arena_free(), 0);
	ck_assert_uint_eq(ep_arena_grow(PAGE), 0);
}
END_TEST

static void *grow(void *unused)
{
	static uint32_t next;

	for (int i = 0; i < 500; i++) {
		uint64_t at = ep_arena_grow(PAGE);
		uint32_t *word = (uint32_t *)((char *)ep_arena + at);

		if (!at)
			ck_abort_msg("there is room");
		if (__atomic_exchange_n(word, 1 + __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED),
					__ATOMIC_RELAXED))
			ck_abort_msg("two threads got one page");
	}
	return unused;
}

START_TEST(threads_that_grow_it_at_once_get_pages_of_their_own)
{
	uint64_t before;
	pthread_t threads[4];

	ck_assert(ep_start());
	before = ep_arena->committed;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, grow, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(ep_arena->committed, before + 4 * 500 * PAGE);
}
END_TEST

/* In a child: the exit status says what was wrong, 0 nothing. */
static int of_child(int (*look)(void))
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(look());
	waitpid(child, &status, 0);
	return status;
}

static uint64_t parents_identity;
static uint32_t parents_generation;

static int new_generation(void)
{
	const char *ring = (const char *)ep_arena_section(EP_SECTION_RINGS, NULL);

	if (epitaph_root.generation != parents_generation + 1 ||
	    ep_arena->root.generation != epitaph_root.generation)
		return 1;
	if (epitaph_root.identity == parents_identity)
		return 2;
	if (ep_arena->committed != (uint64_t)(ring - (const char *)ep_arena))
		return 3;
	if (ep_arena->rings_reused || ep_arena->pauses != 1)
		return 4;
	return 0;
}

START_TEST(a_child_begins_empty_in_the_same_place)
{
	uint64_t at;

	ck_assert(ep_start());
	parents_identity = epitaph_root.identity;
	parents_generation = epitaph_root.generation;
	at = ep_arena_grow(PAGE);
	ck_assert_uint_ne(at, 0);
	ep_arena->rings_reused = 7;
	ep_arena->gate |= EP_GATE_OFF;
	ck_assert_int_eq(of_child(new_generation), 0);
	ck_assert_uint_eq(ep_arena->rings_reused, 7);
}
END_TEST

static int gate_and_timing(void)
{
	return ep_arena->gate == (EP_GATE_OFF | EP_GATE_CONTROL) && ep_arena->timestamp_every == 16
		       ? 0
		       : 1;
}

START_TEST(a_child_keeps_what_was_set_from_outside)
{
	ck_assert(ep_start());
	ep_arena->gate = EP_GATE_OFF | EP_GATE_CONTROL;
	ep_arena->timestamp_every = 16;
	ck_assert_int_eq(of_child(gate_and_timing), 0);
}
END_TEST

START_TEST(reserved_address_space_is_low_and_free)
{
	uint64_t a = ep_arena_reserve(1 << 20), b = ep_arena_reserve(1 << 20);

	ck_assert_uint_ne(a, 0);
	ck_assert_uint_ne(b, 0);
	ck_assert(a + (1 << 20) <= b || b + (1 << 20) <= a);
	ck_assert_uint_lt(a, LOW_END);
	/* More than there is. */
	ck_assert_uint_eq(ep_arena_reserve(UINT64_C(1) << 60), 0);
}
END_TEST

START_TEST(stopping_is_told_in_both_roots)
{
	ck_assert(ep_start());
	ep_arena_stop(EP_OFF_ADDRESS);
	ck_assert_uint_eq(epitaph_root.off_reason, EP_OFF_ADDRESS);
	ck_assert_uint_eq(ep_arena->off_reason, EP_OFF_ADDRESS);
	ck_assert(ep_arena->gate & EP_GATE_STOPPED);
	root_must_hold(&epitaph_root, EP_ROOT_MAGIC);
	root_must_hold(&ep_arena->root, EP_ARENA_MAGIC);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("arena");
	TCase *place = tcase_create("place");
	TCase *growth = tcase_create("growth");
	TCase *child = tcase_create("child");

	tcase_add_test(place, the_arena_lies_low_and_is_as_large_as_asked_for);
	tcase_add_test(place, both_roots_hold);
	tcase_add_test(place, sections_follow_on_each_other_and_rings_end_it);
	tcase_add_test(place, reserved_address_space_is_low_and_free);
	tcase_add_test(place, stopping_is_told_in_both_roots);
	tcase_add_test(growth, it_grows_at_its_end_until_it_is_full);
	tcase_add_test(growth, threads_that_grow_it_at_once_get_pages_of_their_own);
	tcase_add_test(child, a_child_begins_empty_in_the_same_place);
	tcase_add_test(child, a_child_keeps_what_was_set_from_outside);
	suite_add_tcase(suite, place);
	suite_add_tcase(suite, growth);
	suite_add_tcase(suite, child);
	return ep_test_main(suite);
}
