/* SPDX-License-Identifier: BSD-2-Clause */
/* flip.c: by file, else by hand; what was refused once is not tried again. */
#include "runtime/switching/flip.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#include "runtime/arena/root.h"
#include "runtime/format_switches.h"
#include "runtime/kernel/sched.h"
#include "runtime/lib/files.h"
#include "runtime/lib/helper.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/lib/vdso.h"
#include "runtime/x86_64/emulator.h"

#define PAGE UINT64_C(4096)

static uint32_t how = EP_FLIP_UNKNOWN, why_not;

static void give_up(uint32_t why)
{
	why_not = why;
	how = EP_FLIP_NONE;
}

/*
 * A filter that was there when the program began lets it open files and write to them, or it would
 * not run (containers and services have one): so the file is used there, by system calls that
 * programs make, and nothing else. A filter of the program's own may kill for those, too.
 */
bool ep_flip_possible(void)
{
	if (ep_jailed() && how != EP_FLIP_NONE)
		give_up(EP_FLIP_JAIL);
	else if (how == EP_FLIP_UNKNOWN && ep_runs_on_valgrind())
		give_up(EP_FLIP_EMULATOR);
	return how != EP_FLIP_NONE;
}

uint32_t ep_flip_how(uint32_t *reason)
{
	*reason = why_not;
	return how;
}

/* ---- who opens the file ---- */

static void open_memory(struct ep_flip *flip)
{
	flip->fd = ep_fd_open_own("mem", O_RDWR);
}

static void close_memory(const struct ep_flip *flip)
{
	if (flip->fd >= 0)
		ep_fd_close(flip->fd);
}

/* Of the program. Links of the folder of threads: its own two, and one a thread (kernel:
 * proc_task_getattr). */
static bool is_only_thread(void)
{
	unsigned others = ep_sched_is_task();
	struct stat tasks;

	return !ep_syscall_failed(ep_syscall4(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/task",
					      (long)&tasks, 0)) &&
	       tasks.st_nlink == 3 + others;
}

static uint32_t running; /* one at a time */

static struct {
	ep_flip_fn run;
	void *argument;
} work;

/* A table without any of the program's descriptors: what it closes is closed, at once. */
static bool leave_descriptors(void)
{
	return !ep_syscall_failed(
		       ep_syscall3(SYS_close_range, 0, (long)~0u, CLOSE_RANGE_UNSHARE)) ||
	       !ep_syscall_failed(ep_syscall1(SYS_unshare, CLONE_FILES)); /* before Linux 5.9 */
}

#define ASIDE \
	UINT64_C(30000) /* ns: of a thread's beginning and end, what its clock does not show */

static uint64_t aside;

uint64_t ep_flip_aside(void)
{
	return __atomic_load_n(&aside, __ATOMIC_RELAXED);
}

/* A filter may mind a system call that nobody else makes here. */
static void count_aside(void)
{
	uint64_t took = ep_jail_inherited() ? 0 : ep_clock_read(CLOCK_THREAD_CPUTIME_ID);

	__atomic_fetch_add(&aside, took + ASIDE, __ATOMIC_RELAXED);
}

static void work_aside(void)
{
	struct ep_flip flip = {.fd = -1};

	if (ep_jail_inherited() || leave_descriptors())
		open_memory(&flip);
	work.run(&flip, work.argument);
	count_aside();
	ep_helper_exit();
}

static struct ep_helper helper;

static bool run_aside(ep_flip_fn run, void *argument)
{
	uint32_t alive;

	work.run = run;
	work.argument = argument;
	/* In a jail it has a copy of the table, in place of an empty one: what the program closes
	 * meanwhile is closed with the thread. */
	helper.shown = &ep_arena->changer;
	helper.shares = ep_jail_inherited() ? CLONE_FS : CLONE_FS | CLONE_FILES;
	if (ep_helper_start(&helper, NULL, work_aside))
		return false;
	/* The kernel wakes as for a futex that processes share. */
	while ((alive = __atomic_load_n(&helper.alive, __ATOMIC_ACQUIRE)) != 0)
		ep_syscall4(SYS_futex, (long)&helper.alive, FUTEX_WAIT, (long)alive, 0);
	helper.tid = 0;
	__atomic_store_n(&ep_arena->changer, 0, __ATOMIC_RELAXED);
	return true;
}

