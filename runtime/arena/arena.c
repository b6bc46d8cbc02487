/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena.c: reserves the arena, lays out its sections, opens it as it grows and publishes the root.
 * The arena's address is decided once; a forked child empties it in place.
 */
#include "runtime/arena/arena.h"

#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime/arena/backing.h"
#include "runtime/arena/rescue.h"
#include "runtime/format_watchdogs.h"
#include "runtime/format_switches.h"
#include "runtime/lib/files.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/tsc.h"

#define PAGE 4096ull
#define KIB  1024ull
/* An arena that is smaller has no room for stacks. */
#define STACKS_FROM (8 * 1024 * KIB)
#define GIB         (KIB * KIB * KIB)
#define SMALLEST    (256 * KIB)
#define LOW_TRIES   32
/* Of the memory that a limit leaves the process. */
#define SHARE 16
/* A non-PIE program and its heap begin at 4 MiB: below that there is room. */
#define NON_PIE_PLACE 0x100000ull
#define NON_PIE_ROOM  (3 * KIB * KIB)

/* Fills a new arena. */
static void (*describe)(bool inherited);

/* A page that the kernel empties in a forked child, however it forked. */
static uint32_t *parent_word EP_IN_DATA;

static uint64_t random_word(void)
{
	uint64_t word = 0;

	/* GRND_NONBLOCK: early in boot there may be no entropy. */
	if (ep_syscall3(SYS_getrandom, (long)&word, sizeof(word), 1) != sizeof(word)) {
		word = ep_tsc() * 0x9e3779b97f4a7c15ull;
		word ^= word >> 29 ^ (uintptr_t)&word;
	}
	return word;
}

