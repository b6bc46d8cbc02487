/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_kinds.c: one thread holds a lock of each kind of the C library's, another waits for it, and
 * then the main one dies. Writes to stdout who they are, and where the lock is: what a report is to
 * find out. The argument is the kind.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

/* Shared, for the kinds that processes share. */
struct locks {
	pthread_mutex_t mutex, other;
	pthread_rwlock_t rwlock;
	pthread_cond_t condition;
	pthread_barrier_t barrier;
	sem_t semaphore;
	pthread_spinlock_t spin;
	mtx_t standard;
};

static struct locks *locks;
static sem_t held; /* posted by whoever holds what the next one waits for */
static pthread_barrier_t both;
static pthread_t holder;
static volatile int *nowhere;
static volatile unsigned long after;

static void log_self(const char *role)
{
	printf("%s %ld\n", role, syscall(SYS_gettid));
	fflush(stdout);
}

static struct timespec later(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	at.tv_sec += 1000;
	return at;
}

static void hold(void)
{
	log_self("holder");
	sem_post(&held);
	sleep(1000);
	after++;
}

/* ---- mutexes ---- */

static void init_mutex(pthread_mutex_t *mutex, int type, int robust, int protocol, int shared)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutexattr_setrobust(&attributes, robust);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	pthread_mutexattr_setpshared(&attributes, shared);
	pthread_mutex_init(mutex, &attributes);
	printf("mutex %p\n", (void *)mutex);
}

KEPT static void *hold_mutex(void *unused)
{
	pthread_mutex_lock(&locks->mutex);
	hold();
	return unused;
}

/* It ends, and nobody can unlock it again. */
KEPT static void *leave_mutex(void *unused)
{
	pthread_mutex_lock(&locks->mutex);
	log_self("gone");
	return unused;
}

KEPT static void *wait_mutex(void *unused)
{
	log_self("waiter");
	pthread_mutex_lock(&locks->mutex);
	after++;
	return unused;
}

KEPT static void *wait_mutex_timed(void *unused)
{
	struct timespec at = later(CLOCK_REALTIME);

	log_self("waiter");
	pthread_mutex_timedlock(&locks->mutex, &at);
	after++;
	return unused;
}

KEPT static void *wait_mutex_clock(void *unused)
{
	struct timespec at = later(CLOCK_MONOTONIC);

	log_self("waiter");
	pthread_mutex_clocklock(&locks->mutex, CLOCK_MONOTONIC, &at);
	after++;
	return unused;
}

KEPT static void *wait_own(void *unused)
{
	pthread_mutex_lock(&locks->mutex);
	log_self("waiter");
	sem_post(&held);
	pthread_mutex_lock(&locks->mutex);
	after++;
	return unused;
}

KEPT static void *hold_standard(void *unused)
{
	mtx_lock(&locks->standard);
	hold();
	return unused;
}

KEPT static void *wait_standard(void *unused)
{
	log_self("waiter");
	mtx_lock(&locks->standard);
	after++;
	return unused;
}

/* ---- read-write locks ---- */

KEPT static void *hold_write(void *unused)
{
	pthread_rwlock_wrlock(&locks->rwlock);
	hold();
	return unused;
}

KEPT static void *hold_read(void *unused)
{
	pthread_rwlock_rdlock(&locks->rwlock);
	hold();
	return unused;
}

KEPT static void *wait_read(void *unused)
{
	log_self("waiter");
	pthread_rwlock_rdlock(&locks->rwlock);
	after++;
	return unused;
}

KEPT static void *wait_write(void *unused)
{
	log_self("waiter");
	pthread_rwlock_wrlock(&locks->rwlock);
	after++;
	return unused;
}

KEPT static void *wait_behind(void *unused)
{
	log_self("behind");
	pthread_rwlock_rdlock(&locks->rwlock);
	after++;
	return unused;
}

KEPT static void *wait_write_behind(void *unused)
{
	log_self("behind");
	pthread_rwlock_wrlock(&locks->rwlock);
	after++;
	return unused;
}

KEPT static void *wait_write_timed(void *unused)
{
	struct timespec at = later(CLOCK_REALTIME);

	log_self("waiter");
	pthread_rwlock_timedwrlock(&locks->rwlock, &at);
	after++;
	return unused;
}

/* ---- what nobody holds ---- */

KEPT static void *wait_condition(void *unused)
{
	log_self("waiter");
	pthread_mutex_lock(&locks->mutex);
	pthread_cond_wait(&locks->condition, &locks->mutex);
	after++;
	return unused;
}

