/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * format.h: THE layout of everything that the runtime leaves in memory and that readers take from a
 * core.
 *
 * One file owns it: C includes it, assembly and Python get their constants generated from it. All
 * fields are fixed width, little endian, naturally aligned; there are no pointers, enums or
 * bit-fields. docs/format.md tells it in words. A change here changes EP_FORMAT_MINOR (old readers
 * may go on) or EP_FORMAT_MAJOR (they must refuse), in the same commit.
 *
 * "reserved" fields are written 0 and a reader refuses other values; "unused" fields are ignored by
 * a reader.
 *
 *   arena: one address range, opened from its start up to `committed`
 *   ┌──────────┬─────────┬───────┬─────────┬─────────┬───────┬──────────────┐
 *   │ ep_arena │ PROCESS │ CLOCK │ THREADS │ MODULES │ SCHED │ RINGS: 4 KiB │
 *   │ (1 page) │         │       │         │ strings │       │ blocks       │
 *   └──────────┴─────────┴───────┴─────────┴─────────┴───────┴──────────────┘
 * In a process that counts calls, COUNTS lies there instead, and RINGS is empty.
 */
#ifndef EPITAPH_FORMAT_H
#define EPITAPH_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define EP_FORMAT_MAJOR 1
#define EP_FORMAT_MINOR 10

/* ---- the root: a page of its own in the runtime's data (symbol epitaph_root),
 * and a copy that opens the arena ---- */

/* 8 bytes each, no NUL: the root in the runtime's data; the arena's copy. */
#define EP_ROOT_MAGIC  "EPITROOT"
#define EP_ARENA_MAGIC "EPITARNA"
#define EP_MAGIC_SIZE  8

#define EP_ARCH_X86_64 62 /* = EM_X86_64 */

/* Valid when magic, major, size and crc are right and `self` is the address at which it was
 * found. */
struct ep_root {
	char magic[EP_MAGIC_SIZE];
	uint16_t major;
	uint16_t minor;
	uint32_t size;          /* bytes: sizeof(struct ep_root) of the writer */
	uint64_t self;          /* process virtual address of this very struct */
	uint64_t arena_address; /* process virtual address; 0: no arena (see off_reason) */
	uint64_t arena_size;    /* bytes reserved, a multiple of the page size */
	uint32_t pid;           /* in the process's own pid namespace */
	uint32_t generation;    /* forks between the first traced process and this one */
	uint64_t identity;      /* random, the same in root and arena, another one after a fork */
	uint32_t arch;          /* EP_ARCH_ */
	uint32_t off_reason;    /* EP_OFF_: why there is no arena */
	/* EPITAPH_FILE: the file that the arena is a shared mapping of, from its first byte on;
	 * such memory is not in a default core. All 0: none
	 */
	uint64_t file_device; /* st_dev */
	uint64_t file_inode;  /* st_ino */
	uint32_t file_path;   /* bytes from the root's first byte to the absolute path, in the same
				 page; not in the arena's copy */
	uint32_t file_path_size; /* bytes, no NUL counted; 0: did not fit */
	uint8_t unused[36];
	uint32_t crc; /* CRC-32 (IEEE 802.3, as zlib's) of the bytes before it */
};
static_assert(sizeof(struct ep_root) == 128, "format");
static_assert(offsetof(struct ep_root, crc) == 124, "format");

/* Why tracing is off for good. */
#define EP_OFF_NONE      0
#define EP_OFF_NO_MEMORY 1 /* no arena could be mapped */
#define EP_OFF_ADDRESS   2 /* a code address needs more than 47 bits (LA57) */
/* another runtime in this process came first */
#define EP_OFF_OTHER_RUNTIME 3
/* the program wrote over the runtime's memory, and tracing ended there; in the root only, as
 * nothing is written to the arena then */
#define EP_OFF_OVERWRITTEN 4
#define EP_OFF_NO_TSC      5 /* it gave up reading the TSC; in the root only */
/* (1.9) The program mapped something of its own over the arena; in the root only, whose
 * arena_address is 0. */
#define EP_OFF_MAPPED_OVER 6

/* The ELF note in every object that holds a runtime: name "EPITAPH", descriptor struct
 * ep_root_note. */
#define EP_NOTE_NAME "EPITAPH" /* with its NUL: namesz 8 */
#define EP_NOTE_ROOT 1
/* Since 1.6 "EPIT", which nobody takes for a type of theirs; 2 before, which eu-readelf shows as
 * NT_FPREGSET whatever the name. */
#define EP_NOTE_SNAPSHOT     0x45504954
#define EP_NOTE_SNAPSHOT_1_5 2

struct ep_root_note {
	int64_t root_offset; /* bytes from this descriptor's own first byte to the root (same
				object, so link-time constant) */
};
static_assert(sizeof(struct ep_root_note) == 8, "format");

/* ---- the arena's first page ---- */

