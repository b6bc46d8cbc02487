/* SPDX-License-Identifier: BSD-2-Clause */
/* check_mangled.c: scoped names of C++ symbols, held against libiberty's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/symbols/demangle.h"
#include "main.h"
#include "runtime/switching/mangled.h"

static const char *scoped(const char *symbol)
{
	static char out[256];

	return ep_scoped_name(symbol, out, sizeof(out)) ? out : "none";
}

START_TEST(names_are_as_people_say_them)
{
	ck_assert_str_eq(scoped("_ZN3net6Server3runEv"), "net::Server::run");
	ck_assert_str_eq(scoped("_ZN3net6ServerC2Ei"), "net::Server::Server");
	ck_assert_str_eq(scoped("_ZN3net6ServerD0Ev"), "net::Server::~Server");
	ck_assert_str_eq(scoped("_Z3addIiEiT_S0_"), "add");
	ck_assert_str_eq(scoped("_ZL4helpv"), "help");
	ck_assert_str_eq(scoped("_ZNSt6vectorIiSaIiEE9push_backEOi"), "std::vector::push_back");
	ck_assert_str_eq(scoped("_ZN12_GLOBAL__N_13fooEv"), "(anonymous namespace)::foo");
	ck_assert_str_eq(scoped("_ZN1AIXadL_Z1fvEEE1gEv"), "none");
	ck_assert_str_eq(scoped("main"), "none");
	ck_assert_str_eq(scoped("_Z"), "none");
	ck_assert_str_eq(scoped("_ZN"), "none");
	ck_assert_str_eq(scoped("_Z99foo"), "none");
}
END_TEST

START_TEST(a_name_that_does_not_fit_is_none)
{
	char out[8];

	ck_assert(!ep_scoped_name("_ZN3net6Server3runEv", out, sizeof(out)));
}
END_TEST

START_TEST(cut_symbols_are_read_to_their_end_only)
{
	static const char symbol[] = "_ZNKSt8functionIFvRKN3net6ServerEEE4callI1AILi5ELb1EEEEvv";

	for (size_t size = 0; size < sizeof(symbol); size++) {
		char *copy = strndup(symbol, size), out[128];

		ep_scoped_name(copy, out, sizeof(out));
		free(copy);
	}
}
END_TEST

/* What libiberty says is right, wherever we say anything; and we know most. */
START_TEST(the_standard_library_is_named_as_by_libiberty)
{
	FILE *names = popen("nm -D --defined-only $(gcc -print-file-name=libstdc++.so) | "
			    "sed -n 's/.* [TW] \\(_Z[^@]*\\).*/\\1/p'",
			    "r");
	unsigned all = 0, known = 0;
	char line[4096];

	ck_assert_ptr_nonnull(names);
	while (fgets(line, sizeof(line), names)) {
		char out[4096], *other;

		line[strcspn(line, "\n")] = '\0';
		all++;
		if (!ep_scoped_name(line, out, sizeof(out)))
			continue;
		known++;
		other = ep_demangle_scoped(line);
		/* The demangler writes tags, and long names of the standard's templates. */
		if (!strstr(other, "[abi:"))
			ck_assert_msg(strcmp(out, other) == 0, "%s: %s, not %s", line, out, other);
		free(other);
	}
	pclose(names);
	ck_assert_uint_gt(all, 1000);
	ck_assert_uint_gt(known, all / 3);
}
END_TEST

int main(void)
{
	Suite *all = suite_create("mangled");
	TCase *tests = tcase_create("mangled");

	tcase_add_test(tests, names_are_as_people_say_them);
	tcase_add_test(tests, a_name_that_does_not_fit_is_none);
	tcase_add_test(tests, cut_symbols_are_read_to_their_end_only);
	tcase_add_test(tests, the_standard_library_is_named_as_by_libiberty);
	suite_add_tcase(all, tests);
	return ep_test_main(all);
}
