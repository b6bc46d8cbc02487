/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_budget.c: any text as a budget file, and as the lines that it is made of.
 *
 * Invariants: what is refused is refused with its place; each line that is taken stands in the text
 * at the place that it names, is found by its names, and holds no byte that is no text; a budget's
 * tests are found, and their names are read back from the sections that are printed of them.
 */
#include "funcount/budget/budget.h"
#include "tests/fuzz/fuzz.h"

/* Where the `number`th line begins. */
static const char *line_at(const char *text, size_t size, size_t number)
{
	const char *end = text + size;

	while (--number && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		text = newline ? newline + 1 : end;
	}
	return text;
}

static void check_text(const char *text)
{
	for (; *text; text++)
		MUST(((unsigned char)*text >= ' ' || *text == '\t') && *text != 127);
}

static void check_line(const struct ep_keyfile *file, const struct ep_keyfile_line *line,
		       const char *text, size_t size)
{
	const char *at = line_at(text, size, line->number) + line->column - 1;
	size_t length = line->key ? strlen(line->value) : 1;

	MUST(at + length <= text + size);
	MUST(!memcmp(at, line->key ? line->value : "[", length));
	MUST(ep_keyfile_find(file, line->section, line->key) == line);
	check_text(line->section);
	check_text(line->key ? line->key : "");
	check_text(line->key ? line->value : "");
}

static void check_name(const char *name)
{
	struct ep_budget again;
	struct ep_err err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	MUST(out);
	ep_budget_section_print(name, out);
	MUST(fclose(out) == 0);
	MUST(ep_budget_parse(&again, "again", text, size, &err) == EP_OK);
	MUST(ep_budget_find(&again, name));
	ep_budget_deinit(&again);
	free(text);
}

static void check_budget(const struct ep_budget *budget)
{
	for (size_t i = 0; i < budget->tests.count; i++) {
		const struct ep_budget_test *test = &budget->tests.list[i];

		MUST(test->tolerance >= 0);
		MUST(ep_budget_find(budget, test->name));
		MUST(ep_budget_most_calls(budget, test, 10) >= 0);
		if (i < 100)
			check_name(test->name);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *text = (const char *)bytes;
	struct ep_budget budget;
	struct ep_keyfile file;
	struct ep_err err = {0};
	int rc = ep_keyfile_parse(&file, "fuzz", text, size, &err);

	if (rc) {
		fuzz_check_failure(rc, &err);
		MUST(rc == EP_E_FORMAT || rc == EP_E_LIMIT);
		return 0;
	}
	for (size_t i = 0; i < file.lines.count && i < 1000; i++)
		check_line(&file, &file.lines.list[i], text, size);
	ep_keyfile_deinit(&file);
	rc = ep_budget_parse(&budget, "fuzz", text, size, &err);
	if (rc) {
		fuzz_check_failure(rc, &err);
		return 0;
	}
	check_budget(&budget);
	ep_budget_deinit(&budget);
	return 0;
}
