/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * constants.c: prints a Python module of what gdb-ext needs of format.h, by the compiler's own
 * reckoning. A layout is its size and, for each field, struct.unpack's format and the offset.
 */
#include <inttypes.h>
#include <stdio.h>

#include "runtime/format.h"

/* struct.unpack's letter for a field; "" for one that is read as bytes. */
#define LETTER(field)              \
	_Generic((field), uint64_t \
		 : "Q", uint32_t   \
		 : "I", uint16_t   \
		 : "H", int64_t    \
		 : "q", default    \
		 : "")

#define FIELD(type, name)                                                         \
	print_field(#name, LETTER(((const type *)0)->name), offsetof(type, name), \
		    sizeof(((const type *)0)->name))
#define NUMBER(name)      printf(#name " = %" PRIu64 "\n", (uint64_t)(name))
#define BYTES(name)       printf(#name " = b\"%s\"\n", name)
#define BEGIN(name, type) printf("\n" name " = (%zu, {\n", sizeof(type))
#define END()             printf("})\n")

static void print_field(const char *name, const char *letter, size_t offset, size_t size)
{
	if (*letter)
		printf("    \"%s\": (\"<%s\", %zu),\n", name, letter, offset);
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
	BYTES(EP_NOTE_NAME);
	NUMBER(EP_NOTE_SNAPSHOT);
	NUMBER(EP_NOTE_SNAPSHOT_1_5);
	NUMBER(EP_SECTION_CLOCK);
	NUMBER(EP_FOUND_SEGMENT);
	NUMBER(EP_FOUND_SYMBOL);
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
	FIELD(struct ep_root, identity);
	FIELD(struct ep_root, arch);
	FIELD(struct ep_root, file_inode);
	FIELD(struct ep_root, crc);
	END();
}

static void print_arena(void)
{
	BEGIN("ARENA", struct ep_arena);
	FIELD(struct ep_arena, committed);
	FIELD(struct ep_arena, sections);
	END();
	BEGIN("SECTION", struct ep_section);
	FIELD(struct ep_section, type);
	FIELD(struct ep_section, entry_size);
	FIELD(struct ep_section, offset);
	FIELD(struct ep_section, size);
	END();
	BEGIN("CLOCK", struct ep_clock);
	FIELD(struct ep_clock, tsc_hz);
	FIELD(struct ep_clock, anchors);
	END();
	BEGIN("ANCHOR", struct ep_anchor);
	FIELD(struct ep_anchor, tsc);
	FIELD(struct ep_anchor, monotonic_raw);
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
	END();
	BEGIN("SNAPSHOT_THREAD", struct ep_snapshot_thread);
	FIELD(struct ep_snapshot_thread, tid);
	FIELD(struct ep_snapshot_thread, stack_pointer);
	FIELD(struct ep_snapshot_thread, stack_wanted);
	FIELD(struct ep_snapshot_thread, stack_saved);
	END();
}

int main(void)
{
	printf("# SPDX-License-Identifier: BSD-2-Clause\n"
	       "\"\"\"Made from runtime/format.h by gdb-ext/constants.c.\"\"\"\n\n");
	print_constants();
	print_root();
	print_arena();
	print_snapshot();
	return fflush(stdout) || ferror(stdout);
}
