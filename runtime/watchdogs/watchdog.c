/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watchdog.c: the table, the watcher, and what happens at a miss. What the program holds is an
 * entry's id in the guise of a pointer, so that a stale one means nothing. Entries change hands by
 * their state; the fields of a feed are written by whoever feeds, those of a miss by the watcher
 * alone.
 */
#include "runtime/watchdogs/watchdog.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/backing.h"
#include "runtime/arena/inherit.h"
#include "runtime/facts/clock.h"
#include "runtime/format_watchdogs.h"
#include "runtime/lib/helper.h"
#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/record/intact.h"
#include "runtime/record/mark.h"
#include "runtime/record/thread.h"
#include "runtime/snapshot/snapshot.h"
#include "runtime/watchdogs/stacks.h"
#include "runtime/x86_64/tsc.h"

#define PUBLIC __attribute__((visibility("default")))

#define MILLISECOND UINT64_C(1000000)
#define HOUR        (3600 * 1000 * MILLISECOND)
#define SLEEP_LEAST (MILLISECOND / 4)
#define SLEEP_MOST  (500 * MILLISECOND)
/* The watcher itself was not run for so long: the process was stopped, or the machine asleep or
 * overwhelmed, and nobody else is to blame. */
#define ASLEEP (200 * MILLISECOND)
/* The one to blame does not take its signal: blocked. */
#define ANSWER_MOST (500 * MILLISECOND)

static struct ep_watchdog *table;
static epitaph_watchdog_action actions[EP_WATCHDOGS];
static uint64_t handled[EP_WATCHDOGS]; /* fed_tsc of the miss that was acted */
static uint64_t last_id;
static bool wanted_again; /* there was a watcher, and is to be one */
static struct ep_helper watcher;

static struct ep_watchdog *entry_of(const struct epitaph_watchdog *watchdog)
{
	uint64_t id = (uint64_t)watchdog;
	struct ep_watchdog *entry;

	if (!id || !table || ep_overwritten())
		return NULL;
	entry = &table[id % EP_WATCHDOGS];
	return __atomic_load_n(&entry->id, __ATOMIC_RELAXED) == id && !ep_arena_forked() ? entry
											 : NULL;
}

static uint32_t state_of(const struct ep_watchdog *entry)
{
	return __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);
}

/* ---- the signal ---------------------------------------------------------- */

#define NUMBER_MOST  62 /* the program takes them from both ends first */
#define NUMBER_LEAST 40

static int signal_number; /* 0: none was free */

/* What the signal asks for: an index, and for what. */
#define ASK_STACK 0x10000
#define ASK_ACT   0x20000
#define ASK_INDEX 0xffff

static bool still_ours(void)
{
	struct ep_kernel_action now;

	return signal_number && !ep_signal_action(signal_number, NULL, &now) &&
	       now.handler != SIG_DFL && now.handler != SIG_IGN;
}

static void ask(uint32_t tid, int what)
{
	siginfo_t info;

	ep_bytes_zero(&info, sizeof(info));
	info.si_signo = signal_number;
	info.si_code = SI_QUEUE;
	info.si_pid = (pid_t)epitaph_root.pid;
	info.si_value.sival_int = what;
	ep_syscall4(SYS_rt_tgsigqueueinfo, epitaph_root.pid, tid, signal_number, (long)&info);
}

static void ask_stack(uint32_t tid, uint32_t entry)
{
	ask(tid, ASK_STACK | (int)entry);
}

/* ---- in the thread to blame ---------------------------------------------- */

static uint64_t ns_of(uint64_t cycles)
{
	uint64_t second = ep_clock_cycles(UINT64_C(1000000000));

	return second ? ep_mul_div(cycles, UINT64_C(1000000000), second) : 0;
}

static void mark(const struct ep_watchdog *entry, uint64_t late, const ucontext_t *context)
{
	struct ep_mark mark;

	if (!ep_thread_records())
		return;
	ep_mark_init(&mark, EP_MARK_WATCHDOG);
	ep_mark_value(&mark, (uint64_t)context->uc_mcontext.gregs[REG_RIP]);
	ep_mark_value(&mark, late);
	ep_mark_text(&mark, entry->name);
	ep_mark_record(&mark);
}

