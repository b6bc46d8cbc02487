/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dot.c: who called whom, for Graphviz. A node is a function, an edge the calls from one to
 * another; the time of a recursive one is counted once, where the outermost is. What is small is
 * left out, and how much that is, the graph says. Warmer colours have more time of their own.
 */
#include "decoder/export/export.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "coredump/util/hash.h"
#include "coredump/util/utf8.h"
#include "decoder/calls/placing.h"
#include "decoder/util/timetext.h"

#define NONE UINT32_MAX
/* Bytes of a name in a node; the whole is in its tooltip. */
#define LABEL_MAX 72

struct node {
	const struct ep_function *function; /* NULL: never called */
	uint64_t calls, open, before;
	int64_t total, self; /* ns */
	bool approximate, shown;
};

struct edge {
	uint32_t from, to; /* ids of functions */
	uint64_t calls;
	int64_t total; /* ns */
	bool approximate;
	bool over; /* calls that were not selected lie between */
	bool shown;
};

/* What is open in a thread, and how often. */
struct active {
	EP_ARRAY(uint32_t) nodes;
	EP_ARRAY(uint32_t) edges;
};

struct dot {
	struct ep_outbuf out;
	const struct ep_export *export;
	EP_ARRAY(struct node) nodes; /* by id of the function */
	EP_ARRAY(struct edge) edges;
	struct ep_hash by_ends; /* of edges */
	struct active *active;  /* by thread */
	int64_t all;            /* ns in all outermost calls */
};

/* ---- gathering ---- */

/* Room for the item at `index`, zero when it is new. */
#define ROOM_FOR(array, index)                    \
	({                                        \
		while ((array)->count <= (index)) \
			ep_array_add(array);      \
	})

static uint32_t edge_of(struct dot *dot, uint32_t from, uint32_t to)
{
	uint32_t hash = ep_hash_number((uint64_t)from << 32 | to), at = 0, number;
	struct edge *edge;

	while ((number = ep_hash_next(&dot->by_ends, hash, &at)) != EP_HASH_NONE)
		if (dot->edges.list[number].from == from && dot->edges.list[number].to == to)
			return number;
	number = (uint32_t)dot->edges.count;
	ep_hash_add(&dot->by_ends, hash, number);
	edge = ep_array_add(&dot->edges);
	edge->from = from;
	edge->to = to;
	return number;
}

/* The edge to the frame that begins from the one that called it; NONE: from nowhere known. */
static uint32_t edge_begin(struct dot *dot, const struct ep_nest_thread *thread, bool call)
{
	struct active *active = &dot->active[thread->index];
	const struct ep_nest_frame *frame = thread->frame, *caller = frame - 1;
	struct edge *edge;
	uint32_t number;

	if (thread->count < 2)
		return NONE;
	number = edge_of(dot, caller->function->id, frame->function->id);
	ROOM_FOR(&active->edges, number);
	active->edges.list[number]++;
	edge = &dot->edges.list[number];
	edge->calls += call;
	edge->over |= frame->depth > caller->depth + 1;
	return number;
}

static void node_begin(struct dot *dot, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	bool call = event->kind == EP_EVENT_BEGIN;
	struct active *active = &dot->active[thread->index];
	struct ep_nest_frame *frame = thread->frame;
	uint32_t id = frame->function->id;
	struct node *node;

	ROOM_FOR(&dot->nodes, id);
	ROOM_FOR(&active->nodes, id);
	frame->mark = edge_begin(dot, thread, call);
	node = &dot->nodes.list[id];
	node->function = frame->function;
	node->calls += call;
	node->before += call && event->flags & EP_CALL_BEFORE;
	active->nodes.list[id]++;
}

