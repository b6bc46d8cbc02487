/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * format.h: THE layout of everything that the runtime leaves in memory and that
 * readers take from a core.
 *
 * One file owns it: C includes it, assembly and Python get their constants
 * generated from it. All fields are fixed width, little endian, naturally
 * aligned; there are no pointers, enums or bit-fields. docs/format.md tells it
 * in words. A change here changes EP_FORMAT_MINOR (old readers may go on) or
 * EP_FORMAT_MAJOR (they must refuse), in the same commit.
 *
 * "reserved" fields are written 0 and a reader refuses other values; "unused"
 * fields are ignored by a reader.
 *
 *   arena: one address range, opened from its start up to `committed`
 *   ┌──────────┬─────────┬───────┬─────────┬─────────┬──────────────────┐
 *   │ ep_arena │ PROCESS │ CLOCK │ THREADS │ MODULES │ RINGS: 4 KiB     │
 *   │ (1 page) │         │       │         │ strings │ blocks, aligned  │
 *   └──────────┴─────────┴───────┴─────────┴─────────┴──────────────────┘
 */
#ifndef EPITAPH_FORMAT_H
#define EPITAPH_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define EP_FORMAT_MAJOR 1
#define EP_FORMAT_MINOR 2

/* ---- the root: a page of its own in the runtime's data (symbol epitaph_root),
 * and a copy that opens the arena ---- */

/* 8 bytes each, no NUL: the root in the runtime's data; the arena's copy. */
#define EP_ROOT_MAGIC  "EPITROOT"
#define EP_ARENA_MAGIC "EPITARNA"
#define EP_MAGIC_SIZE  8

#define EP_ARCH_X86_64 62 /* = EM_X86_64 */

/* Valid when magic, major, size and crc are right and `self` is the address at
 * which it was found. */
struct ep_root {
	char magic[EP_MAGIC_SIZE];
	uint16_t major;
	uint16_t minor;
	uint32_t size; /* bytes: sizeof(struct ep_root) of the writer */
	uint64_t self; /* process virtual address of this very struct */
	uint64_t arena_address; /* process virtual address; 0: no arena (see
				   off_reason) */
	uint64_t arena_size; /* bytes reserved, a multiple of the page size */
	uint32_t pid;        /* in the process's own pid namespace */
	uint32_t generation; /* forks between the first traced process and this
				one */
	uint64_t identity;   /* random, the same in root and arena, another one
				after a fork */
	uint32_t arch;       /* EP_ARCH_ */
	uint32_t off_reason; /* EP_OFF_: why there is no arena */
	uint8_t unused[60];
	uint32_t
		crc; /* CRC-32 (IEEE 802.3, as zlib's) of the bytes before it */
};
static_assert(sizeof(struct ep_root) == 128, "format");
static_assert(offsetof(struct ep_root, crc) == 124, "format");

/* Why tracing is off for good. */
#define EP_OFF_NONE      0
#define EP_OFF_NO_MEMORY 1 /* no arena could be mapped */
#define EP_OFF_ADDRESS   2 /* a code address needs more than 47 bits (LA57) */
#define EP_OFF_OTHER_RUNTIME                            \
	3 /* another runtime in this process came first \
	   */

/* The ELF note in every object that holds a runtime: name "EPITAPH", descriptor
 * struct ep_root_note. */
#define EP_NOTE_NAME     "EPITAPH" /* with its NUL: namesz 8 */
#define EP_NOTE_ROOT     1
#define EP_NOTE_SNAPSHOT 2

struct ep_root_note {
	int64_t root_offset; /* bytes from this descriptor's own first byte to
				the root (same object, so link-time constant) */
};
static_assert(sizeof(struct ep_root_note) == 8, "format");

/* ---- the arena's first page ---- */

#define EP_SECTION_PROCESS 1 /* struct ep_process */
#define EP_SECTION_CLOCK   2 /* struct ep_clock */
#define EP_SECTION_THREADS 3 /* struct ep_thread [] */
#define EP_SECTION_MODULES 4 /* struct ep_modules */
#define EP_SECTION_RINGS \
	5 /* struct ep_block [], a block never straddles a page */
#define EP_SECTION_KEPT 6 /* struct ep_kept [] */
#define EP_SECTION_MAX                                                      \
	16 /* types above 6 are for later minors; a reader ignores those it \
	      does not know */

