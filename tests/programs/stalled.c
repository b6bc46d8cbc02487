/* SPDX-License-Identifier: BSD-2-Clause */
/* stalled.c: stalled [FILE page]: a traced process that waits for its input to end; with "page" one
 * page of its arena is FILE's, which nobody has read yet. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static __attribute__((noinline)) int work(int n)
{
	return n * 3;
}

/* Of the arena's, by its magic: the third page holds nothing that the process itself needs. */
static void *page_of_arena(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[512], mode[8];
	void *found = NULL;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s", &start, &end, mode) == 3 && mode[0] == 'r' &&
		    !strstr(line, "[v") && memcmp((void *)start, "EPITARNA", 8) == 0)
			found = (char *)start;
	if (maps)
		fclose(maps);
	return found;
}

int main(int argc, char **argv)
{
	volatile int sum = 0;
	char byte;

	for (int i = 0; i < 1000; i++)
		sum += work(i);
	if (argc > 2) {
		int file = open(argv[1], O_RDONLY);
		void *page = page_of_arena();

		if (file < 0 || !page ||
		    mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 4096) ==
			    MAP_FAILED)
			return 1;
	}
	if (write(1, "ready\n", 6) != 6)
		return 1;
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