static void node_end(struct dot *dot, const struct ep_nest_thread *thread,
		     const struct ep_event *event)
{
	struct active *active = &dot->active[thread->index];
	const struct ep_nest_frame *frame = thread->frame;
	struct node *node = &dot->nodes.list[frame->function->id];
	uint32_t edge = (uint32_t)frame->mark;
	int64_t ran = thread->now - frame->since - frame->left_out;
	bool approximate =
		!frame->begin.exact || (event->kind == EP_EVENT_END && !event->end.exact);

	node->open += event->kind == EP_EVENT_OPEN || event->kind == EP_EVENT_LEFT;
	if (event->kind == EP_EVENT_LEFT)
		return;
	node->approximate |= approximate;
	if (--active->nodes.list[frame->function->id] == 0)
		node->total += ran;
	if (event->kind != EP_EVENT_SUSPEND)
		node->self += frame->ran - frame->inner;
	if (thread->count == 1)
		dot->all += ran;
	if (edge == NONE)
		return;
	dot->edges.list[edge].approximate |= approximate;
	if (--active->edges.list[edge] == 0)
		dot->edges.list[edge].total += ran;
}

/* A sink. A wait of which it is not known in which call it was is in the totals of those that it
 * was in for certain, and nobody's own. */
static int dot_event(void *context, const struct ep_event *event,
		     const struct ep_nest_thread *thread)
{
	struct dot *dot = context;

	switch (event->kind) {
	case EP_EVENT_BEGIN:
	case EP_EVENT_RESUME:
		node_begin(dot, thread, event);
		break;
	case EP_EVENT_END:
	case EP_EVENT_SUSPEND:
	case EP_EVENT_OPEN:
	case EP_EVENT_LEFT:
		if (!(event->flags & EP_CALL_STRAY))
			node_end(dot, thread, event);
		break;
	case EP_EVENT_WAIT:
		if (thread->own && !ep_place_is_certain(event->place))
			dot->nodes.list[thread->frames[thread->own - 1].function->id].approximate =
				true;
		break;
	default:
		break;
	}
	return EP_OK;
}

/* ---- what is left out ---- */

struct left_out {
	uint64_t nodes, edges;
};

static double percent(const struct dot *dot, int64_t ns)
{
	return dot->all > 0 ? 100.0 * (double)ns / (double)dot->all : 0;
}

static bool is_small(const struct dot *dot, int64_t ns)
{
	return dot->all > 0 && percent(dot, ns) < dot->export->min_percent;
}

/* A call that did not return is what one looks for, however short. */
static struct left_out prune(struct dot *dot)
{
	struct left_out left = {0};

	for (size_t i = 0; i < dot->nodes.count; i++) {
		struct node *node = &dot->nodes.list[i];

		node->shown = node->function && (node->open || !is_small(dot, node->total));
		left.nodes += node->function && !node->shown;
	}
	for (size_t i = 0; i < dot->edges.count; i++) {
		struct edge *edge = &dot->edges.list[i];
		const struct node *to = &dot->nodes.list[edge->to];

		edge->shown = dot->nodes.list[edge->from].shown && to->shown &&
			      (to->open || !is_small(dot, edge->total));
		left.edges += !edge->shown;
	}
	return left;
}

/* ---- writing ---- */

/* Inside of a quoted string. Graphviz gives a meaning to backslashes. */
static void write_quoted(struct dot *dot, const char *text, size_t limit)
{
	char *clean = ep_utf8_escape(text, strlen(text));
	size_t length;

	for (const char *at = clean; *at; at += length) {
		length = ep_utf8_length(at, strlen(at));
		length = length ? length : 1;
		if ((size_t)(at - clean) + length > limit) {
			ep_outbuf_text(&dot->out, "...");
			break;
		}
		if (*at == '"' || *at == '\\')
			ep_outbuf_text(&dot->out, "\\");
		ep_outbuf_put(&dot->out, at, length);
	}
	free(clean);
}

static void write_count(struct dot *dot, uint64_t value, const char *one, const char *more)
{
	char text[EP_TIMETEXT_SIZE];

	ep_outbuf_text(&dot->out, ep_counttext(text, value));
	ep_outbuf_text(&dot->out, value == 1 ? one : more);
}