/* Of a file, where fd is one. */
static uint64_t map_at(uint64_t address, uint64_t size, int fd, int flags)
{
	long got = ep_syscall6(
		SYS_mmap, (long)address, (long)size, PROT_NONE,
		(fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | MAP_NORESERVE | flags, fd, 0);

	if (got < 0 && got > -4096)
		return 0;
	if (address && (uint64_t)got != address) {
		/* A kernel before 4.17 takes the address for a hint. */
		ep_syscall2(SYS_munmap, got, (long)size);
		return 0;
	}
	return (uint64_t)got;
}

/* Low, so that a core cut short still has it; at random, so that its address tells nothing about
 * the code's. */
static uint64_t place(uint64_t size, int fd)
{
	uint64_t got = 0;

	if (size <= NON_PIE_ROOM && getauxval(AT_PHDR) < GIB)
		got = map_at(NON_PIE_PLACE, size, fd, MAP_FIXED_NOREPLACE);
	for (int i = 0; i < LOW_TRIES && !got; i++)
		got = map_at(4 * GIB + random_word() % (60 * GIB / PAGE) * PAGE, size, fd,
			     MAP_FIXED_NOREPLACE);
	return got ? got : map_at(0, size, fd, 0);
}

uint64_t ep_arena_reserve(uint64_t size)
{
	return place(size, -1);
}

/* ---- limits ---- */

/* Pages as /proc/self/statm has them: all, and those of data and stack. */
static bool read_sizes(uint64_t *all, uint64_t *data)
{
	char text[256];
	const char *at = text, *end;
	long got = ep_fd_load_own("statm", text, sizeof text);
	uint64_t value = 0;

	if (got <= 0)
		return false;
	end = text + got;
	for (int i = 0; i < 6; i++) {
		if (!ep_text_number(&at, end, 10, &value))
			return false;
		if (i == 0)
			*all = value * PAGE;
		while (at < end && *at == ' ')
			at++;
	}
	*data = value * PAGE;
	return true;
}

static uint64_t limit_of(int resource)
{
	struct rlimit limit;

	if (ep_syscall4(SYS_prlimit64, 0, resource, 0, (long)&limit))
		return RLIM_INFINITY;
	return limit.rlim_cur;
}

static uint64_t share_of(uint64_t limit, uint64_t used)
{
	return limit == RLIM_INFINITY ? UINT64_MAX : limit > used ? (limit - used) / SHARE : 0;
}

/* Bytes that the arena may take beyond `own`, which it has, where address space and data are
 * limited to these: what the program would get without it, it is to get. */
static uint64_t room(uint64_t address_space, uint64_t data, uint64_t own, uint64_t own_data)
{
	uint64_t all, writable, one, other;

	if ((address_space == RLIM_INFINITY && data == RLIM_INFINITY) ||
	    !read_sizes(&all, &writable))
		return UINT64_MAX;
	one = share_of(address_space, all > own ? all - own : 0);
	other = share_of(data, writable > own_data ? writable - own_data : 0);
	return one < other ? one : other;
}

static uint64_t size_at_start(void)
{
	uint64_t size = (ep_settings.memory_size + PAGE - 1) & -PAGE;
	uint64_t most = room(limit_of(RLIMIT_AS), limit_of(RLIMIT_DATA), 0, 0) & -PAGE;

	return size < most ? size : most;
}

static bool open_bytes(uint64_t offset, uint64_t size)
{
	char *at = (char *)ep_arena + offset;

	return ep_syscall3(SYS_mprotect, (long)at, (long)size, PROT_READ | PROT_WRITE) == 0;
}

/* What changes from one generation to the next. */
static void identify(void)
{
	ep_backing_publish();
	epitaph_root.pid = (uint32_t)ep_syscall0(SYS_getpid);
	epitaph_root.identity = random_word();
	ep_root_publish();
}

static uint64_t add_section(uint32_t type, uint32_t entry_size, uint64_t offset, uint64_t size)
{
	struct ep_section section = {type, entry_size, offset, size};

	ep_truth.section[ep_truth.sections++] = section;
	if (type == EP_SECTION_THREADS) {
		ep_truth.threads = ep_truth.arena + offset;
		ep_truth.threads_size = size;
	}
	if (type == EP_SECTION_RINGS)
		ep_truth.rings = ep_truth.arena + offset;
	ep_arena->sections[ep_arena->section_count++] = section;
	return offset + size;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	value = value < low ? low : value > high ? high : value;
	return (value + PAGE - 1) & -PAGE;
}

/* Bytes for scheduling events; 0: none are wanted, or it would be too small to be of use. */
static uint64_t sched_size(uint64_t all)
{
	uint64_t size = ep_settings.sched_memory / 2;

	if (size > all / 8)
		size = all / 8;
	size &= -PAGE;
	return ep_settings.sched && size >= EP_SCHED_LEAST ? size : 0;
}

/* What the sections are laid out for, in every generation; the last one ends where the arena does,
 * which may be sooner (ep_arena_give_back). */
static uint64_t laid_out_for;

/* Sizes in proportion to the memory; rings take what is left, at the end. */
static uint64_t lay_out(void)
{
	uint64_t all = laid_out_for, end = epitaph_root.arena_size, at = PAGE;
	/* An entry for each block. */
	uint64_t threads =
		clamp(all / EP_BLOCK_SIZE * sizeof(struct ep_thread), 2 * PAGE, 4 * KIB * KIB);
	uint64_t sched = sched_size(all);

	ep_arena->section_count = ep_truth.sections = 0;
	at = add_section(EP_SECTION_PROCESS, sizeof(struct ep_process), at,
			 clamp(all / 512, PAGE, 16 * PAGE));
	at = add_section(EP_SECTION_CLOCK, sizeof(struct ep_clock), at, PAGE);
	at = add_section(EP_SECTION_THREADS, sizeof(struct ep_thread), at, threads);
	at = add_section(EP_SECTION_MODULES, sizeof(struct ep_module), at,
			 clamp(all / 64, 4 * PAGE, 1024 * KIB));
	at = add_section(EP_SECTION_KEPT, sizeof(struct ep_kept), at, PAGE);
	at = add_section(EP_SECTION_WATCHDOGS, sizeof(struct ep_watchdog), at, 2 * PAGE);
	at = add_section(EP_SECTION_SWITCHES, sizeof(struct ep_switched), at,
			 clamp(all / 64, PAGE, 1024 * KIB));
	if (all >= STACKS_FROM)
		at = add_section(EP_SECTION_STACKS, sizeof(struct ep_stack_taken), at,
				 clamp(all / 128, 64 * KIB, 2048 * KIB));
	if (ep_settings.looks && !ep_settings.counting && !ep_settings.min_duration)
		at = add_section(EP_SECTION_LOOKS, sizeof(struct ep_look_taken), at,
				 clamp(all / 256, PAGE, 1024 * KIB));
	if (sched)
		at = add_section(EP_SECTION_SCHED, sizeof(struct ep_sched), at, sched);
	if (!ep_settings.counting) {
		add_section(EP_SECTION_RINGS, sizeof(struct ep_block), at, end - at);
		return at;
	}
	/* Readers of older versions look for rings. */
	add_section(EP_SECTION_RINGS, sizeof(struct ep_block), at, 0);
	add_section(EP_SECTION_COUNTS, sizeof(struct ep_counts_extent), at, end - at);
	return at + PAGE;
}

/* `gate` and `timestamp_every` may have changed since the start: a forked child begins with its
 * parent's. */
static void record_settings(uint32_t gate, uint32_t timestamp_every)
{
	ep_arena->block_size = EP_BLOCK_SIZE;
	ep_arena->timestamp_every = timestamp_every;
	ep_arena->ring_size = ep_settings.ring_most;
	ep_arena->memory_size = ep_settings.memory_size;
	ep_arena->keep_size = ep_settings.keep_size;
	ep_arena->clock_budget = ep_settings.clock_budget;
	ep_arena->settings_refused = ep_settings.refused;
	ep_arena->gate = gate | (ep_settings.counting ? EP_GATE_COUNTING : 0);
	/* A pause like any other: calls before its end are unknown. */
	ep_arena->pauses = gate != 0;
}

static void watch_for_forks(void)
{
	long page = ep_syscall6(SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page < 0 && page > -4096)
		return;
	if (ep_syscall3(SYS_madvise, page, PAGE, MADV_WIPEONFORK) != 0) {
		ep_syscall2(SYS_munmap, page, PAGE);
		return;
	}
	*(uint32_t *)page = 1;
	parent_word = (uint32_t *)page;
}

/* All below it is open, while `committed` may be ahead. */
static uint64_t opened;

static void note_opened(uint64_t end)
{
	uint64_t before = __atomic_load_n(&opened, __ATOMIC_RELAXED);

	while (before < end && !__atomic_compare_exchange_n(&opened, &before, end, false,
							    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

uint64_t ep_arena_opened(void)
{
	return __atomic_load_n(&opened, __ATOMIC_ACQUIRE);
}

/* The head of the arena is always opened whole: its pages cost nothing until they are touched, but
 * those of a file must be there by then. */
static bool open_head(uint32_t gate, uint32_t timestamp_every)
{
	uint64_t head;

	if (!open_bytes(0, PAGE) ||
	    (ep_backing_on() && !ep_backing_allocate((uint64_t)ep_arena, PAGE)))
		return false;
	head = lay_out();
	if (!open_bytes(0, head) ||
	    (ep_backing_on() && !ep_backing_allocate((uint64_t)ep_arena, head)))
		return false;
	ep_arena->committed = opened = head;
	record_settings(gate, timestamp_every);
	identify();
	return true;
}

static void set_place(uint64_t address, uint64_t size)
{
	ep_arena = (struct ep_arena *)address;
	epitaph_root.arena_address = address;
	epitaph_root.arena_size = address ? size : 0;
	ep_truth.arena = address;
	ep_truth.size = epitaph_root.arena_size;
	if (!address)
		ep_bytes_zero(ep_truth.section, sizeof ep_truth.section);
}

/* Opens what is mapped at [address, address + size). A file is given its name when all that readers
 * want is in it: whenever the process is killed, what is left is whole, and nobody takes it for one
 * that is left over. */
static bool begin_at(uint64_t address, uint64_t size, uint32_t gate, uint32_t timestamp_every)
{
	set_place(address, size);
	laid_out_for = size;
	if (address && open_head(gate, timestamp_every)) {
		describe(false);
		if (!ep_backing_on() || ep_backing_name()) {
			ep_backing_publish(); /* %n is known by now */
			ep_root_publish();
			ep_rescue_prepare();
			return true;
		}
	}
	set_place(0, 0);
	return false;
}

static uint32_t gate_at_start(void)
{
	return ep_settings.on ? 0 : EP_GATE_OFF | EP_GATE_FLIP;
}

static bool start_in_file(uint64_t size)
{
	uint32_t gate = gate_at_start();
	int fd = size < SMALLEST ? -1 : ep_backing_create(size);
	uint64_t got = fd < 0 ? 0 : place(size, fd);

	if (fd < 0)
		return false;
	if (begin_at(got, size, gate, ep_settings.timestamp_every))
		return true;
	ep_backing_drop();
	if (got)
		ep_syscall2(SYS_munmap, (long)got, (long)size);
	return false;
}

static bool start_private(uint64_t size)
{
	uint32_t gate = gate_at_start();
	uint64_t got = 0;

	for (; size >= SMALLEST && !got; size = got ? size : size / 2 & -PAGE)
		got = place(size, -1);
	/* After mlockall(MCL_FUTURE) it is locked, and counts. */
	if (got)
		ep_syscall2(SYS_munlock, (long)got, (long)size);
	return begin_at(got, size, gate, ep_settings.timestamp_every);
}

bool ep_arena_start(void (*fill)(bool inherited))
{
	uint64_t size = size_at_start();

	describe = fill;
	epitaph_root.major = EP_FORMAT_MAJOR;
	epitaph_root.minor = EP_FORMAT_MINOR;
	epitaph_root.size = sizeof(epitaph_root);
	epitaph_root.arch = EP_ARCH_X86_64;
	if (start_in_file(size) || start_private(size)) {
		watch_for_forks();
		return true;
	}
	epitaph_root.off_reason = EP_OFF_NO_MEMORY;
	identify();
	return false;
}

uint64_t ep_arena_free(void)
{
	uint64_t committed = __atomic_load_n(&ep_arena->committed, __ATOMIC_RELAXED);

	return epitaph_root.arena_size - committed;
}

/* Gives back what was grown, unless somebody has grown past it. */
static uint64_t shrink(uint64_t at, uint64_t size)
{
	uint64_t end = at + size;

	__atomic_compare_exchange_n(&ep_arena->committed, &end, at, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	return 0;
}

/* Now, so that no hook ever takes a page fault (Linux 5.14). */
static bool populate(uint64_t at, uint64_t size)
{
	uint64_t address = (uint64_t)ep_arena + at;
	struct ep_process *facts;

	if (!ep_backing_on()) {
		ep_syscall3(SYS_madvise, (long)address, (long)size, 23 /* MADV_POPULATE_WRITE */);
		return true;
	}
	if (ep_backing_allocate(address, size))
		return true;
	facts = ep_arena_section(EP_SECTION_PROCESS, NULL);
	__atomic_fetch_add(&facts->file_full, 1, __ATOMIC_RELAXED);
	return false;
}

static uint64_t grow(uint64_t size)
{
	uint64_t at = __atomic_load_n(&ep_arena->committed, __ATOMIC_RELAXED);

	do {
		if (at > epitaph_root.arena_size || size > epitaph_root.arena_size - at)
			return 0;
	} while (!__atomic_compare_exchange_n(&ep_arena->committed, &at, at + size, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	/* From the start: opened piece by piece, two threads' pieces in the wrong order would stay
	 * two mappings, and two segments of a core. */
	ep_rescue_grown(at + size);
	if (!open_bytes(0, at + size) || !populate(at, size))
		return shrink(at, size);
	note_opened(at + size);
	return at;
}

uint64_t ep_arena_grow(uint64_t size)
{
	uint64_t at;

	ep_rescue_hold();
	at = grow(size);
	ep_rescue_release();
	/* Nobody has touched what is missing, so no signal came. */
	if (!at && ep_backing_on() && ep_backing_cut(epitaph_root.arena_size) &&
	    ep_rescue((uint64_t)ep_arena)) {
		ep_rescue_hold();
		at = grow(size);
		ep_rescue_release();
	}
	return at;
}

/* Nobody grows it meanwhile. */
static void cut_at(uint64_t end)
{
	uint64_t size = epitaph_root.arena_size;
	struct ep_section *last = &ep_arena->sections[ep_arena->section_count - 1];
	struct ep_section *truth = &ep_truth.section[ep_truth.sections - 1];

	last->size = truth->size = end - truth->offset;
	epitaph_root.arena_size = ep_truth.size = end;
	ep_root_publish();
	ep_syscall2(SYS_munmap, (long)ep_arena + (long)end, (long)(size - end));
}

uint64_t ep_arena_give_back(uint64_t keep)
{
	uint64_t given = 0, end, mask;

	/* A file keeps the size that its head tells. */
	if (!ep_arena || ep_backing_on() || ep_arena_forked() || !ep_arena_intact())
		return 0;
	/* A handler's hook would wait for ever. */
	mask = ep_signals_block(0);
	if (!ep_rescue_keep_out()) {
		ep_signals_restore(mask);
		return 0;
	}
	end = __atomic_load_n(&ep_arena->committed, __ATOMIC_RELAXED);
	if (keep < epitaph_root.arena_size - end) {
		end += keep & -PAGE;
		given = epitaph_root.arena_size - end;
		if (given)
			cut_at(end);
	}
	ep_rescue_let_in();
	ep_signals_restore(mask);
	return given;
}

void ep_arena_limit(int resource, uint64_t limit)
{
	uint64_t other = resource == RLIMIT_AS ? RLIMIT_DATA : RLIMIT_AS;
	uint64_t size = epitaph_root.arena_size, open;

	if (!ep_arena || ep_jailed() || limit == RLIM_INFINITY)
		return;
	open = __atomic_load_n(&ep_arena->committed, __ATOMIC_RELAXED);
	other = limit_of((int)other);
	ep_arena_give_back(room(resource == RLIMIT_AS ? limit : other,
				resource == RLIMIT_AS ? other : limit, size - open, 0));
}

bool ep_arena_is_limited(void)
{
	return !ep_jailed() &&
	       (limit_of(RLIMIT_AS) != RLIM_INFINITY || limit_of(RLIMIT_DATA) != RLIM_INFINITY);
}

bool ep_arena_yield(uint64_t start, uint64_t end)
{
	uint64_t arena = ep_truth.arena, open;

	if (ep_overwritten() || !ep_arena || start >= arena + ep_truth.size || end <= arena)
		return true;
	open = arena + __atomic_load_n(&ep_arena->committed, __ATOMIC_RELAXED);
	if (start >= open)
		ep_arena_give_back((start - open) & -PAGE);
	return start >= arena + ep_truth.size;
}

bool ep_arena_forked(void)
{
	if (!parent_word || *parent_word)
		return false;
	/* A handler of a fault may have written there. */
	return !ep_faults_run() || (uint32_t)ep_syscall0(SYS_getpid) != epitaph_root.pid;
}

/* Nothing may be written to the parent's file, so what comes in its place is there before anything
 * else. */
static void leave_parents_file(uint32_t gate, uint32_t every)
{
	uint64_t at = (uint64_t)ep_arena, size = epitaph_root.arena_size;
	int fd = ep_backing_forget() ? ep_backing_create(size) : -1;

	map_at(at, size, fd, MAP_FIXED);
	if (begin_at(at, size, gate, every))
		return;
	ep_backing_drop();
	map_at(at, size, -1, MAP_FIXED);
	begin_at(at, size, gate, every);
}

/* A child is what its parent was but for a few numbers, which is cheaper than to ask for all. */
static bool is_inherited(const struct ep_section *section)
{
	return section->type == EP_SECTION_PROCESS || section->type == EP_SECTION_CLOCK ||
	       section->type == EP_SECTION_MODULES;
}

static void empty(uint64_t from, uint64_t to)
{
	if (from < to)
		ep_syscall3(SYS_madvise, (long)ep_arena + (long)from, (long)(to - from),
			    MADV_DONTNEED);
}

/* Fresh zero pages in place of the parent's, at the same address. */
static void empty_arena(void)
{
	uint64_t at = 0, end = ep_arena->committed;

	for (uint32_t i = 0; i < ep_truth.sections; i++) {
		const struct ep_section *section = &ep_truth.section[i];

		if (!is_inherited(section))
			continue;
		empty(at, section->offset);
		at = section->offset + section->size;
	}
	empty(at, end);
}

void ep_arena_restart(void)
{
	uint32_t gate = ep_arena->gate & (EP_GATE_OFF | EP_GATE_FLIP | EP_GATE_CONTROL);
	uint32_t every = ep_arena->timestamp_every;
	uint64_t untold = ep_arena->modules_untold;
	uint32_t blind = ep_arena->blind;

	if (parent_word)
		*parent_word = 1;
	epitaph_root.generation++;
	if (ep_backing_on()) {
		leave_parents_file(gate, every);
		ep_arena->blind = blind;
		return;
	}
	empty_arena();
	ep_arena->committed = opened = lay_out();
	record_settings(gate, every);
	ep_arena->modules_untold = untold;
	ep_arena->blind = blind;
	identify();
	describe(true);
}
