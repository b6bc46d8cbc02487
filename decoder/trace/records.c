/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.c: stamps and escapes → times. A block is decoded at once: timed records are anchors,
 * what lies between two of them is bounded by both and placed in order. Times never go backwards
 * within a thread.
 */
#include "decoder/trace/records.h"

#include "coredump/util/search.h"
#include "decoder/trace/absences.h"
#include "decoder/trace/untimed.h"

#define STAMPS   UINT64_C(0x10000) /* values of a stamp */
#define PAYLOADS (UINT64_C(1) << 26)
#define TICK     (UINT64_C(1) << EP_TICK_SHIFT)
#define WRAP     (STAMPS * TICK)
#define UNSET    UINT32_MAX
/* The writer leaves at most EP_GAP_CYCLES, half of the stamps, between two timed records. A step of
 * more than three quarters is one backwards: two processors' counters differ by a little. */
#define STEP_BACK (STAMPS - STAMPS / 4)

/* Decoding one block. */
struct decoding {
	struct ep_records *records;
	const struct ep_trace_block *block;
	uint64_t ticks;   /* from which the next stamp counts: TSC >> 3 */
	uint64_t anchor;  /* TSC of the last anchor */
	unsigned escapes; /* of time that stand before the word in hand; not 0: 26 bits above the
			     next stamp are known: */
	uint64_t upper;
	struct ep_untimed *untimed;
	unsigned pending; /* first decoded record after it, still unplaced */
	unsigned missing; /* first decoded gap of text since it */
	unsigned adrift;  /* first decoded record from which on times may be too low by times that
			     stamps have no bits for */
	const struct ep_trace_over *over; /* the next stretch of text */
	uint32_t overs;                   /* left, with that one */
	uint32_t at, end;                 /* word in hand, and up to where they hold */
	unsigned text_bytes;              /* of the block's texts so far */
	unsigned argument_words;          /* of its notes, likewise */
};

/* ---- placing untimed records ---- */

/* What of so many cycles, from the last anchor to the record in hand, belongs to a unit of what is
 * usual. */
static double scale(const struct decoding *d, uint64_t cycles)
{
	const uint32_t *costs = d->records->costs;
	uint32_t all = costs[d->records->count] - (d->pending ? costs[d->pending - 1] : 0);

	return (double)cycles / all;
}

/* Cycles from the last anchor to the record, which has a number above d->pending. */
static uint64_t share(const struct decoding *d, double scale, unsigned record)
{
	const uint32_t *costs = d->records->costs;

	return (uint64_t)(scale * (costs[record] - (d->pending ? costs[d->pending - 1] : 0)));
}

/* A thread records only while it is on a CPU: steps of that time. */
static void refine(struct decoding *d, uint64_t high)
{
	const struct ep_absences *absences = d->records->thread->absences;
	struct ep_record *decoded = d->records->decoded;
	uint64_t off = ep_absences_within(absences, d->anchor, high), on;
	double by;

	if (!off || off > high - d->anchor)
		return;
	on = high - d->anchor - off;
	by = scale(d, on);
	for (unsigned i = d->pending; i < d->records->count; i++) {
		decoded[i].time = ep_absences_skip(absences, d->anchor, share(d, by, i));
		decoded[i].refined = true;
	}
}

/* ---- records of functions that went off ---- */

/* Records of the function at `address` from before `high` are from before this: its hooks went off,
 * and were not back yet at `high`. */
static uint64_t until_off(const struct ep_trace_switches *switches, uint64_t address, uint64_t high)
{
	const struct ep_trace_switched *one;
	uint64_t until = high;
	size_t at = SIZE_MAX;

	while ((one = ep_switched_next(switches, address, address + 1, &at)))
		for (unsigned i = 0; i < one->off_count; i++)
			if (one->off[i].begin && one->off[i].end < until &&
			    one->off[i].on_begin > high)
				until = one->off[i].end;
	return until;
}