static void write_duration(struct dot *dot, const char *before, int64_t ns, bool approximate)
{
	char text[EP_TIMETEXT_SIZE], share[32];

	snprintf(share, sizeof(share), " (%.1f %%)", percent(dot, ns));
	ep_outbuf_text(&dot->out, before);
	ep_outbuf_text(&dot->out, approximate ? "~" : "");
	ep_outbuf_text(&dot->out, ep_timetext(text, ns));
	ep_outbuf_text(&dot->out, share);
}

/* White to red. Saturation by the root: one large function must not bleach the others. */
static void write_colour(struct dot *dot, const struct node *node)
{
	double heat = sqrt(percent(dot, node->self) / 100);
	char text[48];

	snprintf(text, sizeof(text), ",fillcolor=\"%.3f %.3f 1.000\"", 0.16 * (1 - heat),
		 heat > 1 ? 1 : 0.8 * heat);
	ep_outbuf_text(&dot->out, text);
}

static void write_number(struct dot *dot, const char *key, int64_t value)
{
	ep_outbuf_text(&dot->out, key);
	ep_outbuf_int(&dot->out, value);
}

static void write_node(struct dot *dot, uint32_t id)
{
	const struct node *node = &dot->nodes.list[id];
	struct ep_outbuf *out = &dot->out;

	write_number(dot, "    f", id);
	ep_outbuf_text(out, " [label=\"");
	write_quoted(dot, node->function->name, LABEL_MAX);
	write_duration(dot, "\\nself ", node->self, node->approximate);
	write_duration(dot, "\\ntotal ", node->total, node->approximate);
	ep_outbuf_text(out, "\\n");
	write_count(dot, node->calls, " call", " calls");
	if (node->open) {
		ep_outbuf_text(out, ", ");
		write_count(dot, node->open, " did not return", " did not return");
	}
	if (node->before) {
		ep_outbuf_text(out, ", ");
		write_count(dot, node->before, " began before the history",
			    " began before the history");
	}
	ep_outbuf_text(out, "\",tooltip=\"");
	write_quoted(dot, node->function->name, SIZE_MAX);
	ep_outbuf_text(out, "\"");
	write_colour(dot, node);
	if (node->open)
		ep_outbuf_text(out, ",penwidth=3");
	write_number(dot, ",calls=", (int64_t)node->calls);
	write_number(dot, ",self_ns=", node->self);
	write_number(dot, ",total_ns=", node->total);
	ep_outbuf_text(out, "];\n");
}

static void write_edge(struct dot *dot, const struct edge *edge)
{
	double share = percent(dot, edge->total);
	char width[48];

	write_number(dot, "  f", edge->from);
	write_number(dot, " -> f", edge->to);
	ep_outbuf_text(&dot->out, " [label=\"");
	write_count(dot, edge->calls, " call", " calls");
	write_duration(dot, "\\n", edge->total, edge->approximate);
	snprintf(width, sizeof(width), "\",penwidth=%.2f", 1 + (share > 100 ? 100 : share) / 25);
	ep_outbuf_text(&dot->out, width);
	if (edge->over)
		ep_outbuf_text(&dot->out, ",style=dashed");
	write_number(dot, ",calls=", (int64_t)edge->calls);
	write_number(dot, ",total_ns=", edge->total);
	ep_outbuf_text(&dot->out, "];\n");
}

static int compare_modules(const void *a, const void *b, void *context)
{
	const struct node *nodes = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int by_name = strcmp(nodes[i].function->module, nodes[j].function->module);

	return by_name ? by_name : i < j ? -1 : i > j;
}

