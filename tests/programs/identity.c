/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * identity.c: a traced process that would have root's `epitaph control PID on` write elsewhere: its
 * table of hooks has one row, at TABLE, whose reason is to be taken back; a sibling shares its
 * memory, which so lives on. When it reads a line it gives its pid away: it ends, or becomes
 * PROGRAM. It prints the sibling's pid.
 *
 *   identity [PROGRAM]
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/format.h"
#include "runtime/format_switches.h"

#define TABLE ((void *)0x7e0000000000)

extern struct ep_root epitaph_root;
static char stack[65536] __attribute__((aligned(16)));

__attribute__((no_instrument_function)) static int share(void *unused)
{
	(void)unused;
	for (;;)
		syscall(SYS_pause);
	return 0;
}

static struct ep_switches *switches(void)
{
	struct ep_arena *arena = (void *)(uintptr_t)epitaph_root.arena_address;

	for (unsigned i = 0; i < EP_SECTION_MAX; i++)
		if (arena->sections[i].type == EP_SECTION_SWITCHES)
			return (void *)((char *)arena + arena->sections[i].offset);
	return NULL;
}

int main(int argc, char **argv)
{
	struct ep_hook_site *table = mmap(TABLE, 4096, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	struct ep_switches *head = switches();
	char line[16];
	int sibling;

	if (!head || table != TABLE)
		return 1;
	*table = (struct ep_hook_site){
		.place = (uintptr_t)table + 512, .kind = EP_SITE_CALL, .all = 1};
	head->sites = (uintptr_t)table;
	head->site_count = 1;
	sibling = clone(share, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	printf("%d\n", sibling);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	if (argc > 1)
		execv(argv[1], argv + 1);
	syscall(SYS_exit_group, 0);
	return 0;
}
