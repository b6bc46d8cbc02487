/* SPDX-License-Identifier: BSD-2-Clause */
/* note.c: formats → how their arguments are taken; arguments → marks. */
#include "runtime/api/note.h"

#include <errno.h>
#include <stdbool.h>
#include <wchar.h>

#include "runtime/api/hook.h"
#include "runtime/epitaph.h"
#include "runtime/lib/conversion.h"
#include "runtime/record/mark.h"
#include "runtime/record/ring.h"

#define PUBLIC __attribute__((visibility("default")))

/* ---- formats ------------------------------------------------------------- */

/* By the argument's number. */
struct taking {
	uint8_t kinds[EP_CONVERSION_ARGUMENTS + 1];
	uint16_t limits[EP_CONVERSION_ARGUMENTS + 1];
	unsigned last;
	bool errno_too, more;
};

static void take(struct taking *taking, unsigned argument, unsigned kind)
{
	if (!argument)
		return;
	if (argument > EP_CONVERSION_ARGUMENTS) {
		taking->more = true;
		return;
	}
	/* The same one twice: what is read less of. */
	if (taking->kinds[argument] && kind != EP_NOTE_INT)
		kind = taking->kinds[argument] == kind ? kind : EP_NOTE_POINTER;
	taking->kinds[argument] = (uint8_t)kind;
	if (argument > taking->last)
		taking->last = argument;
}

/* A string need not end where its precision does, so that is heeded here; one that comes from
 * elsewhere than the argument before leaves the address. */
static unsigned string_kind(struct taking *taking, const struct ep_conversion *one, unsigned kind)
{
	bool wide = kind == EP_NOTE_WIDE;

	if (one->precision_argument)
		return one->precision_argument + 1 != one->argument ? EP_NOTE_POINTER
		       : wide                                       ? EP_TAKE_WIDE_STAR
								    : EP_TAKE_STRING_STAR;
	if (one->precision == EP_CONVERSION_NONE || one->argument > EP_CONVERSION_ARGUMENTS)
		return kind;
	taking->limits[one->argument] = (uint16_t)(one->precision < 0xfff ? one->precision : 0xfff);
	return wide ? EP_TAKE_WIDE_FIXED : EP_TAKE_STRING_FIXED;
}

static void add_conversion(struct taking *taking, const struct ep_conversion *one)
{
	unsigned kind = ep_conversion_kind(one);

	take(taking, one->width_argument, EP_NOTE_INT);
	take(taking, one->precision_argument, EP_NOTE_INT);
	if (kind == EP_NOTE_STRING || kind == EP_NOTE_WIDE)
		kind = string_kind(taking, one, kind);
	if (one->letter == 'm')
		taking->errno_too = true;
	else
		take(taking, one->argument, kind);
}

struct nibbles {
	uint64_t value;
	unsigned bits;
};

static void add_nibble(struct nibbles *nibbles, unsigned value)
{
	nibbles->value |= (uint64_t)(value & 15) << nibbles->bits;
	nibbles->bits += 4;
}

static unsigned width_of(unsigned kind)
{
	return kind == EP_TAKE_STRING_FIXED || kind == EP_TAKE_WIDE_FIXED ? 16 : 4;
}

static uint64_t packed(const struct taking *taking)
{
	struct nibbles nibbles = {0};
	bool more = taking->more;

	/* It is no argument, so its place does not matter. */
	if (taking->errno_too)
		add_nibble(&nibbles, EP_NOTE_ERRNO);
	for (unsigned i = 1; i <= taking->last; i++) {
		unsigned kind = taking->kinds[i];

		/* Room for EP_TAKE_END, and EP_TAKE_MORE if need be. */
		unsigned room = i == taking->last && !more ? 60 : 56;

		/* A number that no conversion has: of unknown size. */
		if (!kind || nibbles.bits + width_of(kind) > room) {
			more = true;
			break;
		}
		add_nibble(&nibbles, kind);
		for (unsigned j = 4; j < width_of(kind); j += 4)
			add_nibble(&nibbles, taking->limits[i] >> (j - 4));
	}
	if (more)
		add_nibble(&nibbles, EP_TAKE_MORE);
	add_nibble(&nibbles, EP_TAKE_END);
	return nibbles.value;
}

uint64_t ep_note_arguments(const char *format)
{
	struct ep_conversions all = {format, 0};
	struct ep_conversion one;
	struct taking taking = {.last = 0};

	while (*all.at) {
		if (*all.at++ != '%')
			continue;
		if (!ep_conversion_read(&all, &one)) {
			taking.more = true;
			break;
		}
		add_conversion(&taking, &one);
	}
	return packed(&taking);
}