KEPT static void *wait_condition_timed(void *unused)
{
	struct timespec at = later(CLOCK_REALTIME);

	log_self("waiter");
	pthread_mutex_lock(&locks->mutex);
	pthread_cond_timedwait(&locks->condition, &locks->mutex, &at);
	after++;
	return unused;
}

KEPT static void *wait_semaphore(void *unused)
{
	log_self("waiter");
	sem_wait(&locks->semaphore);
	after++;
	return unused;
}

KEPT static void *wait_semaphore_timed(void *unused)
{
	struct timespec at = later(CLOCK_REALTIME);

	log_self("waiter");
	sem_timedwait(&locks->semaphore, &at);
	after++;
	return unused;
}

KEPT static void *wait_barrier(void *unused)
{
	log_self("waiter");
	pthread_barrier_wait(&locks->barrier);
	after++;
	return unused;
}

KEPT static void *wait_spin(void *unused)
{
	log_self("waiter");
	pthread_spin_lock(&locks->spin);
	after++;
	return unused;
}

KEPT static void *wait_end(void *unused)
{
	log_self("waiter");
	pthread_join(holder, NULL);
	after++;
	return unused;
}

/* ---- who waits for each other ---- */

/* Holds the mutex, waits for the read-write lock. */
KEPT static void *mutex_then_rwlock(void *unused)
{
	pthread_mutex_lock(&locks->mutex);
	log_self("first");
	sem_post(&held);
	pthread_barrier_wait(&both);
	pthread_rwlock_rdlock(&locks->rwlock);
	after++;
	return unused;
}

KEPT static void *rwlock_then_mutex(void *unused)
{
	pthread_rwlock_wrlock(&locks->rwlock);
	log_self("second");
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&locks->mutex);
	after++;
	return unused;
}

/* Wants the mutex of the one that waits for its end. */
KEPT static void *never_ending(void *unused)
{
	log_self("first");
	sem_post(&held);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&locks->mutex);
	after++;
	return unused;
}

KEPT static void *mutex_then_join(void *unused)
{
	pthread_mutex_lock(&locks->mutex);
	log_self("second");
	pthread_barrier_wait(&both);
	pthread_join(holder, NULL);
	after++;
	return unused;
}

/* ---- the kinds ---- */

/* One thread after the other. */
struct kind {
	const char *name;
	int type, robust, protocol, shared; /* of the mutex */
	void *(*run[3])(void *);
	int lone; /* the first says nothing */
};

