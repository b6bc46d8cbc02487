/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.h: main() of a unit test. libcheck's summary line ("100%: Checks: 3, Failures: 0, Errors:
 * 0") is what tests/run adds up; every failed test is printed with its file, line and message. Each
 * test runs in a process of its own, so a crash or a leak is that test's failure.
 */
#ifndef EPITAPH_TESTS_MAIN_H
#define EPITAPH_TESTS_MAIN_H

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ck_assert of what is asked a million times: libcheck's own write into a file each time, also when
 * they hold. */
#define must(holds)                                            \
	do {                                                   \
		if (!(holds))                                  \
			ck_abort_msg("must hold: %s", #holds); \
	} while (0)

/* libcheck reads it when a test case is made, so before main(). Seconds; its own 4 are too few on a
 * busy machine. */
__attribute__((constructor)) static void ep_test_timeout(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "60", 0);
}

static inline int ep_test_remove(const char *path, const struct stat *status, int kind,
				 struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	remove(path);
	return 0;
}

/* Tests run in a folder that goes with all that they leave in it, also those that failed. */
static inline int ep_test_run(SRunner *runner)
{
	const char *place = getenv("TMPDIR");
	char folder[4096];

	snprintf(folder, sizeof(folder), "%s/epitaph-check.XXXXXX",
		 place && *place ? place : "/tmp");
	if (!mkdtemp(folder) || chdir(folder) != 0) {
		perror(folder);
		return -1;
	}
	srunner_run_all(runner, CK_NORMAL);
	return nftw(folder, ep_test_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* Runs all of `suite` and frees it. The exit status of main(): a suite without tests fails. */
static inline int ep_test_main(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int run, failed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	run = ep_test_run(runner) == 0 ? srunner_ntests_run(runner) : 0;
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return run > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
