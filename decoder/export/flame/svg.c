/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svg.c: a flame graph as one picture, the threads on top. Nothing in it is run or fetched; what a
 * frame is stands in its title, which browsers show under the pointer.
 */
#include "decoder/export/flame/flame.h"

#include <inttypes.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "coredump/util/hash.h"
#include "coredump/util/utf8.h"

#define WIDTH  1200 /* of the picture, in px */
#define MARGIN 10
#define ROW    17  /* height of a frame */
#define TOP    40  /* of the first row */
#define LETTER 6.7 /* width of one, of the font below */
#define FINEST 0.3 /* px: narrower frames are not drawn */

struct svg {
	struct ep_outbuf out;
	struct ep_flame flame;
	uint64_t fine; /* frames that were too narrow */
};

/* U+FFFE and U+FFFF are no characters of XML 1.0 (section 2.2), which has no way to name them. */
static bool is_no_character(const char *text)
{
	return !memcmp(text, "\xef\xbf\xbe", 3) || !memcmp(text, "\xef\xbf\xbf", 3);
}

/* `size` bytes of clean text, as XML has it. */
static void put_text(struct ep_outbuf *out, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '&')
			ep_outbuf_text(out, "&amp;");
		else if (text[i] == '<')
			ep_outbuf_text(out, "&lt;");
		else if (text[i] == '>')
			ep_outbuf_text(out, "&gt;");
		else if (size - i >= 3 && is_no_character(text + i))
			ep_outbuf_text(out, "\xef\xbf\xbd"), i += 2;
		else
			ep_outbuf_put(out, text + i, 1);
	}
}

/* How many bytes of `text` are its first `letters`. */
static size_t bytes_of(const char *text, size_t letters)
{
	size_t at = 0, size = strlen(text);

	while (letters-- > 0 && at < size) {
		size_t length = ep_utf8_length(text + at, size - at);

		at += length ? length : 1;
	}
	return at;
}

/* What fits into `letters`: of a long name its beginning and its end. */
static void put_label(struct ep_outbuf *out, const char *text, size_t letters)
{
	size_t size = strlen(text), count = 0, head, tail;

	for (size_t at = 0; at < size; count++)
		at += bytes_of(text + at, 1);
	if (letters < 3)
		return;
	if (count <= letters) {
		put_text(out, text, size);
		return;
	}
	head = bytes_of(text, (letters - 1 + 1) / 2);
	tail = bytes_of(text, count - (letters - 1) / 2);
	put_text(out, text, head);
	ep_outbuf_text(out, "\xe2\x80\xa6");
	put_text(out, text + tail, size - tail);
}

static void put_number(struct ep_outbuf *out, const char *before, double value)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%.2f", before, value);
	ep_outbuf_text(out, text);
}

/* The same function has the same colour in every picture; what is no function is grey. */
static void put_colour(struct ep_outbuf *out, const struct ep_calltree_node *node, const char *name)
{
	uint32_t hash = ep_hash_text(name);
	char text[64];

	if (ep_stack_kind(node) == EP_STACK_BRACKET)
		snprintf(text, sizeof(text), "#c8c8c8");
	else if (node->kind == EP_CALLTREE_THREAD)
		snprintf(text, sizeof(text), "#b9cfe4");
	else
		snprintf(text, sizeof(text), "hsl(%u,%u%%,%u%%)", hash % 50, 70 + hash / 64 % 25,
			 62 + hash / 4096 % 12);
	ep_outbuf_text(out, text);
}

static void put_frame(struct svg *svg, const struct ep_flame_frame *frame)
{
	const struct ep_calltree_node *node = &svg->flame.tree.calls.nodes.list[frame->node];
	double scale = (double)(WIDTH - 2 * MARGIN) / (double)svg->flame.total;
	double x = MARGIN + (double)frame->begin * scale, width = (double)frame->weight * scale;
	double y = TOP + (double)(node->depth - 1) * ROW;
	struct ep_outbuf *out = &svg->out;
	char text[EP_FLAME_TEXT], *name;

	if (width < FINEST) {
		svg->fine++;
		return;
	}
	name = ep_stack_name(&svg->flame.tree, node);
	ep_outbuf_text(out, "<g><title>");
	put_text(out, name, strlen(name));
	ep_outbuf_text(out, "\n");
	ep_outbuf_text(out, ep_flame_text(text, &svg->flame, frame->weight));
	put_number(out, ", ", 100 * (double)frame->weight / (double)svg->flame.total);
	put_number(out, " %</title><rect x=\"", x);
	put_number(out, "\" y=\"", y);
	put_number(out, "\" width=\"", width);
	ep_outbuf_text(out, "\" height=\"16\" fill=\"");
	put_colour(out, node, name);
	ep_outbuf_text(out, "\"/>");
	if (width >= 4 * LETTER) {
		put_number(out, "<text x=\"", x + 2);
		put_number(out, "\" y=\"", y + 12);
		ep_outbuf_text(out, "\">");
		put_label(out, name, (size_t)((width - 4) / LETTER));
		ep_outbuf_text(out, "</text>");
	}
	ep_outbuf_text(out, "</g>\n");
	free(name);
}

static void put_head(struct svg *svg)
{
	const char *program = ep_export_program(svg->flame.tree.export->trace);
	uint32_t height = TOP + svg->flame.depth * ROW + 30;
	struct ep_outbuf *out = &svg->out;
	char text[512], weight[EP_FLAME_TEXT];

	snprintf(text, sizeof(text),
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		 "viewBox=\"0 0 %u %u\" font-family=\"monospace\" font-size=\"11\">\n"
		 "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		 "<text x=\"%u\" y=\"24\" font-size=\"14\">",
		 WIDTH, height, WIDTH, height, MARGIN);
	ep_outbuf_text(out, text);
	put_label(out, program, 110);
	ep_outbuf_text(out, ": ");
	ep_outbuf_text(out, ep_flame_text(weight, &svg->flame, svg->flame.total));
	ep_outbuf_text(out, "</text>\n");
}

static void put_foot(struct svg *svg)
{
	char text[160];

	if (svg->fine) {
		snprintf(text, sizeof(text),
			 "<text x=\"%u\" y=\"%u\" fill=\"#666\">%" PRIu64
			 " frames are too narrow to be drawn</text>\n",
			 MARGIN, TOP + svg->flame.depth * ROW + 18, svg->fine);
		ep_outbuf_text(&svg->out, text);
	}
	ep_outbuf_text(&svg->out, "</svg>\n");
}

int ep_svg_write(FILE *out, const struct ep_export *export, uint64_t *shown, struct ep_err *err)
{
	struct svg *svg = ep_calloc(1, sizeof(*svg));
	int rc;

	ep_outbuf_init(&svg->out, out);
	ep_flame_create(&svg->flame, export, shown);
	if (*shown) {
		put_head(svg);
		for (size_t i = 0; i < svg->flame.frames.count; i++)
			put_frame(svg, &svg->flame.frames.list[i]);
		put_foot(svg);
	}
	rc = ep_export_finish(&svg->out, err);
	ep_flame_deinit(&svg->flame);
	free(svg);
	return rc;
}
