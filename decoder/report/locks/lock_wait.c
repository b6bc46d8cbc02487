/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_wait.c: glibc, x86-64: sysdeps/nptl/bits/thread-shared-types.h and
 * sysdeps/x86/nptl/bits/struct_mutex.h, struct_rwlock.h; nptl/internaltypes.h. What stands in a
 * lock is believed only where it says that somebody waits: another library's does not. None of
 * these is changed in releases, as programs have them compiled in, but for a condition's words,
 * which moved in 2.41.
 */
#include "decoder/report/locks/lock_wait.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "coredump/snapshot/redacted.h"
#include "decoder/report/locks/lock_function.h"

#define TID_MAX (1u << 22) /* the kernel's PID_MAX_LIMIT */

struct waiter {
	struct ep_lock_wait *out;
	const struct ep_evidence *evidence;
	const struct ep_stack *stack;
	size_t frame; /* of the stack: the last of the C library's */
	uint64_t at;  /* the word that is waited on */
	uint32_t expected;
	bool inherits; /* the kernel hands it over by priority */
};

static bool read_at(const struct waiter *waiter, uint64_t at, void *out, size_t size)
{
	return ep_source_read(waiter->evidence->source, at, out, size, NULL, NULL) == EP_OK;
}

static void set_holder(const struct waiter *waiter, uint32_t tid)
{
	if (tid == 0 || tid > TID_MAX)
		return;
	waiter->out->holder = tid;
	waiter->out->gone = !ep_source_thread(waiter->evidence->source, tid);
}

/* ---- mutexes ---- */

/* Of struct __pthread_mutex_s. */
struct mutex {
	uint32_t lock;
	uint32_t count;
	uint32_t owner;
	uint32_t users;
	int32_t kind;
};
static_assert(sizeof(struct mutex) == 20, "as in struct_mutex.h");

/* Of `kind`, nptl/pthreadP.h. */
#define MUTEX_ROBUST   0x10
#define MUTEX_INHERIT  0x20
#define MUTEX_PROTECT  0x40
#define MUTEX_KIND_MAX 0x3ff
/* Of `lock`. */
#define MUTEX_CONTENDED 2u
#define MUTEX_CEILING   0xfff80000u

static bool read_mutex(const struct waiter *waiter, uint64_t at, struct mutex *out)
{
	return at % 8 == 0 && read_at(waiter, at, out, sizeof(*out)) && out->kind >= 0 &&
	       out->kind <= MUTEX_KIND_MAX;
}

/* Its word is the holder's tid, as the kernel wants it (futex(2), get_robust_list(2)). The kernel
 * takes the tid out of a robust one's when its holder ends. */
static uint32_t kernel_holder(const struct mutex *mutex)
{
	uint32_t tid = mutex->lock & FUTEX_TID_MASK;

	return !tid && mutex->lock & FUTEX_OWNER_DIED ? mutex->owner : tid;
}

static void find_mutex(struct waiter *waiter)
{
	struct mutex mutex;
	bool kernel;

	if (!read_mutex(waiter, waiter->at, &mutex))
		return;
	kernel = mutex.kind & (MUTEX_ROBUST | MUTEX_INHERIT);
	if (waiter->inherits != ((mutex.kind & MUTEX_INHERIT) != 0))
		return;
	if (mutex.kind & MUTEX_PROTECT)
		mutex.lock &= ~MUTEX_CEILING;
	if (kernel ? !(mutex.lock & FUTEX_WAITERS) : mutex.lock != MUTEX_CONTENDED)
		return;
	*waiter->out = (struct ep_lock_wait){.kind = EP_LOCK_MUTEX, .lock = waiter->at};
	set_holder(waiter, kernel ? kernel_holder(&mutex) : mutex.owner);
}

/* Five words that fit, the holder's tid among them, are no accident; yet no name says so. */
static void guess_mutex(struct waiter *waiter)
{
	struct mutex mutex;

	find_mutex(waiter);
	if (!waiter->out->kind)
		return;
	if (!waiter->out->holder || waiter->out->gone || !read_mutex(waiter, waiter->at, &mutex) ||
	    mutex.owner != waiter->out->holder || mutex.users == 0 ||
	    (!waiter->inherits && waiter->expected != mutex.lock))
		*waiter->out = (struct ep_lock_wait){0};
	else
		waiter->out->likely = true;
}

/* ---- read-write locks ---- */

/* Of struct __pthread_rwlock_arch_t. */
struct rwlock {
	uint32_t readers, writers, phase_futex, writers_futex, pad[2];
	uint32_t writer;
};
static_assert(sizeof(struct rwlock) == 28, "as in struct_rwlock.h");