static bool run_somewhere(ep_flip_fn run, void *argument)
{
	struct ep_flip flip = {.fd = -1};

	if (how == EP_FLIP_MPROTECT) {
		run(&flip, argument);
		return true;
	}
	if (is_only_thread())
		open_memory(&flip);
	if (flip.fd < 0 && run_aside(run, argument))
		return true;
	if (flip.fd < 0 && how == EP_FLIP_FILE)
		return false;
	run(&flip, argument);
	close_memory(&flip);
	return true;
}

/* No handler comes, which could leave by longjmp and leave `running` behind, or begin a thread. */
bool ep_flip_run(ep_flip_fn run, void *argument)
{
	uint64_t mask;
	bool done;

	if (!ep_flip_possible())
		return false;
	mask = ep_signals_block(0);
	while (__atomic_exchange_n(&running, 1, __ATOMIC_ACQUIRE))
		ep_syscall0(SYS_sched_yield);
	done = run_somewhere(run, argument);
	__atomic_store_n(&running, 0, __ATOMIC_RELEASE);
	ep_signals_restore(mask);
	return done;
}

void ep_flip_reset(void)
{
	running = 0;
	ep_helper_forget(&helper);
}

/* ---- bytes ---- */

/* Of the first thread, which a debugger has before it stops the others (kernel: task_state). */
bool ep_flip_has_tracer(struct ep_flip *flip)
{
	static const char name[] = "TracerPid:\t";
	char status[1024];
	long got;

	if (flip->has_tracer)
		return flip->has_tracer == 2;
	flip->has_tracer = 1;
	got = ep_fd_load("/proc/self/status", status, sizeof(status));
	for (long at = 0; at + (long)sizeof(name) <= got; at++)
		if (ep_bytes_equal(status + at, name, sizeof(name) - 1) &&
		    status[at + (long)sizeof(name) - 1] != '0')
			flip->has_tracer = 2;
	return flip->has_tracer == 2;
}

bool ep_flip_write_all(struct ep_flip *flip, uint64_t place, const void *bytes, size_t size)
{
	if (flip->fd < 0 ||
	    ep_syscall4(SYS_pwrite64, flip->fd, (long)bytes, (long)size, (long)place) != (long)size)
		return false;
	how = EP_FLIP_FILE;
	return true;
}

/* Where it is writable: such code is the program's own affair, and stays as it is. */
static bool write_plainly(uint64_t place, uint8_t byte)
{
	struct iovec here = {&byte, 1}, there = {(void *)place, 1};

	return ep_memory_call(SYS_process_vm_writev, &here, &there, 1) == 1;
}

/* Threads go on running the page meanwhile, so it stays executable. */
static bool write_by_hand(uint64_t place, uint8_t byte)
{
	uint64_t page = place & -PAGE;
	bool done;

	if (how == EP_FLIP_FILE) /* not a refusal: it has no descriptor left, or the code is gone */
		return false;
	if (ep_jail_inherited()) {
		give_up(EP_FLIP_JAIL);
		return false;
	}
	done = write_plainly(place, byte);
	if (!done) {
		if (ep_syscall3(SYS_mprotect, (long)page, (long)PAGE,
				PROT_READ | PROT_WRITE | PROT_EXEC)) {
			give_up(EP_FLIP_REFUSED);
			return false;
		}
		done = write_plainly(place, byte);
		ep_syscall3(SYS_mprotect, (long)page, (long)PAGE, PROT_READ | PROT_EXEC);
	}
	if (done)
		how = EP_FLIP_MPROTECT;
	else
		give_up(EP_FLIP_REFUSED);
	return done;
}

bool ep_flip_write(struct ep_flip *flip, uint64_t place, uint8_t to)
{
	return ep_flip_write_all(flip, place, &to, 1) || write_by_hand(place, to);
}
