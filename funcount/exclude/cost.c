/* SPDX-License-Identifier: BSD-2-Clause */
/* cost.c: the model behind exclude and budget (docs/overhead.md). */
#include "funcount/exclude/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/number.h"
#include "runtime/format.h"

#define SECTION "costs"

/* Bytes of ring that a record takes, its share of the block's header included: escapes come once in
 * 2^18 cycles, and are few where records are many. */
#define BYTES_PER_RECORD ((double)EP_BLOCK_SIZE / EP_BLOCK_RECORDS)
#define MIB              1048576.0

static const struct {
	const char *key, *every, *words;
} modes[EP_COST_MODES] = {
#define EP_COST_ROW(name, key, every, words) {key, every, words},
	EP_COST_MODES_LIST(EP_COST_ROW)
#undef EP_COST_ROW
};

static const struct {
	const char *key;
	unsigned kib;
} code_sizes[EP_COST_CODE_SIZES] = {{"code-160k", 160}, {"code-640k", 640}, {"code-1280k", 1280}};

const char *ep_cost_key(enum ep_cost_mode mode)
{
	return modes[mode].key;
}

unsigned ep_cost_code_size(unsigned index)
{
	return code_sizes[index].kib;
}

const char *ep_cost_words(enum ep_cost_mode mode)
{
	return modes[mode].words;
}

const char *ep_cost_every(enum ep_cost_mode mode)
{
	return modes[mode].every;
}

void ep_costs_default(struct ep_costs *costs)
{
	static const double ns[EP_COST_MODES] = {
		[EP_COST_FULL] = 19.6,   [EP_COST_8] = 3.1,      [EP_COST_64] = 2.7,
		[EP_COST_AUTO] = 2.8,    [EP_COST_PAUSED] = 0.1, [EP_COST_COUNTING] = 4.0,
		[EP_COST_EXCLUDED] = 0.0};
	static const double code[EP_COST_CODE_SIZES] = {1.4, 6.7, 8.4};

	*costs = (struct ep_costs){.clock_budget = 0.05};
	for (int i = 0; i < EP_COST_MODES; i++)
		costs->of[i] = (struct ep_cost){ns[i], ns[i], ns[i], 0};
	for (int i = 0; i < EP_COST_CODE_SIZES; i++)
		costs->code[i] = (struct ep_cost){code[i], code[i], code[i], 0};
}

/* ---- as text ------------------------------------------------------------- */

/* A number and the words behind it; NULL: not so, or not a sane cost. */
static const char *number_parse(const char *at, const char *words, double *out)
{
	char *end;
	double number = strtod(at, &end);

	if (end == at || !isfinite(number) || fabs(number) > 1e9 ||
	    strncmp(end, words, strlen(words)) != 0)
		return NULL;
	*out = number;
	return end + strlen(words);
}

/* "19.60 ns" and, if known, ", 19.40 to 19.90 ns, 50.9 cycles". */
static bool cost_parse(const char *text, struct ep_cost *out)
{
	struct ep_cost cost = {0};
	const char *at = number_parse(text, " ns", &cost.ns);

	cost.low = cost.high = cost.ns;
	if (at && !strncmp(at, ", ", 2)) {
		at = number_parse(at + 2, " to ", &cost.low);
		at = at ? number_parse(at, " ns", &cost.high) : NULL;
	}
	if (at && !strncmp(at, ", ", 2))
		at = number_parse(at + 2, " cycles", &cost.cycles);
	if (!at || *at)
		return false;
	*out = cost;
	return true;
}

static bool percent_parse(const char *text, double *out)
{
	double number = 0;
	const char *at = number_parse(text, "%", &number);

	if (!at || *at || number < 0 || number > 100)
		return false;
	*out = number / 100;
	return true;
}

static int mode_of(const char *key)
{
	for (int i = 0; i < EP_COST_MODES; i++)
		if (!strcmp(modes[i].key, key))
			return i;
	return -1;
}

/* What the key is the cost of; NULL: of nothing. */
static struct ep_cost *cost_named(struct ep_costs *costs, const char *key)
{
	int mode = mode_of(key);

	for (int i = 0; i < EP_COST_CODE_SIZES; i++)
		if (!strcmp(code_sizes[i].key, key))
			return &costs->code[i];
	return mode < 0 ? NULL : &costs->of[mode];
}

static int parse_entry(struct ep_costs *costs, const struct ep_keyfile *file,
		       const struct ep_keyfile_line *line, struct ep_err *err)
{
	struct ep_cost *cost = cost_named(costs, line->key);

	if (!strcmp(line->key, "machine")) {
		snprintf(costs->machine, sizeof(costs->machine), "%s", line->value);
		return EP_OK;
	}
	if (!strcmp(line->key, "clock-budget"))
		return percent_parse(line->value, &costs->clock_budget)
			       ? EP_OK
			       : ep_keyfile_refuse(file, line, err, "a percentage: 5%%");
	if (!cost)
		return ep_keyfile_refuse(file, line, err, "%s is no mode that costs", line->key);
	if (!cost_parse(line->value, cost))
		return ep_keyfile_refuse(file, line, err,
					 "a cost: 2.70 ns, 2.60 to 2.90 ns, 7.0 cycles");
	return EP_OK;
}