struct ep_section {
	uint32_t type;       /* EP_SECTION_; 0: unused slot */
	uint32_t entry_size; /* bytes of one entry as the writer knew it;
				entries may grow at their end in a minor */
	uint64_t offset; /* bytes from the arena's first byte, a multiple of 64
			  */
	uint64_t size; /* bytes reserved for it; what lies beyond `committed` is
			  not there yet */
};
static_assert(sizeof(struct ep_section) == 24, "format");

/*
 * arena.gate: 0 runs. Each bit is somebody's pause; hooks record when all are
 * clear. Bytes 1 and 2 are also written from outside, by stores of one byte
 * that nobody else's bits lie in: the process itself changes those two only by
 * atomic operations on the whole word.
 */
#define EP_GATE_API     1u       /* epitaph_pause() */
#define EP_GATE_OLD_OFF 2u       /* EP_GATE_OFF of the versions 1.0 and 1.1 */
#define EP_GATE_STOPPED 8u       /* off for good: off_reason says why */
#define EP_GATE_CONTROL 0x100u   /* byte 1: `epitaph control PID pause` */
#define EP_GATE_OFF     0x10000u /* byte 2: started with EPITAPH=off */

struct ep_arena {
	struct ep_root root; /* copy: magic is EP_ARENA_MAGIC, self is the
				arena's address */
	uint64_t
		committed; /* bytes opened from the arena's start; grows only */
	uint32_t gate;     /* EP_GATE_ bits */
	uint32_t off_reason;      /* EP_OFF_ */
	uint32_t block_size;      /* bytes: EP_BLOCK_SIZE */
	uint32_t timestamp_every; /* setting: 0 auto, else 1..64; its first
				     byte is also written from outside */
	uint64_t ring_size;   /* setting: bytes, the most that one thread's ring
				 may take */
	uint64_t memory_size; /* setting: bytes, EPITAPH_MEMORY as asked for
				 (arena_size is what was got) */
	uint64_t min_duration; /* setting: TSC cycles, 0 none */
	uint32_t clock_budget; /* setting: parts per million of a thread's time
				  that reading the clock may take */
	uint32_t section_count;
	/* what did not fit, or went wrong; all counts since start */
	uint64_t threads_without_ring;
	uint64_t threads_untold; /* more threads than the table holds */
	uint64_t modules_untold; /* more modules than the load map holds */
	uint64_t rings_reused;
	uint64_t settings_refused; /* bad values in the environment */
	uint64_t snapshots_written;
	uint64_t pauses;         /* times the process shut the gate */
	uint64_t control_pauses; /* times that it was shut from outside; written
				    from there only */
	uint64_t kept_refused;   /* kept snapshots that there was no room for */
	/* in the arena of a kept snapshot only, else 0 */
	uint64_t kept_tsc;   /* when it was taken */
	uint64_t kept_since; /* whole blocks that ended before are left out; 0:
				none */
	uint64_t keep_size;  /* setting: bytes, EPITAPH_KEEP */
	uint64_t unused[2];
	struct ep_section sections[EP_SECTION_MAX];
};
static_assert(offsetof(struct ep_arena, committed) == 128, "format");
static_assert(offsetof(struct ep_arena, gate) == 136,
	      "assembly and `epitaph control` rely on it");
static_assert(sizeof(struct ep_arena) <= 4096, "one page");

/* ---- process facts ---- */

/* A string in the same section: bytes [offset, offset + length) from the
 * section's start, no NUL counted. */
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
	struct ep_string cgroup;  /* /proc/self/cgroup's first line, for finding
				     the container */
	struct ep_string runtime; /* the runtime's own version */
	uint8_t unused[56];
};
static_assert(sizeof(struct ep_process) == 160, "format");

/* ---- clock: TSC against the kernel's clocks ---- */

/* Valid when `check` = tsc ^ monotonic_raw ^ realtime ^ width ^ EP_ANCHOR_KEY
 * and tsc is not 0. */
#define EP_ANCHOR_KEY UINT64_C(0x9e3779b97f4a7c15)

struct ep_anchor {
	uint64_t tsc;           /* middle of the bracketing reads */
	uint64_t monotonic_raw; /* ns */
	uint64_t realtime;      /* ns since 1970, UTC; read right after */
	uint64_t width; /* TSC cycles between the bracketing reads: tsc is when
			   monotonic_raw was read, to +- half of it */
	uint64_t check;
	uint64_t unused[3];
};
static_assert(sizeof(struct ep_anchor) == 64, "format");

