/* SPDX-License-Identifier: BSD-2-Clause */
/* table_file.c: cells of a CSV file. */
#include "decoder/export/tables/table_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/utf8.h"

void ep_table_begin(struct ep_table_file *table, FILE *file, const struct ep_table_spec *spec)
{
	table->file = file;
	table->row = false;
	ep_outbuf_init(&table->out, file);
	for (const struct ep_table_column *column = spec->columns; column->name; column++)
		ep_table_word(table, column->name);
	ep_table_row(table);
}

int ep_table_end(struct ep_table_file *table, struct ep_err *err)
{
	int reason = ep_outbuf_finish(&table->out) ? errno : 0;

	if (fclose(table->file) && !reason)
		reason = errno;
	table->file = NULL;
	if (!reason)
		return EP_OK;
	ep_err_set(err, EP_E_IO, 0, "%s", strerror(reason));
	errno = reason;
	return EP_E_IO;
}

/* Always in quotes: a name may look like a number. */
void ep_table_text(struct ep_table_file *table, const char *text)
{
	struct ep_outbuf *out = &table->out;
	const char *quote;
	char *clean;

	ep_table_cell(table);
	if (!text || !*text)
		return;
	clean = ep_utf8_escape(text, strlen(text));
	ep_outbuf_text(out, ep_is_formula(clean) ? "\"'" : "\"");
	for (text = clean; (quote = strchr(text, '"')); text = quote + 1) {
		ep_outbuf_put(out, text, (size_t)(quote - text));
		ep_outbuf_text(out, "\"\"");
	}
	ep_outbuf_text(out, text);
	ep_outbuf_put(out, "\"", 1);
	free(clean);
}

void ep_table_word(struct ep_table_file *table, const char *word)
{
	ep_table_cell(table);
	ep_outbuf_text(&table->out, word);
}
