/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * placing.c: the records of a window are paired ahead of time, into a tree of the calls that are
 * open at its places; what is ruled out is left away, and the innermost node that has all other
 * places inside is certain.
 */
#include "decoder/calls/placing.h"

#include "coredump/util/alloc.h"

/* A window, while its slices are placed. Place i is before its record i. */
struct window {
	struct ep_placing *placing;
	const struct ep_pairing *pairing;
	struct ep_record *list;
	unsigned count; /* records; there is one place more */
	uint64_t low, high;
	bool evenly; /* records had even steps between its bounds */
	bool lost;
	int of[EP_DECODED_MAX]; /* by record: the node that it begins or ends */
	/* by place: its function may wait; 1 or 0, -1: not asked yet */
	signed char may[EP_DECODED_MAX + 1];
	unsigned latest; /* the last place that may */
	unsigned from;   /* where the slice before was drawn */
	/* how far times were given */
	unsigned timed;
	uint64_t time;
};

/* ---- slices ---- */

static bool is_off(const struct ep_slice *slice)
{
	return slice->state == EP_SLICE_READY || slice->state == EP_SLICE_BLOCKED;
}

static void find_next(struct ep_placing *placing)
{
	const struct ep_task *task = placing->task;

	while (placing->slice < task->count && !is_off(&task->slices[placing->slice]))
		placing->slice++;
	placing->next =
		placing->slice < task->count ? task->slices[placing->slice].begin : UINT64_MAX;
}

void ep_placing_init(struct ep_placing *placing, const struct ep_trace *trace,
		     const struct ep_trace_thread *thread, struct ep_names *names)
{
	*placing = (struct ep_placing){
		.trace = trace,
		.names = names,
		.task = ep_schedule_task(trace->schedule, thread->tid),
		.next = UINT64_MAX,
	};
	if (!placing->task)
		return;
	/* A tid may have been another thread's before. */
	while (placing->slice < placing->task->count &&
	       placing->task->slices[placing->slice].begin < thread->start_tsc)
		placing->slice++;
	find_next(placing);
}

void ep_placing_deinit(struct ep_placing *placing)
{
	ep_blocking_deinit(&placing->blocking);
	ep_array_deinit(&placing->places);
	ep_array_deinit(&placing->nodes);
	free(placing->at);
	free(placing->left);
}

const struct ep_wait_place *ep_placing_take(struct ep_placing *placing, uint64_t call)
{
	size_t slice = placing->slice++;
	size_t at = slice - placing->first_slice;

	find_next(placing);
	if (slice >= placing->first_slice && at < placing->places.count &&
	    placing->places.list[at].slice)
		return &placing->places.list[at];
	placing->certain = (struct ep_wait_place){
		.slice = &placing->task->slices[slice],
		.call = call,
		.whole = true,
	};
	return &placing->certain;
}

/* ---- the tree ---- */

static int add_node(struct ep_placing *placing, const struct ep_function *function, uint64_t call,
		    int parent)
{
	struct ep_placing_node *node = ep_array_add(&placing->nodes);

	node->function = function;
	node->call = call;
	node->parent = parent;
	node->depth = parent < 0 ? 0 : placing->nodes.list[parent].depth + 1;
	return (int)placing->nodes.count - 1;
}

/* The calls that are open, as many as the window's returns can end; below them one more, or nobody.
 * Its innermost node. */
static int add_open(struct window *w, ep_placing_open_fn open, void *context)
{
	struct ep_placing *placing = w->placing;
	size_t height = w->pairing->now->height;
	size_t from = height > w->count ? height - w->count - 1 : 0;
	int node = -1;

	placing->nodes.count = 0;
	if (from == 0)
		node = add_node(placing, NULL, EP_NO_CALL, -1);
	for (; from < height; from++) {
		const struct ep_event *call = open(context, from);

		node = add_node(placing, call->function, call->call, node);
	}
	return node;
}

/* After a return from node `at`; the node itself: that makes no sense. */
static int after_return(struct window *w, int at, const struct ep_record *back)
{
	struct ep_placing_node *node = &w->placing->nodes.list[at];
	bool fibers = w->pairing->fibers.met > 1;

	if (!node->function || node->parent < 0 ||
	    ep_names_find(w->placing->names, back->address, back->time) != node->function ||
	    (fibers && !w->placing->nodes.list[node->parent].function))
		return at;
	return node->parent;
}

/* The node of each place. */
static void grow_tree(struct window *w, int node)
{
	struct ep_placing *placing = w->placing;
	uint64_t calls = w->pairing->calls;

	for (unsigned i = 0; i < w->count; i++) {
		const struct ep_record *record = &w->list[i];
		int next = node;

		placing->at[i] = node;
		w->of[i] = -1;
		if (record->kind == EP_RECORD_CALL) {
			next = add_node(
				placing,
				ep_names_find(placing->names, record->address, record->time),
				calls++, node);
			w->of[i] = next;
		} else if (record->kind == EP_RECORD_RETURN) {
			next = after_return(w, node, record);
			w->of[i] = node;
			w->lost |= next == node;
		} else {
			w->lost |= record->kind != EP_RECORD_GAP || ep_gap_is_loss(record);
		}
		node = next;
	}
	placing->at[w->count] = node;
}

