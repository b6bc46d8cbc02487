/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shapes.h: main() of each program of shapes.py. Its work comes in units of some milliseconds, all
 * alike for a program and its untraced twin, and after each one it notes the CPU time that the
 * process has had so far, its children with it.
 *
 *   PROGRAM calibrate SECONDS        prints REPEAT and UNITS that take so many seconds of CPU time
 *   PROGRAM REPEAT UNITS FILE        writes UNITS times to FILE, u64 ns each, and stops itself
 *                                    for whoever wants to look at it; then it ends
 */
#ifndef SHAPES_H
#define SHAPES_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Of the file: unit number `index` is so many steps. */
#define UNTRACED __attribute__((no_instrument_function))
static void unit(unsigned index, unsigned repeat) UNTRACED;

static volatile long total;

UNTRACED static uint64_t cpu_now(void)
{
	struct timespec self;
	struct rusage children;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	return (uint64_t)self.tv_sec * 1000000000u + (uint64_t)self.tv_nsec +
	       ((uint64_t)children.ru_utime.tv_sec + (uint64_t)children.ru_stime.tv_sec) *
		       1000000000u +
	       ((uint64_t)children.ru_utime.tv_usec + (uint64_t)children.ru_stime.tv_usec) * 1000u;
}

UNTRACED static int calibrate(double seconds)
{
	unsigned repeat = 1, units = 0;
	uint64_t begin, took = 0;

	unit(0, 1);
	for (; took < 2000000 && repeat < 1u << 30; repeat *= 2) {
		begin = cpu_now();
		unit(0, repeat);
		took = cpu_now() - begin;
	}
	repeat = repeat > 1 ? repeat / 2 : 1;
	begin = cpu_now();
	do
		unit(units++, repeat);
	while (cpu_now() - begin < 1000000000u && (double)(cpu_now() - begin) < seconds * 1e9);
	printf("%u %.0f\n", repeat, units * seconds * 1e9 / (double)(cpu_now() - begin));
	return 0;
}

UNTRACED int main(int argc, char **argv)
{
	unsigned repeat, units;
	uint64_t *times;
	FILE *out;

	if (argc == 3)
		return calibrate(atof(argv[2]));
	if (argc != 4)
		return 64;
	repeat = (unsigned)atoi(argv[1]);
	units = (unsigned)atoi(argv[2]);
	times = (uint64_t *)calloc(units + 1, sizeof(*times));
	for (unsigned i = 0; i < units; i++) {
		unit(i, repeat);
		times[i] = cpu_now();
	}
	out = fopen(argv[3], "wb");
	if (!out || fwrite(times, sizeof(*times), units, out) != units || fclose(out))
		return 1;
	return raise(SIGSTOP);
}

#endif
