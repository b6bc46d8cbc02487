/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_names.c: any bytes as the file of a module: its identity (build-id, debug link), symbols,
 * DWARF lines, as names. What must hold: each address has a function around it, the same one each
 * time; names are text; only a file whose build-id is the process's (or with force) names anything.
 */
#include <unistd.h>

#include "decoder/names/constant_strings.h"
#include "decoder/names/names.h"
#include "tests/fuzz/fuzz.h"

#define BIAS  UINT64_C(0x7f1200000000)
#define REACH UINT64_C(0x10000)

static void check_function(struct ep_names *names, uint64_t address)
{
	const struct ep_function *f = ep_names_find(names, address, 0);
	struct ep_line line;

	MUST(f != NULL && f->name && f->symbol && f->module);
	MUST(f->start <= f->end);
	MUST(ep_names_find(names, address, 0) == f);
	fuzz_check_text(f->name, strlen(f->name), "");
	if (f->known && f->start < f->end)
		MUST(f->name[0] != '\0' || f->symbol[0] == '\0');
	line = ep_names_function_line(names, f);
	if (line.file)
		fuzz_check_text(line.file, strlen(line.file), "");
	line = ep_names_address_line(names, address, 0);
	if (line.file)
		fuzz_check_text(line.file, strlen(line.file), "");
}

static void check_inlined(struct ep_names *names, uint64_t address)
{
	struct ep_inlined inlined[EP_INLINED_MAX];
	size_t count = ep_names_inlined(names, address, 0, inlined);

	MUST(count <= EP_INLINED_MAX);
	for (size_t i = 0; i < count; i++) {
		fuzz_check_text(inlined[i].name, strlen(inlined[i].name), "");
		if (inlined[i].call.file)
			fuzz_check_text(inlined[i].call.file, strlen(inlined[i].call.file), "");
	}
}

/* Formats of notes are bounded, and the same each time. */
static void check_literals(struct ep_names *names)
{
	for (uint64_t at = 0; at <= REACH; at += 251) {
		const char *text = ep_names_constant_string(names, BIAS + at, 0);

		MUST(!text || strlen(text) <= EP_CONSTANT_STRING_MAX);
		MUST(ep_names_constant_string(names, BIAS + at, 0) == text);
	}
}

static void check_names(const struct ep_trace_module *module,
			const struct ep_names_options *options, size_t size)
{
	struct ep_names *names;
	const char *text;

	names = ep_names_create(module, 1, options);
	for (uint64_t at = 0x200; at < 0x600; at += 16)
		check_function(names, BIAS + at); /* the seeds' code */
	for (uint64_t at = 0x200; at < 0x600; at += 16)
		check_inlined(names, BIAS + at);
	for (uint64_t at = 0; at < REACH; at += size < 8192 ? 251 : 1021)
		check_function(names, BIAS + at);
	check_function(names, BIAS + 0x1000);
	check_function(names, BIAS + REACH - 1);
	check_function(names, BIAS + REACH);
	check_literals(names);
	for (size_t i = 0; (text = ep_names_warning(names, i)); i++)
		MUST(i < 4 && text[0] && !strchr(text, '\n'));
	ep_names_destroy(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct ep_names_options options = {.force = true, .sysroot = "/nonexistent"};
	char path[64];
	int fd = fuzz_file(bytes, size, path);
	struct ep_trace_module module = {.start = BIAS,
					 .end = BIAS + REACH,
					 .bias = BIAS,
					 .path = path,
					 .flags = EP_MODULE_EXECUTABLE};

	options.executable = path;
	check_names(&module, &options, size);
	module.build_id_size = 20; /* zeroes: hardly its own */
	options.force = false;
	check_names(&module, &options, size);
	close(fd);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
	return fuzz_mutate(bytes, size, max_size, seed, NULL);
}
