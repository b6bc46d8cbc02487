/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * remapped.c HOW PART: puts code of its own elsewhere, as programs do for huge pages, looks for a
 * library, calls on, and dies. HOW: memfd, shared (the same, MAP_SHARED), zero (/dev/zero), file,
 * anonymous. PART: text (the executable mapping), middle (a page less at either end of it), all
 * (with the ELF header).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char __ehdr_start[];

static volatile long sum;

static int file_of(const char *how, size_t size, const void *bytes)
{
	int fd = !strcmp(how, "file") ? open("huge-text", O_RDWR | O_CREAT | O_TRUNC, 0600)
				      : memfd_create("huge text", 0);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		exit(3);
	return fd;
}

/* Everything on one page is in one copy of it, as code that is being replaced must not run. */
__attribute__((noinline)) static void move(const char *how, char *begin, char *end, int rights)
{
	bool anonymous = !strcmp(how, "anonymous"), zero = !strcmp(how, "zero");
	size_t size = (size_t)(end - begin);
	int fd = anonymous || zero ? -1 : file_of(how, size, begin);
	int flags = anonymous || !strcmp(how, "memfd") ? MAP_PRIVATE : MAP_SHARED;
	char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | (fd < 0 ? MAP_ANONYMOUS : 0),
			  fd, 0);

	if (copy == MAP_FAILED)
		exit(4);
	if (fd < 0)
		memcpy(copy, begin, size);
	mprotect(copy, size, rights);
	if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, begin) != begin)
		exit(5);
}

static void remap(const char *how, const char *part)
{
	struct {
		char *begin, *end;
		int rights;
	} found[8];
	char line[512], rights[8];
	int count = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	uintptr_t low = (uintptr_t)__ehdr_start, high = (uintptr_t)&sum;

	while (maps && fgets(line, sizeof(line), maps)) {
		uintptr_t begin, end;

		if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3 || begin < low ||
		    begin > high || rights[1] == 'w' || count == 8)
			continue;
		if (rights[2] != 'x' && strcmp(part, "all") != 0)
			continue;
		found[count].begin = (char *)begin;
		found[count].end = (char *)end;
		found[count++].rights = PROT_READ | (rights[2] == 'x' ? PROT_EXEC : 0);
	}
	if (!count)
		exit(6);
	fclose(maps);
	for (int i = 0; i < count; i++) {
		bool middle = !strcmp(part, "middle");

		move(how, found[i].begin + (middle ? 4096 : 0), found[i].end - (middle ? 4096 : 0),
		     found[i].rights);
	}
}

__attribute__((noinline)) static void inner(long n)
{
	sum += n;
	if (n == 500)
		*(volatile int *)8 = 1;
}

__attribute__((noinline)) static void outer(long n)
{
	inner(n);
	sum++;
}

__attribute__((noinline)) static void serve(long n)
{
	outer(n);
	sum++;
}

int main(int count, char **words)
{
	for (long i = 0; i < 10; i++)
		serve(i);
	if (count > 2)
		remap(words[1], words[2]);
#ifndef NO_DLOPEN
	if (!dlopen(count > 3 ? words[3] : "libm.so.6", RTLD_NOW))
		return 2;
#endif
	for (long i = 0; i < 1000; i++)
		serve(i);
	return 0;
}
