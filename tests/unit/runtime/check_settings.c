/* SPDX-License-Identifier: BSD-2-Clause */
/* check_settings.c: what EPITAPH_ variables mean, and what is said of those that mean nothing. Each
 * test is a process of its own, so settings start fresh. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "main.h"
#include "runtime/format.h"
#include "runtime/settings/settings.h"
#include "runtime/settings/settings_list.h"

/* Reads settings from entries; what came on stderr goes to `said`. */
static void read_settings(char *const *entries, char *said, size_t size)
{
	int pipes[2], real = dup(2);
	ssize_t got;

	ck_assert_int_eq(pipe(pipes), 0);
	dup2(pipes[1], 2);
	close(pipes[1]);
	ep_settings_read(entries);
	dup2(real, 2);
	got = read(pipes[0], said, size - 1);
	said[got < 0 ? 0 : got] = '\0';
	close(pipes[0]);
}

#define READ(...)                              \
	char said[4096];                       \
	char *entries[] = {__VA_ARGS__, NULL}; \
	read_settings(entries, said, sizeof said)

START_TEST(defaults_are_the_documented_ones)
{
	READ("PATH=/bin");
	ck_assert(ep_settings.on);
	ck_assert_uint_eq(ep_settings.ring_size, 1048576);
	ck_assert_uint_eq(ep_settings.ring_most, 4194304);
	ck_assert_uint_eq(ep_settings.memory_size, 67108864);
	ck_assert_uint_eq(ep_settings.keep_size, 67108864);
	ck_assert_uint_eq(ep_settings.timestamp_every, 0);
	ck_assert_uint_eq(ep_settings.budget, 50000);
	ck_assert_uint_eq(ep_settings.clock_budget, 25000);
	ck_assert_uint_eq(ep_settings.idle_budget, 5000);
	ck_assert_uint_eq(ep_settings.min_duration, 0);
	ck_assert_str_eq(ep_settings.output, "epitaph.%p.%n.core");
	ck_assert_ptr_null(ep_settings.file);
	ck_assert_uint_eq(ep_settings.file_keep, 8);
	ck_assert_uint_eq(ep_settings.file_keep_size, 268435456);
	ck_assert(!ep_settings.crash_snapshot);
	ck_assert_int_eq(ep_settings.snapshot_signal, SIGTRAP);
	ck_assert_uint_eq(ep_settings.sched, EP_SCHED_WANT_FTRACE | EP_SCHED_WANT_PERF);
	ck_assert(!ep_settings.sched_asked);
	ck_assert(!ep_settings.sched_machine);
	ck_assert_uint_eq(ep_settings.sched_events, 0);
	ck_assert_uint_eq(ep_settings.sched_memory, 8388608);
	ck_assert_str_eq(said, "");
}
END_TEST

/* ---- what the table says, which the man page and docs/settings.md repeat ---- */

#define ROW(variable, set, otherwise, values, option, letter, metavar, page, text) \
	{variable, otherwise, values, text},

static const struct row {
	const char *variable, *otherwise, *values, *text;
} rows[] = {EP_SETTINGS(ROW)};

/* Reads the settings afresh, with this one alone; what came on stderr goes to `said`. A share of
 * the budget may be all of it where there is no budget. */
static void read_alone(const struct row *row, const char *value, char said[4096])
{
	static struct ep_settings initial;
	static bool kept;
	char entry[256];
	char *entries[] = {entry, NULL, NULL};

	if (!kept)
		initial = ep_settings;
	kept = true;
	ep_settings = initial;
	snprintf(entry, sizeof entry, "%s=%s", row->variable, value);
	if (strcmp(row->variable, "EPITAPH_CLOCK_BUDGET") == 0)
		entries[1] = "EPITAPH_BUDGET=none";
	read_settings(entries, said, 4096);
}

static void assert_taken(const struct row *row, const char *value)
{
	char said[4096];

	read_alone(row, value, said);
	ck_assert_msg(!*said, "%s is \"%s\", it says, but: %s", row->variable, row->values, said);
}

static void assert_refused(const struct row *row, const char *value)
{
	char said[4096], expected[512];

	read_alone(row, value, said);
	snprintf(expected, sizeof expected, "epitaph: %s=%s: not %s; using %s\n", row->variable,
		 value, row->values, row->otherwise);
	ck_assert_str_eq(said, expected);
}

