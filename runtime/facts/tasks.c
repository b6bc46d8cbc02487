/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tasks.c: /proc/self is this process in every /proc that knows of it, but the names in there are
 * of that /proc's pid namespace: a child in a namespace of its own may see its parent's still.
 * NSpid has both (man 5 proc, Linux 4.1).
 */
#include "runtime/facts/tasks.h"

#include <stdbool.h>

#include "runtime/arena/arena.h"
#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"

#define TASKS "/proc/self/task"
#define KEY   "\nNSpid:"

/* ---- one thread's ids ---- */

/* A text that comes in pieces: the groups before NSpid may be thousands. */
struct search {
	unsigned matched; /* of KEY */
	unsigned ids;     /* that began */
	bool in_number, over;
	uint32_t last;
};

static void search_step(struct search *search, char c)
{
	bool digit = c >= '0' && c <= '9';

	if (search->matched < sizeof(KEY) - 1) {
		search->matched = c == KEY[search->matched] ? search->matched + 1 : c == KEY[0];
		return;
	}
	search->over |= c == '\n';
	if (search->over)
		return;
	if (digit && !search->in_number) {
		search->ids++;
		search->last = 0;
	}
	if (digit)
		search->last = search->last * 10 + (uint32_t)(c - '0');
	search->in_number = digit;
}

/* How many ids it has from /proc's namespace to its own, whose *tid is; 0: that is not told. */
static unsigned ids_of(const char *status, uint32_t *tid)
{
	struct search search = {0};
	long fd = ep_fd_open(status), got = 0;
	char piece[512];

	while (fd >= 0 && !search.over && (got = ep_fd_read(fd, piece, sizeof(piece))) > 0)
		for (long i = 0; i < got; i++)
			search_step(&search, piece[i]);
	if (fd >= 0)
		ep_fd_close(fd);
	*tid = search.last;
	return search.over ? search.ids : 0;
}

/* 0: it ended meanwhile. */
static uint32_t own_tid(const char *name)
{
	char path[64];
	struct ep_text text;
	uint32_t tid;

	ep_text_init(&text, path, sizeof(path));
	ep_text_add(&text, TASKS "/");
	ep_text_add(&text, name);
	ep_text_add(&text, "/status");
	return ids_of(path, &tid) ? tid : 0;
}

/* ---- all ---- */

static uint32_t each_known(void (*call)(uint32_t tid))
{
	uint64_t size;
	uint32_t count = 0;
	const struct ep_thread *list = ep_arena_section(EP_SECTION_THREADS, &size);

	for (uint64_t i = 0; i < size / sizeof(*list); i++) {
		if (list[i].state != EP_THREAD_LIVE)
			continue;
		count++;
		if (call)
			call(list[i].tid);
	}
	return count;
}

/* The name of a main thread that has ended: it stays in the list, and signals to it are never
 * delivered. 0: it has not. */
static uint64_t ended_leader(void)
{
	char stat[64];
	long got = ep_fd_load("/proc/self/stat", stat, sizeof(stat)), at = got;
	const char *digits = stat;
	uint64_t tid;

	/* The name in parentheses may hold any; it is of 15 bytes at most. */
	while (at > 0 && stat[at - 1] != ')')
		at--;
	if (at <= 0 || at + 1 >= got || stat[at + 1] != 'Z')
		return 0;
	return ep_text_number(&digits, stat + got, 10, &tid) ? tid : 0;
}

/* `elsewhere`: names are another namespace's. */
static uint32_t each_listed(void (*call)(uint32_t tid), bool elsewhere)
{
	struct ep_folder folder;
	const char *name;
	uint32_t count = 0;
	uint64_t ended = ended_leader();

	ep_folder_begin(&folder, ep_fd_open(TASKS));
	while ((name = ep_folder_next(&folder))) {
		const char *digits = name;
		uint64_t tid;

		if (!ep_text_number(&digits, name + ep_string_length(name), 10, &tid) ||
		    (ended && tid == ended))
			continue;
		count++;
		if (call && elsewhere)
			tid = own_tid(name);
		if (call && tid)
			call((uint32_t)tid);
	}
	ep_folder_end(&folder);
	return count;
}

uint32_t ep_tasks_each(void (*call)(uint32_t tid))
{
	uint32_t pid;
	unsigned ids = ids_of("/proc/self/status", &pid);

	if (!ids || pid != (uint32_t)ep_syscall0(SYS_getpid))
		return each_known(call);
	return each_listed(call, ids > 1);
}
