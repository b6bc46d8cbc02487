/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched.c: the drain's life, and the pool that it fills. One drain at a time; who starts or ends it
 * holds `busy`, with all signals blocked. A chunk counts when its check word is written, last.
 */
#include "runtime/kernel/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/backing.h"
#include "runtime/facts/clock.h"
#include "runtime/fatal/faults.h"
#include "runtime/lib/files.h"
#include "runtime/arena/inherit.h"
#include "runtime/record/integrity.h"
#include "runtime/kernel/sched_impl.h"
#include "runtime/facts/jail.h"
#include "runtime/settings/settings.h"
#include "runtime/lib/syscalls.h"
#include "runtime/facts/tasks.h"
#include "runtime/lib/text.h"
#include "runtime/x86_64/emulator.h"
#include "runtime/x86_64/tsc.h"

#define PAGE    UINT64_C(4096)
#define FORMATS (8 * PAGE) /* with everything that can be added: 15 KiB */
#define LEAST   (PAGE + FORMATS + 2 * EP_SCHED_SEGMENT)

/* A process that nobody asked about is this old before it gets a drain: a short one shall not pay
 * for it. An ftrace instance takes 50 ms to make, and as long to remove, and a process that exits
 * meanwhile waits for it. */
#define GROWN_UP UINT64_C(100000000) /* ns */

/* Between two looks at the kernel's buffers: what is in them at a crash stays there. Shorter while
 * they fill up. */
#define PERIOD_MOST  10000000L /* ns */
#define PERIOD_LEAST 1000000L
#define FULL         64 /* of 256: sooner next time */
#define EMPTY        8

#define WAIT_MOST 1 /* s, for a drain to have begun */

/* Looks for one that is ending. Bounded: one that ended long ago by itself has left its tid to
 * anybody. */
#define GONE_TRIES 10000

#define STACK        (64 * 1024l)
#define HELPER_STACK (8 * 1024l) /* of it, at its low end; another above */

long ep_clone(unsigned long flags, void *stack_end, uint32_t *clear,
	      void (*run)(void)); /* x86_64/clone.S */

/* `control`: it runs while that bit is clear; the rest counts wakings. */
#define STOP  1u
#define WAKEN 2u

struct ep_sched *ep_sched;

static atomic_flag busy = ATOMIC_FLAG_INIT;
static _Atomic uint64_t due = UINT64_MAX; /* TSC */
static struct ep_sched spare;             /* for when the arena's file is cut off */
static uint32_t control;                  /* a futex */
static uint32_t alive;                    /* not 0 until the kernel has let go of the drain */
static uint32_t drain;                    /* its tid; 0: none */
static uint32_t remover;                  /* not 0 until the last one is gone */
static long zombie;                       /* pid of one that nobody has waited for; 0: none */
static bool complained;
/* Nobody waits for its drain, which comes late anyway; and what it says might land in a file that
 * it has opened in place of its parent's stderr. */
static bool in_child;
static char *stack;

static struct {
	uint64_t segment; /* of the pool, from 0 */
	uint64_t at;      /* in it */
	uint64_t sequence;
} pool;

/* ---- the pool ---- */

static struct ep_sched_chunk *chunk_at(uint64_t at)
{
	char *base = (char *)ep_sched + ep_sched->pool_offset;

	return (struct ep_sched_chunk *)(base + pool.segment * EP_SCHED_SEGMENT + at);
}