#define EP_SECTION_PROCESS   1 /* struct ep_process */
#define EP_SECTION_CLOCK     2 /* struct ep_clock */
#define EP_SECTION_THREADS   3 /* struct ep_thread [] */
#define EP_SECTION_MODULES   4 /* struct ep_modules */
#define EP_SECTION_RINGS     5 /* struct ep_block [], a block never straddles a page */
#define EP_SECTION_KEPT      6 /* struct ep_kept [] */
#define EP_SECTION_COUNTS    7 /* struct ep_counts_head, then extents */
#define EP_SECTION_SCHED     8 /* struct ep_sched; absent: none were wanted */
#define EP_SECTION_WATCHDOGS 9 /* struct ep_watchdog [] */
/* struct ep_stacks (likewise); absent: no room */
#define EP_SECTION_STACKS   10
#define EP_SECTION_LOOKS    12 /* struct ep_look_taken [] (1.10) */
#define EP_SECTION_SWITCHES 11 /* struct ep_switches, then struct ep_switched [] (1.7) */
/* types above 7 are for later minors; a reader ignores those it does not know */
#define EP_SECTION_MAX 16

struct ep_section {
	uint32_t type;       /* EP_SECTION_; 0: unused slot */
	uint32_t entry_size; /* bytes of one entry as the writer knew it; entries may grow at their
				end in a minor */
	uint64_t offset;     /* bytes from the arena's first byte, a multiple of 64 */
	uint64_t size; /* bytes reserved for it; what lies beyond `committed` is not there yet */
};
static_assert(sizeof(struct ep_section) == 24, "format");

/*
 * arena.gate: 0 runs. Each bit is somebody's pause; hooks record when all are clear. Bytes 1 and 2
 * are also written from outside, by stores of one byte that nobody else's bits lie in: the process
 * itself changes those two only by atomic operations on the whole word.
 */
#define EP_GATE_API     1u       /* epitaph_pause() */
#define EP_GATE_OLD_OFF 2u       /* EP_GATE_OFF of the versions 1.0 and 1.1 */
#define EP_GATE_STOPPED 8u       /* off for good: off_reason says why */
#define EP_GATE_CONTROL 0x100u   /* byte 1: `epitaph control PID pause` */
#define EP_GATE_OFF     0x10000u /* byte 2: EPITAPH=off, `epitaph control PID off` */
/* Byte 2, only beside EP_GATE_OFF (1.7): hooks that run are switched off in the code. The process
 * takes it back where it cannot do that. */
#define EP_GATE_FLIP 0x800000u
/* No pause: the process counts its calls (EPITAPH_MODE=count) while no other bit is set, and
 * records nothing. Never changes. */
#define EP_GATE_COUNTING 0x80000000u

struct ep_arena {
	struct ep_root root;      /* copy: magic is EP_ARENA_MAGIC, self is the arena's address */
	uint64_t committed;       /* bytes opened from the arena's start; grows only */
	uint32_t gate;            /* EP_GATE_ bits */
	uint32_t off_reason;      /* EP_OFF_ */
	uint32_t block_size;      /* bytes: EP_BLOCK_SIZE */
	uint32_t timestamp_every; /* setting: 0 auto, else 1..64; its first byte is also written
				     from outside */
	uint64_t ring_size;       /* setting: bytes, the most that one thread's ring may take */
	uint64_t memory_size; /* setting: bytes, EPITAPH_MEMORY as asked for (arena_size is what was
				 got) */
	uint64_t min_duration; /* setting: TSC cycles, 0 none */
	uint32_t clock_budget; /* setting: parts per million of a thread's time that reading the
				  clock may take */
	uint32_t section_count;
	/* what did not fit, or went wrong; all counts since start */
	uint64_t threads_without_ring;
	uint64_t threads_untold; /* more threads than the table holds */
	uint64_t modules_untold; /* more modules than the load map holds */
	uint64_t rings_reused; /* blocks that were left, and got another owner; before 1.7: rings */
	uint64_t settings_refused; /* bad values in the environment */
	uint64_t snapshots_written;
	uint64_t pauses;         /* times the process shut the gate */
	uint64_t control_pauses; /* times that it was shut from outside; written from there only */
	uint64_t kept_refused;   /* kept snapshots that there was no room for */
	/* in the arena of a kept snapshot only, else 0 */
	uint64_t kept_tsc;   /* when it was taken */
	uint64_t kept_since; /* whole blocks that ended before are left out; 0: none */
	uint64_t keep_size;  /* setting: bytes, EPITAPH_KEEP */
	uint32_t blind;      /* EP_BLIND_: what the runtime cannot see here */
	uint32_t watcher; /* tid of the runtime's thread that looks after the watchdogs, no part of
			     the program; 0: none */
	/* TSC until which threads wait where they would enter a block, as their rings are copied;
	 * one behind, or EP_HOLD_CYCLES ahead: they do not */
	uint64_t hold;
	struct ep_section sections[EP_SECTION_MAX];
	uint64_t marks_left_out; /* (1.9) of exceptions and jumps, that left no recorded call */
	uint32_t changer; /* (1.9) as `watcher`: of the thread that changes code; 0: none now */
	uint32_t looker;  /* (1.10) as `watcher`: of the thread that looks, where it does nothing
			     else; 0: none now */
};
static_assert(offsetof(struct ep_arena, committed) == 128, "format");
static_assert(offsetof(struct ep_arena, gate) == 136, "assembly and `epitaph control` rely on it");
static_assert(offsetof(struct ep_arena, hold) == 288, "written from outside");
static_assert(offsetof(struct ep_arena, marks_left_out) == 680, "format");
static_assert(sizeof(struct ep_arena) <= 4096, "one page");

