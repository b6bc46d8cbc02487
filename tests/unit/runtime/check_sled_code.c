/* SPDX-License-Identifier: BSD-2-Clause */
/* check_sled_code.c: sleds as clang writes them, prepared and looked at. What bytes mean is Intel's
 * manual, volume 2: e8 call rel32; eb jmp rel8; 48 83 c4 ib add; c3 ret; 0f 1f 40 00 nop. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <check.h>
#include <string.h>

#include "main.h"
#include "runtime/sled_code.h"

#define PLACE UINT64_C(0x401000)

static const uint8_t entry_or_tail[EP_SLED_SIZE] = {0xeb, 9, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0};
static const uint8_t of_return[EP_SLED_SIZE] = {0xc3, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0};

static uint8_t code[EP_SLED_SIZE + 2];

static void compile(enum ep_sled_shape shape)
{
	memcpy(code, shape == EP_SLED_AT_RETURN ? of_return : entry_or_tail, EP_SLED_SIZE);
	code[EP_SLED_SIZE] = 0xe9;
}

static unsigned decides(enum ep_sled_shape shape)
{
	return shape == EP_SLED_AT_RETURN ? 0 : 1;
}

/* What a processor that comes to the sled does: the instructions of one that is on. */
static void ck_assert_calls(enum ep_sled_shape shape, uint64_t hook)
{
	/* REX.W; in a tail call REX.X, too, which an operand without an index leaves unused:
	 * Intel's manual, volume 2, section 2.2.1.2. */
	const uint8_t skip[] = {shape == EP_SLED_AT_TAIL ? 0x4a : 0x48, 0x83, 0xc4, 0x80};
	unsigned at = 0;
	int32_t distance;

	if (shape != EP_SLED_AT_RETURN) {
		ck_assert_uint_eq(code[at], 0xeb);
		at += 2 + code[at + 1];
		ck_assert_uint_eq(at, 2);
	}
	if (shape != EP_SLED_AT_ENTRY) {
		ck_assert_mem_eq(code + at, skip, sizeof(skip));
		at += (unsigned)sizeof(skip);
	}
	ck_assert_uint_eq(code[at], 0xe8);
	memcpy(&distance, code + at + 1, sizeof(distance));
	at += 5;
	ck_assert_uint_eq(PLACE + at + (uint64_t)(int64_t)distance, hook);
	if (shape == EP_SLED_AT_ENTRY)
		ck_assert_mem_eq(code + at, "\x0f\x1f\x40\0", 4);
	else if (shape == EP_SLED_AT_RETURN)
		ck_assert_uint_eq(code[at], 0xc3);
	else
		ck_assert_uint_eq(at, EP_SLED_SIZE);
}

START_TEST(a_prepared_sled_is_off_and_one_byte_makes_it_call_the_hook)
{
	enum ep_sled_shape shape = (enum ep_sled_shape)_i;
	const uint64_t hooks[] = {PLACE + 0x1000, PLACE - 0x1000, PLACE + 0x7ffffff0};
	unsigned kind = ep_sled_shapes[shape].kind;

	for (unsigned i = 0; i < 3; i++) {
		compile(shape);
		ck_assert(ep_sled_is_fit(shape, code) && !ep_sled_is_prepared(shape, code));
		ck_assert(ep_sled_prepare(shape, code, PLACE, hooks[i]));
		ck_assert_mem_eq(code, shape == EP_SLED_AT_RETURN ? of_return : entry_or_tail,
				 decides(shape) + 1);
		ck_assert(ep_sled_is_prepared(shape, code) && !ep_sled_is_fit(shape, code));
		ck_assert_uint_eq(code[decides(shape)], ep_site_byte(kind, true));
		code[decides(shape)] = ep_site_byte(kind, false);
		ck_assert(ep_sled_is_prepared(shape, code));
		ck_assert_calls(shape, hooks[i]);
	}
}
END_TEST

START_TEST(a_hook_that_is_too_far_away_leaves_it_as_it_is)
{
	enum ep_sled_shape shape = (enum ep_sled_shape)_i;
	uint8_t before[EP_SLED_SIZE];

	compile(shape);
	memcpy(before, code, sizeof(before));
	ck_assert(!ep_sled_prepare(shape, code, PLACE, PLACE + 0x80000020));
	ck_assert(!ep_sled_prepare(shape, code, PLACE + 0x100000000, PLACE));
	ck_assert_mem_eq(code, before, sizeof(before));
}
END_TEST

START_TEST(the_byte_that_decides_is_found_and_leads_to_the_hook)
{
	enum ep_sled_shape shape = (enum ep_sled_shape)_i;
	unsigned from = decides(shape);
	uint64_t target;

	compile(shape);
	ep_sled_prepare(shape, code, PLACE, PLACE + 0x12345);
	for (unsigned off = 0; off < 2; off++) {
		code[from] = ep_site_byte(ep_sled_shapes[shape].kind, off);
		ck_assert_uint_eq(
			ep_sled_code_look(code + from, EP_SLED_SIZE - from, PLACE + from, &target),
			shape);
		ck_assert_uint_eq(target, PLACE + 0x12345);
	}
	code[from] = 0xcc;
	ck_assert_uint_eq(
		ep_sled_code_look(code + from, EP_SLED_SIZE - from, PLACE + from, &target),
		EP_SLED_NONE);
}
END_TEST

