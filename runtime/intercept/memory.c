/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.c: what the program does with its address space as if the arena were not there. Limits are
 * the program's: the arena gives back what nobody has touched. What it unmaps, protects or advises
 * leaves the arena out; where it maps something of its own over it, tracing ends.
 *
 * An allocator of the program's own calls these early, and from where the dynamic linker calls it:
 * nothing is looked up here.
 */
#include "runtime/intercept/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/inherit.h"
#include "runtime/counting/counts_file.h"
#include "runtime/facts/maps.h"
#include "runtime/facts/tasks.h"
#include "runtime/kernel/sched.h"
#include "runtime/lib/files.h"
#include "runtime/lib/futex.h"
#include "runtime/lib/interpose.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/record/pool.h"
#include "runtime/switching/switches.h"
#include "runtime/watchdogs/watchdog.h"

#define PAGE UINT64_C(4096)
/* ns on a processor, which the kernel counts tick by tick: longer than a hook takes. */
#define IN_A_HOOK  UINT64_C(20000000)
#define NAP        200000 /* ns between two looks */
#define NAPS       5000
#define MAP_PLACED (MAP_FIXED | MAP_FIXED_NOREPLACE)

static long returned(long result)
{
	if (!ep_syscall_failed(result))
		return result;
	errno = (int)-result;
	return -1;
}

/* Whole pages, as the kernel takes it; *end is 0 for what is no range. */
static bool meets_arena(uint64_t start, uint64_t size)
{
	uint64_t end = start + size;

	return size && end > start && start < ep_truth.arena + ep_truth.size &&
	       end > ep_truth.arena && !ep_overwritten() && ep_arena &&
	       ep_inherit() == EP_INHERIT_NOTHING;
}

/* A number of /proc/self/task/TID/schedstat, ns on a processor; of one that sleeps, or is gone: the
 * largest. */
static uint64_t time_of(uint32_t tid)
{
	char path[64], bytes[512];
	const char *at = bytes;
	struct ep_text text;
	uint64_t ns;
	long got;

	for (int i = 0; i < 2; i++) {
		ep_text_init(&text, path, sizeof path);
		ep_text_add(&text, "/proc/self/task/");
		ep_text_add_number(&text, tid);
		ep_text_add(&text, i ? "/schedstat" : "/stat");
		got = ep_fd_load(path, bytes, sizeof bytes);
		if (got <= 0)
			return UINT64_MAX;
		/* "1 (a name) R …": the name may have a parenthesis, what follows has none. */
		for (long end = i ? 0 : got; end > 0; end--)
			if (bytes[end - 1] == ')') {
				if (end + 1 < got && bytes[end + 1] != 'R')
					return UINT64_MAX;
				break;
			}
	}
	return ep_text_number(&at, bytes + got, 10, &ns) ? ns : UINT64_MAX;
}

/* Threads, also those that are only beginning and have no entry in the table: more of them than
 * these are given what time the others take. */
static struct {
	uint32_t count;
	struct {
		uint32_t tid;
		uint64_t ns;
	} list[512];
} others;

static void note_other(uint32_t tid)
{
	if (others.count == sizeof(others.list) / sizeof(*others.list) ||
	    tid == (uint32_t)ep_syscall0(SYS_gettid))
		return;
	others.list[others.count].tid = tid;
	others.list[others.count++].ns = time_of(tid);
}

/* No hook begins any more; a thread that has run for longer than one takes is out of it, and one
 * that sleeps does so elsewhere. */
static void wait_for_hooks(void)
{
	others.count = 0;
	ep_tasks_each(note_other);
	for (uint32_t i = 0, naps = 0; i < others.count; i++)
		while (others.list[i].ns != UINT64_MAX &&
		       time_of(others.list[i].tid) - others.list[i].ns < IN_A_HOOK && naps++ < NAPS)
			ep_nap(NAP);
}

/* The program has use for the arena's place. What is untouched there is given up; else tracing ends
 * for good. */
static void give_up(uint64_t start, uint64_t size)
{
	if (ep_arena_yield(start, start + size))
		return;
	ep_counting_write();
	ep_sched_leave();
	ep_watchdog_leave();
	/* What it held is gone with it. */
	epitaph_root.arena_address = epitaph_root.arena_size = 0;
	ep_integrity_end(EP_OFF_MAPPED_OVER);
	ep_switches_wait();
	wait_for_hooks();
}