/* How far ahead a hold may lie: 70 to 130 ms; whoever copies for longer sets it anew. It is set to
 * less: who looks may have an older counter (hold.c). */
#define EP_HOLD_CYCLES      (UINT64_C(1) << 28)
#define EP_HOLD_SET         (EP_HOLD_CYCLES - EP_HOLD_CYCLES / 16)
#define EP_HOLD_SINCE_MINOR 6 /* runtimes before do not know it */

/* arena.blind: shared libraries call an unwinder that nobody stands in front of, so that their
 * exceptions leave no marks */
#define EP_BLIND_EXCEPTIONS 1u
/* arena.blind (1.9): EPITAPH_ON_CRASH asked for a snapshot of the process's death, and none is
 * written, as the program set a filter of system calls that forbids it, or gave up the TSC. */
#define EP_BLIND_SNAPSHOT 2u

/* ---- process facts ---- */

/* A string in the same section: bytes [offset, offset + length) from the section's start, no NUL
 * counted. */
struct ep_string {
	uint32_t offset;
	uint32_t length;
};

struct ep_process {
	uint32_t pid;
	uint32_t parent_pid;
	uint32_t uid;
	uint32_t gid;
	uint64_t start_tsc;            /* TSC when the runtime started */
	uint64_t start_realtime;       /* ns since 1970, UTC */
	uint64_t page_size;            /* bytes */
	uint64_t cpus;                 /* online when started */
	struct ep_string executable;   /* /proc/self/exe's target */
	struct ep_string command_line; /* arguments separated by NUL bytes */
	struct ep_string directory;    /* working directory when started */
	struct ep_string host;         /* uname nodename */
	struct ep_string kernel;       /* uname release */
	struct ep_string cgroup;  /* /proc/self/cgroup's first line, for finding the container */
	struct ep_string runtime; /* the runtime's own version */
	/* who it was, so that one can tell whether it still runs */
	uint8_t boot_id[16];       /* /proc/sys/kernel/random/boot_id */
	uint64_t start_ticks;      /* /proc/PID/stat, field 22 */
	uint64_t pid_namespace;    /* inode of /proc/self/ns/pid; 0 unknown */
	struct ep_string oom_file; /* where the kernel counts the processes of this memory cgroup
				      that it killed */
	uint64_t oom_kills;        /* that count when started */
	/* of an arena in a file; counts since start */
	uint32_t file_full;   /* times that its file system had no room */
	uint16_t file_lost;   /* times that somebody cut the file off, and the arena went on in
				 private memory */
	uint16_t two_writers; /* children that wrote into the rest of a block of their parent's, as
				 no fork handler ran */
};
static_assert(sizeof(struct ep_process) == 160, "format");

/* ---- clock: TSC against the kernel's clocks ---- */

/* Valid when `check` = tsc ^ monotonic_raw ^ realtime ^ width ^ EP_ANCHOR_KEY and tsc is not 0. */
#define EP_ANCHOR_KEY UINT64_C(0x9e3779b97f4a7c15)

struct ep_anchor {
	uint64_t tsc;           /* middle of the bracketing reads */
	uint64_t monotonic_raw; /* ns */
	uint64_t realtime;      /* ns since 1970, UTC; read right after */
	uint64_t width; /* TSC cycles between the bracketing reads: tsc is when monotonic_raw was
			   read, to +- half of it */
	uint64_t check;
	uint64_t unused[3];
};
static_assert(sizeof(struct ep_anchor) == 64, "format");

/* slot 0 is the first ever taken and stays; the others are a ring of the latest */
#define EP_ANCHORS 62

struct ep_clock {
	uint64_t tsc_hz;    /* the runtime's best estimate so far; 0 unknown */
	uint64_t error_ppb; /* bound of the rate's error, parts per billion, from the anchors'
			       widths and distance */
	uint64_t taken;     /* anchors taken since start */
	uint64_t read_cost; /* TSC cycles that one read of the TSC costs in a hook, as calibrated at
			       start */
	uint64_t unused[12];
	struct ep_anchor anchors[EP_ANCHORS];
};
static_assert(sizeof(struct ep_clock) == 4096, "format");

/* ---- threads ---- */

#define EP_THREAD_FREE 0
#define EP_THREAD_LIVE 1
#define EP_THREAD_DEAD 2 /* said by itself, or found gone when its ring was wanted */

#define EP_THREAD_IGNORED      1u /* flags: asked not to be traced */
#define EP_THREAD_WITHOUT_RING 2u /* flags: memory was exhausted */
#define EP_THREAD_MAIN         4u
#define EP_THREAD_RING_GIVEN   8u  /* flags: dead, and later threads have blocks of its ring */
#define EP_THREAD_OWN_RING     16u /* flags: it asked for a ring of this size */
#define EP_THREAD_TWO_WRITERS  32u /* flags: the rest of a block has records of a child, too */
/* flags: made by a thread that libc did not make, perhaps by a clone in its maker's thread-local
 * memory: `tid` may be the clone's, until its maker enters a block */
