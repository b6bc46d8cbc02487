/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sparse.c: sparse MIB: dies with that much memory mapped of which a page in each 64 MiB was
 * written to: its core is as large, and all but empty.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static volatile uint64_t sum;

__attribute__((noinline)) static void touch(char *at)
{
	memset(at, 0x5a, 4096);
	sum += (uint64_t)at;
}

__attribute__((noinline)) static void die(void)
{
	abort();
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoull(argv[1], 0, 10) << 20 : 0;
	char *memory = mmap(0, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return 2;
	for (size_t at = 5 << 20; at < size; at += 64 << 20)
		touch(memory + at);
	die();
}
