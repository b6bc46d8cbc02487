/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_budget.c: any text as a budget file, and as the sheet that it is.
 *
 * Invariants: what is refused is told with its place; what is taken comes out as it came in, but
 * for line ends; a value that is set is read back, and the file with it is taken again.
 */
#include "funcount/budget/budget.h"
#include "tests/fuzz/fuzz.h"

static char *printed(const struct ep_sheet *sheet, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	MUST(out);
	ep_sheet_print(sheet, out);
	MUST(fclose(out) == 0);
	return text;
}

/* Without line ends both are the same bytes. */
static void same_but_for_ends(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t i = 0, j = 0;

	for (;;) {
		while (i < a_size && (a[i] == '\n' || a[i] == '\r'))
			i++;
		while (j < b_size && (b[j] == '\n' || b[j] == '\r'))
			j++;
		if (i == a_size || j == b_size)
			break;
		MUST(a[i++] == b[j++]);
	}
	MUST(i == a_size && j == b_size);
}

static void try_change(struct ep_sheet *sheet)
{
	struct ep_err err = {0};
	struct ep_sheet again;
	size_t size;
	char *text;

	if (ep_sheet_set(sheet, "test fuzz", "reference-calls", "12", &err))
		return;
	MUST(!strcmp(ep_sheet_get(sheet, "test fuzz", "reference-calls"), "12"));
	text = printed(sheet, &size);
	MUST(ep_sheet_parse(&again, "again", text, size, &err) == EP_OK);
	MUST(!strcmp(ep_sheet_get(&again, "test fuzz", "reference-calls"), "12"));
	ep_sheet_deinit(&again);
	free(text);
}

static void check_budget(const struct ep_budget *budget)
{
	for (size_t i = 0; i < budget->count; i++) {
		const struct ep_budget_test *test = &budget->tests[i];

		MUST(test->tolerance >= 0 && test->line > 0);
		MUST(ep_budget_find(budget, test->name));
		MUST(ep_budget_most_calls(budget, test, 10) >= 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *text = (const char *)bytes;
	struct ep_budget budget;
	struct ep_sheet sheet;
	struct ep_err err = {0};
	size_t out_size;
	char *out;
	int rc = ep_sheet_parse(&sheet, "fuzz", text, size, &err);

	if (rc) {
		fuzz_check_failure(rc, &err);
		MUST(rc == EP_E_FORMAT || rc == EP_E_LIMIT);
		return 0;
	}
	out = printed(&sheet, &out_size);
	same_but_for_ends(text, size, out, out_size);
	free(out);
	rc = ep_budget_parse(&budget, "fuzz", text, size, &err);
	if (rc)
		fuzz_check_failure(rc, &err);
	else
		check_budget(&budget);
	if (!rc)
		ep_budget_deinit(&budget);
	try_change(&sheet);
	ep_sheet_deinit(&sheet);
	return 0;
}
