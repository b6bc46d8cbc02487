/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * constants.c: prints a Python module of format.h's constants and layouts, by the compiler's own
 * reckoning, for gdb's Python. A layout is its size and, for each field, struct.unpack's format and
 * the offset. It also prints samples of ep_block_check, by which the Python one is tested.
 */
#include <inttypes.h>
#include <stdio.h>

#include "runtime/format.h"

/* struct.unpack's letters for a field; "" for one that is taken as bytes. */
#define LETTERS(field)                   \
	_Generic((field), uint64_t       \
		 : "Q", int64_t          \
		 : "q", uint32_t         \
		 : "I", uint16_t         \
		 : "H", uint8_t          \
		 : "B", struct ep_string \
		 : "II", default         \
		 : "")

#define FIELD(type, name)                                                          \
	print_field(#name, LETTERS(((const type *)0)->name), offsetof(type, name), \
		    sizeof(((const type *)0)->name))
#define NUMBER(name)      printf(#name " = %" PRIu64 "\n", (uint64_t)(name))
#define BYTES(name)       printf(#name " = b\"%s\"\n", name)
#define BEGIN(name, type) printf("\n" name " = (%zu, {\n", sizeof(type))
#define END()             printf("})\n")

static void print_field(const char *name, const char *letters, size_t offset, size_t size)
{
	if (*letters)
		printf("    \"%s\": (\"<%s\", %zu),\n", name, letters, offset);
	else
		printf("    \"%s\": (\"%zus\", %zu),\n", name, size, offset);
}

static void print_constants(void)
{
	NUMBER(EP_FORMAT_MAJOR);
	NUMBER(EP_FORMAT_MINOR);
	BYTES(EP_ROOT_MAGIC);
	BYTES(EP_ARENA_MAGIC);
	NUMBER(EP_ARCH_X86_64);
	NUMBER(EP_OFF_NONE);
	NUMBER(EP_OFF_NO_MEMORY);
	NUMBER(EP_OFF_ADDRESS);
	NUMBER(EP_OFF_OTHER_RUNTIME);
	NUMBER(EP_OFF_OVERWRITTEN);
	NUMBER(EP_OFF_NO_TSC);
	BYTES(EP_NOTE_NAME);
	NUMBER(EP_NOTE_ROOT);
	NUMBER(EP_NOTE_SNAPSHOT);
	NUMBER(EP_NOTE_SNAPSHOT_1_5);
	NUMBER(EP_SECTION_PROCESS);
	NUMBER(EP_SECTION_CLOCK);
	NUMBER(EP_SECTION_THREADS);
	NUMBER(EP_SECTION_MODULES);
	NUMBER(EP_SECTION_RINGS);
	NUMBER(EP_SECTION_KEPT);
	NUMBER(EP_KEPT_VALID);
	NUMBER(EP_SECTION_MAX);
	NUMBER(EP_GATE_API);
	NUMBER(EP_GATE_OFF);
	NUMBER(EP_GATE_OLD_OFF);
	NUMBER(EP_GATE_CONTROL);
	NUMBER(EP_GATE_STOPPED);
	NUMBER(EP_ANCHOR_KEY);
	NUMBER(EP_ANCHORS);
	NUMBER(EP_THREAD_FREE);
	NUMBER(EP_THREAD_LIVE);
	NUMBER(EP_THREAD_DEAD);
	NUMBER(EP_THREAD_IGNORED);
	NUMBER(EP_THREAD_WITHOUT_RING);
	NUMBER(EP_THREAD_MAIN);
	NUMBER(EP_BLOCK_SIZE);
	NUMBER(EP_BLOCK_HEADER);
	NUMBER(EP_BLOCK_RECORDS);
	NUMBER(EP_TICK_SHIFT);
	NUMBER(EP_STAMP_SHIFT);
	NUMBER(EP_RETURN_BIT);
	NUMBER(EP_ADDRESS_MASK);
	NUMBER(EP_ESCAPE_LIMIT);
	NUMBER(EP_ESCAPE_TIME);
	NUMBER(EP_ESCAPE_MARK);
	NUMBER(EP_ESCAPE_TYPES);
	NUMBER(EP_FOUND_SEGMENT);
	NUMBER(EP_FOUND_NOTE);
	NUMBER(EP_FOUND_SYMBOL);
	NUMBER(EP_FOUND_SCAN);
	NUMBER(EP_FOUND_SNAPSHOT);
	NUMBER(EP_FOUND_SELF);
	NUMBER(EP_FOUND_KEPT);
	NUMBER(EP_FOUND_FILE);
}

