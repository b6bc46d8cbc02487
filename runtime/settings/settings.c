/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * settings.c: what sets each variable of settings_list.h. A setting either takes effect as it was
 * written or is named on stderr, once, with what it may be and what is used instead; an empty one
 * counts as absent.
 */
#include "runtime/settings/settings.h"

#include <signal.h>
#include <sys/auxv.h>

#include "runtime/format.h"
#include "runtime/lib/complain.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/settings/pattern.h"
#include "runtime/settings/settings_list.h"

#define CLOCK_ALONE 50000 /* parts per million, where nothing bounds the whole */

struct ep_settings ep_settings = {
	.on = true,
	.looks = true,
	.ring_size = EP_RING_DEFAULT,
	.ring_most = EP_RING_MOST,
	.memory_size = EP_MEMORY_DEFAULT,
	.keep_size = 64u << 20,
	.budget = 50000,
	.clock_budget = 25000,
	.idle_budget = 5000,
	.output = EP_OUTPUT_DEFAULT,
	.counts_output = EP_COUNTS_DEFAULT,
	.snapshot_signal = SIGTRAP,
	.file_keep = 8,
	.file_keep_size = 256u << 20,
	.sched = EP_SCHED_WANT_FTRACE | EP_SCHED_WANT_PERF,
	.sched_memory = 8u << 20,
};

/* The program may overwrite its environment (setproctitle): a copy. */
static char output_bytes[4096], file_bytes[4096];

/* A number with an optional fraction, in units of 1 / scale. */
struct quantity {
	uint64_t whole;
	uint64_t fraction; /* below scale */
	uint64_t scale;    /* 10^digits */
};

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{"", 1},
	{"K", 1ull << 10},
	{"KB", 1ull << 10},
	{"KiB", 1ull << 10},
	{"M", 1ull << 20},
	{"MB", 1ull << 20},
	{"MiB", 1ull << 20},
	{"G", 1ull << 30},
	{"GB", 1ull << 30},
	{"GiB", 1ull << 30},
	{"B", 1},
	{"k", 1ull << 10},
	{"m", 1ull << 20},
	{"g", 1ull << 30},
	{NULL, 0},
};

static const struct unit time_units[] = {
	{"ns", 1}, {"us", 1000}, {"\302\265s", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0},
};

/* Parts per million. A bare number is per cent. */
static const struct unit share_units[] = {
	{"%", 10000}, {"", 10000}, {" %", 10000}, {"ppm", 1}, {NULL, 0},
};

static bool parse_fraction(const char **at, const char *end, struct quantity *q)
{
	const char *digits;
	bool good;

	q->fraction = 0;
	q->scale = 1;
	if (*at == end || **at != '.')
		return true;
	digits = ++*at;
	good = ep_text_number(at, end, 10, &q->fraction);
	if (!good || *at - digits > 9)
		return false;
	for (; digits < *at; digits++)
		q->scale *= 10;
	return true;
}

/* `value` as a number of the unit that it ends in. A remainder below one is refused: what takes
 * effect is what was written. */
static bool parse_quantity(const char *value, const struct unit *units, uint64_t *result)
{
	const char *end = value + ep_string_length(value);
	struct quantity q;
	uint64_t part;

	if (!ep_text_number(&value, end, 10, &q.whole) || !parse_fraction(&value, end, &q))
		return false;
	while (units->name && !ep_string_equal(units->name, value))
		units++;
	if (!units->name)
		return false;
	part = q.fraction * units->factor; /* < 10^9 * 2^30: fits */
	if (part % q.scale)
		return false;
	return !__builtin_mul_overflow(q.whole, units->factor, result) &&
	       !__builtin_add_overflow(*result, part / q.scale, result);
}

/* Each of these takes a value over into ep_settings; false: it is none that settings_list.h has. */

static bool set_switch(const char *value, bool *setting)
{
	if (!ep_string_equal(value, "on") && !ep_string_equal(value, "off"))
		return false;
	*setting = ep_string_equal(value, "on");
	return true;
}

static bool set_on(const char *value)
{
	return set_switch(value, &ep_settings.on);
}

static bool set_looks(const char *value)
{
	return set_switch(value, &ep_settings.looks);
}

static bool set_mode(const char *value)
{
	if (!ep_string_equal(value, "trace") && !ep_string_equal(value, "count"))
		return false;
	ep_settings.counting = ep_string_equal(value, "count");
	return true;
}

static bool power_of_two(uint64_t number)
{
	return number && !(number & (number - 1));
}

