/* SPDX-License-Identifier: BSD-2-Clause */
/* check_short_name.c: what is said of a name, and what of it must stay. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/names/short_name.h"
#include "decoder/symbols/demangle.h"
#include "main.h"

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static void is_said(const char *name, const char *expected)
{
	char *said = ep_short_name(name);

	ck_assert_str_eq(said, expected);
	free(said);
}

static void is_cut(const char *name, const char *expected)
{
	char *cut = strdup(name);

	ep_cut_parameters(cut);
	ck_assert_str_eq(cut, expected);
	free(cut);
}

START_TEST(names_of_c_stay)
{
	is_said("main", "main");
	is_said("", "");
	is_said("parse.constprop.0", "parse.constprop.0");
	is_said("server+0x12f0", "server+0x12f0");
}
END_TEST

START_TEST(strings_and_containers_are_said_short)
{
	is_said(STRING, "std::string");
	is_said("f(" STRING " const&, int)", "f(std::string const&, int)");
	is_said("std::vector<int, std::allocator<int> >::push_back(int const&)",
		"std::vector<int>::push_back(int const&)");
	is_said("std::map<" STRING ", std::vector<" STRING ", std::allocator<" STRING
		" > >, std::less<" STRING " >, std::allocator<std::pair<" STRING
		" const, std::vector<" STRING ", std::allocator<" STRING
		" > > > > >::operator[](" STRING " const&)",
		"std::map<std::string, std::vector<std::string>>::operator[](std::string const&)");
	is_said("std::unique_ptr<A, std::default_delete<A> >::~unique_ptr()",
		"std::unique_ptr<A>::~unique_ptr()");
	is_said("std::stack<int, std::deque<int, std::allocator<int> > >::pop()",
		"std::stack<int>::pop()");
	is_said("std::basic_ostream<wchar_t, std::char_traits<wchar_t> >::flush()",
		"std::wostream::flush()");
	is_said("std::__1::vector<int, std::__1::allocator<int> >::size() const",
		"std::vector<int>::size() const");
}
END_TEST

START_TEST(what_is_not_the_default_stays)
{
	is_said("std::map<int, int, std::less<void>, mine<int> >::at(int)",
		"std::map<int, int, std::less<void>, mine<int>>::at(int)");
	is_said("std::vector<int, arena::allocator<int> >::size()",
		"std::vector<int, arena::allocator<int>>::size()");
	is_said("std::unique_ptr<FILE, closer>::get()", "std::unique_ptr<FILE, closer>::get()");
	is_said("mine<int, std::allocator<int> >::f()", "mine<int, std::allocator<int>>::f()");
	is_said("std::allocator<char>::allocate(unsigned long)",
		"std::allocator<char>::allocate(unsigned long)");
	is_said("std::set<A, std::less<B>, std::allocator<A> >::f()",
		"std::set<A, std::less<B>>::f()");
	is_said("notstd::__cxx11::f(int)", "notstd::__cxx11::f(int)");
}
END_TEST

START_TEST(what_a_template_returns_is_not_said)
{
	is_said("void f<int>(int)", "f<int>(int)");
	is_said("std::vector<int, std::allocator<int> > make<int>(int)", "make<int>(int)");
	is_said("A::operator std::vector<int, std::allocator<int> >() const",
		"A::operator std::vector<int>() const");
	is_said("non-virtual thunk to A<int>::f<int>(int)",
		"non-virtual thunk to A<int>::f<int>(int)");
	is_said("operator new(unsigned long)", "operator new(unsigned long)");
	is_said("(anonymous namespace)::f(int)", "(anonymous namespace)::f(int)");
	is_said("decltype(auto) f<int>(int)", "f<int>(int)");
}
END_TEST

START_TEST(operators_are_no_brackets)
{
	is_said("bool operator< <int>(std::vector<int, std::allocator<int> > const&)",
		"operator< <int>(std::vector<int> const&)");
	is_said("A::operator->() const", "A::operator->() const");
	is_said("A::operator<<(int)", "A::operator<<(int)");
	is_said("A::operator()(std::vector<int, std::allocator<int> >)",
		"A::operator()(std::vector<int>)");
	is_said("my_operator<int>()", "my_operator<int>()");
}
END_TEST

START_TEST(tags_and_clones_are_not_said)
{
	is_said("A::name[abi:cxx11](int)", "A::name(int)");
	is_said("f(int) [clone .isra.0]", "f(int)");
	is_said("f(int) [clone .isra.0", "f(int) [clone .isra.0");
}
END_TEST

START_TEST(what_is_no_name_stays)
{
	char deep[1024];

	is_said("<<<>>>", "<<<>>>");
	is_said(">)]}", ">)]}");
	is_said("(", "(");
	is_said("std::basic_<>", "std::basic_<>");
	is_said("std::vector<, >", "std::vector<,>");
	memset(deep, '<', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	is_said(deep, deep);
}
END_TEST

/* Hostile names: any bytes, none longer than before. */
START_TEST(no_name_grows)
{
	static const char alphabet[] = "<>(){}[],: -std::basic_operator<char>";
	char name[64];
	unsigned seed = 1;

	for (int round = 0; round < 20000; round++) {
		size_t length = (size_t)(rand_r(&seed) % 63);
		char *said;

		for (size_t i = 0; i < length; i++)
			name[i] = alphabet[(size_t)rand_r(&seed) % (sizeof(alphabet) - 1)];
		name[length] = '\0';
		said = ep_short_name(name);
		ck_assert_uint_le(strlen(said), length);
		free(said);
		ep_cut_parameters(name);
	}
}
END_TEST

START_TEST(symbols_of_real_programs)
{
	char *name = ep_demangle("_ZNSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
				 "SaIS5_EE12emplace_backIJS5_EEERS5_DpOT_");

	is_said(name, "std::vector<std::string>::emplace_back<std::string>(std::string&&)");
	free(name);
}
END_TEST

START_TEST(parameters_are_cut)
{
	is_cut("f(int) const", "f");
	is_cut("main", "main");
	is_cut("(anonymous namespace)::f(int)", "(anonymous namespace)::f");
	is_cut("A::operator()(int) const", "A::operator()");
	is_cut("f<void (*)(int)>(char)", "f<void (*)(int)>");
	is_cut("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()");
	is_cut("(gdb)", "(gdb)");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("short_name");
	TCase *tcase = tcase_create("short_name");

	tcase_add_test(tcase, names_of_c_stay);
	tcase_add_test(tcase, strings_and_containers_are_said_short);
	tcase_add_test(tcase, what_is_not_the_default_stays);
	tcase_add_test(tcase, what_a_template_returns_is_not_said);
	tcase_add_test(tcase, operators_are_no_brackets);
	tcase_add_test(tcase, tags_and_clones_are_not_said);
	tcase_add_test(tcase, what_is_no_name_stays);
	tcase_add_test(tcase, no_name_grows);
	tcase_add_test(tcase, symbols_of_real_programs);
	tcase_add_test(tcase, parameters_are_cut);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