#define EP_ANCHORS                                                            \
	62 /* slot 0 is the first ever taken and stays; the others are a ring \
	      of the latest */

struct ep_clock {
	uint64_t tsc_hz;    /* the runtime's best estimate so far; 0 unknown */
	uint64_t error_ppb; /* bound of the rate's error, parts per billion,
			       from the anchors' widths and distance */
	uint64_t taken;     /* anchors taken since start */
	uint64_t read_cost; /* TSC cycles that one read of the TSC costs in a
			       hook, as calibrated at start */
	uint64_t unused[12];
	struct ep_anchor anchors[EP_ANCHORS];
};
static_assert(sizeof(struct ep_clock) == 4096, "format");

/* ---- threads ---- */

#define EP_THREAD_FREE 0
#define EP_THREAD_LIVE 1
#define EP_THREAD_DEAD \
	2 /* said by itself, or found gone when its ring was wanted */

#define EP_THREAD_IGNORED      1u /* flags: asked not to be traced */
#define EP_THREAD_WITHOUT_RING 2u /* flags: memory was exhausted */
#define EP_THREAD_MAIN         4u
#define EP_THREAD_RING_GIVEN \
	8u /* flags: dead, and a later thread has its ring */
#define EP_THREAD_OWN_RING 16u /* flags: it asked for a ring of this size */

struct ep_thread {
	uint32_t state; /* EP_THREAD_; written last */
	uint32_t flags;
	uint32_t serial; /* 1, 2, 3 … in order of first events; never used twice
			    in one generation: owner of blocks */
	uint32_t tid;    /* in the process's own pid namespace */
	uint64_t start_tsc;   /* first event */
	uint64_t end_tsc;     /* 0 while live */
	uint64_t ring_offset; /* bytes from the arena's start; stays after
				 death, though others may have the ring then;
				 0: none, it has not recorded yet */
	uint64_t ring_size; /* bytes, a power of two, at least EP_BLOCK_SIZE */
	uint64_t blocks;    /* blocks entered so far */
	uint64_t lost;      /* records known to be lost (hook interrupted while
			       entering a block, …) */
	uint32_t gate;      /* this thread's own pauses, counted: 0 runs */
	uint32_t timing; /* setting of its own: 0 the process's, else 1..64 */
	char name[32]; /* UTF-8 not guaranteed; NUL-padded (kernel: 15 bytes) */
	uint64_t stack_low; /* [low, high) of its stack when known, else 0 */
	uint64_t stack_high;
	uint64_t unused[1];
};
static_assert(sizeof(struct ep_thread) == 128, "format");

/* ---- kept snapshots ---- */

#define EP_KEPT_FREE  0
#define EP_KEPT_TAKEN 1 /* being filled, or given back just now */
#define EP_KEPT_VALID 2

/*
 * A snapshot that the process keeps in its memory, outside of the arena. At
 * `address` lies an arena of its own, laid out like any: first page, process,
 * clock, threads, modules, rings; blocks have other places than they had, and
 * check words for these. Only its magic is another, so that nobody takes it
 * for the process's arena: EP_KEPT_MAGIC, under the same CRC rule. `self` and
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

/* ---- the load map ---- */

#define EP_BUILD_ID_MAX 32

/* Valid when `state` is EP_MODULE_VALID, which is written last. Entries are
 * added and marked unloaded, never moved. */
#define EP_MODULE_FREE  0
#define EP_MODULE_VALID 1

#define EP_MODULE_EXECUTABLE 1u /* flags: the program itself */
#define EP_MODULE_VDSO       2u
#define EP_MODULE_NO_HEADER                                                   \
	4u /* its ELF header could not be read: bias is a guess from the file \
	      offset */

struct ep_module {
	uint32_t state;
	uint32_t flags;
	uint64_t start;    /* lowest mapped address (process virtual) */
	uint64_t end;      /* one past the highest */
	uint64_t bias;     /* address in process - address in file (p_vaddr) */
	uint64_t load_tsc; /* when it was first seen loaded */
	uint64_t unload_tsc; /* 0 while loaded */
	uint64_t device;
	uint64_t inode;
	struct ep_string path;  /* in this section */
	uint32_t build_id_size; /* bytes, 0 none */
	uint32_t reserved;
	uint8_t build_id[EP_BUILD_ID_MAX];
};
static_assert(sizeof(struct ep_module) == 112, "format");