/* Of `readers`, nptl/pthread_rwlock_common.c. */
#define RWLOCK_WRITES  1u /* PTHREAD_RWLOCK_WRPHASE: a writer has it, or is next */
#define RWLOCK_CLAIMED 2u /* PTHREAD_RWLOCK_WRLOCKED: a writer has it, or waits for it */
#define RWLOCK_SHIFT   3
/* Of its futexes: PTHREAD_RWLOCK_FUTEX_USED, and 1 for who waits for a writer. */
#define RWLOCK_FOR_READERS 2u
#define RWLOCK_FOR_WRITER  3u

/* On which of its words; where that cannot be waited on in this state, the lock is not what it
 * seems. */
static bool is_waited_for(const struct rwlock *lock, size_t offset, uint32_t expected)
{
	bool writing = lock->readers & RWLOCK_WRITES, claimed = lock->readers & RWLOCK_CLAIMED;

	if (offset == 0)
		return !writing && claimed && lock->readers == expected;
	if (offset == offsetof(struct rwlock, writers_futex))
		return claimed && lock->writers_futex == expected;
	return lock->phase_futex == expected && writing == (expected == RWLOCK_FOR_WRITER);
}

static void find_rwlock(struct waiter *waiter, bool writes)
{
	bool for_writer = waiter->expected == RWLOCK_FOR_WRITER;
	size_t offset = writes       ? for_writer ? offsetof(struct rwlock, writers_futex)
						  : offsetof(struct rwlock, phase_futex)
			      : for_writer ? offsetof(struct rwlock, phase_futex)
				     : 0;
	struct rwlock lock;

	if (writes && !for_writer && waiter->expected != RWLOCK_FOR_READERS)
		return;
	if (!read_at(waiter, waiter->at - offset, &lock, sizeof(lock)) ||
	    !is_waited_for(&lock, offset, waiter->expected))
		return;
	*waiter->out = (struct ep_lock_wait){
		.kind = EP_LOCK_RWLOCK,
		.lock = waiter->at - offset,
		.writes = writes,
		.next = writes && !for_writer,
	};
	if (lock.readers & RWLOCK_WRITES)
		set_holder(waiter, lock.writer);
	else
		waiter->out->readers = lock.readers >> RWLOCK_SHIFT;
}

/* ---- conditions ---- */

/* __g_signals of struct __pthread_cond_s: two words, which since 2.41 stand before what is unused.
 */
static bool is_condition_word(uint64_t condition, uint64_t at)
{
	uint64_t offset = at - condition;

	return offset == 40 || offset == 44 || offset == 32 || offset == 36;
}

#define FRAME_WORDS 128u

/*
 * While it waits, its cleanup has all it needs in the frame (nptl/pthread_cond_wait.c):
 *	| number of the waiter | condition | mutex |
 * The number is one that the condition has given out.
 */
static void find_condition(struct waiter *waiter)
{
	uint64_t words[FRAME_WORDS], given;
	const struct ep_stack *stack = waiter->stack;
	uint64_t from = stack->frames[0].sp, to;
	struct mutex mutex;
	size_t count;

	if (waiter->frame + 1 >= stack->count)
		return;
	to = stack->frames[waiter->frame + 1].sp;
	count = from && to > from ? (to - from) / sizeof(*words) : 0;
	count = count < FRAME_WORDS ? count : FRAME_WORDS;
	if (count < 3 || !read_at(waiter, from, words, count * sizeof(*words)))
		return;
	for (size_t i = 1; i + 1 < count; i++) {
		if (!is_condition_word(words[i], waiter->at) || words[i] % 8 ||
		    !read_at(waiter, words[i], &given, sizeof(given)) || words[i - 1] >= given ||
		    !read_mutex(waiter, words[i + 1], &mutex))
			continue;
		*waiter->out = (struct ep_lock_wait){
			.kind = EP_LOCK_CONDITION, .lock = words[i], .mutex = words[i + 1]};
		return;
	}
}

/* ---- what nobody holds ---- */

/* struct new_sem: its value, and above it how many wait. */
static void find_semaphore(struct waiter *waiter)
{
	uint32_t words[2];

	if (waiter->expected == 0 && read_at(waiter, waiter->at, words, sizeof(words)) &&
	    words[0] == 0 && words[1] > 0)
		*waiter->out = (struct ep_lock_wait){EP_LOCK_SEMAPHORE, .lock = waiter->at};
}

/* Of struct pthread_barrier; it is the round that is waited on. */
struct barrier {
	uint32_t come, round, count;
};

static void find_barrier(struct waiter *waiter)
{
	uint64_t at = waiter->at - offsetof(struct barrier, round);
	struct barrier barrier;

	if (read_at(waiter, at, &barrier, sizeof(barrier)) && barrier.round == waiter->expected &&
	    barrier.come - barrier.round > 0 && barrier.come - barrier.round < barrier.count)
		*waiter->out = (struct ep_lock_wait){EP_LOCK_BARRIER, .lock = at};
}