static void act(unsigned index, const ucontext_t *context)
{
	struct ep_watchdog *entry = &table[index];
	epitaph_watchdog_action action = __atomic_load_n(&actions[index], __ATOMIC_ACQUIRE);
	struct epitaph_miss miss = {
		(struct epitaph_watchdog *)entry->id,
		entry->name,
		ns_of(entry->missed_tsc - entry->missed_fed),
		entry->deadline,
	};

	__atomic_store_n(&handled[index], entry->missed_fed, __ATOMIC_RELEASE);
	if (state_of(entry) != EP_WATCHDOG_SET || !action)
		return;
	mark(entry, miss.unfed_ns - miss.deadline_ns, context);
	if (action == epitaph_watchdog_abort)
		ep_syscall3(SYS_tgkill, epitaph_root.pid, ep_syscall0(SYS_gettid), SIGABRT);
	else if (action == epitaph_watchdog_snapshot)
		ep_snapshot_write(NULL, context);
	else
		action(&miss);
}

static bool is_handled(unsigned index)
{
	return __atomic_load_n(&handled[index], __ATOMIC_ACQUIRE) == table[index].missed_fed;
}

/* Whoever may signal the process may say that it did (rt_sigqueueinfo(2)): only what the watcher
 * waits for is done. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	int what = info->si_value.sival_int, error = errno;

	(void)number;
	if (info->si_code != SI_QUEUE || info->si_pid != (pid_t)epitaph_root.pid || !table)
		return;
	if (what & ASK_STACK)
		ep_stacks_answer((uint32_t)what & ASK_INDEX, context);
	else if (what & ASK_ACT && (what & ASK_INDEX) < EP_WATCHDOGS &&
		 !is_handled((unsigned)what & ASK_INDEX))
		act((unsigned)what & ASK_INDEX, context);
	errno = error;
}

/* Of those that nobody uses. */
static void choose_signal(void)
{
	struct ep_kernel_action ours = {
		on_signal, SA_SIGINFO | SA_ONSTACK | SA_RESTART | EP_SA_RESTORER,
		/* An abort comes when the handler is over: the stack is then the thread's own. */
		ep_restorer, EP_SIGNAL_BIT(SIGABRT)};
	struct ep_kernel_action old;

	for (int i = NUMBER_MOST; i >= NUMBER_LEAST && !signal_number; i--)
		if (!ep_signal_action(i, NULL, &old) && old.handler == SIG_DFL &&
		    !ep_signal_action(i, &ours, NULL))
			signal_number = i;
}

/* ---- the watcher --------------------------------------------------------- */

/* To whoever does not block it, as abort() would in the end. */
static void abort_anyhow(void)
{
	struct ep_kernel_action none = {SIG_DFL, EP_SA_RESTORER, ep_restorer, 0};

	ep_syscall2(SYS_kill, epitaph_root.pid, SIGABRT);
	ep_helper_sleep(&watcher, ep_helper_wanted(&watcher), ANSWER_MOST);
	ep_signal_action(SIGABRT, &none, NULL);
	ep_signals_restore(~EP_SIGNAL_BIT(SIGABRT));
	ep_syscall3(SYS_tgkill, epitaph_root.pid, ep_syscall0(SYS_gettid), SIGABRT);
}

/* The runtime's other thread (sched.h) takes no signals. */
static uint32_t drain(void)
{
	const struct ep_sched *sched = ep_arena_section(EP_SECTION_SCHED, NULL);

	return sched ? sched->tid : 0;
}

static void let_act(unsigned index)
{
	struct ep_watchdog *entry = &table[index];
	uint64_t until = ep_tsc() + ep_clock_cycles(ANSWER_MOST);

	if (still_ours()) {
		/* The stacks first: then nothing has changed yet. */
		ep_stacks_take(entry->id, drain(), ask_stack);
		ask(entry->missed_by, ASK_ACT | (int)index);
		while (!is_handled(index) && ep_tsc() < until)
			ep_helper_sleep(&watcher, ep_helper_wanted(&watcher), MILLISECOND);
	}
	if (!is_handled(index) && entry->action == EP_WATCHDOG_ABORT)
		abort_anyhow();
}