int ep_costs_parse(struct ep_costs *costs, const struct ep_keyfile *file, struct ep_err *err)
{
	struct ep_costs parsed = *costs;
	int rc = EP_OK;

	if (!ep_keyfile_find(file, SECTION, NULL))
		return EP_END;
	for (size_t i = 0; !rc && i < file->lines.count; i++)
		if (file->lines.list[i].key && !strcmp(file->lines.list[i].section, SECTION))
			rc = parse_entry(&parsed, file, &file->lines.list[i], err);
	if (!rc)
		*costs = parsed;
	return rc;
}

static void print_cost(const char *key, const struct ep_cost *cost, FILE *out)
{
	fprintf(out, "%s = %.2f ns, %.2f to %.2f ns, %.1f cycles\n", key, cost->ns, cost->low,
		cost->high, cost->cycles);
}

void ep_costs_print(const struct ep_costs *costs, FILE *out)
{
	fprintf(out, "[" SECTION "]\n");
	if (costs->machine[0])
		fprintf(out, "machine = %s\n", costs->machine);
	for (int i = 0; i < EP_COST_MODES; i++)
		print_cost(modes[i].key, &costs->of[i], out);
	for (int i = 0; i < EP_COST_CODE_SIZES; i++)
		print_cost(code_sizes[i].key, &costs->code[i], out);
	fprintf(out, "clock-budget = %g%%\n", costs->clock_budget * 100);
}

/* ---- the model ----------------------------------------------------------- */

bool ep_cost_every_parse(const char *text, unsigned *every)
{
	uint64_t number = 0;

	if (strcmp(text, "auto") != 0 &&
	    (!ep_number_parse(text, 1, 64, &number) || (number & (number - 1))))
		return false;
	*every = (unsigned)number;
	return true;
}

double ep_cost_of_code(const struct ep_costs *costs, uint64_t bytes)
{
	double kib = (double)bytes / 1024, size = EP_COST_CODE_LEAST, ns = 0;

	for (int i = 0; i < EP_COST_CODE_SIZES && kib > size; i++) {
		double next = fmin(kib, code_sizes[i].kib);

		ns += (fmax(costs->code[i].ns, 0) - (i ? fmax(costs->code[i - 1].ns, 0) : 0)) *
		      log(next / size) / log(code_sizes[i].kib / size);
		size = code_sizes[i].kib;
	}
	return ns;
}

void ep_costs_widen(struct ep_costs *costs, uint64_t bytes)
{
	double ns = ep_cost_of_code(costs, bytes);

	for (int mode = 0; mode < EP_COST_MODES; mode++)
		if (mode != EP_COST_PAUSED && mode != EP_COST_EXCLUDED)
			costs->of[mode].ns += ns;
}

/* A call with one record in `every` timed: the clock's share falls as 1/every, between what was
 * measured at both ends. */
static double fixed_cost(const struct ep_costs *costs, unsigned every)
{
	double full = costs->of[EP_COST_FULL].ns;
	double sparse = costs->of[EP_COST_64].ns;
	double clock = (full - sparse) * 64 / 63;

	if (every == 8)
		return costs->of[EP_COST_8].ns;
	return full - clock + clock / every;
}

/*
 * auto reads the clock as often as its budget allows: all records where that is less than the
 * budget, and never less than one in 64. What it really spends lies between half the budget and all
 * of it, as `every` is a power of two; all of it is taken, so that a limit is met rather than
 * missed.
 */
static double auto_overhead(const struct ep_costs *costs, double rate)
{
	double bare = fixed_cost(costs, 64) * rate;
	double clock = (costs->of[EP_COST_FULL].ns - fixed_cost(costs, 64)) * rate;
	double allowed = costs->clock_budget * (1 + bare);

	return bare + (clock > 0 ? fmin(clock, allowed) : 0);
}

struct ep_prediction ep_cost_predict(const struct ep_costs *costs, unsigned every, double calls,
				     double seconds)
{
	double rate = calls / seconds * 1e-9; /* calls per untraced ns */
	struct ep_prediction predicted = {0, INFINITY};

	predicted.overhead = every ? rate * fixed_cost(costs, every) : auto_overhead(costs, rate);
	if (predicted.overhead < 0)
		predicted.overhead = 0;
	if (calls > 0)
		predicted.history =
			MIB / (2 * BYTES_PER_RECORD) / calls * seconds * (1 + predicted.overhead);
	return predicted;
}

/* The most calls for which `fits`, which holds for none and, once it does not hold, holds for no
 * more calls. */
static double most_calls(const struct ep_costs *costs, unsigned every, double seconds, double limit,
			 bool (*fits)(struct ep_prediction, double limit))
{
	double low = 0, high = 1;

	while (high < 1e19 && fits(ep_cost_predict(costs, every, high, seconds), limit))
		high *= 2;
	for (int i = 0; i < 64; i++) {
		double middle = (low + high) / 2;

		if (fits(ep_cost_predict(costs, every, middle, seconds), limit))
			low = middle;
		else
			high = middle;
	}
	return floor(low);
}

static bool is_cheap(struct ep_prediction predicted, double limit)
{
	return predicted.overhead <= limit;
}

static bool is_long(struct ep_prediction predicted, double limit)
{
	return predicted.history >= limit;
}

double ep_cost_calls_for_overhead(const struct ep_costs *costs, unsigned every, double overhead,
				  double seconds)
{
	return most_calls(costs, every, seconds, overhead, is_cheap);
}

double ep_cost_calls_for_history(const struct ep_costs *costs, unsigned every, double history,
				 double seconds)
{
	return most_calls(costs, every, seconds, history, is_long);
}