/* The nodes in a box for each module. */
static void write_modules(struct dot *dot, uint32_t *order, size_t count)
{
	const char *module = NULL;

	qsort_r(order, count, sizeof(*order), compare_modules, dot->nodes.list);
	for (size_t i = 0; i < count; i++) {
		const char *next = dot->nodes.list[order[i]].function->module;

		if (!module || strcmp(module, next) != 0) {
			ep_outbuf_text(&dot->out, module ? "  }\n" : "");
			write_number(dot, "  subgraph cluster_", (int64_t)i);
			ep_outbuf_text(&dot->out, " {\n    label=\"");
			write_quoted(dot, *next ? next : "outside of all modules", SIZE_MAX);
			ep_outbuf_text(&dot->out, "\";\n");
			module = next;
		}
		write_node(dot, order[i]);
	}
	ep_outbuf_text(&dot->out, module ? "  }\n" : "");
}

static void write_nodes(struct dot *dot)
{
	uint32_t *order = ep_calloc(dot->nodes.count, sizeof(*order));
	size_t count = 0;

	for (size_t i = 0; i < dot->nodes.count; i++)
		if (dot->nodes.list[i].shown)
			order[count++] = (uint32_t)i;
	write_modules(dot, order, count);
	free(order);
}

static void write_head(struct dot *dot, const struct left_out *left)
{
	char text[EP_TIMETEXT_SIZE];
	char share[64];

	ep_outbuf_text(&dot->out,
		       "digraph calls {\n"
		       "  node [shape=box,style=filled,fontname=\"sans-serif\",fontsize=10];\n"
		       "  edge [fontname=\"sans-serif\",fontsize=9];\n"
		       "  fontname=\"sans-serif\"; fontsize=11; labelloc=t;\n"
		       "  label=\"");
	write_quoted(dot, ep_export_program(dot->export->trace), SIZE_MAX);
	ep_outbuf_text(&dot->out, "\\n");
	ep_outbuf_text(&dot->out, ep_timetext(text, dot->all));
	ep_outbuf_text(&dot->out, " in calls, all threads together");
	if (left->nodes || left->edges) {
		snprintf(share, sizeof(share),
			 "\\nbelow %g %%, left out: ", dot->export->min_percent);
		ep_outbuf_text(&dot->out, share);
		write_count(dot, left->nodes, " function, ", " functions, ");
		write_count(dot, left->edges, " edge", " edges");
	}
	ep_outbuf_text(&dot->out, "\";\n");
}

static void write_graph(struct dot *dot)
{
	struct left_out left = prune(dot);

	write_head(dot, &left);
	write_nodes(dot);
	for (size_t i = 0; i < dot->edges.count; i++)
		if (dot->edges.list[i].shown)
			write_edge(dot, &dot->edges.list[i]);
	ep_outbuf_text(&dot->out, "}\n");
}

static void dot_deinit(struct dot *dot)
{
	for (size_t i = 0; i < dot->export->trace->thread_count; i++) {
		ep_array_deinit(&dot->active[i].nodes);
		ep_array_deinit(&dot->active[i].edges);
	}
	free(dot->active);
	ep_array_deinit(&dot->nodes);
	ep_array_deinit(&dot->edges);
	ep_hash_deinit(&dot->by_ends);
	free(dot);
}

int ep_dot_write(FILE *out, const struct ep_export *export, uint64_t *shown, struct ep_err *err)
{
	struct dot *dot = ep_calloc(1, sizeof(*dot));
	const struct ep_sink sink = {.context = dot,
				     .event = dot_event,
				     .waits = true,
				     .any_order = true,
				     .nested = true,
				     .clip = true};
	int rc;

	dot->export = export;
	ep_outbuf_init(&dot->out, out);
	dot->active = ep_calloc(export->trace->thread_count, sizeof(*dot->active));
	ep_stream(export->trace, export->names, export->selection, &sink, shown);
	if (dot->nodes.count)
		write_graph(dot);
	rc = ep_export_finish(&dot->out, err);
	dot_deinit(dot);
	return rc;
}