/* Even steps for those that have a bound in common. */
static void spread_anew(struct decoding *d, const uint64_t *until)
{
	struct ep_record *decoded = d->records->decoded;
	uint64_t time = d->anchor;

	for (unsigned i = d->pending, next; i < d->records->count; i = next) {
		uint64_t step;

		for (next = i + 1; next < d->records->count && until[next] == until[i];)
			next++;
		step = until[i] > time ? (until[i] - time) / (next - i + 1) : 0;
		for (unsigned n = i; n < next; n++) {
			time += step;
			decoded[n].time = time;
			decoded[n].refined = false;
		}
	}
}

/* No record is said to be from when its function was off. It may be, of a thread that was preempted
 * within the hook: so the interval stays as it is. */
static void keep_from_off(struct decoding *d, uint64_t high)
{
	const struct ep_trace_switches *switches = d->records->trace->switches;
	struct ep_record *decoded = d->records->decoded;
	uint64_t until[EP_DECODED_MAX], bound = high;
	bool wrong = false;

	if (!switches || !ep_switches_moved(switches, d->anchor, high))
		return;
	for (unsigned i = d->records->count; i-- > d->pending;) {
		if (decoded[i].kind == EP_RECORD_CALL || decoded[i].kind == EP_RECORD_RETURN)
			bound = until_off(switches, decoded[i].address, bound);
		until[i] = bound;
		wrong |= decoded[i].time > bound;
	}
	if (wrong)
		spread_anew(d, until);
}

/*
 * Records `pending` … count - 1, and text lies over some: those before it are nearer to the last
 * anchor, the others to `high`, where that is the next moment of a history that goes on.
 */
static void place_around(struct decoding *d, uint64_t high, bool goes_on)
{
	struct ep_record *decoded = d->records->decoded;
	uint64_t after = goes_on ? high : d->anchor;

	for (unsigned i = d->pending; i < d->records->count; i++) {
		bool gap = decoded[i].kind == EP_RECORD_GAP;

		decoded[i].low = d->anchor;
		decoded[i].high = gap ? after : high;
		decoded[i].time = i > d->missing ? after : d->anchor;
		decoded[i].exact = d->anchor == high;
	}
	d->pending = d->records->count;
	d->missing = UNSET;
}

/* By absences that nobody asked about, or since functions were switched off. */
static bool is_placed_otherwise(const struct decoding *d, uint64_t high, bool asked)
{
	const struct ep_trace_switches *switches = d->records->trace->switches;

	return (!asked && ep_absences_within(d->records->thread->absences, d->anchor, high)) ||
	       (switches && ep_switches_moved(switches, d->anchor, high));
}

/*
 * Records `pending` … count - 1 happened between the last anchor and `high`. `spread`: in steps as
 * they usually are (transitions.h); without it nothing is known of where in between, and the time
 * is the lower bound.
 */
static void place(struct decoding *d, uint64_t high, bool spread, enum ep_run_to to)
{
	struct ep_record *decoded = d->records->decoded;
	unsigned end = d->records->count;
	uint64_t next = high;
	bool asked = to == EP_RUN_ASKED;
	double by = 0;

	if (d->missing != UNSET) {
		place_around(d, high, spread);
		return;
	}
	if (spread) {
		/* The kernel would have asked for one behind an earlier absence, too. */
		if (asked)
			high = ep_absences_begin(d->records->thread->absences, d->anchor, next);
		if (!is_placed_otherwise(d, high, asked))
			ep_untimed_add(d->untimed,
				       (struct ep_untimed_run){d->pending, end, d->anchor, high,
							       high < next ? EP_RUN_AWAY : to});
		by = scale(d, high - d->anchor);
	}
	for (unsigned i = d->pending; i < end; i++) {
		decoded[i].low = d->anchor;
		decoded[i].high = high;
		decoded[i].time = d->anchor + share(d, by, i);
		decoded[i].exact = d->anchor == high;
		decoded[i].refined = high < next;
	}
	if (spread) {
		refine(d, high);
		keep_from_off(d, high);
	}
	d->pending = end;
}

/* ---- words ---- */

