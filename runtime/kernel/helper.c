/* SPDX-License-Identifier: BSD-2-Clause */
/* helper.c: the thread's beginning and end, by raw system calls. */
#include "runtime/kernel/helper.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "runtime/arena/arena.h"
#include "runtime/lib/files.h"
#include "runtime/arena/inherit.h"
#include "runtime/lib/syscalls.h"

#define STACK (64 * 1024l)
#define LOOK  20000l /* ns, between two looks at what somebody else does */

long ep_clone(unsigned long flags, void *stack_end, uint32_t *clear,
	      void (*run)(void)); /* x86_64/clone.S */

static void nap(long ns)
{
	struct timespec wait = {0, ns};

	ep_syscall2(SYS_nanosleep, (long)&wait, 0);
}

static uint64_t block_signals(void)
{
	uint64_t all = ~UINT64_C(0), before = 0;

	ep_syscall4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&all, (long)&before,
		    sizeof(all));
	return before;
}

static void restore_signals(uint64_t mask)
{
	ep_syscall4(SYS_rt_sigprocmask, 2, (long)&mask, 0, sizeof(mask));
}

static bool make_stack(struct ep_helper *helper)
{
	long got;

	if (helper->stack)
		return true;
	got = ep_syscall6(SYS_mmap, 0, STACK, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!ep_syscall_failed(got))
		helper->stack = (char *)got;
	return helper->stack;
}

/* The caller has blocked all signals: so has the thread. */
static long make_thread(struct ep_helper *helper, void (*run)(void))
{
	long tid;

	if (!make_stack(helper))
		return -ENOMEM;
	helper->wanted = 1;
	helper->alive = 1;
	tid = ep_clone(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			       CLONE_CHILD_CLEARTID,
		       helper->stack + STACK, &helper->alive, run);
	if (ep_syscall_failed(tid))
		helper->alive = 0;
	else
		helper->tid = (uint32_t)tid;
	return tid;
}

int ep_helper_start(struct ep_helper *helper, void (*run)(void))
{
	uint64_t mask;
	long made = 0;

	if (!ep_inherits_nothing())
		return -ENODEV;
	mask = block_signals();
	while (atomic_flag_test_and_set(&helper->busy))
		nap(LOOK);
	if (!helper->tid)
		made = make_thread(helper, run);
	atomic_flag_clear(&helper->busy);
	restore_signals(mask);
	return made < 0 ? (int)made : 0;
}

/* Gone for the kernel too: it lets go of `alive` a little before that. */
static void end_thread(struct ep_helper *helper)
{
	uint32_t one;

	__atomic_store_n(&helper->wanted, 0, __ATOMIC_RELEASE);
	ep_syscall3(SYS_futex, (long)&helper->wanted, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
	/* The kernel wakes as for a futex that processes share. */
	while ((one = __atomic_load_n(&helper->alive, __ATOMIC_ACQUIRE)) != 0)
		ep_syscall4(SYS_futex, (long)&helper->alive, FUTEX_WAIT, (long)one, 0);
	while (ep_syscall3(SYS_tgkill, epitaph_root.pid, helper->tid, 0) != -ESRCH)
		nap(LOOK);
	helper->tid = 0;
}

bool ep_helper_stop(struct ep_helper *helper)
{
	uint64_t mask;
	bool was;

	if (!helper->tid || !ep_inherits_nothing())
		return false;
	mask = block_signals();
	while (atomic_flag_test_and_set(&helper->busy))
		nap(LOOK);
	was = helper->tid != 0;
	if (was)
		end_thread(helper);
	atomic_flag_clear(&helper->busy);
	restore_signals(mask);
	return was;
}

void ep_helper_wake(struct ep_helper *helper)
{
	uint32_t wanted = __atomic_load_n(&helper->wanted, __ATOMIC_ACQUIRE);

	/* One that is to end stays so. */
	while (wanted &&
	       !__atomic_compare_exchange_n(&helper->wanted, &wanted, wanted + 1 ? wanted + 1 : 1,
					    false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	if (wanted)
		ep_syscall3(SYS_futex, (long)&helper->wanted, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

void ep_helper_forget(struct ep_helper *helper)
{
	helper->tid = helper->alive = helper->wanted = 0;
	atomic_flag_clear(&helper->busy);
}

/* ---- by the thread itself ---- */

/* Its table is a copy: what the program closes must be closed. */
void ep_helper_begin(struct ep_helper *helper, const char *name)
{
	(void)helper;
	if (ep_syscall_failed(ep_syscall3(SYS_close_range, 0, (long)~0u, 0)))
		for (long fd = 0; fd < 65536; fd++) /* Linux before 5.9 */
			ep_fd_close(fd);
	ep_syscall2(SYS_prctl, PR_SET_NAME, (long)name);
}

uint32_t ep_helper_wanted(const struct ep_helper *helper)
{
	return __atomic_load_n(&helper->wanted, __ATOMIC_ACQUIRE);
}

void ep_helper_sleep(struct ep_helper *helper, uint32_t wanted, uint64_t ns)
{
	struct timespec wait = {(long)(ns / 1000000000), (long)(ns % 1000000000)};

	ep_syscall4(SYS_futex, (long)&helper->wanted, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, (long)wanted,
		    (long)&wait);
}

_Noreturn void ep_helper_exit(void)
{
	for (;;)
		ep_syscall1(SYS_exit, 0);
}
