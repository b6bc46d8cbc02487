/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_ftrace.c: an ftrace instance of the process's own. Its name tells whose it is, so that the
 * next process that makes one removes those of the dead, and a reader on the same host finds what
 * was not copied before a crash.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "runtime/arena/arena.h"
#include "runtime/kernel/sched_section.h"
#include "runtime/kernel/sched_sources.h"
#include "runtime/lib/files.h"
#include "runtime/lib/incarnation.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/settings/settings.h"

#define PAGE          UINT64_C(4096)
#define PREFIX        "epitaph."
#define PAGE_HEAD     16u /* bytes before a page's data: time stamp, commit */
#define COMMIT_MASK   0x0fffffffu
#define COMMIT_MISSED 0x40000000u /* 8 bytes that count follow the data */
#define LEAST         8192u       /* bytes for a CPU: what the kernel takes */

/* Inode of the first pid namespace (kernel: PROC_PID_INIT_INO). */
#define FIRST_PIDS "pid:[4026531836]"

static const char *const mounts[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

static long instances = -1; /* the folder; of the drain's table */
static long instance = -1;
static long pages[EP_SCHED_CPUS]; /* trace_pipe_raw, + 1; 0: none */
static unsigned cpu_end;
static uint64_t per_cpu; /* bytes */
static const char *mount;
static int failure; /* of a call for each thread */
static struct ep_helper *drain;

/* ---- files of the instance ---- */

static long open_in(long folder, const char *path, int flags)
{
	return ep_syscall4(SYS_openat, folder, (long)path, flags | O_CLOEXEC, 0);
}

/* 0 or an errno. */
static int put(const char *path, const char *value)
{
	long fd = open_in(instance, path, O_WRONLY), done;

	if (ep_syscall_failed(fd))
		return (int)-fd;
	done = ep_syscall3(SYS_write, fd, (long)value, (long)ep_string_length(value));
	ep_fd_close(fd);
	return ep_syscall_failed(done) ? (int)-done : 0;
}

static int put_number(const char *path, uint64_t number)
{
	char digits[32];
	struct ep_text text;

	ep_text_init(&text, digits, sizeof(digits));
	ep_text_add_number(&text, number);
	return put(path, digits);
}

static void add_hex(struct ep_text *text, uint64_t number)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		ep_text_add_bytes(text, &"0123456789abcdef"[number >> shift & 15], 1);
}

/* ---- whose it is ---- */

static void make_name(void)
{
	struct ep_text text;

	ep_text_init(&text, ep_sched->instance, sizeof(ep_sched->instance));
	ep_text_add(&text, PREFIX);
	ep_text_add_number(&text, epitaph_root.pid);
	ep_text_add(&text, ".");
	ep_text_add_number(&text, ep_process_start_ticks(0));
	ep_text_add(&text, ".");
	add_hex(&text, epitaph_root.identity);
}

/* An instance of ours whose process is no more, or has become another program. */
static bool is_left(const char *name)
{
	const char *end = name + ep_string_length(name);
	uint64_t pid, start, now;

	if (!ep_string_starts(name, PREFIX) || ep_string_equal(name, ep_sched->instance))
		return false;
	name += sizeof(PREFIX) - 1;
	if (!ep_text_number(&name, end, 10, &pid) || name == end || *name++ != '.' ||
	    !ep_text_number(&name, end, 10, &start))
		return false;
	if (pid == epitaph_root.pid)
		return true;
	if (ep_syscall2(SYS_kill, (long)pid, 0) == -ESRCH)
		return true;
	now = ep_process_start_ticks((uint32_t)pid);
	return start && now && now != start;
}

/*
 * The kernel makes and removes one instance of the machine's at a time, in 50 ms, and whoever waits
 * for that cannot even be killed. Twenty children a second, and all of them end late. So ours take
 * turns, which can be given up.
 */
#define TURN 5000000 /* ns, between two looks whether it has come */

static long lock(int how)
{
	return ep_syscall2(SYS_flock, instances, how);
}

static bool wait_for_turn(void)
{
	uint32_t wanted = ep_helper_wanted(drain);

	while (wanted && lock(LOCK_EX | LOCK_NB) == -EWOULDBLOCK) {
		ep_helper_sleep(drain, wanted, TURN);
		wanted = ep_helper_wanted(drain);
	}
	return wanted != 0;
}

