/* SPDX-License-Identifier: BSD-2-Clause */
/* crash.c: one snapshot at a time, bounded in time by a helper thread. */
#include "runtime/fatal/crash.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "runtime/arena/inherit.h"
#include "runtime/fatal/handled.h"
#include "runtime/lib/new_file.h"
#include "runtime/lib/signals.h"
#include "runtime/snapshot/snapshot.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/record/thread.h"
#include "runtime/x86_64/helper.h"

#define LOOK 10 /* ms between two looks at somebody else's snapshot */

static uint64_t all_signals = UINT64_MAX;

/* ---- time ---- */

static struct {
	uint32_t done; /* futex */
	uint32_t tid;  /* the helper's, 0: it is gone; futex */
	int seconds, signal;
	siginfo_t *info;
	uint8_t stack[8192] __attribute__((aligned(16)));
} watch;

/* From a thread of its own, so that it works also where the one that writes hangs with all signals
 * blocked. */
static void die_late(void)
{
	uint64_t others = ~(UINT64_C(1) << (watch.signal - 1));

	ep_signal_die(watch.signal, watch.info);
	ep_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&others, 0, 8);
}

static void helper(void)
{
	struct timespec left = {watch.seconds, 0};
	long result = 0;

	while (!__atomic_load_n(&watch.done, __ATOMIC_ACQUIRE) && result != -ETIMEDOUT)
		result = ep_syscall4(SYS_futex, (long)&watch.done, FUTEX_WAIT_PRIVATE, 0,
				     (long)&left);
	if (!__atomic_load_n(&watch.done, __ATOMIC_ACQUIRE))
		die_late();
	for (;;)
		ep_syscall1(SYS_exit, 0);
}

/* The helper is gone when this returns: nobody sees it in a core. */
static void end_watch(void)
{
	uint32_t tid;

	__atomic_store_n(&watch.done, 1, __ATOMIC_RELEASE);
	ep_syscall3(SYS_futex, (long)&watch.done, FUTEX_WAKE_PRIVATE, 1);
	while ((tid = __atomic_load_n(&watch.tid, __ATOMIC_ACQUIRE)))
		ep_syscall4(SYS_futex, (long)&watch.tid, FUTEX_WAIT, tid, 0);
}

void ep_crash_bounded(void (*work)(void), int seconds, int signal, siginfo_t *info)
{
	uint64_t mask;
	long tid;

	watch.done = 0;
	watch.seconds = seconds;
	watch.signal = signal;
	watch.info = info;
	ep_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all_signals, (long)&mask, 8);
	tid = ep_helper_begin(helper, watch.stack + sizeof watch.stack, &watch.tid);
	ep_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, 8);
	work();
	if (tid > 0)
		end_watch();
}

static void nap(void)
{
	struct timespec time = {0, LOOK * 1000000};

	ep_syscall2(SYS_nanosleep, (long)&time, 0);
}

/* ---- one at a time ---- */

static const void *writer; /* its thread-local memory; NULL nobody */
static uint32_t written;

static struct {
	const siginfo_t *info;
	const void *context;
	bool failed;
} crash;

static void complain(int error)
{
	char line[128];
	struct ep_text text;

	ep_text_init(&text, line, sizeof line);
	ep_text_add(&text, "epitaph: no snapshot of the crash: ");
	ep_new_file_explain(&text, error);
	ep_text_add(&text, "\n");
	ep_text_complain(&text);
}

/* One that another thread asked for may be on its way. */
static void write_one(void)
{
	int error = -EBUSY;

	crash.failed = true;

	for (int i = 0; i < 1000 / LOOK && error == -EBUSY; i++) {
		error = ep_snapshot_crash(crash.info, crash.context);
		if (error == -EBUSY)
			nap();
	}
	crash.failed = error != 0;
	if (error)
		complain(error);
}

/* What the program may write is not what its snapshot may. */
static void write_snapshot(void)
{
	struct rlimit old, all;
	bool raised = false;

	if (!ep_syscall4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&old) &&
	    old.rlim_cur != old.rlim_max) {
		all = (struct rlimit){old.rlim_max, old.rlim_max};
		raised = !ep_syscall4(SYS_prlimit64, 0, RLIMIT_FSIZE, (long)&all, 0);
	}
	write_one();
	if (raised)
		ep_syscall4(SYS_prlimit64, 0, RLIMIT_FSIZE, (long)&old, 0);
}

/* False: the caller is writing already, or others took too long. */
static bool become_writer(void)
{
	for (int i = 0; i < (EP_CRASH_SECONDS + 1) * 1000 / LOOK; i++) {
		const void *nobody = NULL;

		if (__atomic_compare_exchange_n(&writer, &nobody, &ep_tls, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
		if (nobody == &ep_tls)
			return false;
		nap();
	}
	return false;
}

bool ep_crash(int signal, siginfo_t *info, const void *context, bool dies)
{
	bool done = false;

	if (ep_handled_repeats(info, context) || !become_writer())
		return false;
	if (written++ < EP_CRASHES || dies) {
		crash.info = info;
		crash.context = context;
		ep_crash_bounded(write_snapshot, EP_CRASH_SECONDS, signal, info);
		done = !crash.failed;
	}
	/* A vfork child dies alone. */
	if (!dies || ep_inherit() == EP_INHERIT_SHARED)
		__atomic_store_n(&writer, NULL, __ATOMIC_RELEASE);
	return done;
}

bool ep_crash_writing(void)
{
	return __atomic_load_n(&writer, __ATOMIC_RELAXED) == &ep_tls;
}

void ep_crash_reset(void)
{
	writer = NULL;
	written = watch.tid = 0;
	ep_handled_reset();
}