static void miss(unsigned index, uint64_t now, uint64_t fed)
{
	struct ep_watchdog *entry = &table[index];

	entry->missed_by = __atomic_load_n(&entry->fed_by, __ATOMIC_RELAXED);
	entry->missed_fed = fed;
	entry->misses++;
	__atomic_store_n(&entry->missed_tsc, now, __ATOMIC_RELEASE);
	let_act(index);
}

/* Cycles until it is late, and 0 when it is, for the first time. */
static uint64_t time_left(const struct ep_watchdog *entry, uint64_t now, uint64_t since,
			  uint64_t *fed)
{
	uint64_t begin, deadline = ep_clock_cycles(entry->deadline);

	if (state_of(entry) != EP_WATCHDOG_SET)
		return UINT64_MAX;
	*fed = __atomic_load_n(&entry->fed_tsc, __ATOMIC_ACQUIRE);
	if (*fed == entry->missed_fed)
		return UINT64_MAX;
	begin = *fed > since ? *fed : since;
	if (now < begin)
		return deadline;
	return now - begin >= deadline ? 0 : deadline - (now - begin);
}

/* Looks at all; how long nothing can be late, in ns. */
static uint64_t look(uint64_t since)
{
	uint64_t least = UINT64_MAX, ns;

	for (unsigned i = 0; i < EP_WATCHDOGS; i++) {
		uint64_t now = ep_tsc(), fed = 0;
		uint64_t left = time_left(&table[i], now, since, &fed);

		if (left == 0)
			miss(i, now, fed);
		else if (left < least)
			least = left;
	}
	if (least == UINT64_MAX)
		return SLEEP_MOST;
	ns = ns_of(least);
	return ns < SLEEP_LEAST ? SLEEP_LEAST : ns > SLEEP_MOST ? SLEEP_MOST : ns;
}

static void watch(void)
{
	uint64_t since = 0, before, sleep;
	uint32_t wanted;

	ep_helper_begin("epitaph-watch");
	while ((wanted = ep_helper_wanted(&watcher)) != 0) {
		sleep = ep_arena_intact() ? look(since) : SLEEP_MOST;
		before = ep_tsc();
		ep_helper_sleep(&watcher, wanted, sleep);
		if (ep_tsc() - before > ep_clock_cycles(sleep + ASLEEP))
			since = ep_tsc();
		ep_clock_refresh(ep_tsc());
	}
	ep_arena->watcher = 0;
	ep_helper_exit();
}

bool ep_watchdog_leave(void)
{
	return ep_inherits_nothing() && ep_helper_stop(&watcher);
}

static int start_watcher(void)
{
	if (!ep_inherits_nothing())
		return -ENODEV;
	/* It may come to whoever writes to an arena whose file is cut off. */
	watcher.signals = ep_backing_on() ? EP_SIGNAL_BIT(SIGBUS) : 0;
	watcher.shown = &ep_arena->watcher;
	return ep_helper_start(&watcher, NULL, watch);
}

void ep_watchdog_return(void)
{
	start_watcher();
}

void ep_watchdog_return_later(void)
{
	__atomic_store_n(&wanted_again, true, __ATOMIC_RELEASE);
}

void ep_watchdog_begin(void)
{
	uint64_t size;

	ep_arena->watcher = 0;
	table = ep_arena_section(EP_SECTION_WATCHDOGS, &size);
	ep_stacks_begin();
	ep_helper_forget(&watcher);
	wanted_again = false;
}

/* ---- what the program calls ---------------------------------------------- */

static uint32_t own_tid(void)
{
	const struct ep_thread *thread = ep_intact(&ep_tls) ? ep_tls.thread : NULL;

	return thread ? thread->tid : (uint32_t)ep_syscall0(SYS_gettid);
}