#define NORMAL 0, 0, 0, 0
static const struct kind kinds[] = {
	{"mutex", NORMAL, {hold_mutex, wait_mutex}, 0},
	{"recursive", PTHREAD_MUTEX_RECURSIVE, 0, 0, 0, {hold_mutex, wait_mutex}, 0},
	{"errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, 0, 0, {hold_mutex, wait_mutex}, 0},
	{"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0, 0, {hold_mutex, wait_mutex}, 0},
	{"robust", 0, PTHREAD_MUTEX_ROBUST, 0, 0, {hold_mutex, wait_mutex}, 0},
	{"inherit", 0, 0, PTHREAD_PRIO_INHERIT, 0, {hold_mutex, wait_mutex}, 0},
	{"inherit-robust",
	 0,
	 PTHREAD_MUTEX_ROBUST,
	 PTHREAD_PRIO_INHERIT,
	 0,
	 {hold_mutex, wait_mutex},
	 0},
	{"shared", 0, 0, 0, PTHREAD_PROCESS_SHARED, {hold_mutex, wait_mutex}, 0},
	{"timed", NORMAL, {hold_mutex, wait_mutex_timed}, 0},
	{"clock", NORMAL, {hold_mutex, wait_mutex_clock}, 0},
	{"robust-timed", 0, PTHREAD_MUTEX_ROBUST, 0, 0, {hold_mutex, wait_mutex_timed}, 0},
	{"inherit-timed", 0, 0, PTHREAD_PRIO_INHERIT, 0, {hold_mutex, wait_mutex_timed}, 0},
	{"own", NORMAL, {wait_own}, 0},
	{"elsewhere", 0, 0, 0, PTHREAD_PROCESS_SHARED, {wait_mutex}, 1},
	{"died-holds", NORMAL, {wait_mutex}, 1},
	{"gone", NORMAL, {leave_mutex, wait_mutex}, 1},
	{"c11", NORMAL, {hold_standard, wait_standard}, 0},
	{"read", NORMAL, {hold_write, wait_read}, 0},
	{"write", NORMAL, {hold_write, wait_write}, 0},
	{"write-timed", NORMAL, {hold_write, wait_write_timed}, 0},
	{"readers", NORMAL, {hold_read, wait_write}, 0},
	{"behind", NORMAL, {hold_read, wait_write, wait_behind}, 0},
	{"write-behind", NORMAL, {hold_read, wait_write, wait_write_behind}, 0},
	{"condition", NORMAL, {wait_condition}, 1},
	{"condition-timed", NORMAL, {wait_condition_timed}, 1},
	{"semaphore", NORMAL, {wait_semaphore}, 1},
	{"semaphore-timed", NORMAL, {wait_semaphore_timed}, 1},
	{"barrier", NORMAL, {wait_barrier}, 1},
	{"spin", NORMAL, {wait_spin}, 1},
	{"join", NORMAL, {hold_mutex, wait_end}, 0},
	{"cycle-rwlock", NORMAL, {mutex_then_rwlock, rwlock_then_mutex}, 0},
	{"cycle-join", NORMAL, {never_ending, mutex_then_join}, 0},
};

static void init_locks(const struct kind *kind)
{
	pthread_rwlockattr_t attributes;

	locks = mmap(NULL, sizeof(*locks), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	init_mutex(&locks->mutex, kind->type, kind->robust, kind->protocol, kind->shared);
	pthread_rwlockattr_init(&attributes);
	pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&locks->rwlock, &attributes);
	pthread_cond_init(&locks->condition, NULL);
	pthread_barrier_init(&locks->barrier, NULL, 2);
	sem_init(&locks->semaphore, 1, 0);
	pthread_barrier_init(&both, NULL, 2);
	pthread_spin_init(&locks->spin, 0);
	pthread_spin_lock(&locks->spin);
	mtx_init(&locks->standard, mtx_plain);
	printf("rwlock %p\ncondition %p\nbarrier %p\nsemaphore %p\nspin %p\nstandard %p\n",
	       (void *)&locks->rwlock, (void *)&locks->condition, (void *)&locks->barrier,
	       (void *)&locks->semaphore, (void *)&locks->spin, (void *)&locks->standard);
}

/* In another process, which holds it until this one is gone. */
static void hold_elsewhere(void)
{
	int ends[2];
	char word;

	if (pipe(ends) != 0 || fork() == 0) {
		close(ends[1]);
		pthread_mutex_lock(&locks->mutex);
		log_self("elsewhere");
		sem_post(&locks->semaphore);
		_exit(read(ends[0], &word, 1) < 0);
	}
	sem_wait(&locks->semaphore);
}

static int sleeps(const char *task)
{
	char path[64], text[512] = "", *behind;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/stat", task);
	file = fopen(path, "r");
	if (!file)
		return 1;
	if (!fgets(text, sizeof(text), file))
		text[0] = 0;
	fclose(file);
	behind = strrchr(text, ')');
	return behind && behind[1] && behind[2] == 'S';
}

/* All others wait: they have said who they are, and stop nowhere else. */
static void wait_for_waiters(int others)
{
	struct dirent *entry;
	int asleep = 0;
	DIR *tasks;

	while (asleep < others) {
		usleep(20000);
		tasks = opendir("/proc/self/task");
		for (asleep = 0; (entry = readdir(tasks));)
			asleep += entry->d_name[0] != '.' && sleeps(entry->d_name);
		closedir(tasks);
	}
}

static void start(const struct kind *kind)
{
	pthread_t thread;
	int count = 0;

	for (int i = 0; i < 3 && kind->run[i]; i++) {
		pthread_create(&thread, NULL, kind->run[i], NULL);
		count++;
		if (i == 0)
			holder = thread;
		if (i == 0 && kind->lone && kind->run[1])
			count -= pthread_join(thread, NULL) == 0;
		else if (i == 0 && !kind->lone)
			sem_wait(&held);
		else if (strcmp(kind->name, "spin") != 0)
			wait_for_waiters(count);
	}
	if (strcmp(kind->name, "spin") == 0)
		usleep(200000);
	else
		wait_for_waiters(count);
}

static const struct kind *find(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	exit(2);
}

int main(int count, char **words)
{
	const struct kind *kind = find(count > 1 ? words[1] : "mutex");

	setvbuf(stdout, NULL, _IOLBF, 0);
	sem_init(&held, 0, 0);
	init_locks(kind);
	log_self("died");
	if (strcmp(kind->name, "elsewhere") == 0)
		hold_elsewhere();
	if (strcmp(kind->name, "died-holds") == 0)
		pthread_mutex_lock(&locks->mutex);
	start(kind);
	return *nowhere;
}
