/* SPDX-License-Identifier: BSD-2-Clause */
/* named_file.c: each reader is asked for once, whatever it answers. */
#include "decoder/names/named_file.h"

void ep_named_file_deinit(struct ep_named_file *file)
{
	ep_inlines_destroy(file->inlines);
	ep_lines_destroy(file->lines);
	ep_units_destroy(file->units);
	ep_symbols_destroy(file->symbols);
	if (file->opened)
		ep_module_file_close(&file->found);
}

/* Units and lines, or neither. */
static int read_units(struct ep_named_file *file)
{
	Elf *elf = ep_module_file_lines(&file->found);
	int rc;

	if (!elf)
		return EP_END;
	rc = ep_units_create(&file->units, elf, NULL);
	if (rc == EP_OK)
		rc = ep_lines_create(&file->lines, file->units, NULL);
	if (rc != EP_OK) {
		ep_units_destroy(file->units);
		file->units = NULL;
	}
	return rc;
}

struct ep_lines *ep_named_file_lines(struct ep_named_file *file)
{
	if (file->lines_asked)
		return file->lines;
	file->lines_asked = true;
	file->starved |= read_units(file) == EP_E_MEMORY;
	return file->lines;
}

struct ep_inlines *ep_named_file_inlines(struct ep_named_file *file)
{
	struct ep_lines *lines = ep_named_file_lines(file);

	if (file->inlines_asked || !lines)
		return file->inlines;
	file->inlines_asked = true;
	file->starved |=
		ep_inlines_create(&file->inlines, file->units, lines, file->raw, NULL) != EP_OK;
	return file->inlines;
}

/* All functions of a unit are read only where its rows leave a choice. */
struct ep_line ep_named_file_beginning(struct ep_named_file *file, uint64_t start)
{
	struct ep_lines *lines = ep_named_file_lines(file);
	struct ep_inlines *inlines;
	struct ep_declared declared;

	if (!lines)
		return (struct ep_line){0};
	inlines = ep_lines_vary(lines, start) ? ep_named_file_inlines(file) : NULL;
	if (!inlines)
		return ep_lines_begin(lines, start, NULL);
	declared = ep_inlines_declared(inlines, start);
	return ep_lines_begin(lines, start, &declared);
}

bool ep_named_file_starved(const struct ep_named_file *file)
{
	return file->starved || (file->units && ep_units_starved(file->units)) ||
	       (file->lines && ep_lines_starved(file->lines)) ||
	       (file->inlines && ep_inlines_starved(file->inlines));
}
