/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * addresses.c: what we say of addresses, for comparison with what others say: addresses FILE
 * [DEBUG_PATH...], addresses in hexadecimal on stdin, one a line. Tab-separated: function, symbol,
 * line of its beginning, line of the address, then for each inlined call, innermost first, name and
 * place of call.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "decoder/names/names.h"

static void put_line(struct ep_line line)
{
	printf("\t%s:%" PRIu32, line.file ? line.file : "??", line.line);
}

static void answer(struct ep_names *names, uint64_t address)
{
	const struct ep_function *function = ep_names_find(names, address, 0);
	struct ep_inlined inlined[EP_INLINED_MAX];
	size_t count = ep_names_inlined(names, address, 0, inlined);

	printf("%s\t%s", function->name, function->symbol);
	put_line(ep_names_function_line(names, function));
	put_line(ep_names_address_line(names, address, 0));
	for (size_t i = 0; i < count; i++) {
		printf("\t%s", inlined[i].name);
		put_line(inlined[i].call);
	}
	putchar('\n');
}

int main(int argc, char *argv[])
{
	struct ep_names_options options = {.force = true};
	struct ep_trace_module module = {.end = UINT64_C(1) << 40};
	char path[PATH_MAX], line[64];
	struct ep_names *names;
	const char *text;

	if (argc < 2 || !realpath(argv[1], path))
		return 64;
	module.path = path;
	options.debug_paths = (const char *const *)argv + 2;
	options.debug_path_count = (size_t)argc - 2;
	names = ep_names_create(&module, 1, &options);
	while (fgets(line, sizeof(line), stdin))
		answer(names, strtoull(line, NULL, 16));
	for (size_t i = 0; (text = ep_names_warning(names, i)); i++)
		fprintf(stderr, "%s\n", text);
	ep_names_destroy(names);
	return 0;
}