static bool set_ring(const char *value)
{
	uint64_t size;

	if (ep_string_equal(value, "auto"))
		return true;
	if (!parse_quantity(value, size_units, &size) || !power_of_two(size) || size < 4096 ||
	    size > 1ull << 30)
		return false;
	ep_settings.ring_size = size;
	ep_settings.ring_most = size;
	return true;
}

/* A size from `least` to `most`, up to a multiple of `unit`. */
static bool set_size(const char *value, uint64_t least, uint64_t most, uint64_t unit, uint64_t *out)
{
	uint64_t size;

	if (!parse_quantity(value, size_units, &size) || size < least || size > most)
		return false;
	*out = (size + unit - 1) & -unit;
	return true;
}

static bool set_memory(const char *value)
{
	return set_size(value, 512u << 10, 32ull << 30, 4096, &ep_settings.memory_size);
}

static bool set_keep(const char *value)
{
	return set_size(value, 0, 32ull << 30, 4096, &ep_settings.keep_size);
}

/* Digits and nothing else. */
static bool parse_number(const char *value, uint64_t *number)
{
	const char *end = value + ep_string_length(value);

	return ep_text_number(&value, end, 10, number) && value == end;
}

static bool set_timestamp_every(const char *value)
{
	uint64_t every;

	if (ep_string_equal(value, "auto")) {
		ep_settings.timestamp_every = 0;
		return true;
	}
	if (!parse_number(value, &every) || !power_of_two(every) || every > 64)
		return false;
	ep_settings.timestamp_every = (uint32_t)every;
	return true;
}

/* A share of `least` parts per million to all of it. */
static bool set_share(const char *value, uint32_t least, uint32_t *out)
{
	uint64_t share;

	if (!parse_quantity(value, share_units, &share) || share < least || share > 1000000)
		return false;
	*out = (uint32_t)share;
	return true;
}

static bool set_share_or_none(const char *value, uint32_t least, uint32_t *out)
{
	if (!ep_string_equal(value, "none"))
		return set_share(value, least, out);
	*out = 0;
	return true;
}

static bool set_budget(const char *value)
{
	return set_share_or_none(value, 1000, &ep_settings.budget);
}

static bool set_clock_budget(const char *value)
{
	return set_share(value, 100, &ep_settings.clock_budget);
}

static bool set_idle_budget(const char *value)
{
	return set_share_or_none(value, 100, &ep_settings.idle_budget);
}

static bool set_min_duration(const char *value)
{
	uint64_t time;

	if (ep_string_equal(value, "0")) {
		ep_settings.min_duration = 0;
		return true;
	}
	if (!parse_quantity(value, time_units, &time) || time > UINT64_C(3600) * 1000000000)
		return false;
	ep_settings.min_duration = time;
	return true;
}

static bool set_pattern(const char *value, char bytes[4096], const char **out)
{
	size_t length = ep_string_length(value);

	if (length >= sizeof output_bytes || !ep_path_pattern_good(value))
		return false;
	ep_bytes_copy(bytes, value, length + 1);
	*out = bytes;
	return true;
}

static bool set_output(const char *value)
{
	return set_pattern(value, output_bytes, &ep_settings.output);
}

static bool set_file(const char *value)
{
	return set_pattern(value, file_bytes, &ep_settings.file);
}

static bool set_file_keep(const char *value)
{
	uint64_t count;

	if (!parse_number(value, &count) || count > 10000)
		return false;
	ep_settings.file_keep = count;
	return true;
}

static bool set_file_keep_size(const char *value)
{
	return set_size(value, 0, UINT64_MAX, 1, &ep_settings.file_keep_size);
}

/* A word and what it stands for. */
struct choice {
	const char *name;
	unsigned bits;
};

static const struct choice sched_sources[] = {
	{"auto", EP_SCHED_WANT_FTRACE | EP_SCHED_WANT_PERF},
	{"ftrace", EP_SCHED_WANT_FTRACE},
	{"perf", EP_SCHED_WANT_PERF},
	{"off", 0},
	{NULL, 0},
};

static const struct choice sched_scopes[] = {{"process", 0}, {"machine", 1}, {NULL, 0}};

static const struct choice sched_extras[] = {
	{"raw_syscalls", EP_SCHED_SYSCALLS},
	{"irq", EP_SCHED_IRQ},
	{"page_faults", EP_SCHED_FAULTS},
	{NULL, 0},
};

