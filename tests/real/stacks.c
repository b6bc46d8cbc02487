/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stacks.c: what libunwind says of a process's stacks, for comparison with what we say: stacks PID.
 * A line for each thread: its number, then the pc of each frame, innermost first, in hexadecimal.
 * Signal frames are frames. The process is as it was before, stopped or not.
 */
#include <dirent.h>
#include <libunwind-ptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define FRAMES_MAX 1000

static int put_stack(unw_addr_space_t space, pid_t tid)
{
	void *thread = _UPT_create(tid);
	unw_cursor_t cursor;
	unw_word_t pc;
	int status;

	if (!thread || unw_init_remote(&cursor, space, thread) != 0)
		return 1;
	printf("%d", (int)tid);
	for (int i = 0; i < FRAMES_MAX; i++) {
		if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 || pc == 0)
			break;
		printf(" %lx", (unsigned long)pc);
		status = unw_step(&cursor);
		if (status < 0)
			printf(" !%s", unw_strerror(status));
		if (status <= 0)
			break;
	}
	putchar('\n');
	_UPT_destroy(thread);
	return 0;
}

static int look(unw_addr_space_t space, pid_t tid)
{
	int failed;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
		return 1;
	failed = ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0 ||
		 waitpid(tid, NULL, __WALL) != tid || put_stack(space, tid);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return failed;
}

int main(int argc, char *argv[])
{
	unw_addr_space_t space = unw_create_addr_space(&_UPT_accessors, 0);
	struct dirent *entry;
	char path[64];
	DIR *threads;
	int failed = 0;

	if (argc != 2 || !space)
		return 64;
	snprintf(path, sizeof(path), "/proc/%d/task", atoi(argv[1]));
	threads = opendir(path);
	if (!threads)
		return 1;
	while ((entry = readdir(threads)))
		if (entry->d_name[0] != '.')
			failed |= look(space, atoi(entry->d_name));
	closedir(threads);
	unw_destroy_addr_space(space);
	return failed;
}
