/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overwritten.c HOW [alt]: writes over memory that is not its own, and goes on
 * calling. tested:  crashes, and its handler tests all anonymous memory, as
 * redis's does: a window of it is kept on the stack, filled with patterns by functions that are
 * traced, looked at, and put back. With "alt" on an alternate stack, by small windows; "words" a
 * word at a time; "cold" without a handler, as after a failed assertion. first, all, process,
 * threads, rings …: zeroes (or with "ones": ones) over that part of the arena, for good.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define REGIONS  512

static struct region {
	uint64_t *start;
	size_t words;
} regions[REGIONS] = {{(void *)1, 0}}; /* in .data: not of the memory tested */
static unsigned region_count = 1;
static volatile uint64_t sink = 1;
static size_t window = (1 << 20) / 8;

/* ---- the memory test ---- */

NOINLINE void fill_addresses(uint64_t *at, size_t words)
{
	for (size_t i = 0; i < words; i++)
		at[i] = (uint64_t)&at[i];
}

NOINLINE size_t check_addresses(const uint64_t *at, size_t words)
{
	size_t errors = 0;

	for (size_t i = 0; i < words; i++)
		errors += at[i] != (uint64_t)&at[i];
	return errors;
}

/* Two halves alike, as redis does it. */
NOINLINE void fill_random(uint64_t *at, size_t words)
{
	uint64_t seed = 0xd13133de9afdb566;

	for (size_t i = 0; i < words / 2; i++) {
		seed ^= seed >> 12;
		seed ^= seed << 25;
		seed ^= seed >> 27;
		at[i] = at[i + words / 2] = seed * 2685821657736338717;
	}
}

NOINLINE void fill_value(uint64_t *at, size_t words, uint64_t even, uint64_t odd)
{
	for (size_t i = 0; i < words / 2; i++)
		at[i] = at[i + words / 2] = i % 2 ? odd : even;
}

NOINLINE size_t compare(const uint64_t *at, size_t words)
{
	size_t errors = 0;

	for (size_t i = 0; i < words / 2; i++)
		errors += at[i] != at[i + words / 2];
	return errors;
}

NOINLINE size_t test_window(uint64_t *at, size_t words)
{
	uint64_t kept[words];
	size_t errors = 0;

	for (size_t i = 0; i < words; i++)
		kept[i] = at[i];
	fill_addresses(at, words);
	errors += check_addresses(at, words);
	fill_random(at, words);
	for (int i = 0; i < 4; i++)
		errors += compare(at, words);
	fill_value(at, words, 0, UINT64_MAX);
	for (int i = 0; i < 4; i++)
		errors += compare(at, words);
	fill_value(at, words, 0xaaaaaaaaaaaaaaaa, 0x5555555555555555);
	for (int i = 0; i < 4; i++)
		errors += compare(at, words);
	for (size_t i = 0; i < words; i++)
		at[i] = kept[i];
	return errors;
}

NOINLINE uint64_t flipped(uint64_t word)
{
	return ~word + sink - sink; /* volatile: each call is one */
}

/* One word after the other. */
NOINLINE size_t test_words(volatile uint64_t *at, size_t words)
{
	size_t errors = 0;

	for (size_t i = 0; i < words; i++) {
		uint64_t kept = at[i];

		at[i] = flipped(kept);
		errors += at[i] != flipped(kept);
		at[i] = kept;
	}
	return errors;
}

