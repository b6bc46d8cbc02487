/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c: lib/epitaph/catch DIR WORDS...: what the kernel starts for a crash, with core(5)'s words.
 * It links nothing but libc and looks for a place among the crashes that are handled at once; with
 * one it becomes `epitaph catch`, and without one it ends. So a thousand crashes of one user at
 * once are turned away in a few milliseconds each, and the kernel has room for everybody else's.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coredump/handler/store.h"
#include "coredump/util/number.h"

#define WORDS 12 /* this program, DIR, and ten of the kernel's */

enum { PROGRAM, DIR, PID, TIME = 5, USER = 9, PIDFD = 11 };

static uint64_t number_of(char *const *words, int count, int index, uint64_t otherwise)
{
	uint64_t number = otherwise;

	if (index < count)
		ep_number_parse(words[index], 0, INT32_MAX, &number);
	return number;
}

/* False: there is none for that user. What is not as it should be, epitaph will say. */
static bool place_take(char *const *words, int count, int *place)
{
	struct ep_store store;
	struct ep_crash crash;
	struct ep_err err = {0};
	uint64_t pidfd = number_of(words, count, PIDFD, UINT64_MAX), user = 0;

	*place = -1;
	if (count < USER + 1 || !ep_number_parse(words[USER], 0, UINT32_MAX, &user) ||
	    ep_store_load(&store, words[DIR], &err) < 0)
		return true;
	ep_crash_init(&crash);
	crash.pid = (pid_t)number_of(words, count, PID, 0);
	crash.time = number_of(words, count, TIME, 0);
	crash.uid = (uid_t)user;
	ep_crash_account(&crash, pidfd == UINT64_MAX ? -1 : (int)pidfd);
	if (ep_store_enter(&store, crash.account, place, &err) == EP_OK)
		return true;
	ep_store_log(&store, &crash, err.text);
	return false;
}

/* PREFIX/lib/epitaph/catch: PREFIX/bin/epitaph. */
static bool program_find(char out[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - sizeof("/bin/epitaph"));
	char *slash;

	for (int i = 0; i < 3; i++) {
		out[n > 0 ? n : 0] = '\0';
		slash = strrchr(out, '/');
		if (!slash)
			return false;
		n = slash - out;
	}
	strcpy(out + n, "/bin/epitaph");
	return true;
}

int main(int count, char **words)
{
	char *passed[WORDS + 3] = {NULL}, program[PATH_MAX], number[16], catch[] = "catch";
	int place, given = 0, null = open("/dev/null", O_RDWR);

	/* The kernel gives it nothing but stdin: what is opened here is to be no stdout. */
	while (null >= 0 && null <= STDERR_FILENO)
		null = dup(null);
	if (count < 2 || count > WORDS || !program_find(program))
		return 64;
	if (!place_take(words, count, &place))
		return 2;
	passed[given++] = program;
	passed[given++] = catch;
	for (int i = DIR; i < count; i++)
		passed[given++] = words[i];
	snprintf(number, sizeof(number), "%d", place);
	if (place >= 0 && count == WORDS && fcntl(place, F_SETFD, 0) == 0)
		passed[given++] = number;
	execv(program, passed);
	return 64;
}
