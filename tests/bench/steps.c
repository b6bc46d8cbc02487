/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steps.c: `steps KIND N` does one thing N times: nothing; event, a traced call and its return;
 * note, one of two integers; feed, of a watchdog; clock, one rdtsc; jump, setjmp and longjmp. What
 * a kind takes longer than nothing is its cost.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "epitaph.h"

#define NOT_TRACED __attribute__((no_instrument_function))

__attribute__((noinline)) long step(long x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

NOT_TRACED static void nothing(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile("" ::"r"(i));
}

NOT_TRACED static void event(long n)
{
	for (long i = 0; i < n; i++)
		step(i);
}

NOT_TRACED static void note(long n)
{
	for (long i = 0; i < n; i++)
		epitaph_note("step %d of %d", (int)i, (int)n);
}

NOT_TRACED static void feed(long n)
{
	struct epitaph_watchdog *dog =
		epitaph_watchdog_create("steps", UINT64_C(3600000000000), epitaph_watchdog_abort);

	for (long i = 0; i < n; i++)
		epitaph_watchdog_feed(dog);
	epitaph_watchdog_destroy(dog);
}

NOT_TRACED static void read_clock(long n)
{
	for (long i = 0; i < n; i++) {
		unsigned long long now = __rdtsc();

		__asm__ volatile("" ::"r"(now));
	}
}

static jmp_buf place;
static volatile long jumps;

NOT_TRACED static void jump(long n)
{
	jumps = 0;
	while (jumps < n)
		if (!setjmp(place)) {
			jumps++;
			longjmp(place, 1);
		}
}

NOT_TRACED int main(int argc, char **argv)
{
	static const struct {
		const char *word;
		void (*run)(long n);
	} kinds[] = {
		{"nothing", nothing},  {"event", event}, {"note", note},
		{"clock", read_clock}, {"feed", feed},   {"jump", jump},
	};
	const char *word = argc > 2 ? argv[1] : "";

	step(0); /* the thread's ring is there */
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(word, kinds[i].word) != 0)
			continue;
		kinds[i].run(atol(argv[2]));
		return 0;
	}
	fprintf(stderr, "steps KIND N\n");
	return 64;
}
