/* SPDX-License-Identifier: BSD-2-Clause */
/* check_demangle.c: every name as c++filt prints it. */
#include "tests/unit/main.h"

#include <string.h>

#include "decoder/symbols/demangle.h"

/* Symbols that no library has: Rust, clones, nonsense, and things that only look mangled. */
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
	ck_assert_int_eq(system("nm -D --without-symbol-versions \"$(${CXX:-g++} "
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

/* By the grammar of Rust's RFC 2603 (v0) and its examples; legacy names by the escapes of rustc's
 * documentation; the Itanium C++ ABI's abi tags (5.1.3); GCC's suffixes. */
static const struct {
	const char *symbol, *name;
} by_the_book[] = {
	{"_RNvC6_123foo3bar", "123foo::bar"},
	{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
	{"_RNvNtNtCs1234_7mycrateu8gdel_5qa6escher4bach", "mycrate::gödel::escher::bach"},
	{"_RNCNvCs1234_7mycrate4main0", "mycrate::main::{closure#0}"},
	{"_RNCNvCs1234_7mycrate4mains_0", "mycrate::main::{closure#1}"},
	{"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
	{"_RINvC1a1bhmjE", "a::b::<u8, u32, usize>"},
	{"_RINvC1a1bReE", "a::b::<&str>"},
	{"_RINvC1a1bQmE", "a::b::<&mut u32>"},
	{"_RINvC1a1bTmhEE", "a::b::<(u32, u8)>"},
	{"_RINvC1a1bShE", "a::b::<[u8]>"},
	{"_RINvC1a1bPhE", "a::b::<*const u8>"},
	{"_RINvC1a1bzE", "a::b::<!>"},
	{"_RINvC1a1bFEuE", "a::b::<fn()>"},
	{"_RINvC1a1bFmEhE", "a::b::<fn(u32) -> u8>"},
	{"_RINvC1a1bDNtC1a5TraitEL_E", "a::b::<dyn a::Trait>"},
	{"_RINvC1a1bINtC1c3VechEE", "a::b::<c::Vec<u8>>"},
	{"_RINvC1a1bmEC1c", "a::b::<u32>"},
	{"_RNvMC1aNtC1a1S1m", "<a::S>::m"},
	{"_RNvXC1aNtC1a1SNtC1a1T1m", "<a::S as a::T>::m"},
	{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
	{"_ZN50_$LT$T$u20$as$u20$core..convert..Into$LT$U$GT$$GT$4into"
	 "17h0123456789abcdefE",
	 "<T as core::convert::Into<U>>::into"},
	{"_ZN4main4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
	 "main::main::{{closure}}"},
	{"_ZN3foo3barB5cxx11Ev", "foo::bar[abi:cxx11]()"},
	{"_Z3foov.constprop.0", "foo() [clone .constprop.0]"},
	{"_Z3foov.isra.0.cold", "foo() [clone .isra.0] [clone .cold]"},
	{"_Z3foov.part.0.lto_priv.1", "foo() [clone .part.0] [clone .lto_priv.1]"},
	/* C's, whatever they look like. */
	{"foo.constprop.0", "foo.constprop.0"},
	{"_Zebra", "_Zebra"},
	{"_Rust", "_Rust"},
	{"_RNv", "_RNv"},
	{"_ZN3foo", "_ZN3foo"},
	{"_Z3foo_bar_of_c", "_Z3foo_bar_of_c"},
	{"__Z3foov_", "__Z3foov_"},
};

/* What a reader of Rust's rules may leave out: hashes of crates, and of legacy functions, which
 * c++filt shows. */
static void drop_hashes(char *name)
{
	char *open, *close, *hash = strstr(name, "::h0123456789abcdef");

	if (hash)
		*hash = '\0';
	while ((open = strchr(name, '[')) && (close = strchr(open, ']')) && open > name &&
	       close > open + 1 &&
	       strspn(open + 1, "0123456789abcdef") == (size_t)(close - open - 1))
		memmove(open, close + 1, strlen(close));
}

START_TEST(names_are_what_their_languages_say)
{
	char *plain = ep_demangle(by_the_book[_i].symbol), name[256];

	snprintf(name, sizeof(name), "%s", plain ? plain : by_the_book[_i].symbol);
	drop_hashes(name);
	ck_assert_str_eq(name, by_the_book[_i].name);
	free(plain);
}
END_TEST

/* A<int, int>, and each parameter is twice the one before it: S_ is A, S0_ the first. A file may
 * have many symbols of 12 levels, of 140 KB each where nobody counts. */
START_TEST(an_exponential_name_stays_raw)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const unsigned levels[] = {12, 36};
	char symbol[1024] = "_Z1f1AIiiE";

	for (unsigned i = 0; i < levels[_i]; i++)
		sprintf(symbol + strlen(symbol), "S_IS%c_S%c_E", digits[i], digits[i]);
	ck_assert_ptr_null(ep_demangle(symbol));
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
	tcase_add_loop_test(tests, names_are_what_their_languages_say, 0,
			    sizeof(by_the_book) / sizeof(by_the_book[0]));
	tcase_add_test(tests, oddities_are_as_cxxfilt_has_them);
	tcase_add_loop_test(tests, an_exponential_name_stays_raw, 0, 2);
	tcase_add_test(tests, deep_nesting_is_survived);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
