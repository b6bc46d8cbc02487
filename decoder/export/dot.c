/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dot.c: who called whom, for Graphviz. A node is a function, an edge the calls from one to
 * another; the time of a recursive one is counted once, where the outermost is. What is small is
 * left out, and how much that is, the graph says. Warmer colours have more time of their own.
 */
#include "decoder/calls/placing.h"
#include "decoder/export/export.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "decoder/util/timetext.h"
#include "coredump/util/utf8.h"

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
	uint32_t *nodes, *edges;
	size_t node_count, edge_count;
};

struct dot {
	struct ep_outbuf out;
	const struct ep_export *export;
	struct node *nodes; /* by id of the function */
	size_t node_count;
	struct edge *edges;
	uint32_t edge_count, edge_room;
	uint32_t *table; /* hash of the edges: index + 1, 0 free */
	uint32_t slots;
	struct active *active; /* by thread */
	int64_t all;           /* ns in all outermost calls */
};

/* ---- gathering ---- */

/* Room for index `at`, new items zero. */
static int grow(void **array, size_t *count, size_t at, size_t size)
{
	size_t wanted = *count ? *count : 64;
	char *grown;

	if (at < *count)
		return EP_OK;
	while (wanted <= at)
		wanted *= 2;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return EP_E_MEMORY;
	memset(grown + *count * size, 0, (wanted - *count) * size);
	*array = grown;
	*count = wanted;
	return EP_OK;
}

static uint32_t hash_of(uint32_t from, uint32_t to)
{
	uint64_t mixed = ((uint64_t)from << 32 | to) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(mixed >> 32);
}

static int edges_grow(struct dot *dot)
{
	uint32_t room = dot->edge_room ? dot->edge_room * 2 : 512;
	uint32_t *table = calloc((size_t)room * 2, sizeof(*table));
	struct edge *grown = realloc(dot->edges, room * sizeof(*grown));

	if (grown)
		dot->edges = grown;
	if (!table || !grown) {
		free(table);
		return EP_E_MEMORY;
	}
	for (uint32_t i = 0; i < dot->edge_count; i++) {
		uint32_t at = hash_of(grown[i].from, grown[i].to);

		while (table[at & (room * 2 - 1)])
			at++;
		table[at & (room * 2 - 1)] = i + 1;
	}
	free(dot->table);
	dot->table = table;
	dot->slots = room * 2;
	dot->edge_room = room;
	return EP_OK;
}

/* NONE: out of memory. */
static uint32_t edge_of(struct dot *dot, uint32_t from, uint32_t to)
{
	uint32_t at = hash_of(from, to), found;

	if (dot->edge_count == dot->edge_room && edges_grow(dot))
		return NONE;
	while ((found = dot->table[at & (dot->slots - 1)])) {
		if (dot->edges[found - 1].from == from && dot->edges[found - 1].to == to)
			return found - 1;
		at++;
	}
	dot->table[at & (dot->slots - 1)] = dot->edge_count + 1;
	dot->edges[dot->edge_count] = (struct edge){.from = from, .to = to};
	return dot->edge_count++;
}