/* The word is the tid in what pthread_t points to, which the kernel clears when the thread ends. */
static void find_join(struct waiter *waiter)
{
	uint32_t tid;

	if (!read_at(waiter, waiter->at, &tid, sizeof(tid)) || tid != waiter->expected ||
	    !ep_source_thread(waiter->evidence->source, tid))
		return;
	*waiter->out = (struct ep_lock_wait){.kind = EP_LOCK_THREAD, .holder = tid};
}

/* It runs. glibc's is assembly, which leaves the argument where it is; locked is 0 and below. */
static void find_spin(struct waiter *waiter, const struct ep_source_thread *thread)
{
	struct user_regs_struct registers;
	int32_t word;

	if (waiter->frame != 0 || !thread ||
	    ep_source_redacted(waiter->evidence->source) & EP_REDACTED_REGISTERS ||
	    !ep_thread_registers(thread, &registers))
		return;
	if (read_at(waiter, registers.rdi, &word, sizeof(word)) && word <= 0)
		*waiter->out = (struct ep_lock_wait){EP_LOCK_SPIN, .lock = registers.rdi};
}

/* ---- which ---- */

static bool is_futex_wait(const struct ep_systemcall *call)
{
	uint32_t operation = call ? (uint32_t)call->arguments[1] & FUTEX_CMD_MASK : 0;

	if (!call || call->redacted || call->number != SYS_futex)
		return false;
	return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
	       operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
}

static bool is_inheriting(const struct ep_systemcall *call)
{
	uint32_t operation = (uint32_t)call->arguments[1] & FUTEX_CMD_MASK;

	return operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
}

static void find_in(struct waiter *waiter, enum ep_lock_function function)
{
	if (function == EP_IN_MUTEX_LOCK)
		find_mutex(waiter);
	else if (function == EP_IN_UNNAMED)
		guess_mutex(waiter);
	else if (waiter->inherits)
		return;
	else if (function == EP_IN_READ_LOCK || function == EP_IN_WRITE_LOCK)
		find_rwlock(waiter, function == EP_IN_WRITE_LOCK);
	else if (function == EP_IN_CONDITION_WAIT)
		find_condition(waiter);
	else if (function == EP_IN_SEMAPHORE_WAIT)
		find_semaphore(waiter);
	else if (function == EP_IN_BARRIER_WAIT)
		find_barrier(waiter);
	else if (function == EP_IN_JOIN)
		find_join(waiter);
}

void ep_lock_wait_find(struct ep_lock_wait *out, const struct ep_evidence *evidence,
		       const struct ep_stack *stack, const struct ep_source_thread *thread,
		       const struct ep_systemcall *call)
{
	struct waiter waiter = {.out = out, .evidence = evidence, .stack = stack};
	enum ep_lock_function function;

	*out = (struct ep_lock_wait){0};
	if (call && !is_futex_wait(call))
		return;
	function = ep_lock_function_find(evidence, stack, &waiter.frame);
	if (!call) {
		if (function == EP_IN_SPIN_LOCK)
			find_spin(&waiter, thread);
		return;
	}
	waiter.at = call->arguments[0];
	waiter.expected = (uint32_t)call->arguments[2];
	waiter.inherits = is_inheriting(call);
	find_in(&waiter, function);
}

/* ---- what is asked of it ---- */

uint32_t ep_lock_wait_whom(const struct ep_lock_wait *wait)
{
	return wait->holder && !wait->gone ? wait->holder : wait->behind;
}

bool ep_lock_wait_blocks(const struct ep_lock_wait *wait)
{
	return wait->kind == EP_LOCK_MUTEX || wait->kind == EP_LOCK_RWLOCK ||
	       wait->kind == EP_LOCK_SPIN;
}

bool ep_lock_wait_equal(const struct ep_lock_wait *a, const struct ep_lock_wait *b)
{
	return a->kind == b->kind && a->lock == b->lock && a->mutex == b->mutex &&
	       a->holder == b->holder && a->gone == b->gone && a->writes == b->writes &&
	       a->next == b->next && a->readers == b->readers && a->behind == b->behind &&
	       a->likely == b->likely;
}

const char *ep_lock_kind_text(enum ep_lock_kind kind)
{
	static const char *const words[] = {
		[EP_LOCK_NONE] = "",
		[EP_LOCK_MUTEX] = "mutex",
		[EP_LOCK_RWLOCK] = "read-write lock",
		[EP_LOCK_SPIN] = "spin lock",
		[EP_LOCK_CONDITION] = "condition",
		[EP_LOCK_SEMAPHORE] = "semaphore",
		[EP_LOCK_BARRIER] = "barrier",
		[EP_LOCK_THREAD] = "thread",
	};

	return words[kind];
}
