/* SPDX-License-Identifier: BSD-2-Clause */
/* real_core.c: compiles a C source, lets it die, and keeps its core. */
#include "tests/unit/real_core.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	abort();
}

void real_core_compile(struct real_core *real, const char *source, const char *flags)
{
	char path[128], command[1024];
	FILE *file;

	memset(real, 0, sizeof(*real));
	strcpy(real->dir, "/tmp/epitaph-real.XXXXXX");
	must(mkdtemp(real->dir) != NULL, "mkdtemp");
	snprintf(path, sizeof(path), "%s/program.c", real->dir);
	snprintf(real->program, sizeof(real->program), "%s/program", real->dir);
	file = fopen(path, "w");
	must(file != NULL, path);
	fputs(source, file);
	must(fclose(file) == 0, path);
	snprintf(command, sizeof(command), "cc -w %s -o %s %s -lpthread", flags, real->program,
		 path);
	must(system(command) == 0, "cc");
}

static pid_t launch(const struct real_core *real, const char *argument, unsigned long limit,
		    int out)
{
	struct rlimit cores = {limit ? limit : RLIM_INFINITY, limit ? limit : RLIM_INFINITY};
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (pid > 0)
		return pid;
	/* The sanitizers forbid cores, and fill the environment. */
	if (chdir(real->dir) != 0)
		_exit(99);
	setrlimit(RLIMIT_CORE, &cores);
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	execl(real->program, real->program, argument, NULL);
	_exit(99);
}

static void core_look(struct real_core *real)
{
	DIR *dir = opendir(real->dir);
	struct dirent *entry;

	must(dir != NULL, real->dir);
	while ((entry = readdir(dir)))
		if (strncmp(entry->d_name, "core", 4) == 0)
			snprintf(real->core, sizeof(real->core), "%s/%.32s", real->dir,
				 entry->d_name);
	closedir(dir);
}

static bool cores_land_here(void)
{
	char pattern[128] = "";
	int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);

	must(fd >= 0 && read(fd, pattern, sizeof(pattern) - 1) > 0, "core_pattern");
	close(fd);
	return strncmp(pattern, "core", 4) == 0;
}

bool real_core_run(struct real_core *real, const char *argument, unsigned long limit)
{
	int status;

	if (!cores_land_here()) {
		printf("no real core: core_pattern sends it elsewhere\n");
		return false;
	}
	real->pid = launch(real, argument, limit, -1);
	must(waitpid(real->pid, &status, 0) == real->pid, "waitpid");
	core_look(real);
	if (!WIFSIGNALED(status) || !real->core[0]) {
		fprintf(stderr, "%s: status 0x%x and no core\n", real->program, (unsigned)status);
		abort();
	}
	return true;
}

pid_t real_core_start(struct real_core *real, const char *argument)
{
	int pipe_ends[2];
	char line[64];

	must(pipe(pipe_ends) == 0, "pipe");
	real->pid = launch(real, argument, 0, pipe_ends[1]);
	close(pipe_ends[1]);
	must(read(pipe_ends[0], line, sizeof(line)) > 0, "program's line");
	close(pipe_ends[0]);
	return real->pid;
}

void real_core_remove(struct real_core *real)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", real->dir);
	if (strncmp(real->dir, "/tmp/epitaph-real.", 18) == 0)
		must(system(command) == 0, command);
}