START_TEST(a_sled_is_found_at_one_byte_whatever_lies_before_it)
{
	enum ep_sled_shape shape = (enum ep_sled_shape)_i;
	static const uint8_t sharp[16] = {0,    9,    0x48, 0x4a, 0x83, 0xc4, 0x80, 0xe8,
					  0xeb, 0xc3, 0xcc, 0x0f, 0x66, 0x90, 0xff, 1};
	uint8_t around[4 + sizeof(code)] = {0x90, 0x90};
	uint64_t target;

	compile(shape);
	ep_sled_prepare(shape, code, PLACE, PLACE + 0x12345);
	for (unsigned off = 0; off < 2; off++) {
		code[decides(shape)] = ep_site_byte(ep_sled_shapes[shape].kind, off);
		memcpy(around + 4, code, sizeof(code));
		for (unsigned before = 0; before < 4096; before++) {
			around[2] = sharp[before % 16];
			around[3] = (uint8_t)(before / 16);
			for (unsigned i = 0; i < EP_SLED_SIZE; i++) {
				enum ep_sled_shape found = ep_sled_code_look(
					around + i, sizeof(around) - i, PLACE - 4 + i, &target);

				if (found && target != PLACE + 0x12345)
					found = EP_SLED_NONE;
				if (found != (i == 4 + decides(shape) ? shape : EP_SLED_NONE))
					ck_abort_msg("%02x %02x: %d at %u", around[2], around[3],
						     found, i);
			}
		}
	}
}
END_TEST

START_TEST(half_a_sled_is_none)
{
	enum ep_sled_shape shape = (enum ep_sled_shape)_i;
	unsigned from = decides(shape), call = ep_sled_shapes[shape].call;
	uint64_t target;

	compile(shape);
	ep_sled_prepare(shape, code, PLACE, PLACE);
	for (unsigned size = 1; size <= EP_SLED_SIZE - from; size++)
		ck_assert_uint_eq(ep_sled_code_look(code + from, size, PLACE, &target),
				  size < call - from + 5 ? EP_SLED_NONE : shape);
}
END_TEST

START_TEST(the_flags_of_a_conditional_tail_call_are_left_alone)
{
	static const uint8_t after[][3] = {
		{0x0f, 0x85, false}, {0x0f, 0x80, false}, {0x74, 0x10, false}, {0x7f, 0x10, false},
		{0x0f, 0x1f, true},  {0xe9, 0x85, true},  {0xeb, 0x10, true},  {0xff, 0x25, true}};

	for (unsigned i = 0; i < sizeof(after) / sizeof(*after); i++) {
		compile(EP_SLED_AT_TAIL);
		memcpy(code + EP_SLED_SIZE, after[i], 2);
		ck_assert_int_eq(ep_sled_is_fit(EP_SLED_AT_TAIL, code), after[i][2]);
		ck_assert(ep_sled_is_fit(EP_SLED_AT_ENTRY, code));
	}
}
END_TEST

START_TEST(a_map_says_what_is_where)
{
	static const enum ep_sled_shape shapes[] = {EP_SLED_AT_ENTRY, EP_SLED_AT_RETURN,
						    EP_SLED_AT_TAIL,  EP_SLED_AT_ENTRY,
						    EP_SLED_NONE,     EP_SLED_NONE};
	struct ep_sled sled = {.version = 2};

	for (sled.kind = 0; sled.kind < 6; sled.kind++)
		ck_assert_uint_eq(ep_sled_shape_of(&sled), shapes[sled.kind]);
	sled = (struct ep_sled){.version = 1, .kind = EP_SLED_ENTRY};
	ck_assert_uint_eq(ep_sled_shape_of(&sled), EP_SLED_NONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sled_code");
	TCase *tests = tcase_create("sleds");

	tcase_add_loop_test(tests, a_prepared_sled_is_off_and_one_byte_makes_it_call_the_hook,
			    EP_SLED_AT_ENTRY, EP_SLED_SHAPES);
	tcase_add_loop_test(tests, a_hook_that_is_too_far_away_leaves_it_as_it_is, EP_SLED_AT_ENTRY,
			    EP_SLED_SHAPES);
	tcase_add_loop_test(tests, the_byte_that_decides_is_found_and_leads_to_the_hook,
			    EP_SLED_AT_ENTRY, EP_SLED_SHAPES);
	tcase_add_loop_test(tests, a_sled_is_found_at_one_byte_whatever_lies_before_it,
			    EP_SLED_AT_ENTRY, EP_SLED_SHAPES);
	tcase_add_loop_test(tests, half_a_sled_is_none, EP_SLED_AT_ENTRY, EP_SLED_SHAPES);
	tcase_add_test(tests, the_flags_of_a_conditional_tail_call_are_left_alone);
	tcase_add_test(tests, a_map_says_what_is_where);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