static void wipe(struct ep_sched_chunk *chunk)
{
	__atomic_store_n(&chunk->check, 0, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void *ep_sched_reserve(uint64_t size)
{
	uint64_t need = sizeof(struct ep_sched_chunk) + ((size + 7) & ~7ull);

	if (need > EP_SCHED_SEGMENT) {
		ep_sched->refused++;
		return NULL;
	}
	if (pool.at + need > EP_SCHED_SEGMENT) {
		pool.segment = (pool.segment + 1) % (ep_sched->pool_size / EP_SCHED_SEGMENT);
		pool.at = 0;
	}
	wipe(chunk_at(pool.at));
	return chunk_at(pool.at) + 1;
}

void ep_sched_commit(uint64_t size, unsigned cpu, unsigned source)
{
	struct ep_sched_chunk *chunk = chunk_at(pool.at);
	uint64_t padded = (size + 7) & ~7ull;
	uint64_t check;

	if (!size)
		return;
	ep_bytes_zero((char *)(chunk + 1) + size, padded - size);
	chunk->sequence = ++pool.sequence;
	chunk->size = (uint32_t)size;
	chunk->cpu = (uint16_t)cpu;
	chunk->source = (uint16_t)source;
	chunk->tsc = ep_tsc();
	check = ep_sched_check(chunk, (uint64_t)chunk - (uint64_t)ep_sched, epitaph_root.identity);
	pool.at += sizeof(*chunk) + padded;
	/* What lay there from the lap before is not the next one. */
	if (pool.at + sizeof(*chunk) <= EP_SCHED_SEGMENT)
		wipe(chunk_at(pool.at));
	__atomic_store_n(&chunk->check, check, __ATOMIC_RELEASE);
	ep_sched->chunks++;
}

uint64_t ep_sched_segment(void)
{
	return __atomic_load_n(&pool.segment, __ATOMIC_RELAXED);
}

void ep_sched_add_format(uint32_t kind, const char *path)
{
	char *base = (char *)ep_sched + ep_sched->formats_offset;
	struct ep_sched_format *format = (struct ep_sched_format *)(base + ep_sched->formats_used);
	uint64_t room = ep_sched->formats_size - ep_sched->formats_used;
	long got;

	if (room <= sizeof(*format) + 8)
		return;
	room -= sizeof(*format) + 8;
	got = ep_fd_load(path, format + 1, room);
	if (got <= 0 || (uint64_t)got == room)
		return;
	format->kind = kind;
	format->size = (uint32_t)got;
	ep_sched->formats_used += sizeof(*format) + (((uint64_t)got + 7) & ~7ull);
}

/* ---- the section ---- */

uint64_t ep_sched_section_size(uint64_t all)
{
	uint64_t size = ep_settings.sched_memory / 2;

	if (!ep_settings.sched)
		return 0;
	if (size > all / 8)
		size = all / 8;
	size &= -PAGE;
	return size < LEAST ? 0 : size;
}

/* Of another drain: the parent's, or one that went with the arena's file. */
static void forget(bool child)
{
	ep_sched = NULL;
	drain = alive = remover = 0;
	zombie = 0;
	pool.segment = pool.at = pool.sequence = 0;
	atomic_flag_clear(&busy);
	atomic_store(&due, UINT64_MAX);
	in_child = child;
	ep_ftrace_forget();
	ep_perf_forget();
}

void ep_sched_begin(bool child)
{
	uint64_t size, wait = ep_clock_cycles(GROWN_UP);

	forget(child);
	if (!ep_sched_section_size(epitaph_root.arena_size))
		return;
	ep_sched = ep_arena_section(EP_SECTION_SCHED, &size);
	ep_bytes_zero(ep_sched, sizeof(*ep_sched));
	ep_sched->machine = ep_settings.sched_machine;
	ep_sched->events = ep_settings.sched_events;
	ep_sched->formats_offset = PAGE;
	ep_sched->formats_size = FORMATS;
	ep_sched->segment_size = EP_SCHED_SEGMENT;
	ep_sched->pool_offset = PAGE + FORMATS;
	ep_sched->pool_size = (size - ep_sched->pool_offset) / EP_SCHED_SEGMENT * EP_SCHED_SEGMENT;
	ep_bytes_copy(&spare, ep_sched, sizeof(spare));
	if (ep_settings.sched_asked && !child)
		wait = 0;
	atomic_store(&due, ep_tsc() + wait);
}

void ep_sched_mend(struct ep_sched *section)
{
	if (!section->segment_size)
		ep_bytes_copy(section, &spare, sizeof(spare));
}

/* ---- the drain itself ---- */

static void set_state(uint32_t state)
{
	__atomic_store_n(&ep_sched->state, state, __ATOMIC_RELEASE);
	ep_syscall3(SYS_futex, (long)&ep_sched->state, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX);
}

static void sleep_on(uint32_t *word, uint32_t value, long seconds, long ns)
{
	struct timespec wait = {seconds, ns};

	ep_syscall4(SYS_futex, (long)word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, (long)value,
		    (long)&wait);
}

static void nap(long ns)
{
	struct timespec wait = {0, ns};

	ep_syscall2(SYS_nanosleep, (long)&wait, 0);
}

bool ep_sched_wanted(void)
{
	return !(__atomic_load_n(&control, __ATOMIC_ACQUIRE) & STOP);
}

bool ep_sched_wait(long ns)
{
	uint32_t now = __atomic_load_n(&control, __ATOMIC_ACQUIRE);

	if (!(now & STOP))
		sleep_on(&control, now, 0, ns);
	return ep_sched_wanted();
}

/* The drain's table is a copy: what the program closes must be closed. */
static void close_everything(void)
{
	if (!ep_syscall_failed(ep_syscall3(SYS_close_range, 0, (long)~0u, 0)))
		return;
	for (long fd = 0; fd < 65536; fd++) /* Linux before 5.9 */
		ep_fd_close(fd);
}

static void (*call_thread)(uint32_t tid);

static void call_other(uint32_t tid)
{
	if (tid != ep_sched->tid)
		call_thread(tid);
}

void ep_sched_each_thread(void (*call)(uint32_t tid))
{
	call_thread = call;
	ep_tasks_each(call_other);
}

/* 0, or -1: nobody lets us. */
static int open_source(void)
{
	uint64_t bytes = ep_settings.sched_memory / 2;

	ep_sched->kernel_bytes = 0;
	ep_sched->ftrace_error = ep_sched->perf_error = 0;
	if (ep_settings.sched & EP_SCHED_WANT_FTRACE) {
		ep_sched->ftrace_error = (uint32_t)ep_ftrace_open(bytes);
		ep_sched->source = EP_SCHED_FTRACE;
		if (!ep_sched->ftrace_error)
			return 0;
	}
	/* Whose filter is not asked for what it may kill for. */
	if (ep_settings.sched & EP_SCHED_WANT_PERF &&
	    (ep_settings.sched_asked || !ep_jail_inherited())) {
		ep_sched->perf_error = (uint32_t)ep_perf_open(bytes);
		ep_sched->source = EP_SCHED_PERF;
		if (!ep_sched->perf_error)
			return 0;
	}
	ep_sched->source = EP_SCHED_NONE;
	return -1;
}

static unsigned drain_source(void)
{
	unsigned full = ep_sched->source == EP_SCHED_FTRACE ? ep_ftrace_drain() : ep_perf_drain();

	ep_sched->drained_tsc = ep_tsc();
	ep_sched->drains++;
	ep_clock_refresh(ep_sched->drained_tsc);
	return full;
}

/* What is followed is what it was when the drain began. */
static bool sched_intact(void)
{
	if (!ep_arena_intact())
		return false;
	if (ep_sched->pool_offset == spare.pool_offset && ep_sched->pool_size == spare.pool_size &&
	    ep_sched->source == spare.source)
		return true;
	ep_integrity_end(EP_OFF_OVERWRITTEN);
	return false;
}

/* Until somebody wakes it: its stack may be written over meanwhile. */
static void rest(uint32_t now)
{
	ep_faults_rest(true);
	ep_syscall4(SYS_futex, (long)&control, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, (long)now, 0);
	ep_faults_rest(false);
}

bool ep_sched_wake(void)
{
	uint32_t now = __atomic_load_n(&control, __ATOMIC_ACQUIRE);

	if (!drain || now & STOP)
		return false;
	__atomic_compare_exchange_n(&control, &now, now + WAKEN, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
	ep_syscall3(SYS_futex, (long)&control, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
	return true;
}

static void drain_until_stopped(void)
{
	long period = PERIOD_LEAST;
	uint32_t now;

	while (!((now = __atomic_load_n(&control, __ATOMIC_ACQUIRE)) & STOP)) {
		unsigned full;

		if (ep_faults_run() || ep_overwritten()) {
			rest(now);
			continue;
		}
		sleep_on(&control, now, 0, period);
		if (ep_faults_run() || !sched_intact())
			continue;
		full = drain_source();
		if (full >= FULL && period > PERIOD_LEAST)
			period /= 2;
		if (full < EMPTY && period < PERIOD_MOST)
			period *= 2;
	}
}

static void remove_instance(void)
{
	/* As long as the drain is not quite gone its pages are in use. */
	for (int i = 0; i < 1000 && !ep_ftrace_remove(); i++)
		nap(1000000);
	ep_syscall1(SYS_exit_group, 0);
}

/* The drain is killed in the middle of making it. */
static void remove_unfinished(void)
{
	close_everything();
	for (int i = 0; i < 1000 && __atomic_load_n(&alive, __ATOMIC_ACQUIRE); i++)
		nap(1000000);
	if (ep_sched->instance[0] && ep_ftrace_find())
		remove_instance();
	ep_syscall1(SYS_exit_group, 0);
}

static void (*removal)(void); /* what the remover does */

/* Its child goes on without it, and is waited for by whoever adopts orphans: else it would stay a
 * zombie of the program's. */
static void make_remover(void)
{
	if (!ep_syscall_failed(ep_clone(CLONE_VM | CLONE_CHILD_CLEARTID, stack + HELPER_STACK,
					&remover, removal)))
		ep_syscall1(SYS_exit_group, 0);
	remover = 0;
	removal();
}

/* The program adopts orphans itself: it must not meet one of ours. */
static bool adopts_orphans(void)
{
	int adopts = 0;

	ep_syscall2(SYS_prctl, PR_GET_CHILD_SUBREAPER, (long)&adopts);
	return adopts || ep_syscall0(SYS_getpid) == 1;
}

/* A process of its own that shares the memory and nothing else: it outlives this one by the time
 * that it takes. Nobody but us waits for it: without a signal at its end wait(2) wants __WCLONE.
 * False: there is one, or can be none. */
static bool remove_later(void (*run)(void))
{
	bool adopts = adopts_orphans();
	uint32_t none = 0;
	long child;

	if (!__atomic_compare_exchange_n(&remover, &none, 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return false;
	removal = run;
	if (adopts)
		child = ep_clone(CLONE_VM | CLONE_CHILD_CLEARTID, stack + HELPER_STACK, &remover,
				 run);
	else
		child = ep_clone(CLONE_VM, stack + 2 * HELPER_STACK, &remover, make_remover);
	if (ep_syscall_failed(child)) {
		remover = 0;
		return false;
	}
	if (adopts)
		zombie = child;
	else
		ep_syscall4(SYS_wait4, child, 0, __WCLONE, 0);
	return true;
}

/* What the drain before this one left. */
static void bury(void)
{
	if (zombie && ep_syscall4(SYS_wait4, zombie, 0, __WCLONE | WNOHANG, 0))
		zombie = 0;
}

static void close_source(void)
{
	if (spare.source == EP_SCHED_FTRACE)
		ep_ftrace_stop();
	if (!ep_overwritten()) {
		drain_source();
		ep_sched->stop_tsc = ep_tsc();
	}
	if (spare.source == EP_SCHED_FTRACE) {
		ep_ftrace_close();
		if (!remove_later(remove_instance))
			ep_ftrace_remove();
	} else {
		ep_perf_close();
	}
}

static void run_drain(void)
{
	ep_sched->tid = (uint32_t)ep_syscall0(SYS_gettid);
	close_everything();
	bury();
	ep_syscall2(SYS_prctl, PR_SET_NAME, (long)"epitaph-sched");
	if (open_source() < 0) {
		set_state(EP_SCHED_REFUSED);
	} else {
		ep_sched->start_tsc = ep_tsc();
		ep_sched->stop_tsc = 0;
		set_state(EP_SCHED_ON);
		ep_bytes_copy(&spare, ep_sched, sizeof(spare));
		drain_until_stopped();
		close_source();
		set_state(EP_SCHED_STOPPED);
	}
	ep_syscall1(SYS_exit, 0);
}

/* ---- its beginning and its end ---- */

static uint64_t block_signals(void)
{
	uint64_t all = ~UINT64_C(0), before = 0;

	/* It may come to whoever writes to an arena whose file is cut off. */
	if (ep_backing_on())
		all &= ~(UINT64_C(1) << (SIGBUS - 1));
	ep_syscall4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&all, (long)&before,
		    sizeof(all));
	return before;
}

static void restore_signals(uint64_t mask)
{
	ep_syscall4(SYS_rt_sigprocmask, 2, (long)&mask, 0, sizeof(mask));
}

static bool is_ours(void)
{
	return ep_sched && ep_inherits_nothing();
}

static bool make_stack(void)
{
	long got;

	if (stack)
		return true;
	got = ep_syscall6(SYS_mmap, 0, STACK, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ep_syscall_failed(got))
		return false;
	stack = (char *)got;
	return true;
}

static long make_drain(void)
{
	if (ep_runs_on_valgrind())
		return -ENOSYS; /* it ends a process that asks for it */
	if (!make_stack())
		return -ENOMEM;
	return ep_clone(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
				CLONE_CHILD_CLEARTID,
			stack + STACK, &alive, run_drain);
}

/* The caller holds `busy`, and has blocked all signals: so has the drain. */
static void start_drain(void)
{
	long tid;

	control = 0;
	alive = 1;
	set_state(EP_SCHED_STARTING);
	tid = make_drain();
	if (!ep_syscall_failed(tid)) {
		drain = (uint32_t)tid;
		return;
	}
	alive = 0;
	ep_sched->ftrace_error = ep_sched->perf_error = (uint32_t)-tid;
	set_state(EP_SCHED_REFUSED);
}

/* Gone for the kernel too: it lets go of `alive` a little before that. */
static void end_drain(void)
{
	uint32_t pid = (uint32_t)ep_syscall0(SYS_getpid), one;

	__atomic_store_n(&control, STOP, __ATOMIC_RELEASE);
	ep_syscall3(SYS_futex, (long)&control, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
	/* The kernel wakes as for a futex that processes share. */
	while ((one = __atomic_load_n(&alive, __ATOMIC_ACQUIRE)) != 0)
		ep_syscall4(SYS_futex, (long)&alive, FUTEX_WAIT, (long)one, 0);
	for (int i = 0; i < GONE_TRIES && ep_syscall3(SYS_tgkill, pid, drain, 0) != -ESRCH; i++)
		nap(20000);
	drain = 0;
	ep_sched->tid = 0;
}

static void complain(void)
{
	char line[160];
	struct ep_text text;

	complained = true;
	ep_text_init(&text, line, sizeof(line));
	ep_text_add(&text, "epitaph: no scheduling events:");
	if (ep_sched->ftrace_error) {
		ep_text_add(&text, " ftrace: error ");
		ep_text_add_number(&text, ep_sched->ftrace_error);
	}
	if (ep_sched->perf_error) {
		ep_text_add(&text, ep_sched->ftrace_error ? ", perf: error " : " perf: error ");
		ep_text_add_number(&text, ep_sched->perf_error);
	}
	ep_text_add(&text, " (EPITAPH_SCHED=off: none wanted)\n");
	ep_text_complain(&text);
}

static void wait_for_drain(void)
{
	uint32_t state;
	uint64_t until = ep_tsc() + ep_clock_cycles(WAIT_MOST * 1000000000ull);

	while ((state = __atomic_load_n(&ep_sched->state, __ATOMIC_ACQUIRE)) == EP_SCHED_STARTING &&
	       ep_tsc() < until)
		sleep_on(&ep_sched->state, state, WAIT_MOST, 0);
	if (state == EP_SCHED_REFUSED && !complained && !in_child)
		complain();
}

bool ep_sched_leave(void)
{
	uint64_t mask;
	bool was;

	if (!drain || !is_ours())
		return false;
	mask = block_signals();
	while (atomic_flag_test_and_set(&busy))
		nap(20000);
	was = drain != 0;
	if (was)
		end_drain();
	atomic_flag_clear(&busy);
	restore_signals(mask);
	return was;
}

static void start_now(void)
{
	uint64_t mask = block_signals();
	bool mine = !atomic_flag_test_and_set(&busy);

	if (mine && !drain)
		start_drain();
	if (mine)
		atomic_flag_clear(&busy);
	restore_signals(mask);
	if (!ep_settings.sched_asked || in_child)
		return;
	wait_for_drain();
	if (ep_sched->state == EP_SCHED_REFUSED)
		ep_sched_leave(); /* it is about to go: not before it has */
}

void ep_sched_look(uint64_t tsc)
{
	if (tsc < atomic_load_explicit(&due, memory_order_relaxed) || !is_ours())
		return;
	/* Once: of two callers the second finds it done. */
	if (atomic_exchange(&due, UINT64_MAX) != UINT64_MAX)
		start_now();
}

void ep_sched_return(void)
{
	if (is_ours())
		start_now();
}

void ep_sched_return_later(void)
{
	if (is_ours())
		atomic_store(&due, ep_tsc() + ep_clock_cycles(GROWN_UP));
}

void ep_sched_before_exec(void)
{
	if (ep_sched_leave())
		ep_sched_return_later();
}

/* It takes 55 ms to begin, which the process's end need not wait for: the kernel kills it. False:
 * it has begun. */
static bool abandon(void)
{
	uint64_t mask;
	bool left;

	if (!drain || __atomic_load_n(&ep_sched->state, __ATOMIC_ACQUIRE) != EP_SCHED_STARTING)
		return false;
	mask = block_signals();
	left = remove_later(remove_unfinished);
	/* If the end is not as near as it seems. */
	if (left)
		__atomic_store_n(&control, STOP, __ATOMIC_RELEASE);
	restore_signals(mask);
	return left;
}

void ep_sched_end(void)
{
	if (!is_ours())
		return;
	atomic_store(&due, UINT64_MAX);
	if (!abandon())
		ep_sched_leave();
}
