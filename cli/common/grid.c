/* SPDX-License-Identifier: BSD-2-Clause */
/* grid.c: rows of values; a layout is how a head, a cell and an end look in it. */
#include "cli/common/grid.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"
#include "decoder/names/short_name.h"
#include "decoder/util/fit.h"
#include "decoder/util/timetext.h"

#define NAME_LEAST 16u /* columns of it, however narrow the terminal is */

int ep_choose_form(struct ep_table_form *form, const struct ep_arguments *arguments)
{
	bool csv = ep_argument_given(arguments, "csv");
	bool json = ep_argument_given(arguments, "json");

	if (csv && json) {
		ep_say("--csv or --json, not both");
		return EP_EXIT_USAGE;
	}
	form->layout = csv ? EP_LAYOUT_CSV : json ? EP_LAYOUT_JSON : EP_LAYOUT_TEXT;
	return ep_argument_number(arguments, "limit", 1, UINT64_MAX,
				  "a number of functions, from 1", &form->limit);
}

size_t ep_form_rows(const struct ep_table_form *form, size_t count)
{
	return form->limit && form->limit < count ? (size_t)form->limit : count;
}

/* ---- which columns ---- */

void ep_grid_hide(struct ep_grid *grid, size_t i)
{
	grid->hidden |= UINT64_C(1) << i;
}

static bool is_there(const struct ep_grid *grid, size_t i)
{
	return !(grid->hidden >> i & 1);
}

void ep_grid_init(struct ep_grid *grid, FILE *out, enum ep_layout layout,
		  const struct ep_column *columns, size_t count)
{
	*grid = (struct ep_grid){.out = out, .layout = layout, .columns = columns};
	grid->count = count;
	ep_json_init(&grid->json, out);
	for (size_t i = 0; i < count; i++)
		if (layout == EP_LAYOUT_TEXT ? !columns[i].head
					     : !columns[i].key || columns[i].not_in == layout)
			ep_grid_hide(grid, i);
}

/* Columns of text that all need. */
static size_t needed(const struct ep_grid *grid)
{
	size_t width = 1 + NAME_LEAST;

	for (size_t i = 0; i < grid->count; i++)
		if (is_there(grid, i) && grid->columns[i].width)
			width += (size_t)abs(grid->columns[i].width) + 1;
	return width;
}

void ep_grid_fit(struct ep_grid *grid, size_t width, size_t kept)
{
	grid->width = width;
	for (unsigned turn = 1; turn <= EP_COLUMN_DROPS && width && needed(grid) > width; turn++)
		for (size_t i = 0; i < grid->count; i++)
			if (grid->columns[i].drop == turn && i != kept)
				ep_grid_hide(grid, i);
}

/* ---- text ---- */

/* Names stand two blanks behind the numbers. */
static size_t gap_before(const struct ep_grid *grid, size_t i)
{
	return grid->used ? 1 + (i == grid->names) : 0;
}

static void put_cell(struct ep_grid *grid, size_t i, const char *before, enum ep_color color,
		     const char *text)
{
	int width = grid->columns[i].width, gap = (int)gap_before(grid, i);
	int used = (int)(ep_fit_columns(before) + ep_fit_columns(text));
	int blanks = used < abs(width) ? abs(width) - used : 0;

	fprintf(grid->out, "%*s%s%s%s%s%*s", gap + (width > 0 ? blanks : 0), "", before,
		color ? ep_color(color) : "", text, color ? ep_color(EP_PLAIN) : "",
		width < 0 ? blanks : 0, "");
	grid->used += (size_t)(gap + used + blanks);
}

/* On a terminal a name gets what is left of the line. */
static void put_name(struct ep_grid *grid, size_t i, const char *before, const char *name)
{
	size_t used = grid->used + gap_before(grid, i) + ep_fit_columns(before);
	size_t room = grid->width > used + NAME_LEAST ? grid->width - used : NAME_LEAST;
	char *said = grid->width ? ep_short_name(name) : ep_strdup(name);
	char *cut = ep_fit_name(said, grid->width ? room : EP_FIT_ALL);

	put_cell(grid, i, before, grid->columns[i].color, cut);
	free(cut);
	free(said);
}

/* A value as it is: of CSV. */
static const char *plain(char out[EP_TIMETEXT_SIZE], const struct ep_cell *cell)
{
	char *end = out + EP_TIMETEXT_SIZE - 1;

	*end = '\0';
	switch (cell->kind) {
	case EP_CELL_ABSENT:
		return "";
	case EP_CELL_TEXT:
	case EP_CELL_WORD:
		return cell->text;
	case EP_CELL_NS:
	case EP_CELL_RANGE:
		return ep_digits_int(end, cell->ns);
	case EP_CELL_ADDRESS:
		return ep_digits_hex(end, cell->number);
	default:
		return ep_digits_uint(end, cell->number);
	}
}

