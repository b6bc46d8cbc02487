/* SPDX-License-Identifier: BSD-2-Clause */
/* process.c: process facts, by raw system calls. The strings follow the struct; the command line
 * comes last and takes what is left. */
#include "runtime/facts/process.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/utsname.h>
#include <time.h>

#include "runtime/arena/arena.h"
#include "runtime/facts/cgroup.h"
#include "runtime/format.h"
#include "runtime/lib/files.h"
#include "runtime/lib/incarnation.h"
#include "runtime/lib/new_file.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/lib/vdso.h"
#include "runtime/x86_64/tsc.h"

#ifndef EP_VERSION
#define EP_VERSION "unknown"
#endif

/* Where the next string goes. */
struct area {
	char *base; /* of the section */
	uint32_t used;
	uint32_t size;
};

static uint32_t room(const struct area *area)
{
	return area->size - area->used;
}

/* The `length` bytes that already lie at the area's end become a string. */
static void keep(struct area *area, struct ep_string *out, long length)
{
	out->offset = area->used;
	out->length = length > 0 ? (uint32_t)length : 0;
	area->used += out->length;
}

static void keep_text(struct area *area, struct ep_string *out, const char *text)
{
	size_t length = ep_string_length(text);

	if (length > room(area))
		length = room(area);
	ep_bytes_copy(area->base + area->used, text, length);
	keep(area, out, (long)length);
}

static void keep_link(struct area *area, struct ep_string *out, const char *link)
{
	keep(area, out,
	     ep_syscall4(SYS_readlinkat, AT_FDCWD, (long)link, (long)(area->base + area->used),
			 room(area)));
}

static void keep_directory(struct area *area, struct ep_string *out)
{
	/* The kernel counts the NUL. */
	keep(area, out, ep_syscall2(SYS_getcwd, (long)(area->base + area->used), room(area)) - 1);
}

static void keep_first_line(struct area *area, struct ep_string *out, const char *path)
{
	const char *at = area->base + area->used;
	uint32_t most = room(area) < 512 ? room(area) : 512;
	long got = ep_fd_load(path, area->base + area->used, most);
	long length = 0;

	while (length < got && at[length] != '\n')
		length++;
	keep(area, out, length);
}

static void keep_command_line(struct area *area, struct ep_string *out)
{
	char *at = area->base + area->used;
	long got = ep_fd_load_own("cmdline", at, room(area));

	if (got > 0 && !at[got - 1])
		got--; /* separated by NUL bytes, not ended by them */
	keep(area, out, got);
}

/* "0-3,8,10-11" has 7. */
static uint64_t count_list(const char *at, const char *end)
{
	uint64_t count = 0, first, last;

	while (ep_text_number(&at, end, 10, &first)) {
		last = first;
		if (at < end && *at == '-') {
			at++;
			if (!ep_text_number(&at, end, 10, &last))
				break;
		}
		if (last < first)
			break;
		count += last - first + 1;
		if (at == end || *at++ != ',')
			break;
	}
	return count;
}

static uint64_t online_cpus(void)
{
	char list[1024];
	long got = ep_fd_load("/sys/devices/system/cpu/online", list, sizeof list);

	return got > 0 ? count_list(list, list + got) : 0;
}

static void note_times(struct ep_process *process)
{
	process->start_tsc = ep_tsc();
	process->start_realtime = ep_clock_read(CLOCK_REALTIME);
}

static void note_numbers(struct ep_process *process)
{
	process->pid = (uint32_t)ep_syscall0(SYS_getpid);
	process->parent_pid = (uint32_t)ep_syscall0(SYS_getppid);
	process->uid = (uint32_t)ep_syscall0(SYS_getuid);
	process->gid = (uint32_t)ep_syscall0(SYS_getgid);
}

static void keep_oom_file(struct area *area, struct ep_process *process)
{
	struct ep_text text;

	if (room(area) < 2)
		return;
	ep_text_init(&text, area->base + area->used, room(area));
	if (ep_cgroup_oom_file(&text, &process->oom_kills))
		keep(area, &process->oom_file, (long)text.used);
}

static void note_host(struct area *area, struct ep_process *process)
{
	static struct utsname name;

	if (ep_syscall1(SYS_uname, (long)&name))
		return;
	keep_text(area, &process->host, name.nodename);
	keep_text(area, &process->kernel, name.release);
}

void ep_process_start(void)
{
	uint64_t size;
	struct ep_process *process = ep_arena_section(EP_SECTION_PROCESS, &size);
	struct area area = {(char *)process, sizeof *process, (uint32_t)size};

	/* What is counted is not told anew. */
	const uint32_t full = process->file_full;
	const uint16_t lost = process->file_lost, two = process->two_writers;

	ep_bytes_zero(process, sizeof *process);
	process->file_full = full;
	process->file_lost = lost;
	process->two_writers = two;
	note_times(process);
	note_numbers(process);
	process->page_size = 4096; /* x86-64 has no other */
	process->cpus = online_cpus();
	ep_process_incarnation(process);
	note_host(&area, process);
	keep_text(&area, &process->runtime, EP_VERSION);
	keep_link(&area, &process->executable, "/proc/self/exe");
	keep_directory(&area, &process->directory);
	keep_first_line(&area, &process->cgroup, "/proc/self/cgroup");
	keep_oom_file(&area, process);
	keep_command_line(&area, &process->command_line);
}

static char path[EP_PATH_MAX]; /* one that is asked about */

static bool is_there(const struct ep_process *process)
{
	/* The kernel counts the NUL. */
	long length = ep_syscall2(SYS_getcwd, (long)path, sizeof path) - 1;

	return length >= 0 && (uint64_t)length == process->directory.length &&
	       ep_bytes_equal(path, (const char *)process + process->directory.offset,
			      (size_t)length);
}

/* A kill of before it was forked is none of its own. */
static void note_oom_kills(struct ep_process *process)
{
	uint32_t length = process->oom_file.length;

	if (!length || length >= sizeof path)
		return;
	ep_bytes_copy(path, (const char *)process + process->oom_file.offset, length);
	path[length] = '\0';
	ep_cgroup_oom_kills(path, &process->oom_kills);
}

void ep_process_inherit(void)
{
	struct ep_process *process = ep_arena_section(EP_SECTION_PROCESS, NULL);

	process->file_full = 0;
	process->file_lost = process->two_writers = 0;
	if (!is_there(process)) {
		ep_process_start();
		return;
	}
	note_times(process);
	note_numbers(process);
	ep_process_incarnation_child(process);
	note_oom_kills(process);
}
