/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.c: calls whose waits are known. Arguments are done in order, by main:
 *   nap      waits_nap: sleeps 40 ms
 *   spin     waits_spin: computes for 30 ms, 5 ms or more of them on a CPU
 *   lock     waits_lock: gets a mutex that waits_hold gives back 50 ms later
 *   pingN    N rounds of waits_ping: writes to a pipe and reads the answer
 *   turnN    N calls of waits_turn, which computes a little
 *   recorded sleeps until EPITAPH_SCHED's events are recorded, ten seconds at most
 *   settle   sleeps outside of all calls, 60 ms and until all is copied, ten seconds at most
 *   tell     prints what the process looks like: threads, the drain's state
 *   alone    calls that a second thread would break, one line each
 *   child    a child tells
 *   hold     waits until a signal ends it
 *   abort    dies with a core
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "own_events.h"

#define CALL __attribute__((noinline))

static int there[2], back[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;
static atomic_int wanted; /* the mutex, by waits_lock */

/* Called all the time: not traced. */
__attribute__((no_instrument_function)) static long time_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((no_instrument_function)) static long now(void)
{
	return time_of(CLOCK_MONOTONIC);
}

__attribute__((no_instrument_function)) static void sleep_ms(long ms)
{
	struct timespec t = {0, ms * 1000000};

	nanosleep(&t, NULL);
}

__attribute__((no_instrument_function)) static void wait_for_events(void)
{
	const char *source = getenv("EPITAPH_SCHED");

	for (int i = 0; i < 1000 && !own_events_are_on(source ? source : ""); i++)
		sleep_ms(10);
}

__attribute__((no_instrument_function)) static void settle(void)
{
	long begun = own_events_copied();

	sleep_ms(60);
	for (int i = 0; i < 1000 && begun >= 0 && own_events_copied() < begun + 2; i++)
		sleep_ms(10);
}

CALL void waits_nap(void)
{
	sleep_ms(40);
}

CALL void waits_spin(void)
{
	long until = now() + 30000000;
	long spent = time_of(CLOCK_THREAD_CPUTIME_ID) + 5000000;

	while (now() < until || time_of(CLOCK_THREAD_CPUTIME_ID) < spent)
		;
}

CALL void waits_hold(void)
{
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(&held);
	while (!wanted)
		sleep_ms(1);
	sleep_ms(50);
	pthread_mutex_unlock(&mutex);
}

static void *holder(void *nothing)
{
	pthread_setname_np(pthread_self(), "holder");
	waits_hold();
	return nothing;
}

CALL void waits_lock(void)
{
	wanted = 1;
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void lock(void)
{
	pthread_t thread;

	pthread_barrier_init(&held, NULL, 2);
	pthread_create(&thread, NULL, holder, NULL);
	pthread_barrier_wait(&held);
	waits_lock();
	pthread_join(thread, NULL);
}

static void *answer(void *nothing)
{
	char byte;

	pthread_setname_np(pthread_self(), "answerer");
	while (read(there[0], &byte, 1) == 1)
		if (write(back[1], &byte, 1) != 1)
			abort();
	return nothing;
}

CALL void waits_ping(void)
{
	char byte = 0;

	if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
		abort();
}

static void ping(int rounds)
{
	struct rusage before, after;
	pthread_t thread;
	long begun;

	if (pipe(there) || pipe(back))
		abort();
	pthread_create(&thread, NULL, answer, NULL);
	getrusage(RUSAGE_THREAD, &before);
	begun = now();
	for (int i = 0; i < rounds; i++)
		waits_ping();
	begun = now() - begun;
	getrusage(RUSAGE_THREAD, &after);
	printf("rounds %d ns %ld voluntary %ld\n", rounds, begun, after.ru_nvcsw - before.ru_nvcsw);
	close(there[1]);
	pthread_join(thread, NULL);
}

CALL unsigned waits_turn(unsigned value)
{
	for (int i = 0; i < 20; i++)
		value = value * 1664525 + 1013904223;
	return value;
}

static void turn(int rounds)
{
	volatile unsigned value = 1;
	long begun = now();

	for (int i = 0; i < rounds; i++)
		value = waits_turn(value);
	printf("turns %d ns %ld\n", rounds, now() - begun);
}

/* A line of /proc/self/task/TID/status. */
static void print_line(const char *task, const char *key)
{
	char path[300], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			printf("  %s", line);
	if (file)
		fclose(file);
}

static int count(const char *path)
{
	DIR *folder = opendir(path);
	int entries = 0;

	while (folder && readdir(folder))
		entries++;
	if (folder)
		closedir(folder);
	return entries - 2;
}

/* Every task but the main thread: name, signals blocked; and how many. */
static void tell(const char *who)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	int tasks = 0;

	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		tasks++;
		if (atoi(entry->d_name) == getpid())
			continue;
		print_line(entry->d_name, "Name:");
		print_line(entry->d_name, "SigBlk:");
	}
	closedir(folder);
	printf("%s: %d tasks, %d descriptors\n", who, tasks, count("/proc/self/fd"));
}

static int enter_mount(void)
{
	int fd = open("/proc/self/ns/mnt", O_RDONLY);

	return setns(fd, CLONE_NEWNS);
}

static int enter_time(void)
{
	int fd = open("/proc/self/ns/time", O_RDONLY);

	return setns(fd, 0);
}

static int raw_unshare(void)
{
	return (int)syscall(SYS_unshare, CLONE_NEWUSER);
}

static int new_user(void)
{
	return unshare(CLONE_NEWUSER);
}

static void in_child(const char *name, int (*call)(void))
{
	int status;

	fflush(stdout);
	if (!fork())
		_exit(call() ? 1 : 0);
	wait(&status);
	printf("%s in a child: %d\n", name, status);
}

static void alone(void)
{
	in_child("unshare", new_user);
	printf("unshare memory %d\n", unshare(CLONE_VM));
	printf("raw unshare memory %d\n", (int)syscall(SYS_unshare, CLONE_VM));
	waits_nap();
	printf("setns time %d\n", enter_time());
	printf("setns %d\n", enter_mount());
	printf("setgid %d\n", setgid(65534));
	printf("child %d", waitpid(-1, NULL, __WALL | WNOHANG));
	printf(" errno %d\n", errno);
	printf("setuid %d\n", setuid(65534));
	printf("raw unshare %d\n", raw_unshare());
}

static void child_tells(void)
{
	fflush(stdout);
	if (!fork()) {
		waits_nap();
		tell("child");
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (!strcmp(word, "nap"))
			waits_nap();
		else if (!strcmp(word, "spin"))
			waits_spin();
		else if (!strcmp(word, "lock"))
			lock();
		else if (!strncmp(word, "ping", 4))
			ping(atoi(word + 4));
		else if (!strcmp(word, "recorded"))
			wait_for_events();
		else if (!strcmp(word, "settle"))
			settle();
		else if (!strncmp(word, "turn", 4))
			turn(atoi(word + 4));
		else if (!strcmp(word, "tell"))
			tell("parent");
		else if (!strcmp(word, "alone"))
			alone();
		else if (!strcmp(word, "child"))
			child_tells();
		else if (!strcmp(word, "hold"))
			pause();
		else if (!strcmp(word, "abort"))
			abort();
		fflush(stdout);
	}
	return 0;
}