/* Each word between commas and "or". */
static void assert_words_taken(const struct row *row)
{
	char text[256];
	char *next = text;

	snprintf(text, sizeof text, "%s", row->values);
	while (next) {
		char *word = next, *comma = strstr(next, ", "), *last = strstr(next, " or ");
		char *end = !comma || (last && last < comma) ? last : comma;

		next = !end ? NULL : end + (end == comma ? 2 : 4);
		if (end)
			*end = '\0';
		if (word[strspn(word, "abcdefghijklmnopqrstuvwxyz_0123456789")] == '\0')
			assert_taken(row, word);
	}
}

/* The bound itself is taken, the next number of its unit is refused. */
static void assert_bound(const struct row *row, const char *bound, int step)
{
	char beyond[40] = "-1";
	char *digit = beyond;

	assert_taken(row, bound);
	if (strcmp(bound, "0")) {
		snprintf(beyond, sizeof beyond, "%s", bound);
		digit += strlen(bound) - 1;
		while (*digit < '0' || *digit > '9')
			digit--;
		*digit = (char)(*digit + step);
	}
	assert_refused(row, beyond);
}

START_TEST(a_setting_takes_the_values_that_it_says)
{
	const struct row *row = &rows[_i];
	const char *from = strstr(row->values, "from ");
	char low[32], high[32];

	assert_words_taken(row);
	assert_refused(row, "%x");
	if (!from)
		return;
	ck_assert_int_eq(sscanf(from, "from %31s to %31[^ ,]", low, high), 2);
	assert_bound(row, low, -1);
	assert_bound(row, high, 1);
}
END_TEST

/* Words with blanks are no value: defaults_are_the_documented_ones has those. */
START_TEST(a_default_that_is_written_out_changes_nothing)
{
	const struct row *row = &rows[_i];
	static struct ep_settings without;
	char said[4096];

	if (strchr(row->otherwise, ' '))
		return;
	read_alone(row, "", said);
	without = ep_settings;
	assert_taken(row, row->otherwise);
	ck_assert_str_eq(ep_settings.output, without.output);
	ep_settings.output = without.output;
	ep_settings.sched_asked = without.sched_asked; /* it is meant to tell them apart */
	ck_assert_mem_eq(&ep_settings, &without, sizeof without);
}
END_TEST

static void assert_text_has(const char *variable, const char *words)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].variable, variable) == 0 && strstr(rows[i].text, words))
			return;
	ck_abort_msg("the text of %s does not say: %s", variable, words);
}

START_TEST(texts_name_the_numbers_that_are_used)
{
	char words[64];
	READ("EPITAPH_BUDGET=none");
	snprintf(words, sizeof words, "and %u%% where that is none",
		 ep_settings.clock_budget / 10000);
	assert_text_has("EPITAPH_CLOCK_BUDGET", words);
	snprintf(words, sizeof words, "auto is %dM, and under a budget up to %dM",
		 EP_RING_DEFAULT >> 20, EP_RING_MOST >> 20);
	assert_text_has("EPITAPH_RING", words);
	assert_text_has("EPITAPH_OUTPUT", ep_settings.counts_output);
}
END_TEST