static bool choose(const struct choice *choices, const char *word, size_t length, unsigned *bits)
{
	for (; choices->name; choices++)
		if (ep_string_length(choices->name) == length &&
		    ep_bytes_equal(choices->name, word, length)) {
			*bits = choices->bits;
			return true;
		}
	return false;
}

static bool set_sched(const char *value)
{
	if (!choose(sched_sources, value, ep_string_length(value), &ep_settings.sched))
		return false;
	ep_settings.sched_asked = true;
	return true;
}

static bool set_sched_scope(const char *value)
{
	unsigned machine;

	if (!choose(sched_scopes, value, ep_string_length(value), &machine))
		return false;
	ep_settings.sched_machine = machine != 0;
	return true;
}

static bool set_sched_events(const char *value)
{
	uint32_t events = 0;

	if (ep_string_equal(value, "none")) {
		ep_settings.sched_events = 0;
		return true;
	}
	for (;;) {
		size_t length = 0;
		unsigned bits;

		while (value[length] && value[length] != ',')
			length++;
		if (!choose(sched_extras, value, length, &bits))
			return false;
		events |= bits;
		if (!value[length])
			break;
		value += length + 1;
	}
	ep_settings.sched_events = events;
	return true;
}

static bool set_sched_memory(const char *value)
{
	return set_size(value, 256u << 10, 4ull << 30, 8192, &ep_settings.sched_memory);
}

static bool set_on_crash(const char *value)
{
	if (!ep_string_equal(value, "snapshot") && !ep_string_equal(value, "none"))
		return false;
	ep_settings.crash_snapshot = ep_string_equal(value, "snapshot");
	return true;
}

static const struct {
	const char *name;
	int number;
} signals[] = {
	{"HUP", SIGHUP},       {"INT", SIGINT},       {"QUIT", SIGQUIT}, {"ILL", SIGILL},
	{"TRAP", SIGTRAP},     {"ABRT", SIGABRT},     {"BUS", SIGBUS},   {"FPE", SIGFPE},
	{"USR1", SIGUSR1},     {"SEGV", SIGSEGV},     {"KILL", SIGKILL}, {"STOP", SIGSTOP},
	{"USR2", SIGUSR2},     {"PIPE", SIGPIPE},     {"ALRM", SIGALRM}, {"TERM", SIGTERM},
	{"STKFLT", SIGSTKFLT}, {"CHLD", SIGCHLD},     {"CONT", SIGCONT}, {"TSTP", SIGTSTP},
	{"TTIN", SIGTTIN},     {"TTOU", SIGTTOU},     {"URG", SIGURG},   {"XCPU", SIGXCPU},
	{"XFSZ", SIGXFSZ},     {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH},
	{"IO", SIGIO},         {"PWR", SIGPWR},       {"SYS", SIGSYS},
};

/* glibc keeps 32 and 33 for itself, and 34 is the program's first. */
#define RTMIN 34
#define RTMAX 64

static bool realtime_signal(const char *name, uint64_t *number)
{
	const char *end = name + ep_string_length(name);
	const char *at = name + 6;
	uint64_t n = 0;

	if (!ep_string_starts(name, "RTMIN") && !ep_string_starts(name, "RTMAX"))
		return false;
	if (name[5] && (!ep_text_number(&at, end, 10, &n) || at != end || n > 30))
		return false;
	if (name[4] == 'N' && (!name[5] || name[5] == '+'))
		*number = RTMIN + n;
	else if (name[4] == 'X' && (!name[5] || name[5] == '-'))
		*number = RTMAX - n;
	else
		return false;
	return true;
}

static bool named_signal(const char *name, uint64_t *number)
{
	if (ep_string_starts(name, "SIG"))
		name += 3;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		if (ep_string_equal(signals[i].name, name)) {
			*number = (uint64_t)signals[i].number;
			return true;
		}
	}
	return realtime_signal(name, number);
}

static bool set_signal(const char *value)
{
	uint64_t number = 0;

	if (ep_string_equal(value, "none")) {
		ep_settings.snapshot_signal = 0;
		return true;
	}
	if (!named_signal(value, &number) && !parse_number(value, &number))
		return false;
	if (number < 1 || number > RTMAX || number == 32 || number == 33 || number == SIGKILL ||
	    number == SIGSTOP)
		return false;
	ep_settings.snapshot_signal = (int)number;
	return true;
}

#define SETTING(variable, set, otherwise, values, ...) \
	{variable, set, "not " values "; using " otherwise},

static const struct setting {
	const char *name;
	bool (*set)(const char *value);
	const char *refusal; /* of a value: why, and what is used instead */
} settings[] = {EP_SETTINGS(SETTING)};