static int out_of_memory(struct ep_err *err)
{
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

/* The edge to `frame`, the innermost, from the one that called it; NONE in
 * *edge: from nowhere known. */
static int edge_begin(struct dot *dot, const struct ep_nest_thread *thread,
		      struct ep_nest_frame *frame, bool call, uint32_t *edge)
{
	struct active *active = &dot->active[thread->index];
	const struct ep_nest_frame *caller = frame - 1;

	*edge = NONE;
	if (thread->count < 2)
		return EP_OK;
	*edge = edge_of(dot, caller->function->id, frame->function->id);
	if (*edge == NONE ||
	    grow((void **)&active->edges, &active->edge_count, *edge, sizeof(*active->edges)))
		return EP_E_MEMORY;
	active->edges[*edge]++;
	dot->edges[*edge].calls += call;
	dot->edges[*edge].over |= frame->depth > caller->depth + 1;
	return EP_OK;
}

static int begin(void *context, const struct ep_nest_thread *thread, struct ep_nest_frame *frame,
		 enum ep_nest_why why, const struct ep_event *event, struct ep_err *err)
{
	struct dot *dot = context;
	struct active *active = &dot->active[thread->index];
	uint32_t id = frame->function->id, edge;
	bool call = why != EP_NEST_SWITCH;

	(void)event;
	if (grow((void **)&dot->nodes, &dot->node_count, id, sizeof(*dot->nodes)) ||
	    grow((void **)&active->nodes, &active->node_count, id, sizeof(*active->nodes)) ||
	    edge_begin(dot, thread, frame, call, &edge))
		return out_of_memory(err);
	dot->nodes[id].function = frame->function;
	dot->nodes[id].calls += call;
	dot->nodes[id].before += why == EP_NEST_BEFORE;
	active->nodes[id]++;
	frame->mark = edge;
	return EP_OK;
}

static int end(void *context, const struct ep_nest_thread *thread, struct ep_nest_frame *frame,
	       enum ep_nest_why why, const struct ep_event *event, struct ep_err *err)
{
	struct dot *dot = context;
	struct active *active = &dot->active[thread->index];
	struct node *node = &dot->nodes[frame->function->id];
	uint32_t edge = (uint32_t)frame->mark;
	int64_t ran = thread->now - frame->since - frame->left_out;
	bool approximate = !frame->begin.exact || (event && !event->end.exact);

	(void)err;
	node->open += why == EP_NEST_OPEN || why == EP_NEST_LEFT;
	if (why == EP_NEST_LEFT)
		return EP_OK;
	node->approximate |= approximate;
	if (--active->nodes[frame->function->id] == 0)
		node->total += ran;
	if (why != EP_NEST_SWITCH)
		node->self += frame->ran - frame->inner;
	if (thread->count == 1)
		dot->all += ran;
	if (edge == NONE)
		return EP_OK;
	dot->edges[edge].approximate |= approximate;
	if (--active->edges[edge] == 0)
		dot->edges[edge].total += ran;
	return EP_OK;
}

/* A wait of which it is not known in which call it was is in the totals of those that it was in for
 * certain, and nobody's own. */
static int wait(void *context, const struct ep_nest_thread *thread, size_t own, int64_t ns,
		const struct ep_event *event, struct ep_err *err)
{
	struct dot *dot = context;

	(void)ns, (void)err;
	if (own && !ep_place_is_certain(event->place))
		dot->nodes[thread->frames[own - 1].function->id].approximate = true;
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

	for (size_t i = 0; i < dot->node_count; i++) {
		struct node *node = &dot->nodes[i];

		node->shown = node->function && (node->open || !is_small(dot, node->total));
		left.nodes += node->function && !node->shown;
	}
	for (uint32_t i = 0; i < dot->edge_count; i++) {
		struct edge *edge = &dot->edges[i];
		const struct node *to = &dot->nodes[edge->to];

		edge->shown = dot->nodes[edge->from].shown && to->shown &&
			      (to->open || !is_small(dot, edge->total));
		left.edges += !edge->shown;
	}
	return left;
}

/* ---- writing ---- */

/* Inside of a quoted string. Graphviz gives a meaning to backslashes. */
static int quoted(struct dot *dot, const char *text, size_t limit)
{
	char *clean = ep_utf8_escape(text, strlen(text));
	size_t length;

	if (!clean)
		return EP_E_MEMORY;
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
	return EP_OK;
}

static void number(struct dot *dot, uint64_t value, const char *one, const char *more)
{
	char text[EP_TIMETEXT_SIZE];

	ep_outbuf_text(&dot->out, ep_counttext(text, value));
	ep_outbuf_text(&dot->out, value == 1 ? one : more);
}

static void duration(struct dot *dot, const char *before, int64_t ns, bool approximate)
{
	char text[EP_TIMETEXT_SIZE], share[32];

	snprintf(share, sizeof(share), " (%.1f %%)", percent(dot, ns));
	ep_outbuf_text(&dot->out, before);
	ep_outbuf_text(&dot->out, approximate ? "~" : "");
	ep_outbuf_text(&dot->out, ep_timetext(text, ns));
	ep_outbuf_text(&dot->out, share);
}

/* White to red. Saturation by the root: one large function must not bleach the others. */
static void colour(struct dot *dot, const struct node *node)
{
	double heat = sqrt(percent(dot, node->self) / 100);
	char text[48];

	snprintf(text, sizeof(text), ",fillcolor=\"%.3f %.3f 1.000\"", 0.16 * (1 - heat),
		 heat > 1 ? 1 : 0.8 * heat);
	ep_outbuf_text(&dot->out, text);
}

static void plain_number(struct dot *dot, const char *key, int64_t value)
{
	ep_outbuf_text(&dot->out, key);
	ep_outbuf_int(&dot->out, value);
}

static int write_node(struct dot *dot, uint32_t id)
{
	const struct node *node = &dot->nodes[id];
	struct ep_outbuf *out = &dot->out;

	plain_number(dot, "    f", id);
	ep_outbuf_text(out, " [label=\"");
	if (quoted(dot, node->function->name, LABEL_MAX))
		return EP_E_MEMORY;
	duration(dot, "\\nself ", node->self, node->approximate);
	duration(dot, "\\ntotal ", node->total, node->approximate);
	ep_outbuf_text(out, "\\n");
	number(dot, node->calls, " call", " calls");
	if (node->open) {
		ep_outbuf_text(out, ", ");
		number(dot, node->open, " did not return", " did not return");
	}
	if (node->before) {
		ep_outbuf_text(out, ", ");
		number(dot, node->before, " began before the history", " began before the history");
	}
	ep_outbuf_text(out, "\",tooltip=\"");
	if (quoted(dot, node->function->name, SIZE_MAX))
		return EP_E_MEMORY;
	ep_outbuf_text(out, "\"");
	colour(dot, node);
	if (node->open)
		ep_outbuf_text(out, ",penwidth=3");
	plain_number(dot, ",calls=", (int64_t)node->calls);
	plain_number(dot, ",self_ns=", node->self);
	plain_number(dot, ",total_ns=", node->total);
	ep_outbuf_text(out, "];\n");
	return EP_OK;
}

static void write_edge(struct dot *dot, const struct edge *edge)
{
	double share = percent(dot, edge->total);
	char width[48];

	plain_number(dot, "  f", edge->from);
	plain_number(dot, " -> f", edge->to);
	ep_outbuf_text(&dot->out, " [label=\"");
	number(dot, edge->calls, " call", " calls");
	duration(dot, "\\n", edge->total, edge->approximate);
	snprintf(width, sizeof(width), "\",penwidth=%.2f", 1 + (share > 100 ? 100 : share) / 25);
	ep_outbuf_text(&dot->out, width);
	if (edge->over)
		ep_outbuf_text(&dot->out, ",style=dashed");
	plain_number(dot, ",calls=", (int64_t)edge->calls);
	plain_number(dot, ",total_ns=", edge->total);
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
static int write_modules(struct dot *dot, uint32_t *order, size_t count)
{
	const char *module = NULL;
	int rc = EP_OK;

	qsort_r(order, count, sizeof(*order), compare_modules, dot->nodes);
	for (size_t i = 0; !rc && i < count; i++) {
		const char *next = dot->nodes[order[i]].function->module;

		if (!module || strcmp(module, next) != 0) {
			ep_outbuf_text(&dot->out, module ? "  }\n" : "");
			plain_number(dot, "  subgraph cluster_", (int64_t)i);
			ep_outbuf_text(&dot->out, " {\n    label=\"");
			rc = quoted(dot, *next ? next : "outside of all modules", SIZE_MAX);
			ep_outbuf_text(&dot->out, "\";\n");
			module = next;
		}
		rc = rc ? rc : write_node(dot, order[i]);
	}
	ep_outbuf_text(&dot->out, module ? "  }\n" : "");
	return rc;
}

static int write_nodes(struct dot *dot)
{
	uint32_t *order = calloc(dot->node_count + 1, sizeof(*order));
	size_t count = 0;
	int rc;

	if (!order)
		return EP_E_MEMORY;
	for (size_t i = 0; i < dot->node_count; i++)
		if (dot->nodes[i].shown)
			order[count++] = (uint32_t)i;
	rc = write_modules(dot, order, count);
	free(order);
	return rc;
}

static int write_head(struct dot *dot, const struct left_out *left)
{
	char text[EP_TIMETEXT_SIZE];
	char share[64];

	ep_outbuf_text(&dot->out, "digraph calls {\n"
				  "  node [shape=box,style=filled,fontname=\"sans-serif\","
				  "fontsize=10];\n"
				  "  edge [fontname=\"sans-serif\",fontsize=9];\n"
				  "  fontname=\"sans-serif\"; fontsize=11; labelloc=t;\n"
				  "  label=\"");
	if (quoted(dot, ep_export_program(dot->export->trace), SIZE_MAX))
		return EP_E_MEMORY;
	ep_outbuf_text(&dot->out, "\\n");
	ep_outbuf_text(&dot->out, ep_timetext(text, dot->all));
	ep_outbuf_text(&dot->out, " in calls, all threads together");
	if (left->nodes || left->edges) {
		snprintf(share, sizeof(share),
			 "\\nbelow %g %%, left out: ", dot->export->min_percent);
		ep_outbuf_text(&dot->out, share);
		number(dot, left->nodes, " function, ", " functions, ");
		number(dot, left->edges, " edge", " edges");
	}
	ep_outbuf_text(&dot->out, "\";\n");
	return EP_OK;
}

static int write_graph(struct dot *dot, struct ep_err *err)
{
	struct left_out left = prune(dot);

	if (write_head(dot, &left) || write_nodes(dot))
		return out_of_memory(err);
	for (uint32_t i = 0; i < dot->edge_count; i++)
		if (dot->edges[i].shown)
			write_edge(dot, &dot->edges[i]);
	ep_outbuf_text(&dot->out, "}\n");
	return EP_OK;
}

static void dot_deinit(struct dot *dot)
{
	size_t count = dot->export->trace->thread_count;

	for (size_t i = 0; dot->active && i < count; i++) {
		free(dot->active[i].nodes);
		free(dot->active[i].edges);
	}
	free(dot->active);
	free(dot->nodes);
	free(dot->edges);
	free(dot->table);
	free(dot);
}

int ep_dot_write(FILE *out, const struct ep_export *export, uint64_t *shown, struct ep_err *err)
{
	struct dot *dot = calloc(1, sizeof(*dot));
	struct ep_nest_sink sink = {dot, begin, end, NULL, NULL, wait};
	int rc;

	if (!dot)
		return out_of_memory(err);
	dot->export = export;
	ep_outbuf_init(&dot->out, out);
	dot->active = calloc(export->trace->thread_count + 1, sizeof(*dot->active));
	rc = dot->active ? ep_nest_stream(export->trace, export->names, export->selection, true,
					  &sink, shown, err)
			 : out_of_memory(err);
	if (!rc && dot->node_count)
		rc = write_graph(dot, err);
	rc = ep_export_finish(&dot->out, rc, err);
	dot_deinit(dot);
	return rc;
}
