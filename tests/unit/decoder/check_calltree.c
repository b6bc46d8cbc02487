/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_calltree.c: trees of streams written by hand (this program has its own ep_stream), held
 * against what they look like in words: for each node, in order, "depth name calls self total".
 */
#include "decoder/stats/calltree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/stream/nest.h"
#include "tests/unit/main.h"

/* One tick is a nanosecond, and the trace begins at START. */
#define START UINT64_C(1000000)

static struct ep_trace_thread threads[1] = {{.serial = 1, .tid = 11, .from_start = true}};
static struct ep_trace trace = {
	.clock = {.known = true, .ns_per_tick = 1},
	.threads = threads,
	.thread_count = 1,
	.first_tsc = START,
	.last_tsc = START + 1000000,
	.end = {.tsc = START + 1000000},
};
static struct ep_function functions[26];
static char names[26][2];

/* ---- the stream: "a( 10" begins a at 10 ns, ") 20" ends the innermost, "# 30" is a gap up to
 * then, and what is open at the end did not return ---- */

static const char *script;

static struct ep_time at(uint64_t ns)
{
	return (struct ep_time){
		.low = START + ns, .high = START + ns, .best = START + ns, .exact = true};
}

struct player {
	const struct ep_sink *sink;
	struct ep_event open[4096];
	uint32_t depth;
	uint64_t calls, now;
};

static int play_begin(struct player *player, const struct ep_function *function, uint64_t ns)
{
	struct ep_event *event = &player->open[player->depth];

	*event = (struct ep_event){.kind = EP_EVENT_BEGIN,
				   .thread = threads,
				   .function = function,
				   .depth = player->depth++,
				   .call = player->calls++,
				   .begin = at(ns)};
	return player->sink->event(player->sink->context, event, NULL);
}

static int play_end(struct player *player, uint64_t ns)
{
	struct ep_event event = player->open[--player->depth];

	event.kind = EP_EVENT_END;
	event.end = at(ns);
	return player->sink->event(player->sink->context, &event, NULL);
}

static int play_gap(struct player *player, uint64_t ns)
{
	const struct ep_event event = {.kind = EP_EVENT_GAP,
				       .thread = threads,
				       .depth = player->depth,
				       .gap = EP_GAP_LOST_BLOCKS,
				       .begin = at(player->now),
				       .end = at(ns)};

	return player->sink->event(player->sink->context, &event, NULL);
}

static int play(struct player *player)
{
	char what[3];
	uint64_t ns;
	int used;

	for (const char *at_now = script;
	     sscanf(at_now, " %2s %" SCNu64 "%n", what, &ns, &used) == 2; at_now += used) {
		if (*what == ')')
			play_end(player, ns);
		else if (*what == '#')
			play_gap(player, ns);
		else
			play_begin(player, &functions[*what - 'a'], ns);
		player->now = ns;
	}
	for (uint32_t i = 0; i < player->depth; i++) {
		player->open[i].kind = EP_EVENT_OPEN;
		player->sink->event(player->sink->context, &player->open[i], NULL);
	}
	return EP_OK;
}

int ep_stream(const struct ep_trace *of, struct ep_names *names_of,
	      const struct ep_selection *selection, const struct ep_sink *sink, uint64_t *shown)
{
	static const struct ep_selection all;
	struct player *player;

	if (sink->nested)
		return ep_nest_stream(of, names_of, selection ? selection : &all, sink, shown);
	player = ep_calloc(1, sizeof(*player));
	player->sink = sink;
	play(player);
	free(player);
	return EP_OK;
}

/* ---- the tree in words ---- */

static void add_words(const struct ep_calltree *tree, uint32_t number, FILE *out)
{
	const struct ep_calltree_node *node = &tree->nodes.list[number];

	fprintf(out, "%s%u %s %" PRIu64 " %" PRId64 " %" PRId64, number ? "; " : "",
		(unsigned)node->depth, ep_calltree_name(node), node->calls, node->self,
		node->total);
	if (node->open)
		fprintf(out, " open %" PRIu64, node->open);
	for (uint32_t i = node->child; i != EP_CALLTREE_NONE; i = tree->nodes.list[i].next)
		add_words(tree, i, out);
}

static void is(const struct ep_calltree *tree, const char *wanted)
{
	char *got;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	add_words(tree, 0, out);
	fclose(out);
	ck_assert_str_eq(got, wanted);
	free(got);
}

static void make(struct ep_calltree *tree, const char *of)
{
	uint64_t shown;

	for (uint32_t i = 0; i < 26; i++) {
		names[i][0] = (char)('a' + i);
		functions[i] = (struct ep_function){
			.id = i, .name = names[i], .symbol = names[i], .module = "", .known = true};
	}
	script = of;
	ep_calltree_create(tree, &trace, NULL, NULL, EP_CALLTREE_BY_CALLS, &shown);
}