static struct ep_record *add(struct decoding *d, enum ep_record_kind kind)
{
	struct ep_records *records = d->records;
	struct ep_record *record = &records->decoded[records->count++];

	records->costs[records->count] = records->costs[records->count - 1];

	record->kind = kind;
	record->open = 0;
	record->address = 0;
	record->gap = 0;
	record->refined = false;
	record->unsure = record->sampled = false;
	record->lost = 0;
	record->other = 0;
	return record;
}

/* Words that say nothing: consecutive ones of a kind make one gap. */
static struct ep_record *add_gap(struct decoding *d, uint32_t why, uint64_t words)
{
	struct ep_records *records = d->records;
	struct ep_record *last =
		records->count > d->pending ? &records->decoded[records->count - 1] : NULL;

	if (!last || last->kind != EP_RECORD_GAP || last->gap != why) {
		last = add(d, EP_RECORD_GAP);
		last->gap = why;
	}
	last->lost += words;
	records->holes += why == EP_GAP_HOLE;
	return last;
}

/*
 * Behind text a stamp may count from one that is lost, and more than all its bits hold may lie
 * between them. All records since are too low by the same number of cycles then, whatever fits
 * before `limit`, which is known again.
 */
static void end_drift(struct decoding *d, uint64_t limit)
{
	struct ep_records *records = d->records;
	uint64_t most = limit > d->anchor ? limit - d->anchor : 0;

	/* unwrap() may have taken a step of nearly all for one backwards. */
	most = most / WRAP * WRAP + (most % WRAP >= STEP_BACK * TICK ? WRAP : 0);
	for (; most && d->adrift < records->count; d->adrift++) {
		struct ep_record *record = &records->decoded[d->adrift];

		if (record->kind == EP_RECORD_GAP)
			continue;
		record->high = record->high > limit - most ? limit : record->high + most;
		record->exact = false;
	}
	d->adrift = UNSET;
}

/* The time that a stamp means, not before the last anchor. */
static uint64_t unwrap(struct decoding *d, uint64_t stamp)
{
	uint64_t step = (stamp - d->ticks) & (STAMPS - 1), time;

	if (d->escapes)
		step = (d->upper * STAMPS + stamp - d->ticks) & (STAMPS * PAYLOADS - 1);
	else if (step >= STEP_BACK)
		step = 0;
	d->ticks += step;
	time = d->ticks << EP_TICK_SHIFT;
	time = time > d->anchor ? time : d->anchor;
	if (d->escapes)
		end_drift(d, time);
	d->escapes = 0;
	return time;
}

/* ---- marks ---- */

#define DATA_BITS 26

/* A mark's data words: payloads, as many as there are. */
struct data {
	unsigned count, at;
	uint32_t payloads[EP_MARK_DATA_MAX];
};

/* False: some are missing, as when the process died writing them. */
static bool read_data(struct decoding *d, unsigned count, struct data *data)
{
	data->count = data->at = 0;
	while (data->count < count && d->at + 1 < d->end) {
		uint64_t word = d->block->block->records[d->at + 1];

		if ((word & EP_ADDRESS_MASK) >= EP_ESCAPE_LIMIT ||
		    word % EP_ESCAPE_TYPES != EP_ESCAPE_DATA)
			break;
		data->payloads[data->count++] = ep_escape_payload(word);
		d->at++;
	}
	return data->count == count;
}

static uint64_t next_value(struct data *data)
{
	uint64_t low, high;

	if (data->at + 2 > data->count)
		return 0;
	low = data->payloads[data->at++];
	high = data->payloads[data->at++];
	return low | high << DATA_BITS;
}

static const char *read_text(struct decoding *d, struct data *data)
{
	char *text = d->records->texts + d->text_bytes, *end = text;

	for (; data->at < data->count; data->at++)
		for (unsigned i = 0; i < 3; i++)
			*end++ = (char)(data->payloads[data->at] >> 8 * i);
	*end = 0;
	d->text_bytes += (unsigned)(end - text) + 1;
	return text;
}

