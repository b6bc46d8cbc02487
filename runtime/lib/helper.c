/* SPDX-License-Identifier: BSD-2-Clause */
/* helper.c: the thread's beginning and end. */
#include "runtime/lib/helper.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "runtime/lib/complain.h"
#include "runtime/lib/files.h"
#include "runtime/lib/futex.h"
#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"
#include "runtime/x86_64/clone.h"

#define STACK (64 * 1024)
#define LOOK  20000 /* ns, between two looks at what somebody else does */

/* Looks for one that is ending. Bounded: one that ended long ago by itself has left its tid to
 * anybody. */
#define GONE_TRIES 10000

/* With all signals blocked. */
static uint64_t lock(struct ep_helper *helper)
{
	uint64_t mask = ep_signals_block(helper->signals);

	while (__atomic_exchange_n(&helper->busy, 1, __ATOMIC_ACQUIRE))
		ep_nap(LOOK);
	return mask;
}

static void unlock(struct ep_helper *helper, uint64_t mask)
{
	__atomic_store_n(&helper->busy, 0, __ATOMIC_RELEASE);
	ep_signals_restore(mask);
}

bool ep_helper_busy(const struct ep_helper *helper)
{
	return __atomic_load_n(&helper->busy, __ATOMIC_RELAXED) != 0;
}

static bool make_stack(struct ep_helper *helper)
{
	long got;

	if (helper->stack)
		return true;
	got = ep_syscall6(SYS_mmap, 0, STACK, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ep_syscall_failed(got))
		return false;
	helper->stack_size = STACK;
	helper->stack = (char *)got;
	return true;
}

/* The caller has blocked all signals: so has the thread. */
static long make_thread(struct ep_helper *helper, void (*run)(void))
{
	uint32_t tid_seen;
	long tid;

	if (!make_stack(helper))
		return -ENOMEM;
	helper->wanted = 1;
	helper->alive = 1;
	tid = ep_clone(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			       CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID | helper->shares,
		       helper->stack + helper->stack_size, &helper->alive, run,
		       helper->shown ? helper->shown : &tid_seen);
	if (ep_syscall_failed(tid))
		helper->alive = helper->wanted = 0;
	else
		helper->tid = (uint32_t)tid;
	return tid;
}

int ep_helper_start(struct ep_helper *helper, void (*before)(void), void (*run)(void))
{
	uint64_t mask = lock(helper);
	long made = 0;

	if (!helper->tid) {
		if (before)
			before();
		made = make_thread(helper, run);
	}
	unlock(helper, mask);
	return made < 0 ? (int)made : 0;
}

void ep_helper_dismiss(struct ep_helper *helper)
{
	__atomic_store_n(&helper->wanted, 0, __ATOMIC_RELEASE);
	ep_futex_wake(&helper->wanted, 1);
}

/* Gone for the kernel too: it lets go of `alive` a little before that. */
static void end_thread(struct ep_helper *helper)
{
	long pid = ep_syscall0(SYS_getpid);
	uint32_t one;

	ep_helper_dismiss(helper);
	/* The kernel wakes as for a futex that processes share. */
	while ((one = __atomic_load_n(&helper->alive, __ATOMIC_ACQUIRE)) != 0)
		ep_syscall4(SYS_futex, (long)&helper->alive, FUTEX_WAIT, (long)one, 0);
	for (int i = 0; i < GONE_TRIES && ep_syscall3(SYS_tgkill, pid, helper->tid, 0) != -ESRCH;
	     i++)
		ep_nap(LOOK);
	helper->tid = 0;
}

bool ep_helper_stop(struct ep_helper *helper)
{
	uint64_t mask;
	bool was;

	if (!helper->tid)
		return false;
	mask = lock(helper);
	was = helper->tid != 0;
	if (was)
		end_thread(helper);
	unlock(helper, mask);
	return was;
}

bool ep_helper_wake(struct ep_helper *helper)
{
	uint32_t wanted = __atomic_load_n(&helper->wanted, __ATOMIC_ACQUIRE);

	/* One that is to end stays so. */
	while (wanted &&
	       !__atomic_compare_exchange_n(&helper->wanted, &wanted, wanted + 1 ? wanted + 1 : 1,
					    false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	if (wanted)
		ep_futex_wake(&helper->wanted, 1);
	return wanted != 0;
}

void ep_helper_forget(struct ep_helper *helper)
{
	helper->tid = helper->alive = helper->wanted = helper->busy = 0;
}

/* ---- by the thread itself ---- */

void ep_helper_close_all(void)
{
	if (!ep_syscall_failed(ep_syscall3(SYS_close_range, 0, (long)~0u, 0)))
		return;
	for (long fd = 0; fd < 65536; fd++) /* Linux before 5.9 */
		ep_fd_close(fd);
}

/* Its table is a copy: what the program closes must be closed. */
void ep_helper_begin(const char *name)
{
	ep_helper_close_all();
	ep_complain_apart();
	ep_syscall2(SYS_prctl, PR_SET_NAME, (long)name);
}

uint32_t ep_helper_wanted(const struct ep_helper *helper)
{
	return __atomic_load_n(&helper->wanted, __ATOMIC_ACQUIRE);
}

long ep_helper_sleep(struct ep_helper *helper, uint32_t wanted, uint64_t ns)
{
	return ep_futex_wait(&helper->wanted, wanted, ns);
}

_Noreturn void ep_helper_exit(void)
{
	for (;;)
		ep_syscall1(SYS_exit, 0);
}
