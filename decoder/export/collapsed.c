/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * collapsed.c: folded stacks, as flame graph tools read them: frames separated by semicolons, the
 * thread first, then a blank and a whole number. A tree of distinct stacks is all that is kept;
 * each node's number is what was spent in exactly that stack. What the numbers cannot say, frames
 * in brackets do.
 */
#include "decoder/export/export.h"

#include <inttypes.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "coredump/util/hash.h"
#include "decoder/calls/placing.h"
#include "decoder/trace/records.h"
#include "coredump/util/utf8.h"

#define DEPTH_MAX EP_EXPORT_DEPTH_MAX
#define NONE      UINT32_MAX

enum kind { ROOT, FUNCTION, BRACKET };

enum bracket { OLDER, MISSING, PAUSED, DEEPER, INSIDE, BRACKETS };

static const char *const brackets[] = {
	[OLDER] = "[began before the history]",
	[MISSING] = "[history is missing]",
	[PAUSED] = "[tracing was paused]",
	[DEEPER] = EP_EXPORT_TOO_DEEP,
	[INSIDE] = EP_EXPORT_INSIDE,
};

struct node {
	uint32_t parent;
	uint32_t depth;
	enum kind kind;
	uint32_t key; /* id of a function; index of a thread; enum bracket */
	uint64_t weight;
};

struct collapsed {
	struct ep_outbuf out;
	const struct ep_export *export;
	struct ep_texts texts;
	EP_ARRAY(struct node) nodes;
	struct ep_hash by_parent; /* of nodes */
	uint32_t *roots;          /* by thread: its node, or NONE */
};

/* ---- names ---- */

/* As a frame's name: a semicolon would begin another frame. From malloc. */
static char *frame_name(const char *name)
{
	char *clean = ep_utf8_escape(name, strlen(name)), *out, *to;

	if (!clean || !strchr(clean, ';'))
		return clean;
	out = to = ep_malloc(4 * strlen(clean) + 1);
	for (const char *from = clean; *from; from++) {
		if (*from == ';')
			to = stpcpy(to, "\\x3b");
		else
			*to++ = *from;
	}
	*to = 0;
	free(clean);
	return out;
}

static char *collapsed_function(void *context, const struct ep_function *function)
{
	(void)context;
	return frame_name(function->name);
}

/* "worker (4711)", or "worker". From malloc. */
static char *thread_text(const struct collapsed *collapsed, uint32_t index)
{
	const struct ep_trace_thread *thread = &collapsed->export->trace->threads[index];
	const char *name = thread->name[0] ? thread->name : "thread";
	char *text, *clean;

	if (collapsed->export->merge_threads)
		text = ep_strdup(name);
	else if (thread->tid)
		text = ep_asprintf("%s (%" PRIu32 ")", name, thread->tid);
	else
		text = ep_asprintf("%s (#%" PRIu32 ")", name, thread->serial);
	clean = frame_name(text);
	free(text);
	return clean;
}

/* ---- the tree ---- */

/* The child of that kind and key, made when it is not there. */
static uint32_t child(struct collapsed *collapsed, uint32_t parent, enum kind kind, uint32_t key)
{
	uint32_t hash = ep_hash_number(((uint64_t)parent << 32 | key) * 4 + kind), at = 0, number;
	struct node *node;

	while ((number = ep_hash_next(&collapsed->by_parent, hash, &at)) != EP_HASH_NONE) {
		node = &collapsed->nodes.list[number];
		if (node->parent == parent && node->kind == kind && node->key == key)
			return number;
	}
	number = (uint32_t)collapsed->nodes.count;
	ep_hash_add(&collapsed->by_parent, hash, number);
	node = ep_array_add(&collapsed->nodes);
	node->parent = parent;
	node->depth = parent == NONE ? 0 : collapsed->nodes.list[parent].depth + 1;
	node->kind = kind;
	node->key = key;
	return number;
}

/* Where the thread's outermost calls hang: what called them may be older than what is left of its
 * history. */
static uint32_t root_of(struct collapsed *collapsed, const struct ep_nest_thread *thread)
{
	const struct ep_trace *trace = collapsed->export->trace;
	uint32_t *root = &collapsed->roots[thread->index], key;

	if (*root != NONE)
		return *root;
	key = (uint32_t)thread->index;
	for (uint32_t i = 0; collapsed->export->merge_threads && i < key; i++)
		if (!strcmp(trace->threads[i].name, thread->thread->name))
			key = i;
	*root = child(collapsed, NONE, ROOT, key);
	if (!thread->thread->from_start)
		*root = child(collapsed, *root, BRACKET, OLDER);
	return *root;
}

/* The stack below the innermost frame of `thread`, which has `above` frames more. */
static uint32_t node_below(struct collapsed *collapsed, const struct ep_nest_thread *thread,
			   size_t above)
{
	return thread->count > above ? (uint32_t)thread->frames[thread->count - 1 - above].mark
				     : root_of(collapsed, thread);
}

/* ---- events ---- */