static void text_cell(struct ep_grid *grid, size_t i, const struct ep_cell *cell)
{
	const struct ep_column *column = &grid->columns[i];
	const char *before = cell->before ?: "";
	char out[EP_TIMETEXT_SIZE];

	if (!column->width && cell->kind == EP_CELL_ABSENT)
		return;
	if (cell->dash || cell->kind == EP_CELL_ABSENT)
		put_cell(grid, i, "", EP_PLAIN, "-");
	else if (column->name)
		put_name(grid, i, before, cell->text);
	else if (cell->kind == EP_CELL_NS)
		put_cell(grid, i, before, column->color, ep_timetext(out, cell->ns));
	else if (cell->kind == EP_CELL_RANGE)
		put_cell(grid, i, before, column->color,
			 ep_timetext_range(out, cell->ns, cell->least, cell->most));
	else
		put_cell(grid, i, before, column->color, plain(out, cell));
}

size_t ep_grid_room(const struct ep_grid *grid)
{
	if (!grid->width)
		return EP_FIT_ALL;
	return grid->used + 1 < grid->width ? grid->width - grid->used : 1;
}

/* ---- CSV ---- */

static void csv_text(FILE *out, const char *text)
{
	size_t left = strlen(text), taken;
	char shown[5];

	fputc('"', out);
	if (ep_is_formula(text))
		fputc('\'', out);
	for (; left; text += taken, left -= taken) {
		if (*text == '"')
			fputc('"', out);
		taken = ep_utf8_show(text, left, shown);
		fputs(shown, out);
	}
	fputc('"', out);
}

static void json_cell(struct ep_json *json, const struct ep_cell *cell)
{
	char out[EP_TIMETEXT_SIZE];

	if (cell->kind == EP_CELL_ABSENT)
		ep_json_null(json);
	else if (cell->kind == EP_CELL_NS || cell->kind == EP_CELL_RANGE)
		ep_json_int(json, cell->ns);
	else if (cell->kind == EP_CELL_COUNT)
		ep_json_uint(json, cell->number);
	else if (cell->kind == EP_CELL_TRUTH)
		ep_json_bool(json, cell->number);
	else
		ep_json_string(json, plain(out, cell));
}

struct ep_json *ep_grid_object(struct ep_grid *grid, const char *format)
{
	struct ep_json *json = &grid->json;

	if (grid->layout != EP_LAYOUT_JSON)
		return NULL;
	ep_json_object(json);
	ep_json_member_text(json, "format", format);
	ep_json_member_uint(json, "version", 1);
	return json;
}

/* ---- heads and rows ---- */

void ep_grid_head(struct ep_grid *grid, const char *rows)
{
	grid->rows = rows;
	grid->used = 0;
	if (grid->layout == EP_LAYOUT_JSON) {
		if (rows)
			ep_json_key(&grid->json, rows);
		ep_json_array(&grid->json);
		return;
	}
	grid->names = grid->count;
	for (size_t i = grid->count; i-- > 0 && grid->columns[i].width <= 0;)
		if (is_there(grid, i))
			grid->names = i;
	if (grid->layout == EP_LAYOUT_TEXT)
		fputs(ep_color(EP_BOLD), grid->out);
	for (size_t i = 0; i < grid->count; i++) {
		const struct ep_column *column = &grid->columns[i];

		if (is_there(grid, i) && grid->layout == EP_LAYOUT_CSV)
			fprintf(grid->out, "%s%s", grid->used++ ? "," : "", column->key);
		else if (is_there(grid, i) && *column->head)
			put_cell(grid, i, "", EP_PLAIN, column->head);
	}
	fprintf(grid->out, "%s\n", grid->layout == EP_LAYOUT_TEXT ? ep_color(EP_PLAIN) : "");
}

void ep_grid_row_begin(struct ep_grid *grid, const struct ep_cell *cells)
{
	char out[EP_TIMETEXT_SIZE];

	grid->used = 0;
	if (grid->layout == EP_LAYOUT_JSON) {
		ep_json_newline(&grid->json);
		ep_json_object(&grid->json);
	}
	for (size_t i = 0; i < grid->count; i++) {
		const struct ep_cell *cell = &cells[i];

		if (!is_there(grid, i))
			continue;
		if (grid->layout == EP_LAYOUT_TEXT) {
			text_cell(grid, i, cell);
		} else if (grid->layout == EP_LAYOUT_CSV) {
			fputs(grid->used++ ? "," : "", grid->out);
			if (cell->kind == EP_CELL_TEXT)
				csv_text(grid->out, cell->text);
			else
				fputs(plain(out, cell), grid->out);
		} else if (cell->kind != EP_CELL_ABSENT || !grid->columns[i].optional) {
			ep_json_key(&grid->json, grid->columns[i].key);
			json_cell(&grid->json, cell);
		}
	}
}

void ep_grid_row_end(struct ep_grid *grid)
{
	if (grid->layout == EP_LAYOUT_JSON)
		ep_json_object_end(&grid->json);
	else
		fputc('\n', grid->out);
}

void ep_grid_finish(struct ep_grid *grid)
{
	if (grid->layout != EP_LAYOUT_JSON)
		return;
	if (grid->rows)
		ep_json_newline(&grid->json);
	ep_json_array_end(&grid->json);
	if (grid->rows)
		ep_json_object_end(&grid->json);
	ep_json_newline(&grid->json);
	ep_json_finish(&grid->json);
}
