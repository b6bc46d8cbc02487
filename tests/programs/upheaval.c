/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upheaval.c: `upheaval LOG SHARED OWN` calls steps in its first thread, while three threads load a
 * traced library, call into it and unload it (two of them the same one, which goes when both have
 * left it), and one forks children that call steps, too, and are killed, with a dot for each. It
 * never ends by itself.
 *
 * LOG becomes an array of struct entry, which outlives everybody: the process itself, then each
 * child.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_TRACED __attribute__((no_instrument_function))
#define KEPT       __attribute__((noinline))
#define ENTRIES    512

struct entry {
	volatile unsigned long pid;
	volatile unsigned long begun; /* steps */
	volatile unsigned long loads; /* of the library, calls included */
};

static struct entry *entries;
KEPT void step_0(void)
{
	__asm__ volatile("");
}

KEPT void step_1(void)
{
	__asm__ volatile(" ");
}

KEPT void step_2(void)
{
	__asm__ volatile("  ");
}

KEPT void step_3(void)
{
	__asm__ volatile("   ");
}

/* Which function step `n` calls: anybody can compute it. */
NOT_TRACED static void walk(struct entry *entry)
{
	static void (*const steps[])(void) = {step_0, step_1, step_2, step_3};

	entry->pid = (unsigned long)getpid();
	for (unsigned long n = 1;; n++) {
		entry->begun = n;
		steps[(n * 2654435761ul >> 7) % 4]();
	}
}

NOT_TRACED static void *plug(void *library)
{
	for (;;) {
		void *handle = dlopen((const char *)library, RTLD_NOW);
		int (*plugged)(int) = handle ? (int (*)(int))dlsym(handle, "plugged") : NULL;

		if (!plugged || plugged(1) != 3)
			abort();
		dlclose(handle);
		__atomic_add_fetch(&entries[0].loads, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

NOT_TRACED static void *fork_on(void *unused)
{
	for (int i = 1; i < ENTRIES; i++) {
		pid_t child = fork();

		if (child < 0)
			abort();
		if (!child)
			walk(&entries[i]);
		/* Half of them while they still make their file. */
		for (int k = 0; i % 2 && k < 20000 && !entries[i].begun; k++)
			usleep(200);
		usleep((unsigned)rand() % 4000);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		if (write(STDOUT_FILENO, ".", 1) != 1)
			abort();
	}
	return unused;
}

NOT_TRACED int main(int argc, char **argv)
{
	pthread_t thread;
	int fd;

	if (argc < 4)
		return 64;
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, ENTRIES * sizeof(*entries)))
		return 1;
	entries = mmap(NULL, ENTRIES * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (entries == MAP_FAILED)
		return 1;
	srand((unsigned)getpid());
	pthread_create(&thread, NULL, plug, argv[2]);
	pthread_create(&thread, NULL, plug, argv[2]);
	pthread_create(&thread, NULL, plug, argv[3]);
	pthread_create(&thread, NULL, fork_on, NULL);
	walk(&entries[0]);
}
