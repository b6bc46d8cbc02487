/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overlaid.c: a program that has its own idea of its address space, as emulators, checkpointers and
 * runtimes with fixed places have: what lies between 4 and 68 GiB is its own, whatever is there.
 * ./overlaid HOW [dies]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOW  (4ul << 30)
#define HIGH (68ul << 30)

static volatile unsigned long done;
static volatile int over;

static __attribute__((noinline)) void work(unsigned long n)
{
	done += n;
}

static void *thread(void *unused)
{
	for (unsigned long i = 0; i < 3000 || (unused && !over); i++)
		work(i);
	for (unsigned long i = 0; i < 3000; i++)
		work(i);
	return unused;
}

/* The mappings there: all, or those that nobody may touch. */
static void each(void (*change)(char *start, size_t size), int untouched)
{
	char line[500], ranges[100][60];
	unsigned long start, end;
	FILE *maps = fopen("/proc/self/maps", "r");
	int count = 0;

	while (maps && fgets(line, sizeof(line), maps) && count < 100) {
		char rights[8];

		sscanf(line, "%lx-%lx %7s", &start, &end, rights);
		if (start >= LOW && end <= HIGH && (!untouched || !strncmp(rights, "---", 3)))
			snprintf(ranges[count++], 60, "%lx-%lx", start, end);
	}
	if (maps)
		fclose(maps);
	for (int i = 0; i < count; i++) {
		sscanf(ranges[i], "%lx-%lx", &start, &end);
		change((char *)start, end - start);
	}
}

static void check(const void *result, const char *what)
{
	if (result != MAP_FAILED)
		return;
	perror(what);
	exit(3);
}

static void fixed(char *start, size_t size)
{
	check(mmap(start, size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0),
	      "mmap");
	memset(start, 0x5a, size < 1 << 20 ? size : 1 << 20);
}

static void page(char *start, size_t size)
{
	fixed(start + size / 8192 * 4096, 4096);
}

static void none(char *start, size_t size)
{
	mprotect(start, size, PROT_NONE);
}

static void unmap(char *start, size_t size)
{
	if (munmap(start, size))
		check(MAP_FAILED, "munmap");
}

static void drop(char *start, size_t size)
{
	madvise(start, size, MADV_DONTNEED);
}

static void wipe(char *start, size_t size)
{
	madvise(start, size, MADV_WIPEONFORK);
}

static void keep_from_children(char *start, size_t size)
{
	madvise(start, size, MADV_DONTFORK);
}

static void move(char *start, size_t size)
{
	mremap(start, size, size, MREMAP_MAYMOVE);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*change)(char *start, size_t size);
		int untouched;
	} ways[] = {{"fixed", fixed, 0}, {"tail", fixed, 1},  {"page", page, 0},
		    {"none", none, 0},   {"unmap", unmap, 0}, {"drop", drop, 0},
		    {"wipe", wipe, 0},   {"move", move, 0},   {"dontfork", keep_from_children, 0}};
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t others[3], last;
	int status = 0;
	char *place;

	for (int i = 0; i < 3; i++)
		pthread_create(&others[i], NULL, thread, others);
	for (unsigned long i = 0; i < 10000; i++)
		work(i);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(how, ways[i].name))
			each(ways[i].change, ways[i].untouched);
	if (!strcmp(how, "all") || !strcmp(how, "all-none")) {
		place = mmap((void *)LOW, HIGH - LOW, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		check(place, "mmap of all");
		if (!strcmp(how, "all"))
			check(mmap(place, 1 << 20, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			      "mmap");
	}
	if (!strcmp(how, "close")) /* everything there is none of its business */
		munmap((void *)LOW, HIGH - LOW);
	over = 1;
	for (unsigned long i = 0; i < 10000; i++)
		work(i);
	for (int i = 0; i < 3; i++)
		pthread_join(others[i], NULL);
	pthread_create(&last, NULL, thread, NULL);
	pthread_join(last, NULL);
	fflush(stdout);
	if (fork() == 0) {
		for (unsigned long i = 0; i < 3000; i++)
			work(i);
		exit(7);
	}
	wait(&status);
	printf("%s: %d\n", how, WEXITSTATUS(status));
	fflush(stdout);
	if (argc > 2)
		*(volatile int *)NULL = 0;
	return 0;
}