/* ---- tests ---- */

START_TEST(calls_by_one_way_are_one_node_and_totals_add_up)
{
	struct ep_calltree tree;

	make(&tree, "a( 0 b( 10 c( 12 ) 15 ) 30 b( 40 ) 50 c( 60 ) 90 ) 100");
	is(&tree, "0  0 0 100; 1 a 1 40 100; 2 b 2 27 30; 3 c 1 3 3; 2 c 1 30 30");
	ep_calltree_deinit(&tree);
}
END_TEST

START_TEST(recursion_is_as_deep_as_it_was)
{
	struct ep_calltree tree;

	make(&tree, "a( 0 a( 10 a( 20 ) 30 ) 50 ) 100");
	is(&tree, "0  0 0 100; 1 a 1 60 100; 2 a 1 30 40; 3 a 1 10 10");
	ep_calltree_deinit(&tree);
}
END_TEST

START_TEST(what_did_not_return_counts_up_to_the_end)
{
	struct ep_calltree tree;

	make(&tree, "a( 0 b( 10 c( 20 ) 70");
	is(&tree, "0  0 0 1000000; 1 a 1 10 1000000 open 1; 2 b 1 999940 999990 open 1; "
		  "3 c 1 50 50");
	ep_calltree_deinit(&tree);
}
END_TEST

START_TEST(missing_history_is_nobodys_own)
{
	struct ep_calltree tree;

	make(&tree, "a( 0 b( 10 ) 20 # 80 ) 100");
	is(&tree, "0  0 0 100; 1 a 1 30 100; 2 [history is missing] 0 60 60; 2 b 1 10 10");
	ep_calltree_deinit(&tree);
}
END_TEST

START_TEST(each_key_sorts_the_children_of_a_caller)
{
	struct ep_calltree tree;

	make(&tree, "a( 0 b( 0 d( 0 ) 50 ) 51 c( 60 ) 70 c( 70 ) 80 ) 80");
	is(&tree, "0  0 0 80; 1 a 1 9 80; 2 b 1 1 51; 3 d 1 50 50; 2 c 2 20 20");
	ep_calltree_sort(&tree, EP_CALLTREE_SELF, false);
	is(&tree, "0  0 0 80; 1 a 1 9 80; 2 c 2 20 20; 2 b 1 1 51; 3 d 1 50 50");
	ep_calltree_sort(&tree, EP_CALLTREE_CALLS, true);
	is(&tree, "0  0 0 80; 1 a 1 9 80; 2 b 1 1 51; 3 d 1 50 50; 2 c 2 20 20");
	ep_calltree_sort(&tree, EP_CALLTREE_NAME, true);
	is(&tree, "0  0 0 80; 1 a 1 9 80; 2 c 2 20 20; 2 b 1 1 51; 3 d 1 50 50");
	ep_calltree_deinit(&tree);
}
END_TEST

START_TEST(what_is_too_deep_is_one_node)
{
	struct ep_calltree tree;
	const struct ep_calltree_node *last;
	char *deep, *to;

	deep = to = malloc(64 * 1024);
	for (int i = 0; i < 3000; i++)
		to += sprintf(to, "%c( %d ", 'a' + i % 26, i);
	make(&tree, deep);
	ck_assert_uint_eq(tree.nodes.count, EP_CALLTREE_DEPTH + 2);
	last = &tree.nodes.list[tree.nodes.count - 1];
	ck_assert_uint_eq(last->kind, EP_CALLTREE_DEEPER);
	ck_assert_uint_eq(last->calls, 3000 - EP_CALLTREE_DEPTH);
	ck_assert_int_eq(tree.nodes.list[0].total, 1000000);
	ep_calltree_deinit(&tree);
	free(deep);
}
END_TEST

START_TEST(nothing_is_a_root_alone)
{
	struct ep_calltree tree;

	make(&tree, "");
	is(&tree, "0  0 0 0");
	ep_calltree_deinit(&tree);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("calltree");
	TCase *tests = tcase_create("calltree");

	suite_add_tcase(suite, tests);
	tcase_add_test(tests, calls_by_one_way_are_one_node_and_totals_add_up);
	tcase_add_test(tests, recursion_is_as_deep_as_it_was);
	tcase_add_test(tests, what_did_not_return_counts_up_to_the_end);
	tcase_add_test(tests, missing_history_is_nobodys_own);
	tcase_add_test(tests, each_key_sorts_the_children_of_a_caller);
	tcase_add_test(tests, what_is_too_deep_is_one_node);
	tcase_add_test(tests, nothing_is_a_root_alone);
	return ep_test_main(suite);
}