/* ---- what the program maps ---- */

typedef void *(*mmap_fn)(void *, size_t, int, int, int, off_t);

static void *call_mmap(enum ep_interposed which, void *address, size_t size, int protection,
		       int flags, int fd, off_t offset)
{
	ep_any_fn real = ep_interpose_ready(which);

	if (real)
		return ((mmap_fn)(void (*)(void))real)(address, size, protection, flags, fd,
						       offset);
	return (void *)returned(
		ep_syscall6(SYS_mmap, (long)address, (long)size, protection, flags, fd, offset));
}

static void *map(enum ep_interposed which, void *address, size_t size, int protection, int flags,
		 int fd, off_t offset)
{
	int error = errno;
	void *got;

	if (address && meets_arena((uint64_t)address, (size + PAGE - 1) & -PAGE)) {
		if ((flags & MAP_PLACED) == MAP_FIXED)
			give_up((uint64_t)address, (size + PAGE - 1) & -PAGE);
		else /* A wish, which something else may be in the way of as well. */
			ep_arena_yield((uint64_t)address, (uint64_t)address + size);
	}
	got = call_mmap(which, address, size, protection, flags, fd, offset);
	if (got != MAP_FAILED || errno != ENOMEM || !ep_arena || ep_overwritten() ||
	    ep_inherit() != EP_INHERIT_NOTHING || !ep_arena_is_limited() || !ep_arena_give_back(0))
		return got;
	errno = error;
	return call_mmap(which, address, size, protection, flags, fd, offset);
}

EP_INTERPOSER void *EP_INTERPOSER_NAME(mmap)(void *address, size_t size, int protection, int flags,
					     int fd, off_t offset);
EP_INTERPOSER void *EP_INTERPOSER_NAME(mmap64)(void *address, size_t size, int protection,
					       int flags, int fd, off_t offset);

void *EP_INTERPOSER_NAME(mmap)(void *address, size_t size, int protection, int flags, int fd,
			       off_t offset)
{
	return map(EP_REAL_mmap, address, size, protection, flags, fd, offset);
}

void *EP_INTERPOSER_NAME(mmap64)(void *address, size_t size, int protection, int flags, int fd,
				 off_t offset)
{
	return map(EP_REAL_mmap64, address, size, protection, flags, fd, offset);
}

typedef void *(*mremap_fn)(void *, size_t, size_t, int, void *);

EP_INTERPOSER void *EP_INTERPOSER_NAME(mremap)(void *from, size_t old_size, size_t size, int flags,
					       ...);

void *EP_INTERPOSER_NAME(mremap)(void *from, size_t old_size, size_t size, int flags, ...)
{
	ep_any_fn real = ep_interpose_ready(EP_REAL_mremap);
	void *to = NULL;
	va_list rest;

	if (flags & (MREMAP_FIXED | 4 /* MREMAP_DONTUNMAP */)) {
		va_start(rest, flags);
		to = va_arg(rest, void *);
		va_end(rest);
	}
	if (meets_arena((uint64_t)from, old_size ? old_size : size))
		give_up((uint64_t)from, old_size ? old_size : size);
	if (flags & MREMAP_FIXED && meets_arena((uint64_t)to, size))
		give_up((uint64_t)to, size);
	if (real)
		return ((mremap_fn)(void (*)(void))real)(from, old_size, size, flags, to);
	return (void *)returned(
		ep_syscall5(SYS_mremap, (long)from, (long)old_size, (long)size, flags, (long)to));
}

/* ---- what it unmaps, protects, advises ---- */

static int call_ranged(enum ep_interposed which, long number, uint64_t start, uint64_t size,
		       int how)
{
	ep_any_fn real = ep_interpose_ready(which);

	if (!real)
		return (int)returned(ep_syscall3(number, (long)start, (long)size, how));
	return ((int (*)(uint64_t, uint64_t, int))(void (*)(void))real)(start, size, how);
}

