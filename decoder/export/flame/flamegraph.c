/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flamegraph.c: a flame graph as one page that needs nothing else: flamegraph.html, which lies in
 * the program, with the frames in it as JSON. A < is \u003c there: no name ends the element that
 * the data stand in.
 */
#include "decoder/export/flame/flame.h"

#include <inttypes.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"

#define PLACE "@DATA@" /* where they go */

__asm__(".pushsection .rodata\n"
	"flamegraph_page:\n"
	".incbin \"decoder/export/flame/flamegraph.html\"\n"
	".byte 0\n"
	".popsection\n");
extern const char flamegraph_page[];

struct flamegraph {
	struct ep_outbuf out;
	struct ep_flame flame;
	uint32_t *names; /* by node: the number of its name */
	uint32_t name_count;
};

/* A clean text. */
static void put_string(struct ep_outbuf *out, const char *text)
{
	ep_outbuf_text(out, "\"");
	for (; *text; text++) {
		if (*text == '<')
			ep_outbuf_text(out, "\\u003c");
		else if (*text == '"' || *text == '\\')
			ep_outbuf_text(out, "\\"), ep_outbuf_put(out, text, 1);
		else
			ep_outbuf_put(out, text, 1);
	}
	ep_outbuf_text(out, "\"");
}

static void put_clean(struct ep_outbuf *out, const char *text)
{
	char *clean = ep_utf8_escape(text, strlen(text));

	put_string(out, clean);
	free(clean);
}

/* "file.c:12", or the module's name. */
static void put_source(struct flamegraph *graph, const struct ep_function *function)
{
	struct ep_line line = ep_names_function_line(graph->flame.tree.export->names, function);
	char *text;

	if (!line.file) {
		put_clean(&graph->out, function->module);
		return;
	}
	text = ep_asprintf("%s:%" PRIu32, line.file, line.line);
	put_clean(&graph->out, text);
	free(text);
}

/* [name, kind, source], each once; their numbers are left in `names`. */
static void put_names(struct flamegraph *graph)
{
	const struct ep_stack_tree *tree = &graph->flame.tree;
	EP_ARRAY(uint32_t) of_function = {0}; /* by id: number + 1 */
	const char *comma = "";

	graph->names = ep_calloc(tree->calls.nodes.count, sizeof(*graph->names));
	for (size_t i = 0; i < graph->flame.frames.count; i++) {
		uint32_t at = graph->flame.frames.list[i].node;
		const struct ep_calltree_node *node = &tree->calls.nodes.list[at];
		const struct ep_function *function = node->function;
		char *name;

		while (function && of_function.count <= function->id)
			ep_array_add(&of_function);
		if (!function || !of_function.list[function->id]) {
			name = ep_stack_name(tree, node);
			ep_outbuf_text(&graph->out, comma);
			ep_outbuf_text(&graph->out, "[");
			put_string(&graph->out, name);
			ep_outbuf_text(&graph->out, ",");
			ep_outbuf_uint(&graph->out, ep_stack_kind(node));
			ep_outbuf_text(&graph->out, ",");
			if (function)
				put_source(graph, function);
			else
				put_string(&graph->out, "");
			ep_outbuf_text(&graph->out, "]\n");
			comma = ",";
			free(name);
			graph->names[at] = graph->name_count++;
			if (function)
				of_function.list[function->id] = graph->name_count;
		} else {
			graph->names[at] = of_function.list[function->id] - 1;
		}
	}
	ep_array_deinit(&of_function);
}

/* depth,name,weight, of each frame before those inside of it. */
static void put_frames(struct flamegraph *graph)
{
	for (size_t i = 0; i < graph->flame.frames.count; i++) {
		const struct ep_flame_frame *frame = &graph->flame.frames.list[i];

		ep_outbuf_text(&graph->out, i ? "," : "");
		ep_outbuf_uint(&graph->out,
			       graph->flame.tree.calls.nodes.list[frame->node].depth - 1);
		ep_outbuf_text(&graph->out, ",");
		ep_outbuf_uint(&graph->out, graph->names[frame->node]);
		ep_outbuf_text(&graph->out, ",");
		ep_outbuf_uint(&graph->out, frame->weight);
		ep_outbuf_text(&graph->out, i % 32 == 31 ? "\n" : "");
	}
}

static void put_data(struct flamegraph *graph)
{
	const struct ep_export *export = graph->flame.tree.export;

	ep_outbuf_text(&graph->out, "{\"program\":");
	put_clean(&graph->out, ep_export_program(export->trace));
	ep_outbuf_text(&graph->out, ",\"unit\":\"");
	ep_outbuf_text(&graph->out, export->count_calls ? "calls" : "ns");
	ep_outbuf_text(&graph->out, "\",\"names\":[");
	put_names(graph);
	ep_outbuf_text(&graph->out, "],\"frames\":[");
	put_frames(graph);
	ep_outbuf_text(&graph->out, "]}");
}

int ep_flamegraph_write(FILE *out, const struct ep_export *export, uint64_t *shown,
			struct ep_err *err)
{
	struct flamegraph *graph = ep_calloc(1, sizeof(*graph));
	const char *place = strstr(flamegraph_page, PLACE);
	int rc;

	ep_outbuf_init(&graph->out, out);
	ep_flame_create(&graph->flame, export, shown);
	if (*shown) {
		ep_outbuf_put(&graph->out, flamegraph_page, (size_t)(place - flamegraph_page));
		put_data(graph);
		ep_outbuf_text(&graph->out, place + strlen(PLACE));
	}
	rc = ep_export_finish(&graph->out, err);
	ep_flame_deinit(&graph->flame);
	free(graph->names);
	free(graph);
	return rc;
}
