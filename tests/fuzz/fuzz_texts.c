/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_texts.c: any text where users and programs give texts: EPITAPH_ settings, times and
 * selections, command lines, file name patterns, symbols to demangle, strings for JSON and
 * terminals. The first byte says which.
 *
 * Invariants: what is refused changes nothing and is told; what is taken lies in its documented
 * range, and, written out again, means the same; outputs are valid.
 */
#include "cli/commands.h"
#include "cli/common/choose.h"
#include "coredump/files/pattern.h"
#include "decoder/util/json.h"
#include "decoder/names/names.h"
#include "decoder/symbols/demangle.h"
#include "decoder/util/timetext.h"
#include "coredump/util/utf8.h"
#include "tests/fuzz/fuzz.h"

/* The runtime's own complaints go here and not to stderr. */
static unsigned complaints;
static bool complained_cut;
#define ep_complain fuzz_complain
struct ep_text;
static void fuzz_complain(const struct ep_text *text);
#include "runtime/settings/settings.c"
#undef ep_complain

static void fuzz_complain(const struct ep_text *text)
{
	MUST(text->used < text->size && text->bytes[text->used] == '\0');
	complained_cut |= text->cut;
	complaints++;
}

/* ---- the runtime's settings ---- */

static struct ep_settings defaults; /* as the runtime's data has them */

static void check_settings(void)
{
	const struct ep_settings *s = &ep_settings;

	MUST(power_of_two(s->ring_size) && s->ring_size >= 4096 && s->ring_size <= 1u << 30);
	MUST(s->memory_size % 4096 == 0 && s->memory_size >= 512u << 10 &&
	     s->memory_size <= 32ull << 30);
	MUST(s->timestamp_every == 0 ||
	     (power_of_two(s->timestamp_every) && s->timestamp_every <= 64));
	MUST(s->budget <= 1000000 && s->clock_budget >= 100 && s->clock_budget <= 1000000);
	MUST(s->min_duration <= UINT64_C(3600000000000));
	MUST(!s->min_duration || s->timestamp_every == 1);
	MUST(s->snapshot_signal >= 0 && s->snapshot_signal <= RTMAX &&
	     s->snapshot_signal != SIGKILL && s->snapshot_signal != SIGSTOP);
	MUST(strlen(s->output) < sizeof(output_bytes) && ep_path_pattern_good(s->output));
	MUST(s->refused == complaints);
	MUST(!complained_cut);
}

static void try_settings(struct fuzz_bytes *bytes)
{
	char *entries[9] = {NULL}, *end[] = {NULL};
	size_t count = 0;

	while (bytes->left && count < 8)
		entries[count++] = fuzz_take_text(bytes, 8192);
	ep_settings = defaults;
	complaints = 0;
	ep_settings_read(end);
	MUST(memcmp(&ep_settings, &defaults, sizeof(defaults)) == 0);
	ep_settings_read(entries);
	check_settings();
	for (size_t i = 0; i < count; i++)
		free(entries[i]);
}

/* One setting by its number: the mutator need not learn the names. */
static void try_setting(struct fuzz_bytes *bytes)
{
	size_t count = sizeof(settings) / sizeof(*settings);
	const struct setting *one = &settings[fuzz_take8(bytes) % count];
	char *value = fuzz_take_text(bytes, 8192), *entry;
	char *entries[2] = {NULL};

	MUST(asprintf(&entry, "%s=%s", one->name, value) > 0);
	entries[0] = entry;
	ep_settings = defaults;
	complaints = 0;
	ep_settings_read(entries);
	check_settings();
	free(entry);
	free(value);
}

/* ---- times and selections ---- */

static void try_time(struct fuzz_bytes *bytes)
{
	char *text = fuzz_take_text(bytes, 256), out[EP_TIMETEXT_SIZE + 16];
	struct ep_selection selection = {0};
	struct ep_when when = {.ns = 5};
	int64_t ns = 77;

	if (!ep_timetext_parse(text, &ns))
		MUST(ns == 77);
	ep_timetext(out, ns);
	fuzz_check_text(out, strlen(out), "");
	ep_timetext_clock(out, (uint64_t)ns);
	fuzz_check_text(out, strlen(out), "");
	ep_counttext(out, (uint64_t)ns);
	MUST(strlen(out) < EP_TIMETEXT_SIZE);
	if (ep_when_parse(text, &when)) {
		MUST(when.given);
		MUST(text[0] == (when.from_end ? '-' : '+'));
	}
	if (ep_selection_parse_last(&selection, text))
		MUST(!selection.last_calls || !selection.last_ns);
	free(text);
}

