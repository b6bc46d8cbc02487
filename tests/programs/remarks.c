/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remarks.c: notes and spans. What is noted is printed too: "thread text", a line each, so that a
 * reader can be held to what printf made of it. Then main aborts. `remarks [storm | forks]`
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "runtime/epitaph.h"

#define NOT_TRACED __attribute__((no_instrument_function))
#define KEPT       __attribute__((noinline, noclone))

#define SAY(...)                               \
	do {                                   \
		epitaph_note(__VA_ARGS__);     \
		printf(__VA_ARGS__), puts(""); \
	} while (0)

/* A program's own function of that kind. */
KEPT __attribute__((format(printf, 1, 2))) static void say_list(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	epitaph_vnote(format, list);
	va_end(list);
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	puts("");
}

KEPT static void resize(const char *name, int size)
{
	SAY("cache %s resized to %d", name, size);
}

static void say_everything(void)
{
	const char *formats[] = {"first %d", "second %s", "third"};

	for (int i = 1; i < 4; i++)
		resize("users", i * 100);
	SAY("%5.2f %Lg %c %p %.*s %lld%% %zu", 3.14159, 2.5L, 'x', (void *)0x1234, 3, "abcdef",
	    1LL << 60, sizeof(int));
	errno = ENOENT;
	SAY("open: %m");
	if (errno != ENOENT)
		puts("errno was changed");
	say_list("a list of %d: %s", 2, "both");
	/* Not always the same one at one place. */
	for (unsigned i = 0; i < 3; i++)
		say_list(formats[i], i ? "text" : (char *)7);
	SAY("tab\there, quote \", \\, <b>");
}

KEPT static void step(void)
{
	__asm__ volatile("");
}

KEPT static void begins(void)
{
	epitaph_mark_begin("request");
	step();
}

KEPT static void ends(void)
{
	epitaph_mark_end("request");
	step();
}

static void say_spans(void)
{
	epitaph_mark_end("strange");
	epitaph_mark_begin("frame");
	begins();
	epitaph_mark_begin("frame"); /* in itself */
	step();
	epitaph_mark_end("frame");
	epitaph_mark_end("frame"); /* overlaps request */
	ends();
	epitaph_mark_begin("for ever");
}

NOT_TRACED static void *silent(void *unused)
{
	(void)unused;
	epitaph_note("a thread without a call, %d", 1);
	epitaph_thread_pause();
	epitaph_note("paused");
	epitaph_mark_begin("paused span");
	epitaph_thread_resume();
	epitaph_note("again");
	epitaph_ignore_thread();
	epitaph_note("ignored");
	return NULL;
}

/* ---- 100,000 signals into threads that note ---- */

static atomic_ulong handled;

NOT_TRACED static void on_signal(int number)
{
	epitaph_note("signal %d in %s", number, "a handler");
	handled++;
}

NOT_TRACED static void *noter(void *unused)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	struct itimerspec every = {{0, 15000}, {0, 15000}};
	timer_t timer;

	(void)unused;
	event._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL))
		exit(1);
	for (unsigned i = 0; handled < 100000; i++)
		epitaph_note("%u is %s %u", i, "twice", 2 * i);
	timer_delete(timer);
	return NULL;
}

NOT_TRACED static void storm(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t threads[2];

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, noter, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* ---- forks while threads note ---- */

static atomic_bool over;

NOT_TRACED static void *chatter(void *unused)
{
	(void)unused;
	while (!over)
		epitaph_note("parent %d", (int)getpid());
	return NULL;
}

NOT_TRACED static void forks(void)
{
	pthread_t thread;
	int status;

	pthread_create(&thread, NULL, chatter, NULL);
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (!pid) {
			for (int j = 0; j < 600; j++)
				epitaph_note("child %d %d", i, j);
			if (i == 199)
				abort();
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || (i < 199 && status != 0))
			exit(1);
	}
	over = true;
	pthread_join(thread, NULL);
	exit(0);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "storm")) {
		storm();
		abort();
	}
	if (argc > 1 && !strcmp(argv[1], "forks"))
		forks();
	say_everything();
	say_spans();
	pthread_create(&thread, NULL, silent, NULL);
	pthread_join(thread, NULL);
	fflush(stdout);
	abort();
}
