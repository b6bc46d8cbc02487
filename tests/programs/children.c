/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * children.c: `children KIND MS` makes a child in one of many ways. It is busy for MS, and until it
 * has events of its own where EVENTS (perf, ftrace) says that it is to have some; so is its parent,
 * which looks whether its own descriptors, mappings and threads are then as they were, and prints
 * nothing when they are. Each writes a snapshot at its end: parent, child (of a KIND whose memory
 * is its own). All pids but those of exec's are in the file pids.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <epitaph.h>

#include "own_events.h"

#define CALL     __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))
#define DONE     7 /* exit status of a child that lived */

extern char **environ;

static long busy_ms;
static const char *program;

CALL void in_parent(void)
{
	__asm__ volatile("");
}

CALL void in_child(void)
{
	__asm__ volatile("");
}

UNTRACED static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Bursts that begin a block or more, with a wait after each. */
UNTRACED static void burst(void (*call)(void))
{
	for (int i = 0; i < 600; i++)
		call();
	usleep(5000);
}

UNTRACED static void busy(void (*call)(void), long ms)
{
	for (long until = now_ms() + ms; now_ms() < until;)
		burst(call);
}

/* ---- what a process has ---- */

/* Lines: name and target of /proc/self/fd's links, or names of the threads. */
UNTRACED static void add_folder(FILE *out, const char *path, int links)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char name[512], target[512] = "";

		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (links && readlink(name, target, sizeof(target) - 1) < 0)
			continue;
		if (!links || atoi(entry->d_name) != dirfd(folder))
			fprintf(out, "%s %s\n", entry->d_name, target);
	}
	if (folder)
		closedir(folder);
}

struct state {
	char *text; /* descriptors and threads */
	struct mapping {
		unsigned long start, end;
		char path[256];
	} mappings[256];
	int count;
};

UNTRACED static void add_mappings(struct state *state)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024];

	while (maps && state->count < 256 && fgets(line, sizeof(line), maps)) {
		struct mapping *m = &state->mappings[state->count];

		m->path[0] = 0;
		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %255s", &m->start, &m->end, m->path) >= 2)
			state->count++;
	}
	fclose(maps);
}

UNTRACED static void look(struct state *state)
{
	size_t size;
	FILE *out = open_memstream(&state->text, &size);

	add_folder(out, "/proc/self/fd", 1);
	add_folder(out, "/proc/self/task", 0);
	fclose(out);
	add_mappings(state);
}

/* How far from `at` on the same is mapped. */
UNTRACED static unsigned long mapped_to(const struct state *state, unsigned long at,
					const char *path)
{
	for (int i = 0; i < state->count; i++) {
		const struct mapping *m = &state->mappings[i];

		if (m->start <= at && at < m->end && !strcmp(m->path, path))
			at = m->end;
	}
	return at;
}

/* Descriptors and threads are what they were; no mapping has gone. */
UNTRACED static void compare(const struct state *before, const struct state *after)
{
	if (strcmp(before->text, after->text))
		printf("before:\n%safter:\n%s", before->text, after->text);
	for (int i = 0; i < before->count; i++) {
		const struct mapping *m = &before->mappings[i];

		if (mapped_to(after, m->start, m->path) < m->end)
			printf("gone: %lx-%lx %s\n", m->start, m->end, m->path);
	}
}

/* ---- the child ---- */

UNTRACED static void snapshot(const char *who)
{
	char path[256];

	snprintf(path, sizeof(path), "%s", who);
	if (epitaph_snapshot_write(path))
		perror(path);
}

