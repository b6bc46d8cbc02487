/* SPDX-License-Identifier: BSD-2-Clause */
/* named_file.c: each reader is asked for once, whatever it answers. */
#include "decoder/names/named_file.h"

#include <stdio.h>

void ep_named_file_deinit(struct ep_named_file *file)
{
	ep_inlines_destroy(file->inlines);
	ep_lines_destroy(file->lines);
	ep_units_destroy(file->units);
	ep_symbols_destroy(file->symbols);
	if (file->opened)
		ep_module_file_close(&file->found);
}

struct ep_lines *ep_named_file_lines(struct ep_named_file *file)
{
	Elf *elf;

	if (file->lines_asked)
		return file->lines;
	file->lines_asked = true;
	elf = ep_module_file_lines(&file->found);
	file->units = elf ? ep_units_create(elf) : NULL;
	if (elf)
		ep_units_unread(file->units, elf, file->unread, sizeof(file->unread));
	else if (file->found.unread)
		snprintf(file->unread, sizeof(file->unread), "%s", file->found.unread);
	file->lines = file->units ? ep_lines_create(file->units) : NULL;
	return file->lines;
}

struct ep_inlines *ep_named_file_inlines(struct ep_named_file *file)
{
	struct ep_lines *lines = ep_named_file_lines(file);

	if (lines && !file->inlines)
		file->inlines = ep_inlines_create(file->units, lines, file->raw);
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
