/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * collapsed.c: folded stacks, as flame graph tools read them: frames separated by semicolons, the
 * thread first, then a blank and a whole number.
 */
#include "decoder/export/flame/stack_tree.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"

struct collapsed {
	struct ep_outbuf out;
	struct ep_stack_tree tree;
	struct ep_texts texts;
};

/* As a frame's name: a semicolon would begin another frame. Takes `clean`; from malloc. */
static char *frame_name(char *clean)
{
	char *out, *to;

	if (!strchr(clean, ';'))
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
	struct collapsed *collapsed = context;
	const struct ep_calltree_node node = {.kind = EP_CALLTREE_FUNCTION, .function = function};

	return frame_name(ep_stack_name(&collapsed->tree, &node));
}

static void write_frame(struct collapsed *collapsed, const struct ep_calltree_node *node)
{
	const struct ep_function_text *made;
	char *text;

	if (node->function) {
		made = ep_texts_get(&collapsed->texts, node->function);
		ep_outbuf_put(&collapsed->out, made->bytes, made->size);
		return;
	}
	text = frame_name(ep_stack_name(&collapsed->tree, node));
	ep_outbuf_text(&collapsed->out, text);
	free(text);
}

static void write_stack(struct collapsed *collapsed, uint32_t index)
{
	const struct ep_calltree_node *nodes = collapsed->tree.calls.nodes.list;
	uint32_t path[EP_EXPORT_DEPTH_MAX + 4], count = 0;

	for (uint32_t at = index; at; at = nodes[at].parent)
		path[count++] = at;
	while (count > 0) {
		write_frame(collapsed, &nodes[path[--count]]);
		ep_outbuf_text(&collapsed->out, count ? ";" : " ");
	}
	ep_outbuf_uint(&collapsed->out, ep_stack_weight(&collapsed->tree, &nodes[index]));
	ep_outbuf_text(&collapsed->out, "\n");
}

int ep_collapsed_write(FILE *out, const struct ep_export *export, uint64_t *shown,
		       struct ep_err *err)
{
	struct collapsed *collapsed = ep_calloc(1, sizeof(*collapsed));
	int rc;

	collapsed->texts.make = collapsed_function;
	collapsed->texts.context = collapsed;
	ep_outbuf_init(&collapsed->out, out);
	ep_stack_tree_create(&collapsed->tree, export, shown);
	for (uint32_t i = 1; i < collapsed->tree.calls.nodes.count; i++)
		if (ep_stack_weight(&collapsed->tree, &collapsed->tree.calls.nodes.list[i]))
			write_stack(collapsed, i);
	rc = ep_export_finish(&collapsed->out, err);
	ep_texts_deinit(&collapsed->texts);
	ep_stack_tree_deinit(&collapsed->tree);
	free(collapsed);
	return rc;
}