/* ---- which places are left ---- */

static bool may_wait(struct window *w, unsigned place)
{
	struct ep_placing *placing = w->placing;
	const struct ep_function *function = placing->nodes.list[placing->at[place]].function;

	/* Short calls are left out of the records: its callees may wait. */
	if (!function || placing->trace->arena.min_duration)
		return true;
	if (w->may[place] < 0)
		w->may[place] = ep_blocking_may(&placing->blocking, placing->names, function);
	return w->may[place];
}

static void find_latest(struct window *w)
{
	w->latest = w->count;
	while (w->latest > 0 && !may_wait(w, w->latest))
		w->latest--;
	if (!may_wait(w, w->latest))
		w->latest = w->count;
}

/* How many are left for one that begins with `slice`. Page faults wait anywhere, and what was
 * preempted ran anywhere. */
static unsigned rule_out(struct window *w, const struct ep_slice *slice)
{
	bool itself = slice->state == EP_SLICE_BLOCKED && slice->how == 'S';
	unsigned count = 0;

	for (unsigned i = 0; i <= w->count; i++)
		count += w->placing->left[i] = !itself || may_wait(w, i);
	if (count)
		return count;
	memset(w->placing->left, true, w->count + 1);
	return w->count + 1;
}

static void count_hits(struct window *w)
{
	struct ep_placing_node *nodes = w->placing->nodes.list;

	for (size_t i = 0; i < w->placing->nodes.count; i++)
		nodes[i].hits = 0;
	for (unsigned i = 0; i <= w->count; i++)
		w->placing->nodes.list[w->placing->at[i]].hits += w->placing->left[i];
	/* Parents come before their children. */
	for (size_t i = w->placing->nodes.count; i-- > 1;)
		if (nodes[i].parent >= 0)
			nodes[nodes[i].parent].hits += nodes[i].hits;
}

/* Where it is drawn: as far out as it can be. */
static unsigned draw(struct window *w)
{
	const struct ep_placing *placing = w->placing;
	unsigned best = w->from;
	bool found = false;

	for (unsigned i = w->from; i <= w->latest; i++) {
		if (!placing->left[i])
			continue;
		if (!found || placing->nodes.list[placing->at[i]].depth <
				      placing->nodes.list[placing->at[best]].depth)
			best = i;
		found = true;
	}
	return best;
}

/* ---- what is certain ---- */

static void path_of(const struct ep_placing *placing, int top, int node, struct ep_wait_place *out)
{
	const struct ep_placing_node *nodes = placing->nodes.list;
	unsigned base = nodes[top].depth;
	unsigned count = nodes[node].depth - base;

	out->path_count = count < EP_PLACE_PATH ? count : EP_PLACE_PATH;
	out->whole = count <= EP_PLACE_PATH;
	for (; node != top; node = nodes[node].parent)
		if (nodes[node].depth - base <= EP_PLACE_PATH)
			out->path[nodes[node].depth - base - 1] = nodes[node].function;
}

static void agree(struct ep_wait_place *place, const struct ep_wait_place *other)
{
	unsigned common = 0;

	while (common < place->path_count && common < other->path_count &&
	       place->path[common] == other->path[common])
		common++;
	place->whole = place->whole && other->whole && common == place->path_count &&
		       common == other->path_count;
	place->path_count = common;
}

static void conclude(struct window *w, unsigned total, struct ep_wait_place *out)
{
	const struct ep_placing *placing = w->placing;
	struct ep_wait_place other;
	bool first = true;
	unsigned some = 0;
	int top, last = -1;

	while (!placing->left[some])
		some++;
	top = placing->at[some];
	while (placing->nodes.list[top].hits < total)
		top = placing->nodes.list[top].parent;
	out->call = placing->nodes.list[top].call;
	for (unsigned i = 0; i <= w->count; i++) {
		if (!placing->left[i] || placing->at[i] == last)
			continue;
		last = placing->at[i];
		path_of(placing, top, last, first ? out : &other);
		if (first)
			out->innermost = placing->nodes.list[last].function;
		else
			agree(out, &other);
		if (out->innermost != placing->nodes.list[last].function)
			out->innermost = NULL;
		first = false;
	}
}

/* Calls that it may lie in or not. */
static void mark_unsure(struct window *w, unsigned total)
{
	for (unsigned i = 0; i < w->count; i++) {
		unsigned hits = w->of[i] < 0 ? 0 : w->placing->nodes.list[w->of[i]].hits;

		if (hits && hits < total)
			w->list[i].unsure = true;
	}
}