static void remove_left(void)
{
	struct ep_folder folder;
	const char *name;

	ep_folder_begin(&folder, open_in(instances, ".", O_RDONLY | O_DIRECTORY));
	while ((name = ep_folder_next(&folder)))
		if (is_left(name) && ep_helper_wanted(drain))
			ep_syscall3(SYS_unlinkat, instances, (long)name, AT_REMOVEDIR);
	ep_folder_end(&folder);
}

/* ---- making it ---- */

/* Events carry the pids of the first namespace: in another one they would be taken for somebody
 * else's. */
static bool in_first_pids(void)
{
	char link[32];
	long got = ep_syscall4(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/ns/pid", (long)link,
			       sizeof(link) - 1);

	if (got <= 0)
		return false;
	link[got] = '\0';
	return ep_string_equal(link, FIRST_PIDS);
}

static int open_folder(void)
{
	char path[64];
	struct ep_text text;
	int error = ENOENT;

	for (unsigned i = 0; i < 2; i++) {
		ep_text_init(&text, path, sizeof(path));
		ep_text_add(&text, mounts[i]);
		ep_text_add(&text, "/instances");
		instances = open_in(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
		mount = mounts[i];
		if (!ep_syscall_failed(instances))
			return 0;
		if (instances != -ENOENT)
			error = (int)-instances;
	}
	return error;
}

static int make_instance(void)
{
	long made;

	make_name();
	made = ep_syscall3(SYS_mkdirat, instances, (long)ep_sched->instance, 0700);
	if (made == -EEXIST)
		made = 0; /* of before a call that no thread may live through */
	if (ep_syscall_failed(made))
		return (int)-made;
	instance = open_in(instances, ep_sched->instance, O_RDONLY | O_DIRECTORY);
	return ep_syscall_failed(instance) ? (int)-instance : 0;
}

static void name_cpu(char path[64], unsigned cpu)
{
	struct ep_text text;

	ep_text_init(&text, path, 64);
	ep_text_add(&text, "per_cpu/cpu");
	ep_text_add_number(&text, cpu);
	ep_text_add(&text, "/trace_pipe_raw");
}

static void open_pages(void)
{
	char path[64];

	ep_sched->cpus = 0;
	for (cpu_end = 0; cpu_end < EP_SCHED_CPUS; cpu_end++) {
		long fd;

		name_cpu(path, cpu_end);
		fd = open_in(instance, path, O_RDONLY | O_NONBLOCK);
		if (fd == -ENOENT)
			break;
		pages[cpu_end] = ep_syscall_failed(fd) ? 0 : fd + 1;
		ep_sched->cpus += pages[cpu_end] != 0;
	}
}

static int set_sizes(uint64_t bytes)
{
	uint64_t cpus = ep_sched->cpus ? ep_sched->cpus : 1;

	per_cpu = bytes / cpus & -PAGE;
	if (per_cpu < LEAST)
		return ENOSPC;
	ep_sched->kernel_bytes = per_cpu * cpus;
	/* The kernel counts what pages hold, and rounds up to whole ones. */
	return put_number("buffer_size_kb", per_cpu / PAGE * (PAGE - PAGE_HEAD) / 1024);
}

static void add_pid(uint32_t tid)
{
	int error = put_number("set_event_pid", tid);

	if (error && error != ESRCH)
		failure = error;
}

/* ---- its events ---- */

static const struct {
	uint32_t wanted; /* EP_SCHED_SYSCALLS …; 0: always */
	bool needed;
	const char *name;
} events[] = {
	{0, true, "sched/sched_switch"},
	{0, true, "sched/sched_waking"},
	{0, false, "task/task_newtask"},
	{0, false, "task/task_rename"},
	{EP_SCHED_SYSCALLS, false, "raw_syscalls/sys_enter"},
	{EP_SCHED_SYSCALLS, false, "raw_syscalls/sys_exit"},
	{EP_SCHED_IRQ, false, "irq/irq_handler_entry"},
	{EP_SCHED_IRQ, false, "irq/irq_handler_exit"},
	{EP_SCHED_IRQ, false, "irq/softirq_entry"},
	{EP_SCHED_IRQ, false, "irq/softirq_exit"},
	{EP_SCHED_FAULTS, false, "exceptions/page_fault_user"},
	{EP_SCHED_FAULTS, false, "exceptions/page_fault_kernel"},
};

/* Formats are of the machine, so the top folder's do. */
static void save_format(uint32_t kind, const char *name, const char *file)
{
	char path[96];
	struct ep_text text;

	ep_text_init(&text, path, sizeof(path));
	ep_text_add(&text, mount);
	ep_text_add(&text, "/events/");
	ep_text_add(&text, name);
	ep_text_add(&text, file);
	ep_sched_add_format(kind, path);
}

static int enable(const char *name)
{
	char path[64];
	struct ep_text text;

	ep_text_init(&text, path, sizeof(path));
	ep_text_add(&text, "events/");
	ep_text_add(&text, name);
	ep_text_add(&text, "/enable");
	return put(path, "1");
}

static int enable_all(void)
{
	ep_sched_drop_formats();
	save_format(EP_SCHED_HEADER_PAGE, "header_page", "");
	for (unsigned i = 0; i < sizeof(events) / sizeof(*events); i++) {
		int error;

		if (events[i].wanted && !(events[i].wanted & ep_sched->events))
			continue;
		save_format(EP_SCHED_EVENT, events[i].name, "/format");
		error = enable(events[i].name);
		if (error && events[i].needed)
			return error;
	}
	return 0;
}

/* Who is recorded: the threads that there are, and what they make. */
static int choose_threads(void)
{
	if (ep_sched->machine)
		return 0;
	failure = put("options/event-fork", "1");
	if (!failure)
		ep_sched_each_thread(add_pid);
	return failure;
}

static int set_up(uint64_t bytes)
{
	int error;

	if (!wait_for_turn())
		return EINTR;
	error = make_instance();
	lock(LOCK_UN);
	if (error)
		return error;
	open_pages();
	error = put("tracing_on", "0");
	if (!error)
		error = set_sizes(bytes);
	if (!error)
		error = put("trace_clock", "x86-tsc");
	if (!error)
		error = choose_threads();
	if (!error)
		error = put("tracing_on", "1");
	return error ? error : enable_all();
}

int ep_ftrace_open(uint64_t bytes, struct ep_helper *of)
{
	int error;

	drain = of;
	if (!in_first_pids())
		return EPERM;
	error = open_folder();
	if (!error)
		error = set_up(bytes);
	if (!error && lock(LOCK_EX | LOCK_NB) != -EWOULDBLOCK) {
		remove_left();
		lock(LOCK_UN);
	}
	if (!error)
		return 0;
	ep_ftrace_close();
	if (instances >= 0)
		ep_ftrace_remove();
	ep_sched->instance[0] = '\0';
	return error;
}

/* ---- reading it ---- */

/* The bytes of a page that say something. */
static uint64_t used_of(const void *page)
{
	uint64_t commit = *(const uint64_t *)((const char *)page + 8);
	uint64_t used = PAGE_HEAD + (commit & COMMIT_MASK);

	if (commit & COMMIT_MISSED)
		used += 8;
	return used > PAGE ? PAGE : used;
}

/* As many pages as the buffer has, and then the next CPU. */
static unsigned drain_cpu(unsigned cpu)
{
	uint64_t taken = 0;

	while (taken < per_cpu) {
		void *room = ep_sched_reserve(PAGE);
		long got = ep_syscall3(SYS_read, pages[cpu] - 1, (long)room, PAGE);

		if (got < PAGE_HEAD)
			break;
		ep_sched_commit(used_of(room), cpu, EP_SCHED_FTRACE);
		taken += used_of(room);
	}
	return (unsigned)(taken * 256 / per_cpu);
}

unsigned ep_ftrace_drain(void)
{
	unsigned most = 0;

	for (unsigned cpu = 0; cpu < cpu_end; cpu++) {
		unsigned full = pages[cpu] ? drain_cpu(cpu) : 0;

		if (full > most)
			most = full;
	}
	return most;
}

void ep_ftrace_stop(void)
{
	put("tracing_on", "0");
}

void ep_ftrace_close(void)
{
	for (unsigned cpu = 0; cpu < cpu_end; cpu++)
		if (pages[cpu])
			ep_fd_close(pages[cpu] - 1);
	if (instance >= 0)
		ep_fd_close(instance);
	cpu_end = 0;
	instance = -1;
}

void ep_ftrace_forget(void)
{
	instances = instance = -1;
	cpu_end = 0;
}

bool ep_ftrace_find(void)
{
	return open_folder() == 0;
}

bool ep_ftrace_remove(void)
{
	long error;

	lock(LOCK_EX);
	error = ep_syscall3(SYS_unlinkat, instances, (long)ep_sched->instance, AT_REMOVEDIR);
	lock(LOCK_UN);
	return error != -EBUSY;
}