/* What each kind is made of; LEFT and NOTE have more to them. */
static const struct {
	enum ep_record_kind kind;
	unsigned values;
	enum { NONE, ADDRESS, BUFFER, OTHER } order[3];
	bool text;
} marks[EP_MARKS] = {
	[EP_MARK_THROW] = {EP_RECORD_THROW, 1, {ADDRESS}, true},
	[EP_MARK_RETHROW] = {EP_RECORD_RETHROW, 1, {ADDRESS}, false},
	[EP_MARK_LEFT] = {EP_RECORD_LEFT, 1, {ADDRESS}, false},
	[EP_MARK_LANDED] = {EP_RECORD_LANDED, 1, {ADDRESS}, false},
	[EP_MARK_CAUGHT] = {EP_RECORD_CAUGHT, 1, {ADDRESS}, false},
	[EP_MARK_SAVE] = {EP_RECORD_SAVE, 1, {BUFFER}, false},
	[EP_MARK_RESUME] = {EP_RECORD_RESUME, 2, {BUFFER, ADDRESS}, false},
	[EP_MARK_SWAP] = {EP_RECORD_SWAP, 3, {BUFFER, OTHER, ADDRESS}, false},
	[EP_MARK_FRESH] = {EP_RECORD_FRESH, 3, {BUFFER, OTHER, ADDRESS}, false},
	[EP_MARK_PARENT] = {EP_RECORD_PARENT, 1, {BUFFER}, false},
	[EP_MARK_NOTE] = {EP_RECORD_NOTE, 2, {BUFFER, ADDRESS}, false},
	[EP_MARK_SPAN_BEGIN] = {EP_RECORD_SPAN_BEGIN, 1, {ADDRESS}, true},
	[EP_MARK_SPAN_END] = {EP_RECORD_SPAN_END, 1, {ADDRESS}, true},
	[EP_MARK_WATCHDOG] = {EP_RECORD_WATCHDOG, 2, {ADDRESS, BUFFER}, true},
};

static struct ep_record *add_marked(struct decoding *d, unsigned kind, struct data *data)
{
	struct ep_record *record = add(d, marks[kind].kind);

	record->low = record->high = record->time = d->anchor;
	record->exact = true;
	for (unsigned i = 0; i < marks[kind].values; i++) {
		uint64_t value = next_value(data);

		if (marks[kind].order[i] == ADDRESS)
			record->address = value & EP_ADDRESS_MASK;
		else if (marks[kind].order[i] == BUFFER)
			record->buffer = value;
		else
			record->other = value;
	}
	return record;
}

static void read_stamp(struct decoding *d, uint64_t stamp, bool asked)
{
	uint64_t time = unwrap(d, stamp);

	if (d->pending != d->records->count)
		place(d, time, true, asked ? EP_RUN_ASKED : EP_RUN_DUE);
	d->anchor = time;
}

/* What is left of the data, behind the arguments that are there. */
static void add_arguments(struct decoding *d, uint32_t *arguments, struct data *data)
{
	while (data->at < data->count) {
		arguments[++arguments[0]] = data->payloads[data->at++];
		d->argument_words++;
	}
}

static void read_arguments(struct decoding *d, struct ep_record *record, struct data *data)
{
	uint32_t *arguments = d->records->arguments + d->argument_words++;

	arguments[0] = 0;
	record->arguments = arguments;
	add_arguments(d, arguments, data);
}

/* A NOTE whose format is 0 goes on with the one before it. */
static bool continues_note(struct decoding *d, unsigned kind, struct data *data)
{
	struct ep_records *records = d->records;
	struct ep_record *last = records->count ? &records->decoded[records->count - 1] : NULL;

	if (kind != EP_MARK_NOTE || data->count < 2 || data->payloads[0] || data->payloads[1])
		return false;
	data->at = 2;
	if (last && last->kind == EP_RECORD_NOTE)
		add_arguments(d, (uint32_t *)(uintptr_t)last->arguments, data);
	return true;
}

