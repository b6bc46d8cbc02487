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
	struct node *nodes;
	uint32_t count, room;
	uint32_t *table; /* hash of the nodes: index + 1, 0 free */
	uint32_t slots;  /* a power of two */
	uint32_t *roots; /* by thread: its node, or NONE */
};

/* ---- names ---- */

/* As a frame's name: a semicolon would begin another frame. From malloc. */
static char *frame_name(const char *name)
{
	char *clean = ep_utf8_escape(name, strlen(name)), *out, *to;

	if (!clean || !strchr(clean, ';'))
		return clean;
	out = to = malloc(4 * strlen(clean) + 1);
	for (const char *from = clean; out && *from; from++) {
		if (*from == ';')
			to = stpcpy(to, "\\x3b");
		else
			*to++ = *from;
	}
	if (out)
		*to = 0;
	free(clean);
	return out;
}

static char *function_text(void *context, const struct ep_function *function)
{
	(void)context;
	return frame_name(function->name);
}

/* "worker (4711)", or "worker". From malloc. */
static char *thread_text(const struct collapsed *collapsed, uint32_t index)
{
	const struct ep_trace_thread *thread = &collapsed->export->trace->threads[index];
	const char *name = thread->name[0] ? thread->name : "thread";
	char *text = NULL, *clean;
	int size;

	if (collapsed->export->merge_threads)
		size = asprintf(&text, "%s", name);
	else if (thread->tid)
		size = asprintf(&text, "%s (%" PRIu32 ")", name, thread->tid);
	else
		size = asprintf(&text, "%s (#%" PRIu32 ")", name, thread->serial);
	if (size < 0)
		return NULL;
	clean = frame_name(text);
	free(text);
	return clean;
}

/* ---- the tree ---- */

static uint32_t hash_of(uint32_t parent, enum kind kind, uint32_t key)
{
	uint64_t mixed = ((uint64_t)parent << 32 | key) * 4 + kind;

	mixed *= UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(mixed >> 32);
}

static int table_grow(struct collapsed *collapsed)
{
	uint32_t slots = collapsed->slots ? collapsed->slots * 2 : 1024;
	uint32_t *table = calloc(slots, sizeof(*table));

	if (!table)
		return EP_E_MEMORY;
	for (uint32_t i = 0; i < collapsed->count; i++) {
		const struct node *node = &collapsed->nodes[i];
		uint32_t at = hash_of(node->parent, node->kind, node->key);

		while (table[at & (slots - 1)])
			at++;
		table[at & (slots - 1)] = i + 1;
	}
	free(collapsed->table);
	collapsed->table = table;
	collapsed->slots = slots;
	return EP_OK;
}

static int nodes_grow(struct collapsed *collapsed)
{
	uint32_t room = collapsed->room ? collapsed->room * 2 : 512;
	struct node *grown;

	if (room > UINT32_MAX / 4)
		return EP_E_MEMORY;
	grown = realloc(collapsed->nodes, room * sizeof(*grown));
	if (!grown)
		return EP_E_MEMORY;
	collapsed->nodes = grown;
	collapsed->room = room;
	return table_grow(collapsed);
}

