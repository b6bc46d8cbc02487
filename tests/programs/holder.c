/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * holder.c: holder PID ARENA: holds the threads of a traced process, as one does who copies its
 * rings (runtime/record/hold.h), and is gone before it lets go of them. `holder PID ARENA far`: by
 * a time that is too far ahead to be believed.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOLD   288 /* docs/format.md, section 2 */
#define CYCLES (UINT64_C(1) << 28)

int main(int argc, char **argv)
{
	uint64_t until, arena;
	char path[64];
	int fd;

	if (argc < 3)
		return 64;
	arena = strtoull(argv[2], NULL, 0);
	snprintf(path, sizeof(path), "/proc/%s/mem", argv[1]);
	fd = open(path, O_RDWR);
	until = __builtin_ia32_rdtsc() + CYCLES - (CYCLES >> 4);
	if (argc > 3)
		until += UINT64_C(1) << 60;
	return fd < 0 || pwrite(fd, &until, sizeof(until), (off_t)(arena + HOLD)) != sizeof(until);
}