static void read_mark(struct decoding *d, uint64_t word)
{
	uint32_t payload = ep_escape_payload(word);
	unsigned kind = payload % EP_MARKS;
	struct ep_record *record;
	struct data data;
	/* Marks have a time always; and what came before a vfork's return is its child's, which ran
	 * while the thread was away. */
	bool asked = d->untimed->asked && d->escapes > 1 && kind != EP_MARK_PARENT;
	bool whole = read_data(d, payload >> 5 & EP_MARK_DATA_MAX, &data);

	read_stamp(d, word >> EP_STAMP_SHIFT, asked);
	if (!whole && d->overs && d->at + 1 == d->end) {
		add_gap(d, EP_GAP_TEXT, 1 + data.count);
		return;
	}
	if (continues_note(d, kind, &data))
		return;
	if (!marks[kind].values || data.count < 2 * marks[kind].values) {
		add_gap(d, whole ? EP_GAP_UNKNOWN_ESCAPE : EP_GAP_HOLE, 1);
		return;
	}
	do
		record = add_marked(d, kind, &data);
	while (kind == EP_MARK_LEFT && data.at + 2 <= data.count);
	if (marks[kind].text)
		record->text = read_text(d, &data);
	else if (kind == EP_MARK_NOTE)
		read_arguments(d, record, &data);
	d->pending = d->records->count;
}

static void read_escape(struct decoding *d, uint64_t word)
{
	unsigned type = word % EP_ESCAPE_TYPES;

	if (type == EP_ESCAPE_TIME) {
		d->upper = ep_escape_payload(word);
		d->escapes++;
	} else if (type == EP_ESCAPE_MARK && word >> EP_STAMP_SHIFT) {
		read_mark(d, word);
	} else {
		add_gap(d, EP_GAP_UNKNOWN_ESCAPE, 1);
	}
}

static void read_event(struct decoding *d, uint64_t word)
{
	uint64_t stamp = word >> EP_STAMP_SHIFT;
	struct ep_record *record;

	if (stamp != 0)
		read_stamp(d, stamp, ep_untimed_asked(d->untimed, d->block, d->at, d->escapes));
	record = add(d, word & EP_RETURN_BIT ? EP_RECORD_RETURN : EP_RECORD_CALL);
	record->address = word & EP_ADDRESS_MASK;
	if (stamp != 0) {
		record->low = record->high = record->time = d->anchor;
		record->exact = true;
		record->sampled = d->block->block->every == 1;
		d->pending = d->records->count;
	}
}

/* The word in hand is the next record: 0 is something else than an event. */
static void expect(struct decoding *d, uint64_t word)
{
	struct ep_records *records = d->records;
	unsigned at = records->count;

	records->costs[at] =
		(at ? records->costs[at - 1] : 0) +
		ep_transitions_between(&records->trace->transitions, records->word, word);
	records->word = word;
}

static void read_word(struct decoding *d, uint64_t word)
{
	expect(d, ep_word_is_event(word) ? word : 0);
	if (word == 0)
		add_gap(d, EP_GAP_HOLE, 1);
	else if (ep_word_is_event(word))
		read_event(d, word);
	else
		read_escape(d, word);
}

/* The next stretch of text, which is all that is known of what happened. */
static void skip_text(struct decoding *d)
{
	const struct ep_trace_over *over = d->over++;

	d->overs--;
	add_gap(d, EP_GAP_TEXT, over->end - over->from)->over = over;
	d->escapes = 0;
	if (d->missing == UNSET)
		d->missing = d->records->count - 1;
	if (d->adrift == UNSET)
		d->adrift = d->pending;
	d->at = over->end;
}

/* Words up to `end`, of which `mask` is to be believed. */
static void read_until(struct decoding *d, uint32_t end, uint64_t mask)
{
	const uint64_t *records = d->block->block->records;

	for (; d->at < end; d->at++) {
		ep_untimed_reach(d->untimed, d->at, d->records->count);
		read_word(d, records[d->at] & mask);
	}
}