/* The child of that kind and key, made when it is not there. NONE: out of memory. */
static uint32_t child(struct collapsed *collapsed, uint32_t parent, enum kind kind, uint32_t key)
{
	uint32_t at = hash_of(parent, kind, key), found;
	struct node *node;

	if (collapsed->count == collapsed->room && nodes_grow(collapsed))
		return NONE;
	while ((found = collapsed->table[at & (collapsed->slots - 1)])) {
		node = &collapsed->nodes[found - 1];
		if (node->parent == parent && node->kind == kind && node->key == key)
			return found - 1;
		at++;
	}
	collapsed->table[at & (collapsed->slots - 1)] = collapsed->count + 1;
	collapsed->nodes[collapsed->count] = (struct node){
		.parent = parent,
		.depth = parent == NONE ? 0 : collapsed->nodes[parent].depth + 1,
		.kind = kind,
		.key = key,
	};
	return collapsed->count++;
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
	if (*root != NONE && !thread->thread->from_start)
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

static int out_of_memory(struct ep_err *err)
{
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

static int begin(void *context, const struct ep_nest_thread *thread, struct ep_nest_frame *frame,
		 enum ep_nest_why why, const struct ep_event *event, struct ep_err *err)
{
	struct collapsed *collapsed = context;
	uint32_t parent = node_below(collapsed, thread, 1), node;
	bool deeper;

	(void)event;
	if (why == EP_NEST_SWITCH)
		return EP_OK;
	if (parent == NONE)
		return out_of_memory(err);
	deeper = collapsed->nodes[parent].depth >= DEPTH_MAX;
	if (deeper && collapsed->nodes[parent].kind == BRACKET)
		node = parent;
	else if (deeper)
		node = child(collapsed, parent, BRACKET, DEEPER);
	else
		node = child(collapsed, parent, FUNCTION, frame->function->id);
	if (node == NONE || !ep_texts_get(&collapsed->texts, frame->function))
		return out_of_memory(err);
	frame->mark = node;
	if (collapsed->export->count_calls)
		collapsed->nodes[node].weight++;
	return EP_OK;
}

static int end(void *context, const struct ep_nest_thread *thread, struct ep_nest_frame *frame,
	       enum ep_nest_why why, const struct ep_event *event, struct ep_err *err)
{
	struct collapsed *collapsed = context;

	(void)thread;
	(void)event;
	(void)err;
	if (!collapsed->export->count_calls && why != EP_NEST_SWITCH)
		collapsed->nodes[frame->mark].weight += (uint64_t)(frame->ran - frame->inner);
	return EP_OK;
}

static int moment(void *context, const struct ep_nest_thread *thread, const struct ep_event *event,
		  struct ep_err *err)
{
	struct collapsed *collapsed = context;
	uint32_t parent, node;

	if (event->kind != EP_EVENT_GAP || thread->gap == 0 || collapsed->export->count_calls)
		return EP_OK;
	parent = node_below(collapsed, thread, 0);
	if (parent == NONE)
		return out_of_memory(err);
	node = child(collapsed, parent, BRACKET, event->gap & EP_GAP_PAUSED ? PAUSED : MISSING);
	if (node == NONE)
		return out_of_memory(err);
	collapsed->nodes[node].weight += (uint64_t)thread->gap;
	return EP_OK;
}

/* A wait of which it is not known in which call it was has the functions of which that is certain,
 * and a frame that says the rest. */
static int wait(void *context, const struct ep_nest_thread *thread, size_t own, int64_t ns,
		const struct ep_event *event, struct ep_err *err)
{
	struct collapsed *collapsed = context;
	const struct ep_wait_place *place = event->place;
	const struct ep_selection *selection = collapsed->export->selection;
	bool selected = ep_selection_leaves_out(selection);
	uint32_t node;

	if (ep_place_is_certain(place) || collapsed->export->count_calls)
		return EP_OK;
	node = node_below(collapsed, thread, thread->count - own);
	for (unsigned i = 0; node != NONE && i < place->path_count; i++) {
		if (selected || collapsed->nodes[node].depth >= DEPTH_MAX)
			break;
		node = child(collapsed, node, FUNCTION, place->path[i]->id);
		if (!ep_texts_get(&collapsed->texts, place->path[i]))
			node = NONE;
	}
	if (node != NONE && (!place->whole || selected))
		node = child(collapsed, node, BRACKET, INSIDE);
	if (node == NONE)
		return out_of_memory(err);
	collapsed->nodes[node].weight += (uint64_t)ns;
	return EP_OK;
}

/* ---- writing ---- */

static int write_frame(struct collapsed *collapsed, const struct node *node)
{
	char *text;

	if (node->kind == BRACKET)
		ep_outbuf_text(&collapsed->out, brackets[node->key]);
	if (node->kind == FUNCTION)
		ep_outbuf_put(&collapsed->out, collapsed->texts.list[node->key].bytes,
			      collapsed->texts.list[node->key].size);
	if (node->kind != ROOT)
		return EP_OK;
	text = thread_text(collapsed, node->key);
	if (!text)
		return EP_E_MEMORY;
	ep_outbuf_text(&collapsed->out, text);
	free(text);
	return EP_OK;
}

static int write_stack(struct collapsed *collapsed, uint32_t index)
{
	uint32_t path[DEPTH_MAX + 4], count = 0;

	for (uint32_t at = index; at != NONE; at = collapsed->nodes[at].parent)
		path[count++] = at;
	while (count > 0) {
		if (write_frame(collapsed, &collapsed->nodes[path[--count]]))
			return EP_E_MEMORY;
		ep_outbuf_text(&collapsed->out, count ? ";" : " ");
	}
	ep_outbuf_uint(&collapsed->out, collapsed->nodes[index].weight);
	ep_outbuf_text(&collapsed->out, "\n");
	return EP_OK;
}

static int write_stacks(struct collapsed *collapsed, struct ep_err *err)
{
	for (uint32_t i = 0; i < collapsed->count; i++)
		if (collapsed->nodes[i].weight > 0 && write_stack(collapsed, i))
			return out_of_memory(err);
	return EP_OK;
}

static int collapsed_init(struct collapsed *collapsed, FILE *out, const struct ep_export *export,
			  struct ep_err *err)
{
	size_t count = export->trace->thread_count;

	collapsed->export = export;
	collapsed->texts.make = function_text;
	ep_outbuf_init(&collapsed->out, out);
	collapsed->roots = malloc((count + 1) * sizeof(*collapsed->roots));
	if (!collapsed->roots)
		return out_of_memory(err);
	for (size_t i = 0; i < count; i++)
		collapsed->roots[i] = NONE;
	return EP_OK;
}

int ep_collapsed_write(FILE *out, const struct ep_export *export, uint64_t *shown,
		       struct ep_err *err)
{
	struct collapsed *collapsed = calloc(1, sizeof(*collapsed));
	struct ep_nest_sink sink = {collapsed, begin, end, moment, NULL, wait};
	int rc;

	if (!collapsed)
		return out_of_memory(err);
	rc = collapsed_init(collapsed, out, export, err);
	if (!rc)
		rc = ep_nest_stream(export->trace, export->names, export->selection, true, &sink,
				    shown, err);
	if (!rc)
		rc = write_stacks(collapsed, err);
	rc = ep_export_finish(&collapsed->out, rc, err);
	ep_texts_deinit(&collapsed->texts);
	free(collapsed->nodes);
	free(collapsed->table);
	free(collapsed->roots);
	free(collapsed);
	return rc;
}
