/* SPDX-License-Identifier: BSD-2-Clause */
/* html.c: a page that opens by a double click, without a server and without a network: page.html,
 * with the style, the data and the script where its marks are. */
#include "decoder/export/html/html.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"

static const struct {
	const char *mark, *text; /* NULL: the data */
} parts[] = {
	{"/*STYLE*/", ep_html_style},
	{"<!--DATA-->", NULL},
	{"/*SCRIPT*/", ep_html_script},
};

struct html_writer {
	struct ep_outbuf out;
	const struct ep_export *export;
	struct ep_html_functions functions;
	struct ep_html_thread *threads; /* by index */
	const char *left;               /* of the page */
	size_t part;
};

/* The page up to the data, or what is left of it behind them. */
static void write_page(struct html_writer *writer)
{
	const char *mark;

	for (; writer->part < sizeof(parts) / sizeof(*parts); writer->part++) {
		mark = strstr(writer->left, parts[writer->part].mark);
		ep_outbuf_put(&writer->out, writer->left, (size_t)(mark - writer->left));
		writer->left = mark + strlen(parts[writer->part].mark);
		if (!parts[writer->part].text) {
			writer->part++;
			return;
		}
		ep_outbuf_text(&writer->out, parts[writer->part].text);
	}
	ep_outbuf_text(&writer->out, writer->left);
}

/* Before the first calls, for a format writes nothing when nothing is selected. */
static int write_calls(struct html_writer *writer, uint64_t *shown)
{
	const struct ep_export *export = writer->export;
	const struct ep_trace *trace = export->trace;
	int rc = EP_OK;

	*shown = 0;
	for (size_t i = 0; !rc && i < trace->thread_count; i++) {
		uint64_t some = 0;

		if (export->selection &&
		    !ep_selection_wants_thread(export->selection, &trace->threads[i]))
			continue;
		rc = ep_html_calls_write(&writer->out, export, i, &writer->functions,
					 &writer->threads[i], &some);
		*shown += some;
	}
	return rc;
}

static void html_writer_deinit(struct html_writer *writer)
{
	for (size_t i = 0; i < writer->export->trace->thread_count; i++)
		ep_array_deinit(&writer->threads[i].levels);
	free(writer->threads);
	ep_array_deinit(&writer->functions.list);
	ep_array_deinit(&writer->functions.numbers);
	free(writer);
}

int ep_html_write(FILE *out, const struct ep_export *export, uint64_t *shown, struct ep_err *err)
{
	struct html_writer *writer = ep_calloc(1, sizeof(*writer));
	int rc;

	writer->export = export;
	writer->left = ep_html_page;
	writer->threads = ep_calloc(export->trace->thread_count, sizeof(*writer->threads));
	ep_outbuf_init(&writer->out, out);
	write_page(writer);
	if (!write_calls(writer, shown) && *shown) {
		ep_html_schedule_write(&writer->out, export->trace, writer->threads);
		ep_html_facts_write(&writer->out, export, &writer->functions, writer->threads);
		write_page(writer);
	} else {
		writer->out.used = 0; /* nothing was selected: less than the buffer holds */
	}
	rc = ep_export_finish(&writer->out, err);
	html_writer_deinit(writer);
	return rc;
}
