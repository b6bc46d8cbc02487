/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watched.c: programs that hang in the ways that real ones do, watched by watchdogs or by nobody.
 * `watched deadlock|livelock|starved|frame|callback| blocked|kin|quiet [seconds]`
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/epitaph.h"

#define KEPT __attribute__((noinline, noclone))
#define MS   UINT64_C(1000000)

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static struct epitaph_watchdog *dog;
static atomic_bool over;
static volatile long sink;

static void sleep_ms(long ms)
{
	struct timespec wait = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&wait, &wait) && errno == EINTR)
		;
}

/* ---- deadlock: each has what the other wants ---- */

KEPT static void lock_ledger(void)
{
	pthread_mutex_lock(&first);
	sink++;
}

KEPT static void lock_journal(void)
{
	pthread_mutex_lock(&second);
	sink++;
}

KEPT static void *write_journal(void *unused)
{
	pthread_setname_np(pthread_self(), "journal");
	lock_journal();
	sleep_ms(50);
	lock_ledger();
	return unused;
}

KEPT static void settle_accounts(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, write_journal, NULL);
	lock_ledger();
	epitaph_watchdog_feed(dog);
	sleep_ms(50);
	lock_journal();
	sink++;
}

/* ---- livelock: each gives way to the other, for ever ---- */

KEPT static bool try_both(pthread_mutex_t *mine, pthread_mutex_t *theirs)
{
	bool got;

	pthread_mutex_lock(mine);
	for (int i = 0; i < 200; i++)
		sink++;
	got = pthread_mutex_trylock(theirs) == 0;
	/* As if the other always had it. */
	if (got)
		pthread_mutex_unlock(theirs);
	pthread_mutex_unlock(mine);
	return false;
}

KEPT static void *be_polite(void *which)
{
	pthread_mutex_t *mine = which ? &first : &second;

	while (!over && !try_both(mine, which ? &second : &first))
		;
	return NULL;
}

/* ---- starved: others hand a lock around ---- */

KEPT static void *hog(void *unused)
{
	pthread_mutex_lock(&first);
	while (!over)
		sleep_ms(1);
	pthread_mutex_unlock(&first);
	return unused;
}

KEPT static void *serve_customers(void *unused)
{
	pthread_setname_np(pthread_self(), "server");
	for (;;) {
		lock_ledger();
		pthread_mutex_unlock(&first);
		epitaph_watchdog_feed(dog);
		sleep_ms(1);
		if (over)
			return unused;
	}
}

/* ---- frames ---- */

KEPT static void load_texture(void)
{
	sleep_ms(400);
	sink++;
}

KEPT static void draw_frame(int number)
{
	epitaph_mark_begin("frame");
	epitaph_watchdog_feed(dog);
	if (number == 5)
		load_texture();
	epitaph_mark_end("frame");
}

static volatile sig_atomic_t missed;
static char missed_name[40];
static uint64_t missed_unfed;
static pthread_t missed_thread;

static void on_miss(const struct epitaph_miss *miss)
{
	missed++;
	strncpy(missed_name, miss->name, sizeof(missed_name) - 1);
	missed_unfed = miss->unfed_ns;
	missed_thread = pthread_self();
}

static void frames(epitaph_watchdog_action action)
{
	dog = epitaph_watchdog_create("frame", 30 * MS, action);
	for (int i = 0; i < 10; i++)
		draw_frame(i);
	epitaph_watchdog_pause(dog);
	sleep_ms(60);
	epitaph_watchdog_feed(dog);
	epitaph_watchdog_destroy(dog);
	epitaph_watchdog_feed(dog);
	sleep_ms(60);
}

/* ---- all ---- */

static int callback(void)
{
	frames(on_miss);
	printf("%d misses of %s, %s, in %s\n", (int)missed, missed_name,
	       missed_unfed >= 30 * MS && missed_unfed < 380 * MS ? "in time" : "late",
	       pthread_equal(missed_thread, pthread_self()) ? "the thread to blame"
							    : "another thread");
	return 0;
}

static int live(const char *name)
{
	pthread_t threads[2];

	if (!strcmp(name, "livelock")) {
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, be_polite, i ? &first : NULL);
	} else {
		dog = epitaph_watchdog_create("customers", 100 * MS, epitaph_watchdog_abort);
		pthread_create(&threads[0], NULL, serve_customers, NULL);
		sleep_ms(40);
		pthread_create(&threads[1], NULL, hog, NULL);
	}
	puts("ready");
	fflush(stdout);
	sleep_ms(20000);
	over = true;
	return 1;
}

/* A thread that has all signals blocked. */
static int blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	dog = epitaph_watchdog_create("deaf", 20 * MS, epitaph_watchdog_abort);
	sleep_ms(10000);
	return 1;
}

/* Nothing is late, and nothing disturbs: no EINTR, no other thread's name. */
static int quiet(void)
{
	dog = epitaph_watchdog_create("quiet", 1000 * MS, epitaph_watchdog_abort);
	for (int i = 0; i < 50; i++) {
		struct timespec wait = {0, 4000000};

		if (nanosleep(&wait, NULL) != 0)
			return 1;
		epitaph_watchdog_feed(dog);
	}
	return 0;
}

/* ---- who else there is ---- */

static int count_threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	int count = -2; /* . and .. */

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

/* What unshare says to one with a single thread: 0, or an errno. */
static int new_user(void)
{
	return unshare(CLONE_NEWUSER) ? errno : 0;
}

static int status_of(int (*in_child)(void))
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		_exit(in_child());
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Late by far, by the parent's watchdog. */
static int child(void)
{
	int threads = count_threads();

	missed = 0;
	sleep_ms(80);
	return 10 * threads + (int)missed;
}

/* Waits until the watcher has missed a feeding, for ten seconds at most: where others keep the
 * processors it comes late. */
static const char *wait_for_miss(void)
{
	for (int i = 0; i < 1000 && !missed; i++)
		sleep_ms(10);
	return missed ? "missed" : "not missed";
}

/* A watcher is not in a child, and not in the way. */
static int kin(void)
{
	const char *what;
	int alone = status_of(new_user), threads, user;

	dog = epitaph_watchdog_create("kin", 20 * MS, on_miss);
	what = wait_for_miss();
	threads = count_threads();
	printf("watched by %d threads, %s\n", threads - 1, what);
	printf("a child has %d\n", status_of(child));
	user = setuid(getuid());
	missed = 0;
	epitaph_watchdog_feed(dog);
	printf("setuid %d, %s after it\n", user, wait_for_miss());
	fflush(stdout);
	printf("unshare %s\n", new_user() == alone ? "as without" : "differs");
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	/* Shells ignore it for what they start in the background. */
	signal(SIGQUIT, SIG_DFL);
	if (!strcmp(name, "deadlock")) {
		if (argc > 2)
			dog = epitaph_watchdog_create("accounts", 200 * MS, epitaph_watchdog_abort);
		puts("ready");
		fflush(stdout);
		settle_accounts();
		return 1;
	}
	if (!strcmp(name, "livelock") || !strcmp(name, "starved"))
		return live(name);
	if (!strcmp(name, "kin"))
		return kin();
	if (!strcmp(name, "callback"))
		return callback();
	if (!strcmp(name, "frame")) {
		frames(epitaph_watchdog_snapshot);
		return 0;
	}
	if (!strcmp(name, "blocked"))
		return blocked();
	return quiet();
}