/* Read by read(2): stdio's memory is tested as well. */
NOINLINE void find_regions(void)
{
	static char text[1 << 18] = {1}; /* in .data */
	size_t size = 0;
	ssize_t got;
	FILE *file = fopen("/proc/self/maps", "r");

	while ((got = read(fileno(file), text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	text[size] = 0;
	region_count = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned long start, end;
		char rights[8], offset[20], device[16];

		if (sscanf(line, "%lx-%lx %7s %19s %15s", &start, &end, rights, offset, device) !=
			    5 ||
		    strstr(line, "stack") || strstr(line, "vdso") || strcmp(device, "00:00") ||
		    strncmp(rights, "rw", 2) || region_count == REGIONS)
			continue;
		regions[region_count++] = (struct region){(void *)start, (end - start) / 8};
	}
	fclose(file);
}

static int by_words;

/* Not what it stands on itself. */
NOINLINE size_t test_region(const struct region *region)
{
	uint64_t here = (uint64_t)__builtin_frame_address(0);
	size_t errors = 0;

	if (here >= (uint64_t)region->start && here < (uint64_t)(region->start + region->words))
		return 0;
	for (size_t at = 0; at < region->words; at += window) {
		size_t words = region->words - at < window ? region->words - at : window;

		errors += by_words ? test_words(region->start + at, words < 1024 ? words : 1024)
				   : test_window(region->start + at, words);
	}
	return errors;
}

NOINLINE void test_memory(void)
{
	char line[64];
	size_t errors = 0;

	find_regions();
	for (unsigned i = 0; i < region_count; i++)
		errors += test_region(&regions[i]);
	dprintf(1, "%s\n", errors ? "memory errors" : "memory is well");
	(void)line;
}

static void handler(int number, siginfo_t *info, void *context)
{
	(void)context;
	dprintf(1, "signal %d at %p\n", number, info->si_addr);
	test_memory();
	signal(number, SIG_DFL);
	raise(number);
}

/* ---- the end ---- */

NOINLINE uint64_t leaf(uint64_t value)
{
	return value + sink;
}

NOINLINE uint64_t work(uint64_t rounds)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < rounds; i++)
		sum += leaf(i);
	return sum;
}

NOINLINE void last_words(void)
{
	sink += leaf(1);
	*(volatile int *)8 = 1;
}

/* The arena, by its magic at a mapping's start; its sections by their types (docs/format.md). */
#define SECTIONS 16

struct arena {
	char magic[8];
	uint64_t root[15];
	uint64_t committed;
	uint64_t settings[20];
	struct {
		uint32_t type, entry_size;
		uint64_t offset, size;
	} sections[SECTIONS];
};

static struct arena *arena(void)
{
	find_regions();
	for (unsigned i = 0; i < region_count; i++)
		if (!memcmp(regions[i].start, "EPITARNA", 8))
			return (struct arena *)regions[i].start;
	return NULL;
}

static void overwrite(const char *part, int byte)
{
	static const char *const names[] = {"",      "process", "clock",  "threads", "modules",
					    "rings", "kept",    "counts", "sched",   "watchdogs"};
	struct arena *start = arena();

	if (!start)
		return;
	for (int i = 0; i < SECTIONS; i++) {
		uint32_t type = start->sections[i].type;
		uint64_t offset = start->sections[i].offset;
		uint64_t end = offset + start->sections[i].size;

		if (type && type < sizeof names / sizeof *names && !strcmp(part, names[type]))
			memset((char *)start + offset, byte,
			       (end < start->committed ? end : start->committed) - offset);
	}
	if (!strcmp(part, "first"))
		memset(start, byte, 4096);
	if (!strcmp(part, "all"))
		memset(start, byte, start->committed);
}

static void *on_thread(void *rounds)
{
	return (void *)work((uint64_t)rounds);
}

int main(int count, char **arguments)
{
	const char *how = count > 1 ? arguments[1] : "", *more = count > 2 ? arguments[2] : "";
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_NODEFER | (int)SA_RESETHAND};

	sink += work(10000);
	by_words = !strcmp(more, "words");
	if (!strcmp(more, "alt")) {
		stack_t stack = {.ss_size = 1 << 16};

		window = 4096 / 8 * 2;
		stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		sigaltstack(&stack, NULL);
		action.sa_flags |= SA_ONSTACK;
	}
	action.sa_sigaction = handler;
	if (!strcmp(how, "tested") && !strcmp(more, "cold")) {
		test_memory();
	} else if (!strcmp(how, "tested")) {
		sigaction(SIGSEGV, &action, NULL);
	} else {
		pthread_t thread;

		overwrite(how, !strcmp(more, "ones") ? 0xff : 0);
		sink += work(20000);
		pthread_create(&thread, NULL, on_thread, (void *)20000);
		pthread_join(thread, NULL);
		dprintf(1, "worked on\n");
	}
	last_words();
	return 0;
}