/* Whole nanoseconds survive being written and read. */
static void try_number(struct fuzz_bytes *bytes)
{
	int64_t ns = (int64_t)fuzz_take64(bytes), again;
	char out[EP_TIMETEXT_SIZE], text[64];

	ep_timetext(out, ns);
	MUST(strlen(out) < sizeof(out));
	if (ns < 0 || ns >= INT64_C(1000000000000000000))
		return;
	snprintf(text, sizeof(text), "%lldns", (long long)ns);
	MUST(ep_timetext_parse(text, &again) && again == ns);
}

/* ---- command lines ---- */

static void count_options(const struct ep_command *command)
{
	size_t count = 0;

	while (ep_command_option(command, count))
		count++;
	MUST(count <= EP_OPTIONS_MAX);
}

static void try_command(struct fuzz_bytes *bytes)
{
	static FILE *nowhere;
	FILE *told = stderr;
	size_t commands = 0;
	const struct ep_command *command;
	char *words[EP_VALUES_MAX + 9], *owned[EP_VALUES_MAX + 9];
	struct ep_arguments arguments;
	struct ep_selection selection;
	int count = 1, taken = 0;

	while (ep_commands[commands])
		commands++;
	command = ep_commands[fuzz_take8(bytes) % commands];
	count_options(command);
	owned[0] = words[0] = (char *)command->name;
	while (bytes->left && count < EP_VALUES_MAX + 8) {
		words[count] = owned[count] = fuzz_take_text(bytes, 512);
		count++;
	}
	words[count] = NULL;
	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	stderr = nowhere; /* what commands say is not judged here */
	if (ep_arguments_parse(&arguments, command, count, words) == 0) {
		MUST(arguments.given_count <= EP_VALUES_MAX);
		for (size_t i = 0; i < arguments.given_count; i++)
			MUST(arguments.given[i].option && arguments.given[i].value);
		ep_choose(&selection, &arguments);
	} else if (count > 1) {
		ep_command_named(ep_commands, count - 1, owned + 1, &taken);
		MUST(taken == 1 || taken == 2);
	}
	stderr = told;
	while (count > 1)
		free(owned[--count]);
}

/* ---- file names ---- */

static void try_pattern(struct fuzz_bytes *bytes)
{
	size_t size = fuzz_take8(bytes) * 4 + 1;
	char *host = fuzz_take_text(bytes, 100);
	char *executable = fuzz_take_text(bytes, 100);
	char *pattern = fuzz_take_text(bytes, 6000);
	struct ep_pattern_facts facts = {1, executable, host, 5};
	char *out = malloc(size);
	struct ep_err err = {0};
	int rc;

	MUST(out != NULL);
	rc = ep_pattern_expand(pattern, &facts, out, size, &err);
	if (rc)
		fuzz_check_failure(rc, &err);
	else
		MUST(strnlen(out, size) < size);
	ep_path_pattern_good(pattern);
	free(out);
	free(pattern);
	free(executable);
	free(host);
}

/* ---- names and strings ---- */

static void try_name(struct fuzz_bytes *bytes)
{
	char *text = fuzz_take_text(bytes, 1500), *name = ep_demangle(text), *escaped;

	if (name)
		MUST(strcmp(name, text) != 0);
	escaped = ep_utf8_escape(name ? name : text, strlen(name ? name : text));
	MUST(escaped != NULL);
	fuzz_check_text(escaped, strlen(escaped), "");
	free(escaped);
	free(name);
	free(text);
}

static void try_json(struct fuzz_bytes *bytes)
{
	char *made = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&made, &size);
	struct ep_json json;

	MUST(file != NULL);
	ep_json_init(&json, file);
	ep_json_object(&json);
	ep_json_key(&json, "bytes");
	ep_json_array(&json);
	ep_json_thousandth(&json, (int64_t)fuzz_take64(bytes));
	ep_json_uint(&json, fuzz_take64(bytes));
	ep_json_int(&json, (int64_t)fuzz_take64(bytes));
	ep_json_bytes(&json, (const char *)bytes->at, bytes->left);
	ep_json_array_end(&json);
	ep_json_object_end(&json);
	MUST(ep_json_finish(&json) == 0);
	fclose(file);
	fuzz_check_json(made, size, false);
	free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static void (*const ways[])(struct fuzz_bytes *) = {
		try_settings, try_setting, try_time, try_number,
		try_command,  try_pattern, try_name, try_json,
	};
	struct fuzz_bytes left = {bytes, size};

	if (!defaults.output)
		defaults = ep_settings;
	ways[fuzz_take8(&left) % 8](&left);
	return 0;
}
