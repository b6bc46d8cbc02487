/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * boundless.c: a traced process that says too much of itself, so that who looks at it has no end of
 * work or memory: `boundless WHAT`. It prints "ready" and waits for a signal.
 *
 *   sites    a table of a million hooks, each on a page of its own
 *   many     a table of 2^40 hooks
 *   entries  functions switched from outside, all as long as can be
 *   sleds    modules in a circle, each with a map of two million sleds
 *   arena    an arena of a terabyte that is in use
 *   kept     kept snapshots of a terabyte each
 *   maps     65,000 mappings
 *   rings    rings that begin within a page
 *   locked   it holds the lock of its own hooks
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/format.h"
#include "runtime/format_switches.h"

/* As runtime/sled_code.h and runtime/dso/sleds.h have them. */
struct sled {
	int64_t place, function;
	uint8_t kind, always, version, unused[13];
};
struct sleds {
	const struct sled *begin, *end;
	const char *to_entry, *to_return;
	struct sleds *next;
	uint64_t state;
};

extern struct ep_root epitaph_root;

static uint32_t crc32(const uint8_t *bytes, size_t size)
{
	uint32_t crc = 0xffffffffu;

	for (size_t i = 0; i < 8 * size; i++) {
		crc ^= i % 8 ? 0 : bytes[i / 8];
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static char *reserve(uint64_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);
}

static struct ep_arena *arena(void)
{
	return (void *)(uintptr_t)epitaph_root.arena_address;
}

static struct ep_section *section(uint32_t type)
{
	struct ep_section *sections = arena()->sections;

	while (sections->type != type)
		sections++;
	return sections;
}

static struct ep_switches *switches(void)
{
	return (void *)((char *)arena() + section(EP_SECTION_SWITCHES)->offset);
}

static void sites(void)
{
	const uint64_t count = 1 << 20;
	struct ep_hook_site *table = (void *)reserve(count * sizeof(*table));
	char *code = reserve(UINT64_C(1) << 40);

	for (uint64_t i = 0; i < count; i++)
		table[i] = (struct ep_hook_site){
			.place = (uintptr_t)code + (count - i) * 40960, .kind = 1, .all = 1};
	switches()->sites = (uintptr_t)table;
	switches()->site_count = count;
}

static void many(void)
{
	sites();
	switches()->site_count = UINT64_C(1) << 40;
}

/* Another section, where there is room for them. */
static void entries(void)
{
	struct ep_switches *old = switches(), *head;
	uint64_t room = arena()->root.arena_size / 2 & -4096ull;
	uint32_t count = 1u << 16;
	struct ep_switched *list;
	char *code = reserve(UINT64_C(1) << 32);

	head = (void *)((char *)arena() + room);
	/* As a system call: the runtime would notice, and have less. */
	syscall(SYS_mprotect, head, (uint64_t)count * sizeof(*list) + 4096, PROT_READ | PROT_WRITE);
	*head = *old;
	list = (void *)(head + 1);
	head->capacity = head->count = 0;
	head->control_capacity = head->control_count = count;
	for (uint32_t i = 0; i < count; i++)
		list[i] = (struct ep_switched){.start = (uintptr_t)code + i,
					       .end = (uintptr_t)code + i + (8 << 20),
					       .count = 1,
					       .reasons = EP_SWITCH_CONTROL};
	section(EP_SECTION_SWITCHES)->offset = room;
	section(EP_SECTION_SWITCHES)->size = sizeof(*head) + (count + 1) * sizeof(*list);
	section(EP_SECTION_SWITCHES)->entry_size = sizeof(*list);
}

static void sleds(void)
{
	const uint64_t count = 2 << 20;
	struct sled *map = (void *)reserve(count * sizeof(*map));
	static struct sleds modules[2];

	for (unsigned i = 0; i < 2; i++)
		modules[i] =
			(struct sleds){.begin = map, .end = map + count, .next = &modules[1 - i]};
	switches()->sleds = (uintptr_t)modules;
}

static void large(void)
{
	struct ep_root *root = &arena()->root;

	root->arena_size = arena()->committed = UINT64_C(1) << 40;
	root->crc = crc32((uint8_t *)root, offsetof(struct ep_root, crc));
}

static void kept(void)
{
	struct ep_kept *list = (void *)((char *)arena() + section(EP_SECTION_KEPT)->offset);
	char *place = reserve(UINT64_C(1) << 40);

	for (unsigned i = 0; i < section(EP_SECTION_KEPT)->size / sizeof(*list); i++) {
		list[i].address = (uintptr_t)place;
		list[i].size = UINT64_C(1) << 40;
		list[i].number = i + 1;
		list[i].state = EP_KEPT_VALID;
	}
}

static void maps(void)
{
	char *place = reserve(UINT64_C(65000) * 8192);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	for (unsigned i = 0; i < 65000; i++)
		mmap(place + i * 8192, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
}

static void rings(void)
{
	section(EP_SECTION_RINGS)->offset += 8;
}

static void locked(void)
{
	flock(open("/proc/self/mem", O_RDONLY | O_CLOEXEC), LOCK_EX);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{"sites", sites}, {"many", many},   {"entries", entries},
	{"sleds", sleds}, {"arena", large}, {"kept", kept},
	{"maps", maps},   {"rings", rings}, {"locked", locked},
};

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	for (unsigned i = 0; argc > 1 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			kinds[i].run();
	if (write(1, "ready\n", 6) != 6)
		return 1;
	for (;;)
		pause();
}