/*
 * Read once for each place, and kept there with the format that it is of: the first to come keeps
 * it, and it is valid when it is not 0. Another format at the same place (never of literals) is
 * read each time.
 */
static uint64_t arguments_of(struct epitaph_note_site *site, const char *format)
{
	const char *none = NULL;
	uint64_t arguments;

	if (site) {
		arguments = __atomic_load_n(&site->arguments, __ATOMIC_ACQUIRE);
		if (arguments && site->format == format)
			return arguments;
	}
	arguments = ep_note_arguments(format);
	if (site && __atomic_compare_exchange_n(&site->format, &none, format, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		__atomic_store_n(&site->arguments, arguments, __ATOMIC_RELEASE);
	return arguments;
}

/* ---- marks --------------------------------------------------------------- */

#define WORD_BITS  26
#define WORD_BYTES 3 /* of a string in a word */
#define FIRST_BITS (WORD_BITS - EP_NOTE_SHIFT)
#define THIRD_BITS (FIRST_BITS + WORD_BITS) /* where a third word begins */
/* Of arguments: a format and an address take four words, a continuation two. */
#define ROOM (EP_MARK_DATA_MAX - 4 + (EP_NOTE_MARKS - 1) * (EP_MARK_DATA_MAX - 2))

static void begin_mark(struct ep_note_builder *note)
{
	note->head = note->count++;
}

static unsigned in_mark(const struct ep_note_builder *note)
{
	return note->count - note->head - 1;
}

static void end_mark(struct ep_note_builder *note, unsigned kind)
{
	note->words[note->head] = ep_escape_make(EP_ESCAPE_MARK, kind | in_mark(note) << 5);
}

static void add_word(struct ep_note_builder *note, uint64_t payload)
{
	payload &= (1u << WORD_BITS) - 1;
	note->words[note->count++] = ep_escape_make(EP_ESCAPE_DATA, (uint32_t)payload);
}

static void add_address(struct ep_note_builder *note, uint64_t address)
{
	add_word(note, address);
	add_word(note, address >> WORD_BITS);
}

/* What a value's words must not be parted by is nothing: the reader puts the marks' words together
 * first. */
static void add(struct ep_note_builder *note, uint64_t payload)
{
	if (in_mark(note) == EP_MARK_DATA_MAX) {
		end_mark(note, EP_MARK_NOTE);
		begin_mark(note);
		add_address(note, 0);
	}
	add_word(note, payload);
}

static void add_int(struct ep_note_builder *note, unsigned kind, uint32_t value)
{
	add(note, kind | (uint64_t)value << EP_NOTE_SHIFT);
	add(note, value >> FIRST_BITS);
}

static void add_long(struct ep_note_builder *note, unsigned kind, uint64_t value)
{
	add(note, kind | value << EP_NOTE_SHIFT);
	add(note, value >> FIRST_BITS);
	add(note, value >> THIRD_BITS);
}

static void add_long_double(struct ep_note_builder *note, uint64_t value, uint16_t above)
{
	add(note, EP_NOTE_LONG_DOUBLE | value << EP_NOTE_SHIFT);
	add(note, value >> FIRST_BITS);
	add(note, value >> THIRD_BITS | (uint64_t)above << (64 - THIRD_BITS));
	add(note, above >> (WORD_BITS - (64 - THIRD_BITS)));
}

/* ---- strings ------------------------------------------------------------- */

/* Where text comes from: bytes, or wide characters made into UTF-8. */
struct string {
	const char *bytes;
	const wchar_t *wide;
	uint64_t limit;  /* bytes that may be read, or made */
	char made[4];    /* of the character in hand */
	unsigned at, of; /* of these */
};

static unsigned encode(uint32_t c, char out[4])
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	for (unsigned i = more; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(0xf00 >> (more + 1) | c);
	return more + 1;
}

/* The next byte; 0 at the end. */
static char next_byte(struct string *string)
{
	if (string->at < string->of)
		return string->made[string->at++];
	if (string->limit == 0)
		return 0;
	if (!string->wide) {
		string->limit--;
		return *string->bytes++;
	}
	if (!*string->wide)
		return 0;
	string->of = encode((uint32_t)*string->wide++, string->made);
	/* Never a part of a character. */
	if (string->of > string->limit) {
		string->limit = 0;
		string->of = string->at;
		return 0;
	}
	string->limit -= string->of;
	string->at = 1;
	return string->made[0];
}

static void add_string(struct ep_note_builder *note, struct string *string, unsigned kind,
		       unsigned words)
{
	unsigned head, bytes = 0, in_word = 0;
	uint64_t payload = 0;
	char c;

	add(note, 0);
	head = note->count - 1;
	while ((c = next_byte(string)) != 0 && bytes < words * WORD_BYTES) {
		payload |= (uint64_t)(unsigned char)c << 8 * in_word;
		bytes++;
		if (++in_word == WORD_BYTES) {
			add(note, payload);
			payload = in_word = 0;
		}
	}
	if (in_word)
		add(note, payload);
	note->words[head] = ep_escape_make(EP_ESCAPE_DATA, kind | bytes << EP_NOTE_SHIFT |
								   (c ? EP_NOTE_TRUNCATED : 0));
}

/* ---- one note ------------------------------------------------------------ */

struct writing {
	struct ep_note_builder *note;
	struct ep_variadic *list;
	unsigned room;  /* data words left */
	int32_t before; /* the argument before, when it was an int */
};

static unsigned words_of(unsigned kind)
{
	static const uint8_t words[EP_TAKE_END + 1] = {
		[EP_NOTE_INT] = 2,    [EP_NOTE_LONG] = 3,  [EP_NOTE_POINTER] = 3,
		[EP_NOTE_DOUBLE] = 3, [EP_NOTE_ERRNO] = 2, [EP_NOTE_LONG_DOUBLE] = 4,
		[EP_TAKE_MORE] = 1,
	};

	return words[kind];
}

static bool is_string(unsigned kind)
{
	return kind == EP_NOTE_STRING || kind == EP_NOTE_WIDE ||
	       (kind >= EP_TAKE_STRING_STAR && kind <= EP_TAKE_WIDE_FIXED);
}

/* Words for the string that comes next: of what the other arguments leave, an equal share with the
 * strings behind it. */
static unsigned share(const struct writing *w, uint64_t arguments)
{
	unsigned fixed = 0, strings = 0;

	for (unsigned kind; (kind = arguments & 15) != EP_TAKE_END; arguments >>= width_of(kind)) {
		fixed += is_string(kind) ? 1 : words_of(kind);
		strings += is_string(kind);
	}
	return w->room > fixed ? (w->room - fixed) / strings : 0;
}

static void write_string(struct writing *w, unsigned kind, uint64_t arguments)
{
	uint64_t address = ep_variadic_word(w->list);
	bool wide = kind == EP_NOTE_WIDE || kind == EP_TAKE_WIDE_STAR || kind == EP_TAKE_WIDE_FIXED;
	struct string string = {.limit = UINT64_MAX};
	unsigned before = w->note->count, head = w->note->head;

	if ((kind == EP_TAKE_STRING_STAR || kind == EP_TAKE_WIDE_STAR) && w->before >= 0)
		string.limit = (uint64_t)w->before;
	if (kind == EP_TAKE_STRING_FIXED || kind == EP_TAKE_WIDE_FIXED)
		string.limit = arguments >> 4 & 0xfff;
	kind = wide ? EP_NOTE_WIDE : EP_NOTE_STRING;
	if (!address) {
		add(w->note, kind | EP_NOTE_NULL);
	} else {
		string.bytes = wide ? NULL : (const char *)address;
		string.wide = wide ? (const wchar_t *)address : NULL;
		add_string(w->note, &string, kind, share(w, arguments));
	}
	/* A continuation's head and its two words are not the arguments'. */
	w->room -= w->note->count - before;
	for (; head != w->note->head; head += 1 + EP_MARK_DATA_MAX)
		w->room += 3;
}

static void write_long_double(struct writing *w)
{
	uint16_t above;
	uint64_t value = ep_variadic_long_double(w->list, &above);

	add_long_double(w->note, value, above);
}

/* `kind` is none of a string's. */
static void write_value(struct writing *w, unsigned kind)
{
	struct ep_note_builder *note = w->note;

	w->room -= words_of(kind);
	switch (kind) {
	case EP_NOTE_INT:
		w->before = (int32_t)ep_variadic_word(w->list);
		add_int(note, kind, (uint32_t)w->before);
		break;
	case EP_NOTE_LONG:
	case EP_NOTE_POINTER:
		add_long(note, kind, ep_variadic_word(w->list));
		break;
	case EP_NOTE_DOUBLE:
		add_long(note, kind, ep_variadic_double(w->list));
		break;
	case EP_NOTE_LONG_DOUBLE:
		write_long_double(w);
		break;
	case EP_NOTE_ERRNO:
		add_int(note, kind, (uint32_t)errno);
		break;
	case EP_TAKE_MORE:
		add(note, EP_NOTE_MORE);
		break;
	}
}

void ep_program_note(struct ep_note_builder *note, const char *format, uint64_t arguments,
		     struct ep_variadic *list, uint64_t at)
{
	struct writing w = {note, list, ROOM, 0};

	note->count = 0;
	begin_mark(note);
	add_address(note, (uint64_t)format);
	add_address(note, at - 1); /* in the call instruction */
	for (unsigned kind; (kind = arguments & 15) != EP_TAKE_END; arguments >>= width_of(kind)) {
		if (is_string(kind))
			write_string(&w, kind, arguments);
		else
			write_value(&w, kind);
	}
	end_mark(note, EP_MARK_NOTE);
}

/* ---- the frequent case --------------------------------------------------- */

/* Words of a note of numbers that fits one mark; 0: it is another. */
static unsigned quick_words(uint64_t arguments)
{
	unsigned words = 1 + 4;

	for (; (arguments & 15) != EP_TAKE_END; arguments >>= 4) {
		unsigned kind = arguments & 15;

		if (kind > EP_NOTE_DOUBLE)
			return 0;
		words += words_of(kind);
	}
	return words <= 1 + EP_MARK_DATA_MAX ? words : 0;
}

static uint64_t *put(uint64_t *slot, uint64_t payload)
{
	*slot = ep_escape_make(EP_ESCAPE_DATA, (uint32_t)payload);
	return slot + 1;
}

/* Into the ring by way of the caller's stack. */
static __attribute__((noinline)) void note_slow(const char *format, uint64_t arguments,
						struct ep_variadic *list, uint64_t at)
{
	struct ep_note_builder note;

	ep_program_note(&note, format, arguments, list, at);
	ep_hook_say(note.words, note.count);
}

/* The same words as ep_program_note makes, straight into the ring. */
static bool note_quickly(const char *format, uint64_t arguments, struct ep_variadic *list,
			 uint64_t at)
{
	unsigned words = quick_words(arguments);
	uint64_t stamp, value;
	uint64_t *slot = words ? ep_ring_reserve(words, &stamp) : NULL;

	if (!slot)
		return false;
	*slot++ = ep_escape_make(EP_ESCAPE_MARK, EP_MARK_NOTE | (words - 1) << 5) | stamp;
	slot = put(slot, (uint64_t)format);
	slot = put(slot, (uint64_t)format >> WORD_BITS);
	slot = put(slot, at - 1);
	slot = put(slot, (at - 1) >> WORD_BITS);
	for (unsigned kind; (kind = arguments & 15) != EP_TAKE_END; arguments >>= 4) {
		value = kind == EP_NOTE_DOUBLE ? ep_variadic_double(list) : ep_variadic_word(list);
		if (kind == EP_NOTE_INT)
			value = (uint32_t)value;
		slot = put(slot, kind | value << EP_NOTE_SHIFT);
		slot = put(slot, value >> FIRST_BITS);
		if (kind != EP_NOTE_INT)
			slot = put(slot, value >> THIRD_BITS);
	}
	return true;
}

void ep_note(struct epitaph_note_site *site, const char *format, struct ep_variadic *list,
	     uint64_t at)
{
	uint64_t arguments;

	if (!ep_hook_ready())
		return;
	arguments = arguments_of(site, format);
	if (!note_quickly(format, arguments, list, at))
		note_slow(format, arguments, list, at);
}

PUBLIC void epitaph_vnote(const char *format, va_list arguments)
{
	struct ep_variadic list = *(const struct ep_variadic *)arguments;

	ep_note(NULL, format, &list, (uint64_t)__builtin_return_address(0));
}

/* ---- spans --------------------------------------------------------------- */

static void mark_span(unsigned kind, const char *name, void *at)
{
	struct ep_mark mark;

	if (!ep_hook_ready())
		return;
	ep_mark_init(&mark, kind);
	ep_mark_value(&mark, (uint64_t)at - 1);
	ep_mark_text(&mark, name ? name : "(null)");
	ep_mark_finish(&mark);
	ep_hook_say(mark.words, 1 + mark.count);
}

PUBLIC void epitaph_mark_begin(const char *name)
{
	mark_span(EP_MARK_SPAN_BEGIN, name, __builtin_return_address(0));
}

PUBLIC void epitaph_mark_end(const char *name)
{
	mark_span(EP_MARK_SPAN_END, name, __builtin_return_address(0));
}