/* What lies before the arena and what lies behind it; `how` is the third argument. */
static int around(enum ep_interposed which, long number, uint64_t start, uint64_t size, int how)
{
	uint64_t end, arena, arena_end;
	int result = 0;

	if (start % PAGE || !meets_arena(start, size))
		return call_ranged(which, number, start, size, how);
	end = (start + size + PAGE - 1) & -PAGE;
	arena = ep_truth.arena;
	arena_end = arena + ep_truth.size;
	if (start < arena)
		result =
			call_ranged(which, number, start, (end < arena ? end : arena) - start, how);
	if (!result && end > arena_end)
		result = call_ranged(which, number, start > arena_end ? start : arena_end,
				     end - (start > arena_end ? start : arena_end), how);
	return result;
}

EP_INTERPOSER int EP_INTERPOSER_NAME(munmap)(void *start, size_t size);
EP_INTERPOSER int EP_INTERPOSER_NAME(mprotect)(void *start, size_t size, int protection);
EP_INTERPOSER int EP_INTERPOSER_NAME(madvise)(void *start, size_t size, int advice);

int EP_INTERPOSER_NAME(munmap)(void *start, size_t size)
{
	return around(EP_REAL_munmap, SYS_munmap, (uint64_t)start, size, 0);
}

int EP_INTERPOSER_NAME(mprotect)(void *start, size_t size, int protection)
{
	return around(EP_REAL_mprotect, SYS_mprotect, (uint64_t)start, size, protection);
}

int EP_INTERPOSER_NAME(madvise)(void *start, size_t size, int advice)
{
	return around(EP_REAL_madvise, SYS_madvise, (uint64_t)start, size, advice);
}

/* ---- limits ---- */

typedef int (*limit_fn)(unsigned long a, unsigned long b, const struct rlimit *c, struct rlimit *d);

static void before_limit(unsigned long pid, unsigned long resource, const struct rlimit *new)
{
	if ((resource == RLIMIT_AS || resource == RLIMIT_DATA) && new &&ep_arena &&
	    !ep_overwritten() && (!pid || pid == epitaph_root.pid) &&
	    ep_inherit() == EP_INHERIT_NOTHING)
		ep_arena_limit((int)resource, new->rlim_cur);
}

static int set_limit(enum ep_interposed which, uint64_t place, unsigned long resource,
		     const struct rlimit *new)
{
	ep_any_fn real = ep_interpose_known(which, place);

	before_limit(0, resource, new);
	if (!real)
		return (int)returned(ep_syscall4(SYS_prlimit64, 0, (long)resource, (long)new, 0));
	return ((limit_fn)(void (*)(void))real)(resource, (unsigned long)new, NULL, NULL);
}

static int set_limit_of(enum ep_interposed which, uint64_t place, unsigned long pid,
			unsigned long resource, const struct rlimit *new, struct rlimit *old)
{
	ep_any_fn real = ep_interpose_known(which, place);

	before_limit((uint32_t)pid, resource, new);
	if (!real)
		return (int)returned(ep_syscall4(SYS_prlimit64, (long)pid, (long)resource,
						 (long)new, (long)old));
	return ((limit_fn)(void (*)(void))real)(pid, resource, new, old);
}