/* The MODULES section: this head, `capacity` entries of entry_size bytes, then
 * string bytes up to the section's end. */
struct ep_modules {
	uint32_t count; /* entries begun (some may still be EP_MODULE_FREE) */
	uint32_t capacity;
	uint32_t strings; /* bytes from the section's start to the string bytes
			   */
	uint32_t strings_end; /* bytes from the section's start: end of the used
				 string bytes */
	uint64_t refreshed_tsc; /* when the map was last compared with the
				   kernel's */
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
#define EP_BLOCK_RESUMED                                                       \
	2u /* after a pause: calls and returns in between are not in the trace \
	    */
#define EP_BLOCK_LONG_GAP                                                      \
	4u /* the previous block was left early: more than 2^45 cycles without \
	      an event */
#define EP_BLOCK_SHORT_CALLS_DROPPED 8u /* EPITAPH_MIN_DURATION is in force */

struct ep_block {
	uint64_t tsc; /* full TSC when it was entered: the time from which its
			 first record's stamp counts */
	uint64_t sequence; /* 1, 2, 3 … per thread: a gap is lost history */
	uint32_t owner;    /* thread serial */
	uint8_t every;     /* one record in `every` was to be timed when it was
			      entered: 1, 2, 4 … 64 */
	uint8_t flags;     /* EP_BLOCK_ */
	uint16_t reserved;
	uint64_t check; /* ep_block_check(), written last; 0 while the block is
			   being entered */
	uint64_t records[EP_BLOCK_RECORDS]; /* 0: not written (yet) */
};
static_assert(sizeof(struct ep_block) == EP_BLOCK_SIZE, "format");
static_assert(offsetof(struct ep_block, records) == EP_BLOCK_HEADER, "format");

/* Check word of a block whose header has these values and which lies at
 * `offset` from the arena's start. */
static inline uint64_t ep_block_check(const struct ep_block *block,
				      uint64_t offset, uint64_t identity)
{
	uint64_t x = identity ^ offset;

	x = (x ^ block->tsc) * UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 32;
	x = (x ^ block->sequence) * UINT64_C(0xc4ceb9fe1a85ec53);
	x ^= x >> 32;
	x = (x ^ block->owner ^ (uint64_t)block->every << 32 ^
	     (uint64_t)block->flags << 40 ^ (uint64_t)block->reserved << 48) *
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
 * stamp: bits 0-15 of TSC >> EP_TICK_SHIFT; 0 untimed (a stamp that would be 0
 * is written as 1). R: 0 call, 1 return. Address: with -mfentry the hook's
 * return address (inside the function), with -finstrument-functions the
 * function's first byte; at a return, likewise an address inside the function
 * that returns. A stamp counts from the previous timed record of the block, the
 * first from the block's tsc: the gap is at most EP_GAP_CYCLES, unless an
 * escape stands between.
 *
 * Escape: address field below 4096, type 1-7, payload of 26 bits.
 *   63            48 47 46        12 11        3 2   0
 *   ┌───────────────┬──┬────────────┬───────────┬─────┐
 *   │ payload 10-25 │9 │ 0          │payload 0-8│type │
 *   └───────────────┴──┴────────────┴───────────┴─────┘
 */
#define EP_TICK_SHIFT   3
#define EP_STAMP_SHIFT  48
#define EP_RETURN_BIT   (UINT64_C(1) << 47)
#define EP_ADDRESS_MASK ((UINT64_C(1) << 47) - 1)
#define EP_ESCAPE_LIMIT 4096u
#define EP_GAP_CYCLES   (UINT64_C(1) << 18) /* a larger gap needs an escape */
#define EP_LONG_GAP_CYCLES \
	(UINT64_C(1) << 45) /* a larger gap needs a new block */

#define EP_ESCAPE_TIME                                                       \
	1 /* payload: bits 16-41 of TSC >> EP_TICK_SHIFT of the next record, \
	     which is timed */
#define EP_ESCAPE_MARK                                                        \
	2 /* payload: bits 0-4 EP_MARK_, 5-9 the number of data words that    \
	     follow, 10-25 the stamp (never 0), which so has its usual place; \
	     it counts like a record's, also of a mark that is unknown */
#define EP_ESCAPE_DATA                                                   \
	3 /* payload: 26 bits for the mark before it; a value takes two, \
	     the lower half first, a text one for each three bytes */
#define EP_ESCAPE_TYPES 8

#define EP_MARK_DATA_MAX   31 /* data words of one mark */
#define EP_MARK_VALUE_BITS 52

/*
 * Marks: what is neither call nor return, from functions that the runtime
 * stands in front of. A mark and its data lie in one block. "At": an address in
 * the calling function, that of its call instruction or its end.
 */
#define EP_MARK_THROW                                                       \
	1 /* an exception is thrown: at, then the type's name as typeid has \
	     it (mangled, without a leading *), cut off after 87 bytes */
#define EP_MARK_RETHROW 2 /* … once more: at */
#define EP_MARK_LEFT                                                      \
	3 /* frames that the unwinder leaves, innermost first: an address \
	     inside of the function of each, traced or not. Before one of \
	     the next two; as many of these as it takes */
#define EP_MARK_LANDED 4 /* clean-up code goes on there: address */
#define EP_MARK_CAUGHT 5 /* a handler goes on there: address */
#define EP_MARK_SAVE                                                         \
	6 /* setjmp, getcontext: address of the buffer; control returns here \
	   */
#define EP_MARK_RESUME 7 /* longjmp: buffer, at */
#define EP_MARK_SWAP \
	8 /* swapcontext, setcontext: buffer saved (0: none), resumed, at */
#define EP_MARK_FRESH                                                    \
	9 /* makecontext: buffer, the one to go on with after it (0: the \
	     thread ends), function that runs there */
#define EP_MARKS 32

static inline uint64_t ep_escape_make(unsigned type, uint32_t payload)
{
	return (uint64_t)(payload >> 10 & 0xffff) << 48 |
	       (uint64_t)(payload >> 9 & 1) << 47 |
	       (uint64_t)(payload & 0x1ff) << 3 | type;
}

static inline uint32_t ep_escape_payload(uint64_t word)
{
	return (uint32_t)(word >> 48) << 10 | (uint32_t)(word >> 47 & 1) << 9 |
	       (uint32_t)(word >> 3 & 0x1ff);
}

/* ---- the note in a snapshot (name EP_NOTE_NAME, type EP_NOTE_SNAPSHOT) ----
 */

/* How the root was found. */
#define EP_FOUND_SEGMENT \
	1 /* arena magic at the start of a PT_LOAD or mapping */
#define EP_FOUND_NOTE     2 /* ELF note of an executable or shared library */
#define EP_FOUND_SYMBOL   3 /* symbol epitaph_root */
#define EP_FOUND_SCAN     4 /* scan of the memory that was saved */
#define EP_FOUND_SNAPSHOT 5 /* this note, in a snapshot */
#define EP_FOUND_SELF     6 /* written by the process itself */
#define EP_FOUND_KEPT     7 /* a snapshot that the process kept in memory */

/* What could not be saved for one thread of the core. */
struct ep_snapshot_thread {
	uint32_t tid;
	uint32_t unused;
	uint64_t stack_pointer;
	uint64_t stack_wanted; /* bytes from the stack pointer up that should
				  have been saved */
	uint64_t stack_saved;  /* bytes that were */
};
static_assert(sizeof(struct ep_snapshot_thread) == 32, "format");

struct ep_snapshot_note {
	uint16_t major;
	uint16_t minor;
	uint32_t size; /* bytes of this struct, threads not counted */
	uint64_t arena_address;
	uint64_t arena_size;   /* bytes that should have been saved
				  (arena.committed) */
	uint64_t arena_saved;  /* bytes that were */
	uint64_t root_address; /* 0: only the arena's copy was seen */
	uint64_t pages_wanted; /* pages of modules' headers, .dynamic and link
				  maps */
	uint64_t pages_saved;
	uint64_t
		taken_tsc; /* TSC when a live process was read; 0 from a core */
	uint32_t found;    /* EP_FOUND_ */
	uint32_t thread_count; /* struct ep_snapshot_thread that follow */
	uint64_t unused[3];
};
static_assert(sizeof(struct ep_snapshot_note) == 96, "format");

#endif
