/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_assembly.c: any text as a list, any other as assembly. What is filtered has as many lines;
 * functions that were not stripped are as they were, those that were call no hook.
 */
#include "funcount/filter/filter.h"
#include "tests/fuzz/fuzz.h"

static size_t lines(const char *text, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += text[i] == '\n';
	return count;
}

/* A last line without a newline that was emptied is no line any more. */
static bool emptied_end(const struct ep_filter *filter, const char *text, size_t size)
{
	const struct ep_assembly *was = &filter->assembly;

	return was->size && was->text[was->size - 1] != '\n' && (!size || text[size - 1] == '\n');
}

static void check_again(const struct ep_filter *filter, const char *text, size_t size)
{
	struct ep_assembly again;
	struct ep_err err;

	MUST(ep_assembly_read(&again, text, size, &err) == 0);
	MUST(again.functions.count == filter->assembly.functions.count);
	MUST(again.lines.count + emptied_end(filter, text, size) == filter->assembly.lines.count);
	for (uint32_t i = 0; i < again.functions.count; i++)
		MUST(again.functions.list[i].sites ==
		     (filter->outcomes[i].stripped ? 0 : filter->assembly.functions.list[i].sites));
	for (uint32_t i = 0; i < again.lines.count; i++) {
		uint32_t function = again.lines.list[i].function;

		if (function == EP_NO_FUNCTION || !filter->outcomes[function].stripped)
			MUST(ep_piece_equal(ep_assembly_line(&again, i),
					    ep_assembly_line(&filter->assembly, i)));
	}
	ep_assembly_deinit(&again);
}

static void check(struct ep_rules *rules, const char *text, size_t size)
{
	struct ep_filter filter;
	struct ep_err err;
	char *made = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&made, &length);

	MUST(out && ep_filter_decide(&filter, rules, text, size, &err) == 0);
	ep_filter_write(&filter, out);
	fclose(out);
	MUST(lines(made, length) == lines(text, size));
	if (!filter.stripped)
		MUST(length == size && (!size || !memcmp(made, text, size)));
	check_again(&filter, made, length);
	free(made);
	out = open_memstream(&made, &length);
	MUST(out);
	ep_filter_report(&filter, rules, "fuzz", "text", true, out);
	fclose(out);
	free(made);
	ep_filter_deinit(&filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_bytes left = {bytes, size};
	char *list = fuzz_take_text(&left, 4096), *text;
	struct ep_rules rules = {
		.threshold = size % 3 ? 0 : 20, .ignore_loops = size % 2, .conventions = size % 8};
	struct ep_err err;

	MUST(ep_list_add(&rules.no_trace, "list", list, strlen(list), &err) == 0);
	text = malloc(left.left + 1);
	MUST(text);
	memcpy(text, left.at, left.left);
	check(&rules, text, left.left);
	free(text);
	free(list);
	ep_rules_deinit(&rules);
	return 0;
}