UNTRACED static void note_pid(void)
{
	int fd = open("pids", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	dprintf(fd, "%d\n", getpid());
	close(fd);
}

UNTRACED static int has_events(void)
{
	const char *source = getenv("EVENTS");

	return !source || !*source || own_events_are_on(source);
}

UNTRACED static void child(void)
{
	long late = now_ms() + 20000;

	note_pid();
	busy(in_child, busy_ms);
	while (!has_events() && now_ms() < late)
		burst(in_child);
	busy(in_child, 50);
	snapshot("child");
	_exit(DONE);
}

/* Its memory is its parent's, and so is its trace. */
UNTRACED static int child_that_shares(void *unused)
{
	(void)unused;
	busy(in_child, busy_ms);
	return DONE;
}

/* ---- kinds: the pid of a child to wait for ---- */

/* `pid` is what made it. */
UNTRACED static pid_t split(pid_t pid)
{
	if (!pid)
		child();
	return pid;
}

UNTRACED static pid_t by_fork(void)
{
	return split(fork());
}

UNTRACED static void *fork_in_thread(void *pid)
{
	*(pid_t *)pid = by_fork();
	return NULL;
}

UNTRACED static pid_t by_thread(void)
{
	pthread_t thread;
	pid_t pid = -1;

	pthread_create(&thread, NULL, fork_in_thread, &pid);
	pthread_join(thread, NULL);
	return pid;
}

UNTRACED static pid_t by_raw_clone(void)
{
	return split((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

/* The table of descriptors is the parent's. */
UNTRACED static pid_t by_raw_clone_files(void)
{
	return split((pid_t)syscall(SYS_clone, SIGCHLD | CLONE_FILES, 0, 0, 0, 0));
}

/* Of a pid 1, and pid 1 itself, which gives up rights it has not. */
UNTRACED static pid_t by_raw_clone_init(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_NEWPID, 0, 0, 0, 0);

	if (!pid && setuid(getuid()) == 0)
		child();
	return pid;
}

UNTRACED static pid_t by__Fork(void)
{
	return split(_Fork());
}

UNTRACED static pid_t by_clone(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	return clone((int (*)(void *))(void (*)(void))child, stack + sizeof(stack), SIGCHLD, NULL);
}

UNTRACED static pid_t by_clone_vm(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	return clone(child_that_shares, stack + sizeof(stack), SIGCHLD | CLONE_VM, NULL);
}

UNTRACED static pid_t by_clone_vfork(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	return clone(child_that_shares, stack + sizeof(stack), SIGCHLD | CLONE_VM | CLONE_VFORK,
		     NULL);
}

UNTRACED static pid_t by_vfork(void)
{
	pid_t pid = vfork();

	if (pid)
		return pid;
	busy(in_child, busy_ms);
	_exit(DONE);
}

/* The command line of one that is the child at once. */
UNTRACED static char **child_words(void)
{
	static char ms[16];
	static char *words[] = {NULL, "child", ms, NULL};

	words[0] = (char *)program;
	snprintf(ms, sizeof(ms), "%ld", busy_ms);
	return words;
}

UNTRACED static pid_t by_vfork_exec(void)
{
	char **words = child_words();
	pid_t pid = vfork();

	if (pid)
		return pid;
	execv(program, words);
	_exit(1);
}

UNTRACED static pid_t by_spawn(void)
{
	pid_t pid = -1;

	posix_spawn(&pid, program, NULL, NULL, child_words(), environ);
	return pid;
}

/* An exec that fails, and one that does not, when the drain is there. */
UNTRACED static pid_t by_exec(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	note_pid();
	busy(in_child, busy_ms / 2);
	execv("/nowhere", child_words());
	busy(in_child, busy_ms / 2);
	execv(program, child_words());
	_exit(1);
}

/* The program in its place is not traced. */
UNTRACED static pid_t by_exec_untraced(void)
{
	char line[64], *words[] = {"sh", "-c", line, NULL};
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(line, sizeof(line), "exit %d", DONE);
	note_pid();
	busy(in_child, busy_ms);
	execv("/bin/sh", words);
	_exit(1);
}

UNTRACED static pid_t by_double_fork(void)
{
	pid_t pid = fork();
	int status;

	if (pid)
		return pid;
	note_pid();
	busy(in_child, busy_ms / 2);
	pid = by_fork();
	busy(in_child, busy_ms / 2);
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Its parent is gone while it lives; its pid lies in memory that they share. */
UNTRACED static pid_t by_orphan(void)
{
	volatile pid_t *orphan =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork(), found;

	if (!pid) {
		note_pid();
		busy(in_child, busy_ms / 2);
		*orphan = by_fork();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	found = *orphan;
	munmap((void *)orphan, 4096);
	return found;
}

UNTRACED static pid_t by_daemon(void)
{
	volatile pid_t *orphan =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork(), found;

	if (!pid) {
		note_pid();
		busy(in_child, busy_ms / 2);
		*orphan = -1;
		if (daemon(1, 1))
			_exit(1);
		*orphan = getpid();
		child();
	}
	waitpid(pid, NULL, 0);
	while ((found = *orphan) <= 0)
		burst(in_parent);
	munmap((void *)orphan, 4096);
	return found;
}

/* One of many, of a process with many threads that call and open all the time. */
static volatile int over;

UNTRACED static void *storm(void *unused)
{
	struct sigaction now;

	(void)unused;
	while (!over) {
		for (int i = 0; i < 2000; i++)
			in_parent();
		sigaction(SIGSEGV, NULL, &now);
		sigaction(SIGSEGV, &now, NULL);
		usleep(200);
	}
	return NULL;
}

UNTRACED static pid_t by_storm(void)
{
	pthread_t threads[3];
	struct sigaction now;
	int status = 0, bad = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, storm, NULL);
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			in_child();
			sigaction(SIGSEGV, NULL, &now);
			_exit(DONE);
		}
		waitpid(pid, &status, 0);
		bad += status != DONE << 8;
	}
	over = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return bad ? -1 : by_fork();
}

/* Their drains are about to begin. */
UNTRACED static pid_t by_young(void)
{
	int status, bad = 0;
	pid_t pids[8];

	for (int i = 0; i < 8; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			note_pid();
			busy(in_child, 95 + i * 8);
			_exit(DONE);
		}
	}
	for (int i = 0; i < 8; i++)
		bad += waitpid(pids[i], &status, 0) != pids[i] || status != DONE << 8;
	return bad ? -1 : by_fork();
}

static const struct {
	const char *name;
	pid_t (*make)(void);
} kinds[] = {
	{"fork", by_fork},
	{"thread", by_thread},
	{"raw", by_raw_clone},
	{"raw-files", by_raw_clone_files},
	{"init", by_raw_clone_init},
	{"_Fork", by__Fork},
	{"clone", by_clone},
	{"clone-vm", by_clone_vm},
	{"clone-vfork", by_clone_vfork},
	{"vfork", by_vfork},
	{"vfork-exec", by_vfork_exec},
	{"spawn", by_spawn},
	{"exec", by_exec},
	{"exec-untraced", by_exec_untraced},
	{"double", by_double_fork},
	{"orphan", by_orphan},
	{"daemon", by_daemon},
	{"storm", by_storm},
	{"young", by_young},
};

UNTRACED static pid_t make(const char *kind)
{
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kind, kinds[i].name))
			return kinds[i].make();
	return -1;
}

/* ---- the parent ---- */

UNTRACED static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0)
		burst(in_parent);
	return status;
}

int main(int argc, char **argv)
{
	static struct state before, after;
	int status;
	pid_t pid;

	program = "/proc/self/exe";
	busy_ms = argc > 2 ? atol(argv[2]) : 300;
	if (argc > 1 && !strcmp(argv[1], "child"))
		child();
	note_pid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	busy(in_parent, 300);
	look(&before);
	pid = make(argv[1]);
	status = pid < 0 ? -1 : wait_for(pid);
	busy(in_parent, 20);
	look(&after);
	if (status != DONE << 8)
		printf("the child ended with %#x\n", status);
	compare(&before, &after);
	snapshot("parent");
	return 0;
}
