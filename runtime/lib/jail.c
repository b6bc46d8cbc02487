/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jail.c: what the process has given up. Filters are read before they are set: classic BPF that
 * only jumps forward (Linux kernel/seccomp.c, seccomp_check_filter), followed along every way that
 * is open where an argument of a call, or its place, is not known beforehand.
 */
#include "runtime/lib/jail.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"

#define WAYS  32    /* that are open at once */
#define STEPS 20000 /* of one system call; libseccomp's filters take some dozens */
#define WORDS BPF_MEMWORDS

/* What the kernel does about a system call, the worst of it last. */
enum verdict { ALLOWED, REFUSED, KILLS };

uint32_t ep_jail_state;

void ep_jail_start(void)
{
	if (ep_syscall5(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) > 0)
		ep_jail_state = EP_JAIL_INHERITED;
}

/* ---- one filter ---- */

static struct {
	uint32_t busy; /* some thread has it in `code` */
	uint32_t length;
	struct sock_filter code[BPF_MAXINSNS];
} filter;

/* A place in the filter, and what is known there. */
struct way {
	uint32_t at, a, x, memory[WORDS];
	bool a_known, x_known, known[WORDS];
};

struct call {
	uint32_t number;
	int8_t argument; /* one that is known, -1 none */
	uint64_t value;
};

/* *value: the 32 bits of struct seccomp_data at `offset`. */
static bool load(const struct call *call, uint32_t offset, uint32_t *value)
{
	uint32_t known = call->argument < 0
				 ? 0
				 : (uint32_t)offsetof(struct seccomp_data, args[call->argument]);

	if (offset == offsetof(struct seccomp_data, nr))
		*value = call->number;
	else if (offset == offsetof(struct seccomp_data, arch))
		*value = AUDIT_ARCH_X86_64;
	else if (known && offset == known)
		*value = (uint32_t)call->value;
	else if (known && offset == known + 4)
		*value = (uint32_t)(call->value >> 32);
	else
		return false;
	return true;
}

static enum verdict verdict_of(uint32_t result)
{
	switch (result & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return ALLOWED;
	case SECCOMP_RET_ERRNO:
	case SECCOMP_RET_TRAP: /* fatal.c, deny */
		return REFUSED;
	}
	/* A supervisor that is asked may answer as it likes, or never. */
	return KILLS;
}

static void calculate(struct way *way, const struct sock_filter *op)
{
	bool by_x = BPF_SRC(op->code) == BPF_X;
	uint32_t by = by_x ? way->x : op->k;

	if (BPF_OP(op->code) == BPF_NEG) {
		way->a = -way->a;
		return;
	}
	way->a_known &= !by_x || way->x_known;
	switch (BPF_OP(op->code)) {
	case BPF_ADD:
		way->a += by;
		break;
	case BPF_SUB:
		way->a -= by;
		break;
	case BPF_OR:
		way->a |= by;
		break;
	case BPF_AND:
		way->a &= by;
		break;
	case BPF_XOR:
		way->a ^= by;
		break;
	case BPF_LSH:
		way->a = by < 32 ? way->a << by : 0;
		break;
	case BPF_RSH:
		way->a = by < 32 ? way->a >> by : 0;
		break;
	default:
		way->a_known = false;
	}
}

static bool holds(const struct way *way, const struct sock_filter *op)
{
	uint32_t with = BPF_SRC(op->code) == BPF_X ? way->x : op->k;

	switch (BPF_OP(op->code)) {
	case BPF_JEQ:
		return way->a == with;
	case BPF_JGT:
		return way->a > with;
	case BPF_JGE:
		return way->a >= with;
	}
	return way->a & with;
}

/* What is neither a jump nor an end. */
static void run(struct way *way, const struct sock_filter *op, const struct call *call)
{
	uint32_t cell = op->k % WORDS;

	switch (BPF_CLASS(op->code)) {
	case BPF_LD:
	case BPF_LDX: {
		bool into_x = BPF_CLASS(op->code) == BPF_LDX, known = true;
		uint32_t value = op->k;

		if (BPF_MODE(op->code) == BPF_ABS)
			known = load(call, op->k, &value);
		else if (BPF_MODE(op->code) == BPF_LEN)
			value = sizeof(struct seccomp_data);
		else if (BPF_MODE(op->code) == BPF_MEM)
			value = way->memory[cell], known = way->known[cell];
		*(into_x ? &way->x : &way->a) = value;
		*(into_x ? &way->x_known : &way->a_known) = known;
		break;
	}
	case BPF_ST:
		way->memory[cell] = way->a;
		way->known[cell] = way->a_known;
		break;
	case BPF_STX:
		way->memory[cell] = way->x;
		way->known[cell] = way->x_known;
		break;
	case BPF_ALU:
		calculate(way, op);
		break;
	case BPF_MISC:
		if (BPF_MISCOP(op->code) == BPF_TXA)
			way->a = way->x, way->a_known = way->x_known;
		else
			way->x = way->a, way->x_known = way->a_known;
	}
}

/* The worst that the filter may say of it. */
static enum verdict judge(const struct call *call)
{
	struct way ways[WAYS] = {{.at = 0}}, *way;
	enum verdict worst = ALLOWED;
	uint32_t open = 1, steps = 0;