static struct ep_watchdog *claim(void)
{
	for (unsigned i = 0; i < EP_WATCHDOGS; i++) {
		uint32_t free = EP_WATCHDOG_FREE;

		if (__atomic_compare_exchange_n(&table[i].state, &free, EP_WATCHDOG_MAKING, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return &table[i];
	}
	return NULL;
}

static void fill(struct ep_watchdog *entry, const char *name, uint64_t deadline,
		 epitaph_watchdog_action action)
{
	unsigned index = (unsigned)(entry - table);
	uint64_t number = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	size_t length = ep_string_length(name);

	entry->action = action == epitaph_watchdog_abort      ? EP_WATCHDOG_ABORT
			: action == epitaph_watchdog_snapshot ? EP_WATCHDOG_SNAPSHOT
							      : EP_WATCHDOG_CALL;
	entry->deadline = deadline;
	entry->created_tsc = entry->fed_tsc = ep_tsc();
	entry->created_by = entry->fed_by = own_tid();
	entry->misses = entry->missed_tsc = entry->missed_fed = 0;
	entry->missed_by = 0;
	ep_bytes_zero(entry->name, sizeof(entry->name));
	if (length > sizeof(entry->name) - 1)
		length = sizeof(entry->name) - 1;
	ep_bytes_copy(entry->name, name, length);
	__atomic_store_n(&handled[index], 0, __ATOMIC_RELEASE);
	__atomic_store_n(&actions[index], action, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->id, number * EP_WATCHDOGS + index, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->state, EP_WATCHDOG_SET, __ATOMIC_RELEASE);
}

static struct epitaph_watchdog *refuse(int error)
{
	errno = error;
	return NULL;
}

struct epitaph_watchdog *ep_watchdog_create(const char *name, uint64_t deadline_ns,
					    epitaph_watchdog_action action, bool started)
{
	struct ep_watchdog *entry;
	int error;

	if (deadline_ns < MILLISECOND || deadline_ns > HOUR || !action)
		return refuse(EINVAL);
	if (!started)
		return refuse(ENODEV);
	ep_thread_enter();
	entry = claim();
	if (!entry)
		return refuse(ENOMEM);
	choose_signal();
	fill(entry, name ? name : "", deadline_ns, action);
	error = start_watcher();
	if (error) {
		__atomic_store_n(&entry->state, EP_WATCHDOG_FREE, __ATOMIC_RELEASE);
		return refuse(error == -ENODEV ? ENODEV : ENOMEM);
	}
	ep_helper_wake(&watcher);
	return (struct epitaph_watchdog *)entry->id;
}

/* Rare: it was paused, or the watcher had to go. */
static __attribute__((noinline)) void feed_slow(struct ep_watchdog *entry)
{
	uint32_t paused = EP_WATCHDOG_PAUSED;

	if (__atomic_exchange_n(&wanted_again, false, __ATOMIC_ACQ_REL))
		ep_watchdog_return();
	__atomic_compare_exchange_n(&entry->state, &paused, EP_WATCHDOG_SET, false,
				    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	ep_helper_wake(&watcher);
}

PUBLIC void epitaph_watchdog_feed(struct epitaph_watchdog *watchdog)
{
	struct ep_watchdog *entry = entry_of(watchdog);

	if (!entry)
		return;
	__atomic_store_n(&entry->fed_by, own_tid(), __ATOMIC_RELAXED);
	__atomic_store_n(&entry->fed_tsc, ep_tsc(), __ATOMIC_RELEASE);
	if (entry->state != EP_WATCHDOG_SET || wanted_again)
		feed_slow(entry);
}

PUBLIC void epitaph_watchdog_pause(struct epitaph_watchdog *watchdog)
{
	struct ep_watchdog *entry = entry_of(watchdog);
	uint32_t set = EP_WATCHDOG_SET;

	if (entry)
		__atomic_compare_exchange_n(&entry->state, &set, EP_WATCHDOG_PAUSED, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

PUBLIC void epitaph_watchdog_destroy(struct epitaph_watchdog *watchdog)
{
	struct ep_watchdog *entry = entry_of(watchdog);
	uint64_t id = (uint64_t)watchdog;

	/* Of two that destroy it, one does. */
	if (entry && __atomic_compare_exchange_n(&entry->id, &id, 0, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
		__atomic_store_n(&entry->state, EP_WATCHDOG_FREE, __ATOMIC_RELEASE);
}

/* Told apart by their addresses. */
PUBLIC void epitaph_watchdog_abort(const struct epitaph_miss *miss)
{
	(void)miss;
	ep_syscall3(SYS_tgkill, epitaph_root.pid, ep_syscall0(SYS_gettid), SIGABRT);
}

PUBLIC void epitaph_watchdog_snapshot(const struct epitaph_miss *miss)
{
	(void)miss;
	ep_snapshot_write(NULL, NULL);
}
