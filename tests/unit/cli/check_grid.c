/* SPDX-License-Identifier: BSD-2-Clause */
/* check_grid.c: one declaration of columns as text, CSV and JSON. */
#include "cli/common/grid.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "tests/unit/main.h"

enum { WHO, ID, CALLS, TOTAL, MEDIAN, ADDRESS, KIND, INSIDE, FUNCTION, COLUMNS };

static const struct ep_column columns[COLUMNS] = {
	[WHO] = {.head = "thread", .key = "thread", .width = -8},
	[ID] = {.key = "build_id", .not_in = EP_LAYOUT_JSON},
	[CALLS] = {.head = "calls", .key = "calls", .width = 6, .drop = 2},
	[TOTAL] = {.head = "total", .key = "total_ns", .width = 9, .drop = 1},
	[MEDIAN] = {.head = "median", .key = "median_ns", .width = 9, .drop = 1},
	[ADDRESS] = {.key = "address"},
	[KIND] = {.key = "kind", .not_in = EP_LAYOUT_CSV, .optional = true},
	[INSIDE] = {.key = "inside"},
	[FUNCTION] = {.head = "function", .key = "function", .name = true},
};

static const struct ep_cell full[COLUMNS] = {
	[WHO] = {EP_CELL_TEXT, .text = "main"},
	[ID] = {EP_CELL_WORD, .text = "beef"},
	[CALLS] = {EP_CELL_COUNT, .number = UINT64_MAX},
	[TOTAL] = {EP_CELL_NS, .ns = -1500, .before = ">"},
	[MEDIAN] = {EP_CELL_NS, .ns = 870, .dash = true},
	[ADDRESS] = {EP_CELL_ADDRESS, .number = 0x1f},
	[KIND] = {EP_CELL_TEXT, .text = "span"},
	[INSIDE] = {EP_CELL_TRUTH, .number = 1},
	[FUNCTION] = {EP_CELL_TEXT, .text = "f", .before = "span "},
};

/* A table of one row. */
static void prints_keeping(enum ep_layout layout, size_t width, size_t kept,
			   const struct ep_cell *cells, const char *expected)
{
	struct ep_grid grid;
	char *written;
	size_t size;
	FILE *out = ep_open_memstream(&written, &size);

	ep_grid_init(&grid, out, layout, columns, COLUMNS);
	ep_grid_fit(&grid, width, kept);
	ep_grid_object(&grid, "some");
	ep_grid_head(&grid, "rows");
	ep_grid_row_begin(&grid, cells);
	ep_grid_row_end(&grid);
	ep_grid_finish(&grid);
	ep_close_memstream(out);
	ck_assert_str_eq(written, expected);
	free(written);
}

static void prints(enum ep_layout layout, size_t width, const struct ep_cell *cells,
		   const char *expected)
{
	prints_keeping(layout, width, MEDIAN, cells, expected);
}

static void prints_who(enum ep_layout layout, const char *who, const char *expected)
{
	struct ep_cell cells[COLUMNS] = {[WHO] = EP_TEXT(who), [FUNCTION] = EP_TEXT("f")};

	prints(layout, 0, cells, expected);
}

#define HEAD "thread    calls     total    median  function\n"
#define CSV  "thread,build_id,calls,total_ns,median_ns,address,inside,function\n"

START_TEST(text_has_columns_and_names_stand_two_blanks_behind)
{
	struct ep_cell small[COLUMNS];

	memcpy(small, full, sizeof(small));
	small[CALLS].number = 7;
	prints(EP_LAYOUT_TEXT, 0, small, HEAD "main          7 >-1.500 us         -  span f\n");
}
END_TEST

START_TEST(what_is_too_wide_moves_the_rest_and_is_whole)
{
	prints(EP_LAYOUT_TEXT, 0, full,
	       HEAD "main     18446744073709551615 >-1.500 us         -  span f\n");
	prints_who(EP_LAYOUT_TEXT, "a long name",
		   HEAD "a long name      -         -         -  f\n");
}
END_TEST

START_TEST(a_tail_without_a_value_leaves_no_trace)
{
	static const struct ep_cell cells[COLUMNS];

	prints(EP_LAYOUT_TEXT, 0, cells, HEAD "-             -         -         -\n");
}
END_TEST

START_TEST(columns_are_what_a_terminal_shows)
{
	const char *rest = "     -         -         -  f\n";
	static const char *const names[] = {"漢字", "e\u0301te\u0301", "\U0001f600", "ä"};
	static const char *const padded[] = {"漢字     ", "e\u0301te\u0301      ",
					     "\U0001f600       ", "ä        "};
	char expected[160];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(expected, sizeof(expected), HEAD "%s%s", padded[i], rest);
		prints_who(EP_LAYOUT_TEXT, names[i], expected);
	}
}
END_TEST

