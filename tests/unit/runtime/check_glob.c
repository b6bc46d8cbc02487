/* SPDX-License-Identifier: BSD-2-Clause */
/* check_glob.c: shell patterns, held against the C library's fnmatch. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <fnmatch.h>
#include <stdint.h>

#include "main.h"
#include "runtime/lib/glob.h"

START_TEST(patterns_say_what_they_say_in_a_shell)
{
	ck_assert(ep_glob_match("net::Server::*", "net::Server::run"));
	ck_assert(!ep_glob_match("net::Server::*", "net::Client::run"));
	ck_assert(ep_glob_match("*parse*", "json_parse_string"));
	ck_assert(ep_glob_match("f[0-9]?", "f7x"));
	ck_assert(!ep_glob_match("f[!0-9]", "f7"));
	ck_assert(ep_glob_match("operator\\*", "operator*"));
	ck_assert(!ep_glob_match("operator\\*", "operatorx"));
	ck_assert(!ep_glob_match("", "f"));
	ck_assert(ep_glob_match("**", ""));
}
END_TEST

/* Texts and patterns of few letters, so that many match. */
static void make(char *out, size_t size, const char *letters, size_t count, uint32_t *state)
{
	size_t length = (*state >> 8) % size;

	for (size_t i = 0; i < length; i++) {
		*state = *state * 1664525 + 1013904223;
		out[i] = letters[(*state >> 16) % count];
	}
	out[length] = '\0';
	*state = *state * 1664525 + 1013904223;
}

START_TEST(random_patterns_match_what_fnmatch_matches)
{
	uint32_t state = 1;
	unsigned matched = 0;

	for (unsigned i = 0; i < 300000; i++) {
		char pattern[10], text[10];
		bool wanted;

		make(pattern, sizeof(pattern), "aab**?[]!-\\b", 12, &state);
		make(text, sizeof(text), "aabb]-", 6, &state);
		wanted = fnmatch(pattern, text, 0) == 0;
		matched += wanted;
		ck_assert_msg(ep_glob_match(pattern, text) == wanted, "%s on %s: not %d", pattern,
			      text, wanted);
	}
	ck_assert_uint_gt(matched, 10000);
}
END_TEST

START_TEST(many_stars_take_no_time)
{
	char text[1001];

	for (unsigned i = 0; i < 1000; i++)
		text[i] = 'a';
	text[1000] = '\0';
	ck_assert(!ep_glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}
END_TEST

int main(void)
{
	Suite *all = suite_create("glob");
	TCase *tests = tcase_create("glob");

	tcase_add_test(tests, patterns_say_what_they_say_in_a_shell);
	tcase_add_test(tests, random_patterns_match_what_fnmatch_matches);
	tcase_add_test(tests, many_stars_take_no_time);
	suite_add_tcase(all, tests);
	return ep_test_main(all);
}