START_TEST(scheduling_settings_take_effect)
{
	READ("EPITAPH_SCHED=perf", "EPITAPH_SCHED_SCOPE=machine",
	     "EPITAPH_SCHED_EVENTS=irq,page_faults", "EPITAPH_SCHED_MEMORY=1M");
	ck_assert_uint_eq(ep_settings.sched, EP_SCHED_WANT_PERF);
	ck_assert(ep_settings.sched_asked);
	ck_assert(ep_settings.sched_machine);
	ck_assert_uint_eq(ep_settings.sched_events, EP_SCHED_IRQ | EP_SCHED_FAULTS);
	ck_assert_uint_eq(ep_settings.sched_memory, 1048576);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(bad_scheduling_settings_change_nothing)
{
	READ("EPITAPH_SCHED=on", "EPITAPH_SCHED_SCOPE=", "EPITAPH_SCHED_EVENTS=irq,",
	     "EPITAPH_SCHED_MEMORY=4K");
	ck_assert_uint_eq(ep_settings.sched, EP_SCHED_WANT_FTRACE | EP_SCHED_WANT_PERF);
	ck_assert(!ep_settings.sched_asked);
	ck_assert_uint_eq(ep_settings.sched_events, 0);
	ck_assert_uint_eq(ep_settings.sched_memory, 8388608);
	ck_assert_uint_eq(ep_settings.refused, 3);
}
END_TEST

/* Nothing bounds the calls that would fill it, or somebody has said how large it is. */
START_TEST(rings_grow_for_a_budget_only)
{
	READ("EPITAPH_RING=auto", "EPITAPH_BUDGET=1%");
	ck_assert_uint_eq(ep_settings.ring_most, 4194304);
}
END_TEST

START_TEST(rings_do_not_grow_without_a_budget)
{
	READ("EPITAPH_RING=auto", "EPITAPH_BUDGET=none");
	ck_assert_uint_eq(ep_settings.ring_most, 1048576);
}
END_TEST

START_TEST(rings_do_not_grow_beyond_what_was_said)
{
	READ("EPITAPH_RING=1M");
	ck_assert_uint_eq(ep_settings.ring_most, 1048576);
}
END_TEST

START_TEST(every_setting_takes_effect)
{
	READ("EPITAPH=off", "EPITAPH_RING=256K", "EPITAPH_MEMORY=8MiB", "EPITAPH_KEEP=5000",
	     "EPITAPH_TIMESTAMP_EVERY=8", "EPITAPH_BUDGET=8%", "EPITAPH_CLOCK_BUDGET=1.5%",
	     "EPITAPH_IDLE_BUDGET=0.25%", "EPITAPH_OUTPUT=/var/%h/%e.%t", "EPITAPH_SIGNAL=SIGUSR2");
	ck_assert(!ep_settings.on);
	ck_assert_uint_eq(ep_settings.ring_size, 262144);
	ck_assert_uint_eq(ep_settings.memory_size, 8388608);
	ck_assert_uint_eq(ep_settings.keep_size, 8192); /* whole pages */
	ck_assert_uint_eq(ep_settings.timestamp_every, 8);
	ck_assert_uint_eq(ep_settings.budget, 80000);
	ck_assert_uint_eq(ep_settings.clock_budget, 15000);
	ck_assert_uint_eq(ep_settings.idle_budget, 2500);
	ck_assert_str_eq(ep_settings.output, "/var/%h/%e.%t");
	ck_assert_int_eq(ep_settings.snapshot_signal, SIGUSR2);
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(ep_settings.refused, 0);
}
END_TEST

START_TEST(the_clock_has_half_of_the_budget)
{
	READ("EPITAPH_BUDGET=1%");
	ck_assert_uint_eq(ep_settings.budget, 10000);
	ck_assert_uint_eq(ep_settings.clock_budget, 5000);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(without_a_budget_the_clock_has_one_of_its_own)
{
	READ("EPITAPH_BUDGET=none");
	ck_assert_uint_eq(ep_settings.budget, 0);
	ck_assert_uint_eq(ep_settings.clock_budget, 50000);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(the_clock_alone_may_have_more_than_the_default)
{
	READ("EPITAPH_BUDGET=none", "EPITAPH_CLOCK_BUDGET=20%");
	ck_assert_uint_eq(ep_settings.clock_budget, 200000);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(the_budget_is_not_in_force_where_every_hook_goes_through_c)
{
	READ("EPITAPH_MIN_DURATION=5us");
	ck_assert_uint_eq(ep_settings.budget, 0);
	ck_assert_str_eq(said, "");
}
END_TEST

static const struct {
	const char *text;
	uint64_t bytes;
} sizes[] = {
	{"4096", 4096},   {"4K", 4096},    {"4KB", 4096},      {"4KiB", 4096},  {"4k", 4096},
	{"0.5M", 524288}, {"1M", 1048576}, {"1G", 1073741824}, {"8192B", 8192},
};

START_TEST(sizes_take_units)
{
	char entry[64];

	snprintf(entry, sizeof entry, "EPITAPH_RING=%s", sizes[_i].text);
	READ(entry);
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(ep_settings.ring_size, sizes[_i].bytes);
}
END_TEST

static const struct {
	const char *text;
	uint64_t ns;
} times[] = {
	{"0", 0},         {"100ns", 100},     {"5us", 5000},       {"1.5us", 1500},
	{"2ms", 2000000}, {"1s", 1000000000}, {"0.000000001s", 1},
};

START_TEST(times_take_units_and_full_time_stamps)
{
	char entry[64];

	snprintf(entry, sizeof entry, "EPITAPH_MIN_DURATION=%s", times[_i].text);
	READ(entry);
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(ep_settings.min_duration, times[_i].ns);
	ck_assert_uint_eq(ep_settings.timestamp_every, times[_i].ns ? 1 : 0);
}
END_TEST

static const char *const signals[][2] = {
	{"TRAP", "5"},   {"SIGTRAP", "5"},     {"none", "0"},
	{"10", "10"},    {"SIGRTMIN", "34"},   {"RTMIN+3", "37"},
	{"RTMAX", "64"}, {"SIGRTMAX-2", "62"}, {"SIGQUIT", "3"},
};

START_TEST(signals_have_names_and_numbers)
{
	char entry[64];

	snprintf(entry, sizeof entry, "EPITAPH_SIGNAL=%s", signals[_i][0]);
	READ(entry);
	ck_assert_str_eq(said, "");
	ck_assert_int_eq(ep_settings.snapshot_signal, atoi(signals[_i][1]));
}
END_TEST

/* Entry, reason, what is used instead. */
static const char *const bad[][3] = {
	{"EPITAPH=yes", "not on or off", "on"},
	{"EPITAPH_RING=foo", "not auto or a power of two from 4K to 1G", "auto"},
	{"EPITAPH_RING=", NULL, NULL},
	{"EPITAPH_RING=3M", "not auto or a power of two from 4K to 1G", "auto"},
	{"EPITAPH_RING=2K", "not auto or a power of two from 4K to 1G", "auto"},
	{"EPITAPH_RING=-4K", "not auto or a power of two from 4K to 1G", "auto"},
	{"EPITAPH_RING=4K ", "not auto or a power of two from 4K to 1G", "auto"},
	{"EPITAPH_RING=0.3B", "not auto or a power of two from 4K to 1G", "auto"},
	{"EPITAPH_RING=18446744073709551616", "not auto or a power of two from 4K to 1G", "auto"},
	{"EPITAPH_RING=99999999999999G", "not auto or a power of two from 4K to 1G", "auto"},
	{"EPITAPH_RING=.5M", "not auto or a power of two from 4K to 1G", "auto"},
	{"EPITAPH_MEMORY=1", "not a size from 512K to 32G", "64M"},
	{"EPITAPH_MEMORY=33G", "not a size from 512K to 32G", "64M"},
	{"EPITAPH_KEEP=some", "not a size from 0 to 32G", "64M"},
	{"EPITAPH_KEEP=33G", "not a size from 0 to 32G", "64M"},
	{"EPITAPH_TIMESTAMP_EVERY=3", "not auto, 1, 2, 4, 8, 16, 32 or 64", "auto"},
	{"EPITAPH_TIMESTAMP_EVERY=128", "not auto, 1, 2, 4, 8, 16, 32 or 64", "auto"},
	{"EPITAPH_BUDGET=0", "not none or a share from 0.1% to 100%", "5%"},
	{"EPITAPH_BUDGET=101%", "not none or a share from 0.1% to 100%", "5%"},
	{"EPITAPH_BUDGET=off", "not none or a share from 0.1% to 100%", "5%"},
	{"EPITAPH_CLOCK_BUDGET=0", "not a share from 0.01% to 100%", "half of EPITAPH_BUDGET"},
	{"EPITAPH_CLOCK_BUDGET=101%", "not a share from 0.01% to 100%", "half of EPITAPH_BUDGET"},
	{"EPITAPH_CLOCK_BUDGET=x", "not a share from 0.01% to 100%", "half of EPITAPH_BUDGET"},
	{"EPITAPH_CLOCK_BUDGET=6%", "more than EPITAPH_BUDGET, of which it is a part",
	 "half of EPITAPH_BUDGET"},
	{"EPITAPH_IDLE_BUDGET=0", "not none or a share from 0.01% to 100%", "0.5%"},
	{"EPITAPH_IDLE_BUDGET=off", "not none or a share from 0.01% to 100%", "0.5%"},
	{"EPITAPH_MIN_DURATION=5", "not a time with its unit (ns us ms s), from 0 to 3600s", "0"},
	{"EPITAPH_MIN_DURATION=2.5ns", "not a time with its unit (ns us ms s), from 0 to 3600s",
	 "0"},
	{"EPITAPH_MIN_DURATION=3601s", "not a time with its unit (ns us ms s), from 0 to 3600s",
	 "0"},
	{"EPITAPH_OUTPUT=%x", "not " EP_PATTERN_VALUES, "epitaph.%p.%n.core"},
	{"EPITAPH_OUTPUT=50%", "not " EP_PATTERN_VALUES, "epitaph.%p.%n.core"},
	{"EPITAPH_FILE=/dev/shm/%x", "not " EP_PATTERN_VALUES, "private memory"},
	{"EPITAPH_ON_CRASH=core", "not snapshot or none", "none"},
	{"EPITAPH_FILE_KEEP=-1", "not a number from 0 to 10000", "8"},
	{"EPITAPH_FILE_KEEP=10001", "not a number from 0 to 10000", "8"},
	{"EPITAPH_FILE_KEEP_SIZE=much", "not a size", "256M"},
	{"EPITAPH_SIGNAL=KILL", "not none or a signal that can be handled", "SIGTRAP"},
	{"EPITAPH_SIGNAL=33", "not none or a signal that can be handled", "SIGTRAP"},
	{"EPITAPH_SIGNAL=65", "not none or a signal that can be handled", "SIGTRAP"},
	{"EPITAPH_SIGNAL=trap", "not none or a signal that can be handled", "SIGTRAP"},
	{"EPITAPH_SIGNAL=RTMIN+31", "not none or a signal that can be handled", "SIGTRAP"},
};

START_TEST(a_bad_value_is_named_once_and_the_default_is_used)
{
	static struct ep_settings before;
	char entry[128], expected[256] = "";

	before = ep_settings;
	snprintf(entry, sizeof entry, "%s", bad[_i][0]);
	READ(entry);
	if (bad[_i][1]) {
		snprintf(expected, sizeof expected, "epitaph: %s: %s; using %s\n", bad[_i][0],
			 bad[_i][1], bad[_i][2]);
		before.refused = 1;
	}
	ck_assert_str_eq(said, expected);
	ck_assert_mem_eq(&ep_settings, &before, sizeof before);
}
END_TEST

START_TEST(sparse_times_do_not_go_with_a_least_duration)
{
	READ("EPITAPH_TIMESTAMP_EVERY=8", "EPITAPH_MIN_DURATION=1us");
	ck_assert_uint_eq(ep_settings.timestamp_every, 1);
	ck_assert_str_eq(said, "epitaph: EPITAPH_TIMESTAMP_EVERY=8: "
			       "EPITAPH_MIN_DURATION needs every time; using "
			       "1\n");
}
END_TEST

START_TEST(the_first_of_a_name_counts)
{
	READ("EPITAPH_RING=64K", "EPITAPH_RING=128K", "EPITAPH_RINGS=1");
	ck_assert_uint_eq(ep_settings.ring_size, 65536);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(the_output_outlives_the_environment)
{
	char entry[] = "EPITAPH_OUTPUT=kept.%p";

	READ(entry);
	memset(entry, 'x', sizeof entry - 1);
	ck_assert_str_eq(ep_settings.output, "kept.%p");
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(a_long_value_is_cut_in_the_message_only)
{
	static char entry[8192] = "EPITAPH_RING=";

	memset(entry + 13, '7', 6000);
	READ(entry);
	ck_assert_uint_lt(strlen(said), 512);
	ck_assert_ptr_nonnull(
		strstr(said, "777...: not auto or a power of two from 4K to 1G; using auto\n"));
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("settings");
	TCase *one = tcase_create("settings");

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
	tcase_add_test(one, defaults_are_the_documented_ones);
	tcase_add_loop_test(one, a_setting_takes_the_values_that_it_says, 0, COUNT(rows));
	tcase_add_loop_test(one, a_default_that_is_written_out_changes_nothing, 0, COUNT(rows));
	tcase_add_test(one, texts_name_the_numbers_that_are_used);
	tcase_add_test(one, rings_grow_for_a_budget_only);
	tcase_add_test(one, rings_do_not_grow_without_a_budget);
	tcase_add_test(one, rings_do_not_grow_beyond_what_was_said);
	tcase_add_test(one, every_setting_takes_effect);
	tcase_add_test(one, scheduling_settings_take_effect);
	tcase_add_test(one, bad_scheduling_settings_change_nothing);
	tcase_add_loop_test(one, sizes_take_units, 0, COUNT(sizes));
	tcase_add_loop_test(one, times_take_units_and_full_time_stamps, 0, COUNT(times));
	tcase_add_loop_test(one, signals_have_names_and_numbers, 0, COUNT(signals));
	tcase_add_loop_test(one, a_bad_value_is_named_once_and_the_default_is_used, 0, COUNT(bad));
	tcase_add_test(one, sparse_times_do_not_go_with_a_least_duration);
	tcase_add_test(one, the_clock_has_half_of_the_budget);
	tcase_add_test(one, without_a_budget_the_clock_has_one_of_its_own);
	tcase_add_test(one, the_clock_alone_may_have_more_than_the_default);
	tcase_add_test(one, the_budget_is_not_in_force_where_every_hook_goes_through_c);
	tcase_add_test(one, the_first_of_a_name_counts);
	tcase_add_test(one, the_output_outlives_the_environment);
	tcase_add_test(one, a_long_value_is_cut_in_the_message_only);
	suite_add_tcase(all, one);
	return all;
}

int main(void)
{
	return ep_test_main(suite());
}
