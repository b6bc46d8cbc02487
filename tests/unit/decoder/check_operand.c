/* SPDX-License-Identifier: BSD-2-Clause */
/* check_operand.c: numbers of a type, held against what C makes of the same numbers. */
#include <dwarf.h>
#include <string.h>

#include "decoder/symbols/operand.h"
#include "main.h"

static const struct ep_operand int8 = {0, EP_OPERAND_SIGNED, 1},
			       uint8 = {0, EP_OPERAND_UNSIGNED, 1},
			       int32 = {0, EP_OPERAND_SIGNED, 4},
			       uint32 = {0, EP_OPERAND_UNSIGNED, 4},
			       int64 = {0, EP_OPERAND_SIGNED, 8}, real32 = {0, EP_OPERAND_REAL, 4},
			       real64 = {0, EP_OPERAND_REAL, 8};

static struct ep_operand of_double(double number)
{
	struct ep_operand out = real64;

	memcpy(&out.bits, &number, sizeof(number));
	return out;
}

static double to_double(struct ep_operand a)
{
	double number;

	a = ep_operand_convert(real64, a);
	memcpy(&number, &a.bits, sizeof(number));
	return number;
}

static struct ep_operand made(struct ep_operand like, int64_t number)
{
	return ep_operand_of_bits(like, (uint64_t)number);
}

static struct ep_operand did(unsigned atom, struct ep_operand a, struct ep_operand b)
{
	struct ep_operand out;

	ck_assert(ep_operand_binary(atom, a, b, &out));
	return out;
}

START_TEST(integers_are_cut_and_extended_as_in_c)
{
	ck_assert_uint_eq(made(int8, 200).bits, (uint64_t)(int8_t)200);
	ck_assert_uint_eq(made(uint8, 511).bits, 255);
	ck_assert_uint_eq(ep_operand_convert(uint32, made(int8, -1)).bits, UINT32_MAX);
	ck_assert_uint_eq(ep_operand_convert(int64, made(uint32, -1)).bits, UINT32_MAX);
	ck_assert_uint_eq(did(DW_OP_plus, made(uint8, 250), made(uint8, 10)).bits, 4);
	ck_assert_uint_eq(did(DW_OP_shr, made(int8, -1), made(int8, 4)).bits, 15);
	ck_assert_uint_eq(did(DW_OP_shra, made(uint8, 0x80), made(int8, 4)).bits, 0xf8);
}
END_TEST

START_TEST(signs_decide_quotients_and_orders)
{
	ck_assert_uint_eq(did(DW_OP_div, made(int32, -7), made(int32, 2)).bits, (uint64_t)-3);
	ck_assert_uint_eq(did(DW_OP_mod, made(int32, -7), made(int32, 2)).bits, (uint64_t)-1);
	ck_assert_uint_eq(did(DW_OP_div, made(uint32, -8), made(uint32, 2)).bits,
			  (UINT32_MAX - 7) / 2);
	ck_assert_uint_eq(did(DW_OP_lt, made(int32, -1), made(int32, 0)).bits, 1);
	ck_assert_uint_eq(did(DW_OP_lt, made(uint32, -1), made(uint32, 0)).bits, 0);
	ck_assert_uint_eq(did(DW_OP_div, made(int64, INT64_MIN), made(int64, -1)).bits,
			  (uint64_t)INT64_MIN);
}
END_TEST

START_TEST(reals_are_calculated_and_converted)
{
	ck_assert_double_eq(to_double(did(DW_OP_mul, of_double(1.5), of_double(-4))), -6);
	ck_assert_double_eq(to_double(made(int32, -3)), -3);
	ck_assert_double_eq(to_double(ep_operand_convert(real32, of_double(0.1))), (double)0.1f);
	ck_assert_uint_eq(ep_operand_convert(int32, of_double(-2.9)).bits, (uint64_t)-2);
	ck_assert_uint_eq(ep_operand_convert(int64, of_double(1e300)).bits, (uint64_t)INT64_MIN);
	ck_assert_uint_eq(did(DW_OP_ge, of_double(2), of_double(2)).bits, 1);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused)
{
	struct ep_operand out;

	ck_assert(!ep_operand_binary(DW_OP_plus, made(int32, 1), made(int64, 1), &out));
	ck_assert(!ep_operand_binary(DW_OP_plus, made(int32, 1), made(uint32, 1), &out));
	ck_assert(!ep_operand_binary(DW_OP_div, made(int32, 1), made(int32, 0), &out));
	ck_assert(!ep_operand_binary(DW_OP_mod, made(uint8, 1), made(uint8, 256), &out));
	ck_assert(!ep_operand_binary(DW_OP_and, of_double(1), of_double(1), &out));
	ck_assert(!ep_operand_binary(DW_OP_shl, of_double(1), made(int32, 1), &out));
	ck_assert(!ep_operand_unary(DW_OP_not, of_double(1), &out));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("operand");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, integers_are_cut_and_extended_as_in_c);
	tcase_add_test(tests, signs_decide_quotients_and_orders);
	tcase_add_test(tests, reals_are_calculated_and_converted);
	tcase_add_test(tests, what_makes_no_sense_is_refused);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