	while (open && worst < KILLS) {
		const struct sock_filter *op;
		bool known;

		way = &ways[open - 1];
		if (way->at >= filter.length || steps++ == STEPS)
			return KILLS;
		op = &filter.code[way->at++];
		if (BPF_CLASS(op->code) == BPF_RET) {
			bool by_a = BPF_RVAL(op->code) == BPF_A;
			enum verdict end = verdict_of(by_a ? way->a : op->k);

			worst = by_a && !way->a_known ? KILLS : end > worst ? end : worst;
			open--;
			continue;
		}
		if (BPF_CLASS(op->code) != BPF_JMP) {
			run(way, op, call);
			continue;
		}
		if (BPF_OP(op->code) == BPF_JA) {
			way->at += op->k;
			continue;
		}
		known = way->a_known && (BPF_SRC(op->code) != BPF_X || way->x_known);
		if (!known && op->jt != op->jf) {
			if (open == WAYS)
				return KILLS;
			ways[open] = *way;
			ways[open++].at += op->jt;
			way->at += op->jf;
		} else {
			way->at += holds(way, op) ? op->jt : op->jf;
		}
	}
	return worst;
}

/* ---- what the runtime calls ---- */

#define CALL(name)                \
	{                         \
		SYS_##name, -1, 0 \
	}
#define CALL_WITH(name, nth, value)    \
	{                              \
		SYS_##name, nth, value \
	}

/* Must be let through: a handler that cannot return, or not die, changes the death. */
static const struct call for_signals[] = {
	CALL(rt_sigprocmask), CALL(rt_sigaction),      CALL(getpid),       CALL(gettid),
	CALL(sched_yield),    CALL(rt_tgsigqueueinfo), CALL(rt_sigreturn),
};

/* The thread blocks all signals: what it is refused by one ends it. */
static const struct call for_helper[] = {
	CALL_WITH(clone, 0,
		  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
			  CLONE_CHILD_CLEARTID),
	CALL(futex),
	CALL(exit),
	CALL(close_range),
	CALL_WITH(prctl, 0, PR_SET_NAME),
	CALL(nanosleep),
};

/* May be refused by an error: then there is none, or it lacks something. What files.c and
 * new_file.c, snapshot.c and its neighbours call where a filter is known to be there. */
static const struct call for_snapshot[] = {
	CALL_WITH(mmap, 2, PROT_READ | PROT_WRITE),
	CALL(mprotect),
	CALL(munmap),
	CALL(madvise),
	CALL(openat),
	CALL(read),
	CALL(pread64),
	CALL(pwrite64),
	CALL(write),
	CALL(close),
	CALL(fcntl),
	CALL(faccessat),
	CALL(newfstatat),
	CALL(renameat2),
	CALL(renameat),
	CALL(unlinkat),
	CALL(linkat),
	CALL(rt_sigpending),
	CALL(rt_sigtimedwait),
	CALL(prlimit64),
	CALL(getppid),
	CALL(getpgid),
	CALL(getsid),
	CALL(getuid),
	CALL(getgid),
	CALL(uname),
	CALL(readlinkat),
	CALL(getcwd),
	CALL(arch_prctl),
	CALL(sigaltstack),
	CALL(futex),
	CALL(nanosleep),
};

static enum verdict worst_of(const struct call *calls, unsigned count)
{
	enum verdict worst = ALLOWED;

	for (unsigned i = 0; i < count && worst < KILLS; i++) {
		enum verdict one = judge(&calls[i]);

		worst = one > worst ? one : worst;
	}
	return worst;
}

#define WORST_OF(calls) worst_of(calls, sizeof(calls) / sizeof(*(calls)))

/* Copies it, as the program may have it where nothing can be read. */
static bool read_filter(const void *program)
{
	struct sock_fprog from;

	if (!program || !ep_memory_read((uint64_t)program, &from, sizeof from) || !from.len ||
	    from.len > BPF_MAXINSNS)
		return false;
	filter.length = from.len;
	return ep_memory_read((uint64_t)from.filter, filter.code, from.len * sizeof(*filter.code));
}

void ep_jail_enter(const void *program)
{
	uint32_t not_permitted = EP_JAIL_NO_SIGNALS | EP_JAIL_NO_SNAPSHOT | EP_JAIL_NO_HELPER;

	/* Where another thread is reading one, the worst is taken of both. */
	if (program && !__atomic_exchange_n(&filter.busy, 1, __ATOMIC_ACQUIRE)) {
		if (read_filter(program)) {
			if (WORST_OF(for_signals) == ALLOWED)
				not_permitted &= ~EP_JAIL_NO_SIGNALS;
			if (WORST_OF(for_helper) == ALLOWED)
				not_permitted &= ~EP_JAIL_NO_HELPER;
			if (!(not_permitted & EP_JAIL_NO_SIGNALS) && WORST_OF(for_snapshot) < KILLS)
				not_permitted &= ~EP_JAIL_NO_SNAPSHOT;
		}
		__atomic_store_n(&filter.busy, 0, __ATOMIC_RELEASE);
	}
	__atomic_fetch_or(&ep_jail_state, EP_JAIL_OWN | not_permitted, __ATOMIC_SEQ_CST);
}