/* ---- times ---- */

/* Records up to `end` happened before `high`: in even steps, where there were such. */
static void give_times(struct window *w, unsigned end, uint64_t high)
{
	uint64_t parts = end - w->timed + 1, time = w->time;
	uint64_t step = w->evenly && high > time ? (high - time) / parts : 0;

	for (; w->timed < end; w->timed++) {
		time += step;
		w->list[w->timed].time = time;
		w->list[w->timed].refined = true;
	}
}

static void draw_at(struct window *w, unsigned place, uint64_t begin, uint64_t end)
{
	give_times(w, place, begin);
	w->time = end < w->high ? end : w->high;
	w->from = place;
}

/* ---- the window ---- */

/* Slices first … end - 1 follow on each other: one absence. */
static void place_one(struct window *w, size_t first, size_t end)
{
	struct ep_placing *placing = w->placing;
	const struct ep_slice *slices = placing->task->slices;
	struct ep_wait_place place = {.call = EP_NO_CALL, .lost = w->lost};
	unsigned total;

	if (!w->lost) {
		total = rule_out(w, &slices[first]);
		count_hits(w);
		conclude(w, total, &place);
		mark_unsure(w, total);
		draw_at(w, draw(w), slices[first].begin, slices[end - 1].end);
	}
	for (size_t i = first; i < end; i++) {
		place.slice = is_off(&slices[i]) ? &slices[i] : NULL;
		ep_array_push(&placing->places, place);
	}
}

static void place_all(struct window *w)
{
	struct ep_placing *placing = w->placing;
	const struct ep_task *task = placing->task;
	size_t at = placing->slice, end;

	placing->first_slice = at;
	placing->places.count = 0;
	for (; at < task->count && task->slices[at].begin < w->high; at = end) {
		end = at + 1;
		if (!is_off(&task->slices[at])) {
			ep_array_add(&placing->places);
			continue;
		}
		while (end < task->count && is_off(&task->slices[end]) &&
		       task->slices[end].begin < w->high)
			end++;
		place_one(w, at, end);
	}
	if (!w->lost)
		give_times(w, w->count, w->high);
}

/* What comes behind the block's last record, and before the next one's first, is not known to be
 * all. */
static bool is_cut(const struct ep_records *records, unsigned end)
{
	const struct ep_trace_thread *thread = records->thread;
	const struct ep_trace_block *next;

	if (end < records->count)
		return false;
	if (records->next_block == thread->block_count)
		return thread->blocks_entered > thread->blocks[thread->block_count - 1].sequence;
	next = &thread->blocks[records->next_block];
	return next->lost_before || next->block->flags & EP_BLOCK_RESUMED;
}

static bool same_window(const struct ep_record *a, const struct ep_record *b)
{
	return !a->exact && !b->exact && a->low == b->low;
}

static void place_window(struct window *w, struct ep_records *records, ep_placing_open_fn open,
			 void *context)
{
	struct ep_placing *placing = w->placing;
	size_t size = EP_DECODED_MAX + 1;

	if (!placing->at)
		placing->at = ep_calloc(size, sizeof(*placing->at));
	if (!placing->left)
		placing->left = ep_calloc(size, sizeof(*placing->left));
	memset(w->may, -1, sizeof(w->may));
	grow_tree(w, add_open(w, open, context));
	w->lost |= is_cut(records, placing->end);
	if (!w->lost)
		find_latest(w);
	place_all(w);
	for (unsigned i = 0; w->lost && i < w->count; i++)
		w->list[i].unsure = true;
}

void ep_placing_look(struct ep_placing *placing, const struct ep_pairing *pairing,
		     struct ep_records *records, unsigned at, bool passes, ep_placing_open_fn open,
		     void *context)
{
	struct ep_record *list = records->decoded;
	struct window w = {
		.placing = placing,
		.pairing = pairing,
		.list = &list[at],
		.low = list[at].low,
		.high = list[at].high,
		.time = list[at].low,
	};
	/* The gap at the end has the last block's number otherwise. */
	size_t block = records->next_block + records->ended;
	bool again = placing->block == block && at < placing->end;

	/* What began before is in no window, or in the one before. */
	if (list[at].exact || again || placing->next < w.low)
		return;
	placing->block = block;
	placing->end = at + 1;
	while (placing->end < records->count && same_window(&list[at], &list[placing->end]))
		placing->end++;
	w.count = placing->end - at;
	w.high = list[placing->end - 1].high;
	w.evenly = list[placing->end - 1].time > w.low;
	/* Some of it was passed over, unseen. */
	w.lost = (passes && at > 0 && same_window(&list[at], &list[at - 1])) ||
		 pairing->landing_count || pairing->leaving || ep_pairing_unseen(pairing) ||
		 ep_pairing_switches_within(pairing, w.low, w.high);
	place_window(&w, records, open, context);
}