#define EP_THREAD_BORROWED 64u

/* flags: its stack pointer was seen outside of its stack (1.9): without marks of contexts, by
 * which it says so, it switches stacks unseen */
#define EP_THREAD_OTHER_STACKS 128u
/* flags: a task that shares its memory was in hooks (1.9), and is not recorded but for what it
 * called before it was found */
#define EP_THREAD_SHARED (1u << 14)

/* flags: the first record after each time that it was off its processor is timed, and the one after
 * that (1.10); two escapes of time tell it of one after a large gap, EP_BLOCK_ASKED of one that
 * begins a block */
#define EP_THREAD_ASKED (1u << 15)

#define EP_THREAD_RING_SHIFT 8 /* flags: of a ring that it asked for, bits 8-13: log2 of bytes */
#define EP_THREAD_RING_MASK  (63u << EP_THREAD_RING_SHIFT)

struct ep_thread {
	uint32_t state; /* EP_THREAD_; written last */
	uint32_t flags;
	uint32_t serial; /* 1, 2, 3 … in order of first events; never used twice in one generation:
			    owner of blocks */
	uint32_t tid;    /* in the process's own pid namespace */
	uint64_t start_tsc;   /* first event */
	uint64_t end_tsc;     /* 0 while live */
	uint64_t ring_offset; /* of the block that it entered last: bytes from the arena's start;
				 stays after death, though others may have it then; 0: none, it has
				 not recorded yet. Before 1.7: of its ring, all in one piece */
	uint64_t ring_size; /* bytes: of the blocks that it entered last so many are there, wherever
			       they lie. Before 1.7: what the ring had room for */
	uint64_t blocks;    /* blocks entered so far */
	uint64_t lost; /* records known to be lost (hook interrupted while entering a block, …) */
	uint32_t gate; /* this thread's own pauses, counted: 0 runs */
	uint32_t timing;    /* setting of its own: 0 the process's, else 1..64 */
	char name[32];      /* UTF-8 not guaranteed; NUL-padded (kernel: 15 bytes) */
	uint64_t stack_low; /* where its stack pointer is taken for its own stack's; 0 and 2^64-1:
			       it is not looked at; 0 and 0 before 1.9 */
	uint64_t stack_high;
	uint64_t ring_first; /* the number of the block with which its present ring began; 0 and 1:
				all are in it */
};
static_assert(sizeof(struct ep_thread) == 128, "format");

/* ---- kept snapshots ---- */

#define EP_KEPT_FREE  0
#define EP_KEPT_TAKEN 1 /* being filled, or given back just now */
#define EP_KEPT_VALID 2

/*
 * A snapshot that the process keeps in its memory, outside of the arena. At `address` lies an arena
 * of its own, laid out like any: first page, process, clock, threads, modules, rings; blocks have
 * other places than they had, and check words for these. Only its magic is another, so that nobody
 * takes it for the process's arena: EP_KEPT_MAGIC, under the same CRC rule. `self` and
 * `arena_address` are `address`, `arena_size` and `committed` are `size`.
 */
#define EP_KEPT_MAGIC "EPITKEPT"

struct ep_kept {
	uint32_t state;   /* EP_KEPT_; EP_KEPT_VALID is written last */
	uint32_t tid;     /* who took it */
	uint64_t number;  /* 1, 2, 3 … in the order of taking */
	uint64_t address; /* process virtual, page aligned */
	uint64_t size;    /* bytes, whole pages */
	uint64_t tsc;     /* when it was taken */
	uint64_t since;   /* as asked for; 0: everything */
	uint64_t unused[2];
};
static_assert(sizeof(struct ep_kept) == 64, "format");

/* ---- scheduling events ---- */

/*
 * What the kernel recorded of the process's threads, as the kernel wrote it, copied from its
 * buffers from time to time.
 *
 *   ┌──────────┬─────────┬──────────────┬──────────────┬─
 *   │ ep_sched │ formats │ segment      │ segment      │ …
 *   │ (1 page) │         │ chunk chunk… │ chunk chunk… │
 *   └──────────┴─────────┴──────────────┴──────────────┴─
 *
 * Segments are used in turn. In each, chunks follow each other from its first byte to the first one
 * whose check word is wrong.
 */
#define EP_SCHED_OFF      0
#define EP_SCHED_STARTING 1
#define EP_SCHED_ON       2
#define EP_SCHED_STOPPED  3 /* what was copied before is still there */
#define EP_SCHED_REFUSED  4 /* ftrace_error and perf_error say why */
#define EP_SCHED_COSTLY   5 /* (1.8) it would take more than half of the budget */

#define EP_SCHED_NONE   0
#define EP_SCHED_FTRACE 1 /* pages of an ftrace instance; clock: TSC */
#define EP_SCHED_PERF   2 /* records of perf_event_open(2); clock: CLOCK_MONOTONIC_RAW, ns */

#define EP_SCHED_SYSCALLS 1u /* events: raw_syscalls */
#define EP_SCHED_IRQ      2u
#define EP_SCHED_FAULTS   4u /* page faults */

#define EP_SCHED_SEGMENT 32768u

