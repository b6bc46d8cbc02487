/* SPDX-License-Identifier: BSD-2-Clause */
/* check_demangle.c: every name as c++filt prints it. */
#include "tests/unit/main.h"

#include <string.h>

#include "decoder/names.h"

/* Symbols that no library has: Rust, clones, nonsense, and things that only
 * look mangled. */
static const char *const oddities[] = {
	"main",
	"_",
	"_Z",
	"_ZN",
	"_Z3foov",
	"_Z3foov.cold",
	"_Z3foov.constprop.0",
	"_Z3foov.part.3.isra.1",
	"_ZN3FooC1Ev",
	"_ZN3FooC2Ev",
	"_ZZ4mainE1x",
	"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
	"_RNvCs1234_7mycrate3foo",
	"_RNvMs_NtCs5l0EXMQXRMU_4core3fmtNtB4_9Formatter3pad",
	"_GLOBAL__sub_I_main",
	"_GLOBAL__I__Z3foov",
	"_Z1fIiEvT_S0_S0_",
	"_ZNSt6vectorIiSaIiEE9push_backEOi",
	"_ZSt4cout",
	"_ZTV3Foo",
	"_Z1fDv4_f",
	"_ZNKRSt8optionalIiEdeEv",
	"_Z3barILm18446744073709551615EEvv",
	"_Z1fILb1EEvv",
	"__cxa_throw",
	"_Zli2_xy",
	"_ZN12_GLOBAL__N_13fooEv",
	"_Z41aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaav",
	"_Z99999999999999999999a",
};

/* What c++filt prints for each line of `in`, to `out`. */
static void filter(const char *in, const char *out)
{
	char command[256];

	snprintf(command, sizeof(command), "c++filt <%s >%s", in, out);
	ck_assert_int_eq(system(command), 0);
}

/* Compares all lines; the number of them. */
static unsigned compare(const char *in, const char *wanted)
{
	FILE *raw = fopen(in, "r"), *plain = fopen(wanted, "r");
	char *line = NULL, *other = NULL;
	size_t line_room = 0, other_room = 0;
	unsigned count = 0;

	ck_assert(raw && plain);
	while (getline(&line, &line_room, raw) > 0) {
		char *ours;

		ck_assert_int_gt(getline(&other, &other_room, plain), 0);
		line[strcspn(line, "\n")] = other[strcspn(other, "\n")] = '\0';
		ours = ep_demangle(line);
		ck_assert_str_eq(ours ? ours : line, other);
		free(ours);
		count++;
	}
	free(line);
	free(other);
	fclose(raw);
	fclose(plain);
	return count;
}

START_TEST(every_symbol_of_libstdcxx_is_as_cxxfilt_has_it)
{
	ck_assert_int_eq(
		system("nm -D --without-symbol-versions \"$(${CXX:-g++} "
		       "-print-file-name=libstdc++.so.6)\" | "
		       "sed 's/.* //' >demangle.raw"),
		0);
	filter("demangle.raw", "demangle.plain");
	ck_assert_uint_gt(compare("demangle.raw", "demangle.plain"), 4000);
}
END_TEST

START_TEST(oddities_are_as_cxxfilt_has_them)
{
	FILE *file = fopen("demangle.raw", "w");

	for (size_t i = 0; i < sizeof(oddities) / sizeof(oddities[0]); i++)
		fprintf(file, "%s\n", oddities[i]);
	fclose(file);
	filter("demangle.raw", "demangle.plain");
	compare("demangle.raw", "demangle.plain");
}
END_TEST

/* Each level doubles the type: S_, S0_, S1_ … repeat all before. */
START_TEST(an_exponential_name_stays_raw)
{
	char symbol[4096] = "_Z1fSt4pairIiiE";
	char *plain;

	for (unsigned i = 0; i < 40; i++) {
		char part[32], digits[8] = "";

		if (i > 0)
			snprintf(digits, sizeof(digits), "%c",
				 i - 1 < 10 ? '0' + (int)(i - 1)
					    : 'A' + (int)(i - 11));
		snprintf(part, sizeof(part), "St4pairIS%s_S%s_E", digits,
			 digits);
		strcat(symbol, part);
	}
	plain = ep_demangle(symbol);
	ck_assert_ptr_null(plain);
}
END_TEST

START_TEST(deep_nesting_is_survived)
{
	char *symbol = malloc(200003);

	strcpy(symbol, "_Z1f");
	memset(symbol + 4, 'P', 199990);
	strcpy(symbol + 199994, "i");
	free(ep_demangle(symbol));
	free(symbol);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("demangle");
	TCase *tests = tcase_create("demangle");

	tcase_add_test(tests, every_symbol_of_libstdcxx_is_as_cxxfilt_has_it);
	tcase_add_test(tests, oddities_are_as_cxxfilt_has_them);
	tcase_add_test(tests, an_exponential_name_stays_raw);
	tcase_add_test(tests, deep_nesting_is_survived);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