static void add_call(struct collapsed *collapsed, const struct ep_nest_thread *thread)
{
	const struct ep_function *function = thread->frame->function;
	uint32_t parent = node_below(collapsed, thread, 1), node;
	bool deeper = collapsed->nodes.list[parent].depth >= DEPTH_MAX;

	if (deeper && collapsed->nodes.list[parent].kind == BRACKET)
		node = parent;
	else if (deeper)
		node = child(collapsed, parent, BRACKET, DEEPER);
	else
		node = child(collapsed, parent, FUNCTION, function->id);
	ep_texts_get(&collapsed->texts, function);
	thread->frame->mark = node;
	if (collapsed->export->count_calls)
		collapsed->nodes.list[node].weight++;
}

static void add_self(struct collapsed *collapsed, const struct ep_nest_frame *frame)
{
	if (!collapsed->export->count_calls)
		collapsed->nodes.list[frame->mark].weight += (uint64_t)(frame->ran - frame->inner);
}

static void add_gap(struct collapsed *collapsed, const struct ep_nest_thread *thread,
		    const struct ep_event *event)
{
	uint32_t node;

	if (thread->gap == 0 || collapsed->export->count_calls)
		return;
	node = child(collapsed, node_below(collapsed, thread, 0), BRACKET,
		     event->gap & EP_GAP_PAUSED ? PAUSED : MISSING);
	collapsed->nodes.list[node].weight += (uint64_t)thread->gap;
}

/* A wait of which it is not known in which call it was has the functions of which that is certain,
 * and a frame that says the rest. */
static void add_wait(struct collapsed *collapsed, const struct ep_nest_thread *thread,
		     const struct ep_event *event)
{
	const struct ep_wait_place *place = event->place;
	bool selected = ep_selection_leaves_out(collapsed->export->selection);
	uint32_t node;

	if (ep_place_is_certain(place) || collapsed->export->count_calls)
		return;
	node = node_below(collapsed, thread, thread->count - thread->own);
	for (unsigned i = 0; i < place->path_count; i++) {
		if (selected || collapsed->nodes.list[node].depth >= DEPTH_MAX)
			break;
		node = child(collapsed, node, FUNCTION, place->path[i]->id);
		ep_texts_get(&collapsed->texts, place->path[i]);
	}
	if (!place->whole || selected)
		node = child(collapsed, node, BRACKET, INSIDE);
	collapsed->nodes.list[node].weight += (uint64_t)thread->gap;
}

/* A sink. */
static int collapsed_event(void *context, const struct ep_event *event,
			   const struct ep_nest_thread *thread)
{
	struct collapsed *collapsed = context;

	if (event->kind == EP_EVENT_BEGIN)
		add_call(collapsed, thread);
	else if (event->kind == EP_EVENT_OPEN || event->kind == EP_EVENT_LEFT ||
		 (event->kind == EP_EVENT_END && !(event->flags & EP_CALL_STRAY)))
		add_self(collapsed, thread->frame);
	else if (event->kind == EP_EVENT_GAP)
		add_gap(collapsed, thread, event);
	else if (event->kind == EP_EVENT_WAIT)
		add_wait(collapsed, thread, event);
	return EP_OK;
}

/* ---- writing ---- */

static void write_frame(struct collapsed *collapsed, const struct node *node)
{
	const struct ep_function_text *made = collapsed->texts.made.list;
	char *text;

	if (node->kind == BRACKET) {
		ep_outbuf_text(&collapsed->out, brackets[node->key]);
	} else if (node->kind == FUNCTION) {
		ep_outbuf_put(&collapsed->out, made[node->key].bytes, made[node->key].size);
	} else {
		text = thread_text(collapsed, node->key);
		ep_outbuf_text(&collapsed->out, text);
		free(text);
	}
}

static void write_stack(struct collapsed *collapsed, uint32_t index)
{
	const struct node *nodes = collapsed->nodes.list;
	uint32_t path[DEPTH_MAX + 4], count = 0;

	for (uint32_t at = index; at != NONE; at = nodes[at].parent)
		path[count++] = at;
	while (count > 0) {
		write_frame(collapsed, &nodes[path[--count]]);
		ep_outbuf_text(&collapsed->out, count ? ";" : " ");
	}
	ep_outbuf_uint(&collapsed->out, nodes[index].weight);
	ep_outbuf_text(&collapsed->out, "\n");
}

int ep_collapsed_write(FILE *out, const struct ep_export *export, uint64_t *shown,
		       struct ep_err *err)
{
	struct collapsed *collapsed = ep_calloc(1, sizeof(*collapsed));
	const struct ep_sink sink = {.context = collapsed,
				     .event = collapsed_event,
				     .waits = true,
				     .nested = true,
				     .clip = true};
	size_t threads = export->trace->thread_count;
	int rc;

	collapsed->export = export;
	collapsed->texts.make = collapsed_function;
	ep_outbuf_init(&collapsed->out, out);
	collapsed->roots = ep_calloc(threads, sizeof(*collapsed->roots));
	for (size_t i = 0; i < threads; i++)
		collapsed->roots[i] = NONE;
	ep_stream(export->trace, export->names, export->selection, &sink, shown);
	for (uint32_t i = 0; i < collapsed->nodes.count; i++)
		if (collapsed->nodes.list[i].weight > 0)
			write_stack(collapsed, i);
	rc = ep_export_finish(&collapsed->out, err);
	ep_texts_deinit(&collapsed->texts);
	ep_array_deinit(&collapsed->nodes);
	ep_hash_deinit(&collapsed->by_parent);
	free(collapsed->roots);
	free(collapsed);
	return rc;
}
