/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * starve.h: memory runs out at the Nth allocation, for each N that there is; once only, and from
 * then on, shared out between the plain and the sanitized build. What is asked then fails with
 * EP_E_MEMORY and leaves its outputs alone, or it answers as if nothing had happened (or, where its
 * header says so, with less); nothing crashes, nothing is left behind (the leak sanitizer of the
 * sanitized build is the judge of that).
 *
 * The linker's --wrap (see the Makefile) puts what is below between our objects and the allocator:
 * one file of a test program includes this. Allocations inside libdw, libelf and libc are not made
 * to fail: libdw 0.188 crashes by itself then.
 */
#ifndef EPITAPH_TESTS_STARVE_H
#define EPITAPH_TESTS_STARVE_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "coredump/util/error.h"
#include "tests/unit/main.h"

/* ---- the allocator that fails ---- */

static bool counting;
static uint64_t seen;      /* allocations while counting */
static uint64_t fail_from; /* 0: none fails */
static bool fail_once;

static bool starved(void)
{
	if (!counting)
		return false;
	seen++;
	return fail_from && (fail_once ? seen == fail_from : seen >= fail_from);
}

#define WRAP(type, name, parameters, arguments, none) \
	type __real_##name parameters;                \
	type __wrap_##name parameters;                \
	type __wrap_##name parameters                 \
	{                                             \
		if (starved()) {                      \
			errno = ENOMEM;               \
			return none;                  \
		}                                     \
		return __real_##name arguments;       \
	}

WRAP(void *, malloc, (size_t size), (size), NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), NULL)
WRAP(void *, realloc, (void *old, size_t size), (old, size), NULL)
WRAP(void *, reallocarray, (void *old, size_t count, size_t size), (old, count, size), NULL)
WRAP(void *, aligned_alloc, (size_t unit, size_t size), (unit, size), NULL)
WRAP(char *, strdup, (const char *text), (text), NULL)
WRAP(char *, strndup, (const char *text, size_t size), (text, size), NULL)
WRAP(char *, realpath, (const char *path, char *out), (path, out), NULL)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL)
WRAP(FILE *, open_memstream, (char **text, size_t *size), (text, size), NULL)
WRAP(int, vasprintf, (char **out, const char *format, va_list list), (out, format, list), -1)

int __wrap_asprintf(char **out, const char *format, ...);
int __wrap_asprintf(char **out, const char *format, ...)
{
	va_list list;
	int length;

	va_start(list, format);
	length = __wrap_vasprintf(out, format, list);
	va_end(list);
	return length;
}

static void starve(uint64_t from, bool once)
{
	seen = 0;
	fail_from = from;
	fail_once = once;
	counting = true;
}

/* True: memory did run out. */
static inline bool fed(void)
{
	counting = false;
	return fail_from && seen >= fail_from;
}

/* ---- asking ---- */

#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

/* Asks with the Nth allocation failing, for all N: this build's own half of them. Where one build
 * has it fail once, the other has all after it fail, too. */
static void sweep(void (*ask)(void))
{
	for (int once = 0; once < 2; once++) {
		uint64_t n = once == IS_SANITIZED ? 1 : 2;

		for (;; n += 2) {
			starve(n, once);
			ask();
			if (!fed())
				break;
		}
		ck_assert_uint_gt(seen, 0); /* it does allocate */
		if (getenv("STARVED_COUNT"))
			printf("%lu allocations\n", seen);
	}
}

static inline void check_failed(int rc, const struct ep_err *err)
{
	ck_assert_msg(rc == EP_E_MEMORY, "%d: %s", rc, err->text);
	ck_assert(strstr(err->text, "memory") != NULL);
	ck_assert(fail_from && seen >= fail_from);
}

/* ---- a command ---- */

static const char *const *command; /* its words, then NULL */
static int whole_status;
static char *whole; /* what is answered with all memory: printed, or in "out" */
static size_t whole_size;
static bool whole_least; /* more may be answered: what is not laid out anew */
static bool whole_dated; /* the time is in it, or the like: only its size is
			    compared */

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	ck_assert_int_eq(fclose(file), 0);
}

static char *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	char *bytes = malloc(1 << 20);

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(bytes);
	*size = fread(bytes, 1, 1 << 20, file);
	ck_assert_uint_lt(*size, 1 << 20);
	fclose(file);
	return bytes;
}

/* Runs it; what it printed is in *text. */
static int ask_main(char **text, size_t *size, char **complaint)
{
	char *words[16] = {(char *)"epitaph"};
	FILE *out = stdout, *err = stderr;
	size_t said;
	int count = 1, status;

	fed();
	for (; command[count - 1]; count++)
		words[count] = (char *)command[count - 1];
	stdout = __real_open_memstream(text, size);
	stderr = __real_open_memstream(complaint, &said);
	ck_assert(stdout && stderr);
	starve(fail_from, fail_once);
	status = ep_main(count, words);
	fed();
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = err;
	return status;
}

/* The file "out" in place of what was printed, when there is one; it is gone then. */
static void take_output(char **text, size_t *size)
{
	if (access("out", F_OK) != 0)
		return;
	free(*text);
	*text = read_all("out", size);
	ck_assert_int_eq(unlink("out"), 0);
}

/* An answer is what it would have been, or says by its status that it is less. */
static inline void ask_command(void)
{
	char *text, *complaint;
	size_t size;
	int status = ask_main(&text, &size, &complaint);
	bool same, told;

	take_output(&text, &size);
	told = strstr(complaint, "memory") || memmem(text, size, "out of memory", 13) ||
	       memmem(text, size, "no memory", 9);
	if (!whole) {
		whole = text;
		whole_size = size;
		whole_status = status;
		if (getenv("STARVED_COUNT"))
			printf("%s: %d, %zu bytes: %s\n", command[0], status, size, complaint);
		free(complaint);
		return;
	}
	same = (size == whole_size || (whole_least && size > whole_size)) &&
	       (whole_dated || !memcmp(text, whole, size));
	ck_assert_msg((same && status == whole_status) || (status > EP_EXIT_COMPLETE && told),
		      "%s %s, allocation %lu%s: status %d, said %s", command[0],
		      command[1] ? command[1] : "", fail_from, fail_once ? "" : " and all after",
		      status, complaint);
	free(text);
	free(complaint);
}

/* Asks for all of it once, which must succeed and hold `wanted`, and then with ever more memory. */
static inline void sweep_command(const char *const *words, const char *wanted)
{
	command = words;
	whole = NULL;
	starve(0, false);
	ask_command();
	ck_assert_msg(whole_status != EP_EXIT_UNREADABLE && whole_status != EP_EXIT_USAGE,
		      "%s %s: status %d", words[0], words[1], whole_status);
	ck_assert_msg(memmem(whole, whole_size, wanted, strlen(wanted)) != NULL, "%s %s: no %s",
		      words[0], words[1], wanted);
	sweep(ask_command);
	free(whole);
	whole = NULL;
}

#endif