static void refuse(const char *name, const char *value, const char *refusal)
{
	char line[512];
	struct ep_text text;
	size_t length = ep_string_length(value);

	ep_text_init(&text, line, sizeof line);
	ep_text_add(&text, "epitaph: ");
	ep_text_add(&text, name);
	ep_text_add(&text, "=");
	ep_text_add_bytes(&text, value, length > 200 ? 200 : length);
	ep_text_add(&text, length > 200 ? "...: " : ": ");
	ep_text_add(&text, refusal);
	ep_text_add(&text, "\n");
	ep_complain(&text);
	ep_settings.refused++;
}

/* As getenv: the first of that name counts. NULL: absent or empty. */
static const char *look_up(char *const *environment, const char *name)
{
	size_t length = ep_string_length(name);

	for (; environment && *environment; environment++) {
		const char *entry = *environment;

		if (ep_string_starts(entry, name) && entry[length] == '=')
			return entry[length + 1] ? entry + length + 1 : NULL;
	}
	return NULL;
}

/*
 * True where the environment comes from somebody with fewer privileges than the program has:
 * set-uid, set-gid, file capabilities (getauxval(3), AT_SECURE). Where they are its own by then
 * (fs.suid_dumpable is 1, another's AT_SECURE), ids and dumpability tell, which is also lost by who
 * may not read what he runs (kernel: begin_new_exec, would_dump).
 */
static bool secure(void)
{
	return getauxval(AT_SECURE) || ep_syscall0(SYS_getuid) != ep_syscall0(SYS_geteuid) ||
	       ep_syscall0(SYS_getgid) != ep_syscall0(SYS_getegid) ||
	       ep_syscall5(SYS_prctl, 3 /* PR_GET_DUMPABLE */, 0, 0, 0, 0) != 1;
}

/* To drop short calls each record needs its time. */
static void settle_timestamps(const char *asked)
{
	if (!ep_settings.min_duration)
		return;
	if (ep_settings.timestamp_every > 1)
		refuse("EPITAPH_TIMESTAMP_EVERY", asked,
		       "EPITAPH_MIN_DURATION needs every time; using 1");
	ep_settings.timestamp_every = 1;
}

/* Reading the clock is a part of what tracing may cost. Where each hook goes through C, or only
 * counts, the budget is not in force. */
static void settle_budget(const char *clock)
{
	uint32_t whole = ep_settings.budget;

	if (ep_settings.min_duration || ep_settings.counting)
		ep_settings.budget = 0;
	/* Where nothing bounds the calls, they fill in no time what there is. */
	if (!ep_settings.budget)
		ep_settings.ring_most = ep_settings.ring_size;
	if (!ep_settings.clock_budget)
		ep_settings.clock_budget = whole ? whole / 2 : CLOCK_ALONE;
	if (!whole || ep_settings.clock_budget <= whole)
		return;
	refuse("EPITAPH_CLOCK_BUDGET", clock,
	       "more than EPITAPH_BUDGET, of which it is a part; using half of EPITAPH_BUDGET");
	ep_settings.clock_budget = whole / 2;
}

/* Counts need no scheduling events; and the one file that was asked for is that of the counts. */
static void settle_counting(void)
{
	if (ep_settings.counting)
		ep_settings.sched = 0;
	if (!ep_settings.counting || ep_settings.output != output_bytes)
		return;
	ep_settings.counts_output = ep_settings.output;
	ep_settings.output = EP_OUTPUT_DEFAULT;
}

/* Nobody may make a program with privileges of its own write files, wait for signals or trace the
 * kernel; not to record it is all that can be asked. */
static void read_foreign(char *const *environment)
{
	const char *on = look_up(environment, "EPITAPH");

	ep_settings.foreign = true;
	ep_settings.snapshot_signal = 0;
	ep_settings.sched = 0;
	if (on)
		set_on(on);
}

static void read_own(char *const *environment)
{
	ep_settings.clock_budget = 0; /* by the whole one, unless it is said */
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		const struct setting *setting = &settings[i];
		const char *value = look_up(environment, setting->name);

		if (value && !setting->set(value))
			refuse(setting->name, value, setting->refusal);
	}
	settle_timestamps(look_up(environment, "EPITAPH_TIMESTAMP_EVERY"));
	settle_budget(look_up(environment, "EPITAPH_CLOCK_BUDGET"));
	settle_counting();
}

void ep_settings_read(char *const *environment)
{
	if (secure())
		read_foreign(environment);
	else
		read_own(environment);
}
