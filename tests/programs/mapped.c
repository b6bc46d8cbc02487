/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mapped.c: dies with more mappings than an ELF header can count. mapped COUNT [FILE]: COUNT pages,
 * alternately read-only and writable so that no two are one mapping, anonymous, or each one FILE's
 * first page.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

__attribute__((noinline)) static void map(char *at, long index, int fd)
{
	int access = index % 2 ? PROT_READ | PROT_WRITE : PROT_READ;
	int flags = MAP_PRIVATE | MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0);

	if (mmap(at + index * PAGE, PAGE, access, flags, fd, 0) == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	if (fd < 0 && index % 1000 == 1)
		memset(at + index * PAGE, (int)(index % 250) + 1, PAGE);
}

int main(int argc, char *argv[])
{
	long count = argc > 1 ? atol(argv[1]) : 0;
	int fd = argc > 2 ? open(argv[2], O_RDONLY) : -1;
	char *at = mmap(NULL, (size_t)count * PAGE, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return 1;
	for (long i = 0; i < count; i++)
		map(at, i, fd);
	abort();
}
