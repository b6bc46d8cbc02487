/* SPDX-License-Identifier: BSD-2-Clause */
/* ended_main.c [FILE]: its main thread ends, another one goes on: it says "ready" once the kernel
 * says so, and then waits for a line on its input: "die", "snapshot" to FILE, "load" FILE and call
 * it, else it calls a few functions more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/epitaph.h"

#define NOINLINE __attribute__((noinline))

static volatile long sum;

NOINLINE void inner(long n)
{
	sum += n;
	if (n < 0)
		*(volatile int *)8 = 1;
}

NOINLINE void outer(long n)
{
	inner(n);
	sum++;
}

/* Is the process's own /proc that of a zombie? */
NOINLINE static int has_ended(void)
{
	char text[64];
	int fd = open("/proc/self/stat", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, ") Z ") != NULL;
}

NOINLINE static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*call)(long) = library ? (void (*)(long))dlsym(library, "loaded") : NULL;

	if (call)
		call(1);
	puts(call ? "loaded" : dlerror());
}

static void *work(void *file)
{
	char line[64];

	while (!has_ended())
		usleep(1000);
	for (long i = 0; i < 50; i++)
		outer(i);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "die\n") == 0)
			outer(-1);
		else if (strcmp(line, "snapshot\n") == 0)
			puts(epitaph_snapshot_write(file) ? "refused" : "written");
		else if (strcmp(line, "load\n") == 0)
			load(file);
		else
			outer(1);
		outer(2);
		fflush(stdout);
	}
	return NULL;
}

int main(int count, char **words)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, count > 1 ? words[1] : NULL);
	pthread_setname_np(thread, "worker");
	pthread_exit(NULL);
}