static void read_words(struct decoding *d)
{
	for (; d->overs; skip_text(d)) {
		d->end = d->over->from;
		read_until(d, d->end - d->over->stamp, UINT64_MAX);
		read_until(d, d->end, EP_RETURN_BIT | EP_ADDRESS_MASK);
	}
	d->end = d->block->words;
	read_until(d, d->end, UINT64_MAX);
}

/* ---- blocks ---- */

/* What is missing between this block and the one before it. */
static void add_gap_before(struct decoding *d)
{
	const struct ep_trace_block *block = d->block;
	bool paused = block->block->flags & EP_BLOCK_RESUMED;
	struct ep_record *gap;

	if (!d->records->started || (!paused && block->lost_before == 0))
		return;
	gap = add(d, EP_RECORD_GAP);
	gap->gap = (paused ? EP_GAP_PAUSED : 0) | (block->lost_before ? EP_GAP_LOST_BLOCKS : 0);
	gap->lost = block->lost_before;
	gap->low = gap->time = d->records->last;
	gap->high = d->anchor;
	gap->exact = gap->low == gap->high;
	d->pending = d->records->count;
	d->records->word = 0;
}

static bool is_parents(uint64_t word)
{
	return (word & EP_ADDRESS_MASK) < EP_ESCAPE_LIMIT &&
	       word % EP_ESCAPE_TYPES == EP_ESCAPE_MARK &&
	       ep_escape_payload(word) % EP_MARKS == EP_MARK_PARENT;
}

/* The block's tail lies before the next block's beginning. What came between is only known to be
 * events of this thread when nothing is missing there and no long silence made the next block. */
static void place_tail(struct decoding *d)
{
	const struct ep_trace_thread *thread = d->records->thread;
	const struct ep_trace_block *next = d->block + 1;
	uint64_t high;

	if (next == thread->blocks + thread->block_count) {
		end_drift(d, EP_TIME_UNKNOWN);
		ep_untimed_add(d->untimed,
			       (struct ep_untimed_run){d->pending, d->records->count, d->anchor,
						       EP_TIME_UNKNOWN, EP_RUN_OPEN});
		place(d, EP_TIME_UNKNOWN, false, EP_RUN_OPEN);
		return;
	}
	high = next->tsc > d->anchor ? next->tsc : d->anchor;
	end_drift(d, high);
	expect(d, ep_word_is_event(next->block->records[0]) ? next->block->records[0] : 0);
	place(d, high,
	      next->lost_before == 0 &&
		      !(next->block->flags & (EP_BLOCK_RESUMED | EP_BLOCK_LONG_GAP)),
	      d->untimed->asked && next->block->flags & EP_BLOCK_ASKED &&
			      !is_parents(next->block->records[0])
		      ? EP_RUN_ASKED
		      : EP_RUN_DUE);
}

static void decode(struct ep_records *records)
{
	const struct ep_trace_block *block = &records->thread->blocks[records->next_block++];
	uint64_t begin = block->tsc > records->last ? block->tsc : records->last;
	struct ep_untimed untimed;
	struct decoding d = {
		.records = records,
		.untimed = &untimed,
		.block = block,
		.ticks = block->tsc >> EP_TICK_SHIFT,
		.anchor = begin,
		.missing = UNSET,
		.adrift = UNSET,
		.over = block->over_count ? &records->trace->overs.list[block->first_over] : NULL,
		.overs = block->over_count,
	};

	records->count = records->at = 0;
	records->costs[0] = 0;
	ep_untimed_begin(&untimed, records->trace, records->thread, block);
	add_gap_before(&d);
	read_words(&d);
	place_tail(&d);
	ep_untimed_settle(&untimed, records->decoded, records->costs, records->count,
			  &records->pace);
	if (records->trace->switches && records->all_next < records->trace->switches->all_count)
		ep_switches_tell_pauses(records->trace->switches, records);
	records->last = d.anchor;
	records->started = true;
}