static void print_root(void)
{
	BEGIN("ROOT", struct ep_root);
	FIELD(struct ep_root, magic);
	FIELD(struct ep_root, major);
	FIELD(struct ep_root, minor);
	FIELD(struct ep_root, size);
	FIELD(struct ep_root, self);
	FIELD(struct ep_root, arena_address);
	FIELD(struct ep_root, arena_size);
	FIELD(struct ep_root, pid);
	FIELD(struct ep_root, generation);
	FIELD(struct ep_root, identity);
	FIELD(struct ep_root, arch);
	FIELD(struct ep_root, off_reason);
	FIELD(struct ep_root, file_inode);
	FIELD(struct ep_root, file_path);
	FIELD(struct ep_root, file_path_size);
	FIELD(struct ep_root, crc);
	END();
	BEGIN("ROOT_NOTE", struct ep_root_note);
	FIELD(struct ep_root_note, root_offset);
	END();
}

static void print_arena(void)
{
	BEGIN("ARENA", struct ep_arena);
	FIELD(struct ep_arena, committed);
	FIELD(struct ep_arena, gate);
	FIELD(struct ep_arena, off_reason);
	FIELD(struct ep_arena, block_size);
	FIELD(struct ep_arena, timestamp_every);
	FIELD(struct ep_arena, ring_size);
	FIELD(struct ep_arena, memory_size);
	FIELD(struct ep_arena, min_duration);
	FIELD(struct ep_arena, clock_budget);
	FIELD(struct ep_arena, section_count);
	FIELD(struct ep_arena, threads_without_ring);
	FIELD(struct ep_arena, threads_untold);
	FIELD(struct ep_arena, modules_untold);
	FIELD(struct ep_arena, rings_reused);
	FIELD(struct ep_arena, settings_refused);
	FIELD(struct ep_arena, snapshots_written);
	FIELD(struct ep_arena, sections);
	END();
	BEGIN("SECTION", struct ep_section);
	FIELD(struct ep_section, type);
	FIELD(struct ep_section, entry_size);
	FIELD(struct ep_section, offset);
	FIELD(struct ep_section, size);
	END();
}

static void print_process(void)
{
	BEGIN("PROCESS", struct ep_process);
	FIELD(struct ep_process, pid);
	FIELD(struct ep_process, parent_pid);
	FIELD(struct ep_process, start_tsc);
	FIELD(struct ep_process, start_realtime);
	FIELD(struct ep_process, executable);
	FIELD(struct ep_process, command_line);
	FIELD(struct ep_process, host);
	FIELD(struct ep_process, kernel);
	FIELD(struct ep_process, runtime);
	END();
}

static void print_clock(void)
{
	BEGIN("CLOCK", struct ep_clock);
	FIELD(struct ep_clock, tsc_hz);
	FIELD(struct ep_clock, error_ppb);
	FIELD(struct ep_clock, taken);
	FIELD(struct ep_clock, anchors);
	END();
	BEGIN("ANCHOR", struct ep_anchor);
	FIELD(struct ep_anchor, tsc);
	FIELD(struct ep_anchor, monotonic_raw);
	FIELD(struct ep_anchor, realtime);
	FIELD(struct ep_anchor, width);
	FIELD(struct ep_anchor, check);
	END();
}

