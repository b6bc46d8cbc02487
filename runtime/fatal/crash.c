/* SPDX-License-Identifier: BSD-2-Clause */
/* crash.c: one snapshot at a time, bounded in time by a helper thread. */
#include "runtime/fatal/crash.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "runtime/arena/inherit.h"
#include "runtime/fatal/handled.h"
#include "runtime/lib/futex.h"
#include "runtime/lib/helper.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/new_file.h"
#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"
#include "runtime/record/tls.h"
#include "runtime/snapshot/snapshot.h"

#define LOOK 10 /* ms between two looks at somebody else's snapshot */

/* ---- time ---- */

static char stack[8192] __attribute__((aligned(16)));
static struct ep_helper helper = {
	.shares = CLONE_FS | CLONE_FILES, .stack = stack, .stack_size = sizeof stack};

static struct {
	int seconds, signal;
	siginfo_t *info;
} late;

/* From a thread of its own, so that it works also where the one that writes hangs with all signals
 * blocked. */
static void die_late(void)
{
	ep_signal_die(late.signal, late.info);
	ep_signals_restore(~EP_SIGNAL_BIT(late.signal));
}

static void watch(void)
{
	uint64_t time = (uint64_t)late.seconds * 1000000000;
	long result = 0;
	uint32_t wanted;

	while ((wanted = ep_helper_wanted(&helper)) && result != -ETIMEDOUT)
		result = ep_helper_sleep(&helper, wanted, time);
	if (wanted)
		die_late();
	ep_helper_exit();
}

/* The helper is gone when this returns: nobody sees it in a core. */
void ep_crash_bounded(void (*work)(void), int seconds, int signal, siginfo_t *info)
{
	/* Without: for as long as it takes. */
	if (!ep_jail_permits(EP_JAIL_NO_HELPER)) {
		work();
		return;
	}
	late.seconds = seconds;
	late.signal = signal;
	late.info = info;
	ep_helper_forget(&helper);
	ep_helper_start(&helper, NULL, watch);
	work();
	ep_helper_stop(&helper);
}

/* ---- one at a time ---- */

static const void *writer; /* its thread-local memory; NULL nobody */
static uint32_t written;

static struct {
	const siginfo_t *info;
	const void *context;
	bool failed;
} crash;

/* One that another thread asked for may be on its way. */
static void write_one(void)
{
	int error = -EBUSY;

	crash.failed = true;

	for (int i = 0; i < 1000 / LOOK && error == -EBUSY; i++) {
		error = ep_snapshot_crash(crash.info, crash.context);
		if (error == -EBUSY)
			ep_nap(LOOK * 1000000);
	}
	crash.failed = error != 0;
	if (error)
		ep_new_file_complain("no snapshot of the crash", error);
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
		ep_nap(LOOK * 1000000);
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
	written = 0;
	ep_helper_forget(&helper);
	ep_handled_reset();
}