struct ep_sched {
	uint32_t state;   /* EP_SCHED_OFF … COSTLY */
	uint32_t source;  /* EP_SCHED_NONE, FTRACE, PERF: the latest */
	uint32_t machine; /* 1: all threads of the machine; 0: its own */
	uint32_t events;  /* EP_SCHED_SYSCALLS … that were added */
	uint32_t tid;     /* of the thread that copies; 0: none now. It is no part of the program */
	uint32_t cpus;    /* whose buffers are copied */
	uint32_t ftrace_error; /* errno, 0: none, or not tried */
	uint32_t perf_error;
	uint64_t kernel_bytes;   /* of the kernel's buffers, all CPUs together */
	uint64_t formats_offset; /* from the section's start … */
	uint64_t formats_size;
	uint64_t formats_used; /* bytes of it that hold formats */
	uint64_t pool_offset;  /* the segments */
	uint64_t pool_size;    /* a multiple of segment_size */
	uint64_t segment_size; /* EP_SCHED_SEGMENT */
	uint64_t start_tsc;    /* recorded from then on; 0: never */
	uint64_t stop_tsc;     /* … until then; 0: still */
	uint64_t drained_tsc;  /* when the kernel's buffers were last read */
	uint64_t drains;       /* how often */
	uint64_t chunks;       /* copied so far */
	uint64_t refused;      /* chunks that did not fit a segment */
	char instance[64];     /* name of the ftrace instance, NUL-padded; "": none */
	uint64_t unused[8];
};
static_assert(sizeof(struct ep_sched) == 264, "format");

/* The formats section: entries of this head and a text, 8-aligned, of the files header_page (kind
 * 1) and format (kind 2, one for each event). */
#define EP_SCHED_HEADER_PAGE 1
#define EP_SCHED_EVENT       2

struct ep_sched_format {
	uint32_t kind;
	uint32_t size; /* bytes of text that follow */
};
static_assert(sizeof(struct ep_sched_format) == 8, "format");

/* One piece of one CPU's buffer; `size` bytes follow, then padding to the next multiple of 8.
 * FTRACE: a page of trace_pipe_raw, cut behind its data. PERF: whole records. Those of a CPU follow
 * each other in order of sequence. */
struct ep_sched_chunk {
	uint64_t check;    /* ep_sched_check(); 0: none, or being written */
	uint64_t sequence; /* 1, 2, 3 … of all chunks */
	uint32_t size;
	uint16_t cpu;
	uint16_t source; /* EP_SCHED_FTRACE or PERF */
	uint64_t tsc;    /* when it was copied */
};
static_assert(sizeof(struct ep_sched_chunk) == 32, "format");

/* Check word of a chunk at `offset` from the section's start and of the bytes that follow it; the
 * padding is zero and counts. */
