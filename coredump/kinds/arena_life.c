/* SPDX-License-Identifier: BSD-2-Clause */
/* arena_life.c: whether the process of an arena file runs, by its lock, its start and its map, and
 * what the kernel counted. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/kinds/arena_impl.h"
#include "coredump/live/living.h"
#include "coredump/files/regularfile.h"
#include "coredump/files/procfile.h"

static void say(struct ep_arena_file *out, enum ep_life life, const char *how)
{
	out->life = life;
	snprintf(out->how, sizeof(out->how), "%s", how);
}

/* Whoever maps the arena holds the lock, unless it closed all descriptors. */
static bool is_locked(int fd)
{
	struct flock all = {.l_type = F_WRLCK};

	return fcntl(fd, F_OFD_GETLK, &all) == 0 && all.l_type != F_UNLCK;
}

static bool same_boot(const struct ep_process *process)
{
	char text[64];
	uint8_t id[16] = {0};
	int digits = 0;

	ep_procfile_line("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	for (const char *at = text; digits < 32 && *at; at++) {
		char c = *at;
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : -1;

		if (digit < 0)
			continue;
		id[digits / 2] |= (uint8_t)(digit << (digits % 2 ? 0 : 4));
		digits++;
	}
	return digits == 32 && memcmp(id, process->boot_id, sizeof(id)) == 0;
}

/* The process is of ours, and its pid a name in /proc: that may be of the outer namespace still
 * (unshare(1) without --mount-proc). */
static bool same_namespace(const struct ep_process *process)
{
	char text[64] = "", self[16] = "";
	uint64_t inode;

	return readlink("/proc/self/ns/pid", text, sizeof(text) - 1) > 0 &&
	       sscanf(text, "pid:[%" SCNu64 "]", &inode) == 1 && inode == process->pid_namespace &&
	       readlink("/proc/self", self, sizeof(self) - 1) > 0 && atoi(self) == getpid();
}

/* Field 22 of /proc/PID/stat. */
static bool same_process(const struct ep_process *process)
{
	char path[32], *text, *after;
	uint64_t ticks = 0;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%u/stat", process->pid);
	if (ep_proc_read(AT_FDCWD, path, &text, &size))
		return false;
	after = strrchr(text, ')');
	if (after && sscanf(after,
			    ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			    "%*d %*d %" SCNu64,
			    &ticks) != 1)
		ticks = 0;
	free(text);
	return ticks && ticks == process->start_ticks;
}

/* 1: the process maps this file there; 0: it does not; -1: not to be seen. */
static int maps_it(pid_t pid, uint64_t address, uint64_t inode)
{
	struct ep_procfile file;
	uint64_t start, at;
	struct ep_living living;
	int found = 0;
	char *line;

	if (!ep_living_open(&living, pid))
		return -1;
	if (!ep_procfile_open_at(&file, living.folder, "maps"))
		found = living.tid ? -1 : 0;
	while (!found && (line = ep_procfile_next(&file, '\n')))
		found = sscanf(line, "%" SCNx64 "-%*x %*s %*x %*x:%*x %" SCNu64, &start, &at) ==
				2 &&
			start == address && at == inode;
	ep_procfile_close(&file);
	ep_living_close(&living);
	return found;
}

static void look_at_process(struct ep_arena_file *out, int fd, const struct ep_process *process,
			    uint64_t address)
{
	struct stat st = {0};

	if (!same_process(process)) {
		say(out, EP_LIFE_ENDED, "there is no such process any more");
		return;
	}
	fstat(fd, &st);
	switch (maps_it((pid_t)process->pid, address, st.st_ino)) {
	case 1:
		say(out, EP_LIFE_RUNS, "its process has it mapped");
		break;
	case 0:
		say(out, EP_LIFE_ENDED,
		    "its process ended, runs another program by now (exec), or records in private "
		    "memory since somebody cut the file off");
		break;
	default:
		say(out, is_locked(fd) ? EP_LIFE_RUNS : EP_LIFE_UNKNOWN,
		    "there is its process, whose map only its user may see");
	}
}

static void look_at_kills(struct ep_arena_file *out, const char *path, uint64_t before)
{
	/* The path is the file's word: it may be anything. */
	int fd = *path ? ep_cgroup_file_open(path) : -1;
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	uint64_t now;
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "oom_kill %" SCNu64, &now) != 1)
			continue;
		out->oom_known = true;
		out->oom_kills = now > before ? now - before : 0;
	}
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
}

void ep_arena_life(struct ep_arena_file *out, int fd, const struct ep_process *process,
		   uint64_t address, const char *oom_file)
{
	bool here = same_boot(process), seen = same_namespace(process);

	if (!process->start_ticks)
		say(out, is_locked(fd) ? EP_LIFE_RUNS : EP_LIFE_UNKNOWN,
		    "it does not tell which process it is of");
	else if (here && seen)
		look_at_process(out, fd, process, address);
	else if (is_locked(fd))
		say(out, EP_LIFE_RUNS, "somebody holds its lock");
	else if (here)
		say(out, EP_LIFE_ENDED, "nobody holds its lock");
	else
		say(out, EP_LIFE_ENDED, "it is of another boot, or of another machine");
	if (here && seen)
		look_at_kills(out, oom_file, process->oom_kills);
}