START_TEST(csv_has_every_value_and_quotes_of_rfc_4180)
{
	prints(EP_LAYOUT_CSV, 0, full,
	       CSV "\"main\",beef,18446744073709551615,-1500,870,0x1f,1,\"f\"\n");
	prints_who(EP_LAYOUT_CSV, "a \"b\", c\n", CSV "\"a \"\"b\"\", c\\x0a\",,,,,,,\"f\"\n");
}
END_TEST

START_TEST(csv_is_nothing_that_a_spreadsheet_runs)
{
	prints_who(EP_LAYOUT_CSV, "=1+1", CSV "\"'=1+1\",,,,,,,\"f\"\n");
}
END_TEST

START_TEST(json_has_the_types_of_values)
{
	prints(EP_LAYOUT_JSON, 0, full,
	       "{\"format\":\"some\",\"version\":1,\"rows\":[\n{\"thread\":\"main\","
	       "\"calls\":18446744073709551615,\"total_ns\":-1500,\"median_ns\":870,"
	       "\"address\":\"0x1f\",\"kind\":\"span\",\"inside\":true,\"function\":\"f\"}\n]}\n");
}
END_TEST

START_TEST(json_says_null_but_of_what_is_optional)
{
	prints_who(EP_LAYOUT_JSON, "x",
		   "{\"format\":\"some\",\"version\":1,\"rows\":[\n{\"thread\":\"x\","
		   "\"calls\":null,\"total_ns\":null,\"median_ns\":null,\"address\":null,"
		   "\"inside\":null,\"function\":\"f\"}\n]}\n");
}
END_TEST

START_TEST(an_array_of_no_rows_needs_no_object)
{
	struct ep_grid grid;
	char *written;
	size_t size;
	FILE *out = ep_open_memstream(&written, &size);

	ep_grid_init(&grid, out, EP_LAYOUT_JSON, columns, COLUMNS);
	ep_grid_head(&grid, NULL);
	ep_grid_finish(&grid);
	ep_close_memstream(out);
	ck_assert_str_eq(written, "[]\n");
	free(written);
}
END_TEST

START_TEST(on_a_narrow_terminal_columns_go_by_turns_and_the_kept_one_stays)
{
	struct ep_cell cells[COLUMNS] = {[FUNCTION] = EP_TEXT("abcdefghijklmnopqrstuvwxyz")};

	prints(EP_LAYOUT_TEXT, 53, cells,
	       HEAD "-             -         -         -  abcdefgh…tuvwxyz\n");
	prints(EP_LAYOUT_TEXT, 52, cells,
	       "thread    calls    median  function\n"
	       "-             -         -  abcdefghijkl…opqrstuvwxyz\n");
	/* Those of one turn go together. */
	prints_keeping(EP_LAYOUT_TEXT, 52, COLUMNS, cells,
		       "thread    calls  function\n"
		       "-             -  abcdefghijklmnopqrstuvwxyz\n");
	prints(EP_LAYOUT_TEXT, 42, cells,
	       "thread      median  function\n"
	       "-                -  abcdefghijk…qrstuvwxyz\n");
	prints(EP_LAYOUT_TEXT, 10, cells,
	       "thread      median  function\n"
	       "-                -  abcdefgh…tuvwxyz\n");
}
END_TEST

START_TEST(what_is_behind_a_row_knows_its_room)
{
	struct ep_cell cells[COLUMNS] = {[FUNCTION] = EP_TEXT("abc")};
	struct ep_grid grid;
	char *written;
	size_t size;
	FILE *out = ep_open_memstream(&written, &size);

	ep_grid_init(&grid, out, EP_LAYOUT_TEXT, columns, COLUMNS);
	ep_grid_hide(&grid, TOTAL);
	ep_grid_fit(&grid, 80, COLUMNS);
	ep_grid_head(&grid, NULL);
	ep_grid_row_begin(&grid, cells);
	ck_assert_uint_eq(ep_grid_room(&grid), 80 - strlen("-             -         -  abc"));
	grid.width = 20;
	ck_assert_uint_eq(ep_grid_room(&grid), 1);
	grid.width = 0;
	ck_assert_uint_eq(ep_grid_room(&grid), 0);
	ep_close_memstream(out);
	free(written);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("grid");
	TCase *tests = tcase_create("grid");

	tcase_add_test(tests, text_has_columns_and_names_stand_two_blanks_behind);
	tcase_add_test(tests, what_is_too_wide_moves_the_rest_and_is_whole);
	tcase_add_test(tests, a_tail_without_a_value_leaves_no_trace);
	tcase_add_test(tests, columns_are_what_a_terminal_shows);
	tcase_add_test(tests, csv_has_every_value_and_quotes_of_rfc_4180);
	tcase_add_test(tests, csv_is_nothing_that_a_spreadsheet_runs);
	tcase_add_test(tests, json_has_the_types_of_values);
	tcase_add_test(tests, json_says_null_but_of_what_is_optional);
	tcase_add_test(tests, an_array_of_no_rows_needs_no_object);
	tcase_add_test(tests, on_a_narrow_terminal_columns_go_by_turns_and_the_kept_one_stays);
	tcase_add_test(tests, what_is_behind_a_row_knows_its_room);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