static inline uint64_t ep_sched_check(const struct ep_sched_chunk *chunk, uint64_t offset,
				      uint64_t identity)
{
	const uint64_t *words = (const uint64_t *)(chunk + 1);
	uint64_t x = identity ^ offset ^ chunk->sequence, y = chunk->tsc;

	x ^= (uint64_t)chunk->size << 32 | (uint64_t)chunk->cpu << 16 | chunk->source;
	for (uint64_t i = 0; i < ((uint64_t)chunk->size + 7) / 8; i++) {
		x = (x ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		y = (y >> 29 | y << 35) ^ x;
	}
	x = (x ^ x >> 32 ^ y) * UINT64_C(0xff51afd7ed558ccd);
	return (x ^ x >> 29) | 1; /* never 0 */
}

/* ---- the load map ---- */

#define EP_BUILD_ID_MAX 32

/* Valid when `state` is EP_MODULE_VALID, which is written last. Entries are added and marked
 * unloaded, never moved. */
#define EP_MODULE_FREE  0
#define EP_MODULE_VALID 1

#define EP_MODULE_EXECUTABLE 1u /* flags: the program itself */
#define EP_MODULE_VDSO       2u
/* its ELF header could not be read: bias is a guess from the file offset */
#define EP_MODULE_NO_HEADER 4u

struct ep_module {
	uint32_t state;
	uint32_t flags;
	uint64_t start;      /* lowest mapped address (process virtual) */
	uint64_t end;        /* one past the highest */
	uint64_t bias;       /* address in process - address in file (p_vaddr) */
	uint64_t load_tsc;   /* when it was first seen loaded */
	uint64_t unload_tsc; /* 0 while loaded */
	uint64_t device;
	uint64_t inode;
	struct ep_string path;  /* in this section */
	uint32_t build_id_size; /* bytes, 0 none */
	uint32_t reserved;
	uint8_t build_id[EP_BUILD_ID_MAX];
};
static_assert(sizeof(struct ep_module) == 112, "format");

/* The MODULES section: this head, `capacity` entries of entry_size bytes, then string bytes up to
 * the section's end. */
struct ep_modules {
	uint32_t count; /* entries begun (some may still be EP_MODULE_FREE) */
	uint32_t capacity;
	uint32_t strings;       /* bytes from the section's start to the string bytes */
	uint32_t strings_end;   /* bytes from the section's start: end of the used string bytes */
	uint64_t refreshed_tsc; /* when the map was last compared with the kernel's */
	uint32_t stale;         /* dlopen or dlclose happened since */
	uint32_t unused;
};
static_assert(sizeof(struct ep_modules) == 32, "format");

/* ---- blocks and records ---- */

#define EP_BLOCK_SIZE    4096u
#define EP_BLOCK_HEADER  32u
#define EP_BLOCK_RECORDS ((EP_BLOCK_SIZE - EP_BLOCK_HEADER) / 8u)

/* block.flags: why it was begun, and what is missing before it */
#define EP_BLOCK_FIRST 1u /* the thread's first block: nothing came before */
/* after a pause: calls and returns in between are not in the trace */
#define EP_BLOCK_RESUMED 2u
/* the previous block was left early: more than 2^45 cycles without an event */
#define EP_BLOCK_LONG_GAP            4u
#define EP_BLOCK_SHORT_CALLS_DROPPED 8u /* EPITAPH_MIN_DURATION is in force */
#define EP_BLOCK_ASKED                                                                            \
	16u /* since the last record of the block before the thread was away, or memory was taken \
	       for this one (1.10) */

struct ep_block {
	uint64_t tsc; /* full TSC when it was entered: the time from which its first record's stamp
			 counts */
	uint64_t sequence; /* 1, 2, 3 … per thread: a gap is lost history */
	uint32_t owner;    /* thread serial */
	uint8_t every; /* one record in `every` was to be timed when it was entered: 1, 2, 4 … 64 */
	uint8_t flags; /* EP_BLOCK_ */
	uint16_t reserved;
	uint64_t check; /* ep_block_check(), written last; 0 while the block is being entered */
	uint64_t records[EP_BLOCK_RECORDS]; /* 0: not written (yet) */
};
static_assert(sizeof(struct ep_block) == EP_BLOCK_SIZE, "format");
static_assert(offsetof(struct ep_block, records) == EP_BLOCK_HEADER, "format");

/*
 * A look (1.10): the runtime's own thread saw at `tsc` that a thread had so many records in the
 * block that it had entered last. Those were made before, and all that follow after; both to
 * EP_LOOK_SLACK. Slots are written round and round.
 */
struct ep_look_taken {
	uint64_t tsc;
	uint64_t sequence; /* of the block */
	uint32_t serial;   /* of the thread */
	uint16_t records;  /* 0 … EP_BLOCK_RECORDS */
	uint16_t check;    /* ep_look_check(), written last; 0: none, or being written */
};
static_assert(sizeof(struct ep_look_taken) == 24, "format");

#define EP_LOOK_SLACK 16384u /* TSC cycles: 4 to 8 us */

static inline uint16_t ep_look_check(const struct ep_look_taken *look, uint64_t identity)
{
	uint64_t x = identity ^ look->tsc;

	x = (x ^ x >> 29 ^ look->sequence) * UINT64_C(0xff51afd7ed558ccd);
	x = (x ^ x >> 32 ^ look->serial ^ (uint64_t)look->records << 32) *
	    UINT64_C(0x9e3779b97f4a7c15);
	return (uint16_t)(x >> 48 | 1); /* never 0 */
}

/* Check word of a block whose header has these values and which lies at `offset` from the arena's
 * start. */
static inline uint64_t ep_block_check(const struct ep_block *block, uint64_t offset,
				      uint64_t identity)
{
	uint64_t x = identity ^ offset;

	x = (x ^ block->tsc) * UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 32;
	x = (x ^ block->sequence) * UINT64_C(0xc4ceb9fe1a85ec53);
	x ^= x >> 32;
	x = (x ^ block->owner ^ (uint64_t)block->every << 32 ^ (uint64_t)block->flags << 40 ^
	     (uint64_t)block->reserved << 48) *
	    UINT64_C(0x9e3779b97f4a7c15);
	x ^= x >> 29;
	return x | 1; /* never 0 */
}

/*
 * Record: 8 bytes.
 *   63            48 47 46                                            0
 *   ┌───────────────┬──┬───────────────────────────────────────────────┐
 *   │ stamp         │R │ code address (47 bits)                        │
 *   └───────────────┴──┴───────────────────────────────────────────────┘
 * stamp: bits 0-15 of TSC >> EP_TICK_SHIFT; 0 untimed (a stamp that would be 0 is written as 1). R:
 * 0 call, 1 return. Address: with -mfentry the hook's return address (inside the function), with
 * -finstrument-functions the function's first byte; at a return, likewise an address inside the
 * function that returns. A stamp counts from the previous timed record of the block, the first from
 * the block's tsc: the gap is at most EP_GAP_CYCLES, unless an escape stands between.
 *
 * Escape: address field below 4096, type 1-7, payload of 26 bits.
 *   63            48 47 46        12 11        3 2   0
 *   ┌───────────────┬──┬────────────┬───────────┬─────┐
 *   │ payload 10-25 │9 │ 0          │payload 0-8│type │
 *   └───────────────┴──┴────────────┴───────────┴─────┘
 */
#define EP_TICK_SHIFT      3
#define EP_STAMP_SHIFT     48
#define EP_RETURN_BIT      (UINT64_C(1) << 47)
#define EP_ADDRESS_MASK    ((UINT64_C(1) << 47) - 1)
#define EP_ESCAPE_LIMIT    4096u
#define EP_GAP_CYCLES      (UINT64_C(1) << 18) /* a larger gap needs an escape */
#define EP_LONG_GAP_CYCLES (UINT64_C(1) << 45) /* a larger gap needs a new block */

/* payload: bits 16-41 of TSC >> EP_TICK_SHIFT of the next record, which is timed */
#define EP_ESCAPE_TIME 1
/* payload: bits 0-4 EP_MARK_, 5-9 the number of data words that follow, 10-25 the stamp (never
 * 0), which so has its usual place; it counts like a record's, also of a mark that is unknown */
#define EP_ESCAPE_MARK 2
/* payload: 26 bits for the mark before it; a value takes two, the lower half first, a text one
 * for each three bytes */
#define EP_ESCAPE_DATA  3
#define EP_ESCAPE_TYPES 8

#define EP_MARK_DATA_MAX   31 /* data words of one mark */
#define EP_MARK_VALUE_BITS 52

/*
 * Marks: what is neither call nor return, from functions that the runtime stands in front of. A
 * mark and its data lie in one block. "At": an address in the calling function, that of its call
 * instruction or its end.
 */
/* an exception is thrown: at, then the type's name as typeid has it (mangled, without a leading
 * *), cut off after 87 bytes */
#define EP_MARK_THROW   1
#define EP_MARK_RETHROW 2 /* … once more: at */
/* frames that the unwinder leaves, innermost first: an address inside of the function of each,
 * traced or not. Before one of the next two; as many of these as it takes */
#define EP_MARK_LEFT   3
#define EP_MARK_LANDED 4 /* clean-up code goes on there: address */
#define EP_MARK_CAUGHT 5 /* a handler goes on there: address */
/* setjmp, getcontext, vfork: address of the buffer; control returns here */
#define EP_MARK_SAVE   6
#define EP_MARK_RESUME 7 /* longjmp: buffer, at */
#define EP_MARK_SWAP   8 /* swapcontext, setcontext: buffer saved (0: none), resumed, at */
/* makecontext: buffer, the one to go on with after it (0: the thread ends), function that runs
 * there */
#define EP_MARK_FRESH 9
/* 10 to 12 come from epitaph.h's functions: what the program says. */
/* epitaph_note: address of the format, at, then its arguments, each from a new data word on:
 * EP_NOTE_ in its bits 0-3, 22 bits of data above, the rest in the words that follow. A NOTE
 * whose format is 0 has no at, and more arguments of the NOTE before, right behind it */
#define EP_MARK_NOTE 10
/* epitaph_mark_begin: at, then the name, cut off after 87 bytes */
#define EP_MARK_SPAN_BEGIN 11
#define EP_MARK_SPAN_END   12 /* epitaph_mark_end: likewise */
/* the thread fed it last, and its deadline has passed: at, by how many ns (clipped to 52 bits),
 * its name, cut off after 81 bytes */
#define EP_MARK_WATCHDOG 13
#define EP_MARK_PARENT   14 /* vfork has returned in the parent, or failed: as 7, without at */
#define EP_MARKS         32

/* Arguments of a note: by how they were passed, not by what is made of them. */
#define EP_NOTE_INT         1 /* 32 bits */
#define EP_NOTE_LONG        2 /* 64 bits: three words */
#define EP_NOTE_POINTER     3 /* the same */
#define EP_NOTE_DOUBLE      4 /* the same: its bits */
#define EP_NOTE_LONG_DOUBLE 5 /* 80 bits: four words */
/* bits 4-19 are its bytes, three of which are in each word behind it; bit 20: it is longer, bit
 * 21: the pointer was null */
#define EP_NOTE_STRING 6
#define EP_NOTE_WIDE   7 /* of wchar_t: the same, as UTF-8 */
#define EP_NOTE_ERRNO  8 /* for %m, which takes no argument: as INT */
#define EP_NOTE_MORE   9 /* there were more, for which there is no room */

#define EP_NOTE_SHIFT     4
#define EP_NOTE_TRUNCATED (1u << 20)
#define EP_NOTE_NULL      (1u << 21)
#define EP_NOTE_MARKS     4 /* at most, for one note */

static inline uint64_t ep_escape_make(unsigned type, uint32_t payload)
{
	return (uint64_t)payload >> 9 << 47 | (uint64_t)(payload & 0x1ff) << 3 | type;
}

static inline uint32_t ep_escape_payload(uint64_t word)
{
	return (uint32_t)(word >> 48) << 10 | (uint32_t)(word >> 47 & 1) << 9 |
	       (uint32_t)(word >> 3 & 0x1ff);
}

/* ---- counts ---- */

/*
 * EP_SECTION_COUNTS is there when EPITAPH_MODE=count. Each code address that called a hook got a
 * number, 0, 1, 2 … ("site"); each thread has counters of its own by these numbers, which a later
 * thread goes on with. A call count is the sum of all counters of its number. After the head's page
 * come extents, each of whole pages, in any order: lists of sites, and lists of counters. None
 * leads to another: a reader looks at each page for a header whose check word holds.
 */
struct ep_counts_head {
	uint64_t sites;    /* numbers given */
	uint64_t lost;     /* calls that found no memory for a number or a counter */
	uint64_t threads;  /* that had counters of their own */
	uint64_t map_size; /* bytes of memory, outside of the arena, that lead from addresses to
			      numbers */
	uint64_t start_monotonic; /* ns, CLOCK_MONOTONIC */
	/* when the process last wrote its counts; 0 not yet */
	uint64_t duration;  /* ns since the start */
	uint64_t cpu;       /* ns of all threads together, since the start */
	uint64_t start_cpu; /* ns at the start */
	uint64_t family;    /* random, the same in forked children */
	uint64_t unused[7];
};
static_assert(sizeof(struct ep_counts_head) == 128, "format");

#define EP_EXTENT_SITES    1 /* struct ep_count_site [] */
#define EP_EXTENT_COUNTERS 2 /* uint64_t [] */

struct ep_counts_extent {
	uint32_t kind;  /* EP_EXTENT_ */
	uint32_t owner; /* serial of the thread that counted here last; 0: several at once, or sites
			 */
	uint64_t size;  /* bytes with this header, whole pages */
	uint64_t first; /* number of its first entry */
	uint64_t capacity; /* entries */
	uint64_t used;     /* sites begun, may exceed capacity; else 0 */
	uint64_t check;    /* ep_extent_check(), written last */
	uint64_t unused[2];
};
static_assert(sizeof(struct ep_counts_extent) == 64, "format");

struct ep_count_site {
	uint64_t address; /* as in a record; written last; 0: not there yet */
	uint64_t tsc;     /* of its first call: which module lay there */
};
static_assert(sizeof(struct ep_count_site) == 16, "format");

/* Check word of an extent that lies at `offset` from the arena's start. */
static inline uint64_t ep_extent_check(const struct ep_counts_extent *extent, uint64_t offset,
				       uint64_t identity)
{
	uint64_t x = identity ^ offset;

	x = (x ^ extent->kind) * UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 32;
	x = (x ^ extent->size) * UINT64_C(0xc4ceb9fe1a85ec53);
	x ^= x >> 32;
	x = (x ^ extent->first) * UINT64_C(0x9e3779b97f4a7c15);
	x ^= x >> 29;
	x = (x ^ extent->capacity) * UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 31;
	return x | 1; /* never 0 */
}

/* ---- the note in a snapshot (name EP_NOTE_NAME, type EP_NOTE_SNAPSHOT) ---- */

/* How the root was found. */
#define EP_FOUND_SEGMENT  1 /* arena magic at the start of a PT_LOAD or mapping */
#define EP_FOUND_NOTE     2 /* ELF note of an executable or shared library */
#define EP_FOUND_SYMBOL   3 /* symbol epitaph_root */
#define EP_FOUND_SCAN     4 /* scan of the memory that was saved */
#define EP_FOUND_SNAPSHOT 5 /* this note, in a snapshot */
#define EP_FOUND_SELF     6 /* written by the process itself */
#define EP_FOUND_KEPT     7 /* a snapshot that the process kept in memory */
#define EP_FOUND_FILE     8 /* the file of EPITAPH_FILE, named or followed */
#define EP_FOUND_CRASH    9 /* written by the process while it died */

/* snapshot_note.redacted. What each covers: docs/privacy.md. */
#define EP_REDACTED_CMDLINE   1u
#define EP_REDACTED_PATHS     2u
#define EP_REDACTED_NOTES     4u
#define EP_REDACTED_STACKS    8u
#define EP_REDACTED_REGISTERS 16u
#define EP_REDACTED_ALL       31u

/* What could not be saved for one thread of the core. */
struct ep_snapshot_thread {
	uint32_t tid;
	uint32_t unused;
	uint64_t stack_pointer;
	uint64_t stack_wanted; /* bytes from the stack pointer up that should have been saved */
	uint64_t stack_saved;  /* bytes that were */
};
static_assert(sizeof(struct ep_snapshot_thread) == 32, "format");

struct ep_snapshot_note {
	uint16_t major;
	uint16_t minor;
	uint32_t size; /* bytes of this struct, threads not counted */
	uint64_t arena_address;
	uint64_t arena_size;   /* bytes that should have been saved (arena.committed) */
	uint64_t arena_saved;  /* bytes that were */
	uint64_t root_address; /* 0: only the arena's copy was seen */
	uint64_t pages_wanted; /* pages of modules' headers, .dynamic and link maps */
	uint64_t pages_saved;
	uint64_t taken_tsc;    /* TSC when a live process was read; 0 from a core */
	uint32_t found;        /* EP_FOUND_ */
	uint32_t thread_count; /* struct ep_snapshot_thread that follow */
	uint32_t redacted;     /* EP_REDACTED_: left out because somebody wanted it so, which is no
				  damage */
	uint32_t unused_word;
	uint64_t ended;   /* ns since 1970 when whoever took it saw the process's end; 0: nobody did
			     (1.6) */
	uint64_t written; /* ns since 1970 when the core that it was taken from was written, at the
			     latest; 0: not known (1.9) */
};
static_assert(sizeof(struct ep_snapshot_note) == 96, "format");

#endif