static void print_threads(void)
{
	BEGIN("THREAD", struct ep_thread);
	FIELD(struct ep_thread, state);
	FIELD(struct ep_thread, flags);
	FIELD(struct ep_thread, serial);
	FIELD(struct ep_thread, tid);
	FIELD(struct ep_thread, start_tsc);
	FIELD(struct ep_thread, end_tsc);
	FIELD(struct ep_thread, ring_offset);
	FIELD(struct ep_thread, ring_size);
	FIELD(struct ep_thread, blocks);
	FIELD(struct ep_thread, lost);
	FIELD(struct ep_thread, gate);
	FIELD(struct ep_thread, timing);
	FIELD(struct ep_thread, name);
	END();
	BEGIN("KEPT", struct ep_kept);
	FIELD(struct ep_kept, state);
	FIELD(struct ep_kept, number);
	FIELD(struct ep_kept, address);
	FIELD(struct ep_kept, size);
	END();
	BEGIN("BLOCK", struct ep_block);
	FIELD(struct ep_block, tsc);
	FIELD(struct ep_block, sequence);
	FIELD(struct ep_block, owner);
	FIELD(struct ep_block, every);
	FIELD(struct ep_block, flags);
	FIELD(struct ep_block, reserved);
	FIELD(struct ep_block, check);
	FIELD(struct ep_block, records);
	END();
}

static void print_snapshot(void)
{
	BEGIN("SNAPSHOT_NOTE", struct ep_snapshot_note);
	FIELD(struct ep_snapshot_note, major);
	FIELD(struct ep_snapshot_note, minor);
	FIELD(struct ep_snapshot_note, size);
	FIELD(struct ep_snapshot_note, arena_address);
	FIELD(struct ep_snapshot_note, arena_size);
	FIELD(struct ep_snapshot_note, arena_saved);
	FIELD(struct ep_snapshot_note, root_address);
	FIELD(struct ep_snapshot_note, pages_wanted);
	FIELD(struct ep_snapshot_note, pages_saved);
	FIELD(struct ep_snapshot_note, taken_tsc);
	FIELD(struct ep_snapshot_note, found);
	FIELD(struct ep_snapshot_note, thread_count);
	FIELD(struct ep_snapshot_note, redacted);
	END();
	BEGIN("SNAPSHOT_THREAD", struct ep_snapshot_thread);
	FIELD(struct ep_snapshot_thread, tid);
	FIELD(struct ep_snapshot_thread, stack_pointer);
	FIELD(struct ep_snapshot_thread, stack_wanted);
	FIELD(struct ep_snapshot_thread, stack_saved);
	END();
}

/* (tsc, sequence, owner, every, flags, offset, identity, check) */
static void print_samples(void)
{
	uint64_t mix = UINT64_C(0x243f6a8885a308d3);

	printf("\nBLOCK_CHECK_SAMPLES = (\n");
	for (unsigned i = 0; i < 16; i++) {
		struct ep_block block = {.tsc = mix,
					 .sequence = mix >> 20 | 1,
					 .owner = (uint32_t)(mix >> 7),
					 .every = (uint8_t)(1u << i % 7),
					 .flags = (uint8_t)(i)};
		uint64_t offset = (uint64_t)i << 12, identity = ~mix << i;

		printf("    (%" PRIu64 ", %" PRIu64 ", %" PRIu32 ", %u, %u,"
		       " %" PRIu64 ", %" PRIu64 ", %" PRIu64 "),\n",
		       block.tsc, block.sequence, block.owner, block.every, block.flags, offset,
		       identity, ep_block_check(&block, offset, identity));
		mix = mix * UINT64_C(6364136223846793005) + 1;
	}
	printf(")\n");
}

int main(void)
{
	printf("# SPDX-License-Identifier: BSD-2-Clause\n"
	       "\"\"\"Made from runtime/format.h by gdb-ext/constants.c.\"\"\""
	       "\n\n");
	print_constants();
	print_root();
	print_arena();
	print_process();
	print_clock();
	print_threads();
	print_snapshot();
	print_samples();
	return fflush(stdout) || ferror(stdout);
}