/* As <sys/resource.h> declares them, with and without a suffix. */
#define LIMITS(suffix)                                                                             \
	EP_INTERPOSER int EP_INTERPOSER_NAME(setrlimit##suffix)(__rlimit_resource_t resource,      \
								const struct rlimit##suffix *new); \
	int EP_INTERPOSER_NAME(setrlimit##suffix)(__rlimit_resource_t resource,                    \
						  const struct rlimit##suffix *new)                \
	{                                                                                          \
		return set_limit(EP_REAL_setrlimit##suffix, EP_PLACE, resource,                    \
				 (const struct rlimit *)new);                                      \
	}                                                                                          \
	EP_INTERPOSER int EP_INTERPOSER_NAME(prlimit##suffix)(                                     \
		pid_t pid, __rlimit_resource_t resource, const struct rlimit##suffix *new,         \
		struct rlimit##suffix *old);                                                       \
	int EP_INTERPOSER_NAME(prlimit##suffix)(pid_t pid, __rlimit_resource_t resource,           \
						const struct rlimit##suffix *new,                  \
						struct rlimit##suffix *old)                        \
	{                                                                                          \
		return set_limit_of(EP_REAL_prlimit##suffix, EP_PLACE, (uint32_t)pid, resource,    \
				    (const struct rlimit *)new, (struct rlimit *)old);             \
	}

LIMITS()
LIMITS(64)

/* ---- mlockall ---- */

static char maps_buffer[EP_MAPS_BUFFER];
static uint32_t reading;

/* What of a mapping is the program's: the arena and the links of its rings are not. */
static bool is_ours(const struct ep_map_line *line)
{
	return (line->start < ep_truth.arena + ep_truth.size && line->end > ep_truth.arena) ||
	       ep_pool_owns(line->start);
}

/* Each mapping of the program's: its bytes; `lock`: they are locked (mlock2's flags). */
static uint64_t each_mapping(bool lock, int flags)
{
	struct ep_map_line line;
	struct ep_maps maps;
	uint64_t all = 0;

	if (!ep_maps_open(&maps, maps_buffer))
		return UINT64_MAX;
	while (ep_maps_next(&maps, &line)) {
		if (is_ours(&line) || line.start > INT64_MAX)
			continue;
		all += line.end - line.start;
		/* What cannot be filled (PROT_NONE) is locked all the same, as by mlockall. */
		if (lock)
			ep_syscall3(SYS_mlock2, (long)line.start, (long)(line.end - line.start),
				    flags);
	}
	ep_maps_close(&maps);
	return maps.failed ? UINT64_MAX : all;
}

/* As the kernel (mm/mlock.c), which asks for all of the address space to be within the limit: the
 * arena is no part of it, and stays unlocked. */
static int lock_without_arena(unsigned flags)
{
	struct rlimit limit;
	int result = -ENOMEM;

	if (ep_syscall4(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, (long)&limit) ||
	    __atomic_exchange_n(&reading, 1, __ATOMIC_ACQUIRE))
		return result;
	if (each_mapping(false, 0) <= limit.rlim_cur) {
		/* What comes is locked from now on, or no more. */
		if (flags & MCL_FUTURE)
			ep_syscall1(SYS_mlockall, (long)(flags & ~(unsigned)MCL_CURRENT));
		else
			ep_syscall0(SYS_munlockall);
		each_mapping(true, flags & MCL_ONFAULT ? 1 /* MLOCK_ONFAULT */ : 0);
		result = 0;
	}
	__atomic_store_n(&reading, 0, __ATOMIC_RELEASE);
	return result;
}

/* `result`: the kernel's answer. */
static int after_mlockall(unsigned flags, int result)
{
	struct rlimit limit;

	if (!ep_arena || ep_overwritten() || ep_jailed() || ep_inherit() != EP_INHERIT_NOTHING ||
	    !(flags & MCL_CURRENT))
		return result;
	if (result == -ENOMEM)
		return lock_without_arena(flags);
	/* Of the limit the arena takes nothing. */
	if (!result && !ep_syscall4(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, (long)&limit) &&
	    limit.rlim_cur != RLIM_INFINITY)
		ep_syscall2(SYS_munlock, (long)ep_truth.arena, (long)ep_truth.size);
	return result;
}

EP_INTERPOSER int EP_INTERPOSER_NAME(mlockall)(int flags);

int EP_INTERPOSER_NAME(mlockall)(int flags)
{
	ep_any_fn real = ep_interpose_known(EP_REAL_mlockall, EP_PLACE);
	int error = errno, result;

	if (real)
		result = ((int (*)(int))(void (*)(void))real)(flags) ? -errno : 0;
	else
		result = (int)ep_syscall1(SYS_mlockall, flags);
	result = after_mlockall((unsigned)flags, result);
	errno = result ? -result : error;
	return result ? -1 : 0;
}

/* ---- by syscall(2) ---- */

static long mlockall_by_call(long number, int flags)
{
	int result = after_mlockall((unsigned)flags, (int)ep_syscall1(number, flags));

	return returned(result);
}

ep_any_fn ep_memory_before_syscall(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
	if (number == SYS_setrlimit)
		before_limit(0, a, (const struct rlimit *)b);
	if (number == SYS_prlimit64)
		before_limit((uint32_t)a, b, (const struct rlimit *)c);
	return number == SYS_mlockall ? (ep_any_fn)(void (*)(void))mlockall_by_call : NULL;
}
