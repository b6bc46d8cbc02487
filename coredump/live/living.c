/* SPDX-License-Identifier: BSD-2-Clause */
/* living.c: a thread lives as long as it has memory, which an exiting one gives up before its state
 * says so; statm tells that to everybody. */
#include "coredump/live/living.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "coredump/files/procfile.h"

#define PF_KTHREAD 0x00200000u /* linux/sched.h, in /proc/PID/stat */

static int folder_open(const char *number)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%.20s", number);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* State and flags of `stat`; the name in it may hold anything. */
static bool stat_read(int folder, char *state, unsigned *flags)
{
	char text[1024];
	const char *after;

	if (!ep_procfile_text_at(folder, "stat", text, sizeof(text)))
		return false;
	after = strrchr(text, ')');
	return after && sscanf(after, ") %c %*d %*d %*d %*d %*d %u", state, flags) == 2;
}

static bool has_ended(char state)
{
	return state == 'Z' || state == 'X';
}

static bool has_memory(int folder)
{
	char text[64];

	return !ep_procfile_line_at(folder, "statm", text, sizeof(text)) || atol(text) > 0;
}

/* The number of the thread group. A number that was listed a moment ago may be another process's
 * thread by now. */
static int group_of(int folder)
{
	struct ep_procfile file;
	int group = 0;
	char *line;

	ep_procfile_open_at(&file, folder, "status");
	while ((line = ep_procfile_next(&file, '\n')))
		if (sscanf(line, "Tgid: %d", &group) == 1)
			break;
	ep_procfile_close(&file);
	return group;
}

/* Puts a thread that lives in the main one's place; none: living->tid is 0. */
static void choose(struct ep_living *living)
{
	int group = group_of(living->folder), list, folder;
	const struct dirent *entry;
	DIR *threads;

	living->tid = 0;
	list = openat(living->folder, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	threads = list >= 0 ? fdopendir(list) : NULL;
	while (threads && !living->tid && (entry = readdir(threads))) {
		unsigned flags;
		char state;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    (folder = folder_open(entry->d_name)) < 0)
			continue;
		if (stat_read(folder, &state, &flags) && !has_ended(state) && has_memory(folder) &&
		    group_of(folder) == group) {
			close(living->folder);
			living->folder = folder;
			living->tid = (pid_t)atoi(entry->d_name);
		} else {
			close(folder);
		}
	}
	if (threads)
		closedir(threads);
	else if (list >= 0)
		close(list);
}

bool ep_living_open(struct ep_living *living, pid_t pid)
{
	char number[16], state;
	unsigned flags;

	*living = (struct ep_living){.pid = pid, .tid = pid};
	snprintf(number, sizeof(number), "%d", (int)pid);
	living->folder = folder_open(number);
	if (living->folder < 0)
		return false;
	if (!stat_read(living->folder, &state, &flags)) {
		ep_living_close(living);
		errno = ESRCH;
		return false;
	}
	living->kernels = flags & PF_KTHREAD;
	if (!living->kernels && (has_ended(state) || !has_memory(living->folder)))
		choose(living);
	return true;
}

void ep_living_close(struct ep_living *living)
{
	if (living->folder >= 0)
		close(living->folder);
	living->folder = -1;
}

/* The process's number as /proc has it, which may be of an outer namespace: pidfd_open(2) takes the
 * caller's own. */
static int number_of(int process)
{
	struct ep_procfile file;
	int number = 0;
	char path[64];
	char *line;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", process);
	ep_procfile_open(&file, path);
	while ((line = ep_procfile_next(&file, '\n')))
		if (sscanf(line, "Pid: %d", &number) == 1)
			break;
	ep_procfile_close(&file);
	return number;
}

int ep_living_process(const struct ep_living *living)
{
	int group = group_of(living->folder); /* living->pid may be that of any thread */
	int process = (int)syscall(SYS_pidfd_open, group, 0), error = errno;
	bool is = process >= 0 && number_of(process) == group;

	/* The process keeps its number as long as it is not reaped. */
	if (is && group_of(living->folder) == group)
		return process;
	if (process >= 0) {
		close(process);
		error = is ? ESRCH : ENOSYS;
	}
	errno = group ? error : ESRCH;
	return -1;
}

bool ep_living_ended(int process)
{
	struct pollfd end = {.fd = process, .events = POLLIN};

	return poll(&end, 1, 0) != 0;
}

bool ep_living_is(pid_t pid)
{
	struct ep_living living;
	bool is = ep_living_open(&living, pid) && living.tid;

	ep_living_close(&living);
	return is;
}