void ep_records_init(struct ep_records *records, const struct ep_trace *trace,
		     const struct ep_trace_thread *thread)
{
	records->trace = trace;
	records->thread = thread;
	records->next_block = 0;
	records->count = records->at = 0;
	records->holes = 0;
	records->last = records->word = 0;
	records->pace = (struct ep_pace){0, 0};
	records->started = records->ended = false;
	records->all_next = 0;
	records->all_told = records->all_dropped = false;
}

/* Blocks that were entered and are not there. One that is just being entered has nothing in it
 * yet. */
static uint64_t lost_at_end(const struct ep_records *records)
{
	const struct ep_trace_thread *thread = records->thread;
	uint64_t last = thread->blocks[thread->block_count - 1].sequence;

	if (thread->blocks_entered <= last)
		return 0;
	if (thread->blocks_entered == last + 1 && records->trace->damage.blocks_entering)
		return 0;
	return thread->blocks_entered - last;
}

/* Did everything go off, and perhaps come back, after the last record, while the thread lived? */
static bool off_behind(const struct ep_records *records)
{
	const struct ep_trace_switches *switches = records->trace->switches;
	const struct ep_trace_thread *thread = records->thread;

	if (!switches || records->all_next == switches->all_count)
		return false;
	return !thread->known || thread->state == EP_THREAD_LIVE ||
	       thread->end_tsc >= switches->all[records->all_next].begin;
}

/* What is missing after the last block: a pause that was not over, or the newest blocks. */
static int add_gap_behind(struct ep_records *records)
{
	const struct ep_trace_thread *thread = records->thread;
	bool live = thread->known && thread->state == EP_THREAD_LIVE;
	bool off = records->all_told || off_behind(records);
	bool paused = off || (live && (thread->gate != 0 || records->trace->arena.gate != 0));
	struct ep_record *gap = &records->decoded[0];
	uint64_t lost;

	if (records->ended || thread->block_count == 0)
		return EP_END;
	records->ended = true;
	lost = lost_at_end(records);
	if (!paused && lost == 0)
		return EP_END;
	*gap = (struct ep_record){
		.kind = EP_RECORD_GAP,
		.low = records->all_told ? records->all_low : records->last,
		.high = EP_TIME_UNKNOWN,
		.time = records->all_told ? records->all_time : records->last,
		.gap = (paused ? EP_GAP_PAUSED : 0) | (lost ? EP_GAP_LOST_BLOCKS : 0),
		.lost = lost,
	};
	records->count = 1;
	records->at = 0;
	return EP_OK;
}

int ep_records_next_slow(struct ep_records *records, const struct ep_record **out)
{
	while (records->at == records->count) {
		if (records->next_block < records->thread->block_count)
			decode(records);
		else if (add_gap_behind(records) != EP_OK)
			return EP_END;
	}
	*out = &records->decoded[records->at++];
	return EP_OK;
}

const char *ep_records_text(const struct ep_records *records, const struct ep_record *gap,
			    size_t *size)
{
	const struct ep_trace_block *block = &records->thread->blocks[records->next_block - 1];

	*size = gap->over->size;
	return (const char *)block->block + gap->over->at;
}

void ep_records_seek(struct ep_records *records, uint64_t tsc)
{
	const struct ep_trace_thread *thread = records->thread;
	const struct ep_trace *trace = records->trace;
	size_t low = ep_partition_point(thread->block_count, i, thread->blocks[i].tsc <= tsc);

	ep_records_init(records, records->trace, thread);
	records->next_block = low ? low - 1 : 0;
	/* What lay before is not told. */
	while (trace->switches && records->next_block < thread->block_count &&
	       records->all_next < trace->switches->all_count &&
	       trace->switches->all[records->all_next].begin <=
		       thread->blocks[records->next_block].tsc)
		records->all_next++;
}

uint64_t ep_records_last_time(const struct ep_trace *trace, const struct ep_trace_thread *thread)
{
	struct ep_records records;

	ep_records_init(&records, trace, thread);
	records.next_block = thread->block_count - 1;
	decode(&records);
	return records.last;
}
