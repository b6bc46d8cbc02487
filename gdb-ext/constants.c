/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * constants.c: prints a Python module of what gdb-ext needs of format.h, by the compiler's own
 * reckoning. A layout is its size and, for each field, struct.unpack's format and the offset.
 */
#include <inttypes.h>
#include <stdio.h>

#include "runtime/format.h"
#include "runtime/format_switches.h"

/* struct.unpack's letter for a field; "" for one that is read as bytes. */
#define LETTER(field)              \
	_Generic((field), uint64_t \
		 : "Q", uint32_t   \
		 : "I", uint16_t   \
		 : "H", int64_t    \
		 : "q", uint8_t    \
		 : "B", default    \
		 : "")
#define MEMBER(type, name) (((const struct type *)0)->name)
#define FIELD(type, name)                                                       \
	{                                                                       \
#name, LETTER(MEMBER(type, name)), offsetof(struct type, name), \
			sizeof(MEMBER(type, name))                              \
	}
#define NUMBER(name)        \
	{                   \
#name, name \
	}

static const struct {
	const char *name;
	uint64_t value;
} numbers[] = {
	NUMBER(EP_FORMAT_MAJOR),  NUMBER(EP_FORMAT_MINOR),      NUMBER(EP_ARCH_X86_64),
	NUMBER(EP_NOTE_SNAPSHOT), NUMBER(EP_NOTE_SNAPSHOT_1_5), NUMBER(EP_SECTION_CLOCK),
	NUMBER(EP_FOUND_SEGMENT), NUMBER(EP_FOUND_SYMBOL),      NUMBER(EP_SECTION_SWITCHES),
	NUMBER(EP_SWITCH_NAME),   NUMBER(EP_SWITCH_BUDGET),     NUMBER(EP_SWITCH_CONTROL),
	NUMBER(EP_GATE_OFF),
};

#define FIELDS_MAX 16

static const struct layout {
	const char *name;
	size_t size;
	struct field {
		const char *name, *letter;
		size_t offset, size;
	} fields[FIELDS_MAX];
} layouts[] = {
	{"ROOT",
	 sizeof(struct ep_root),
	 {FIELD(ep_root, magic), FIELD(ep_root, major), FIELD(ep_root, minor), FIELD(ep_root, size),
	  FIELD(ep_root, self), FIELD(ep_root, arena_address), FIELD(ep_root, arena_size),
	  FIELD(ep_root, pid), FIELD(ep_root, identity), FIELD(ep_root, arch),
	  FIELD(ep_root, file_inode), FIELD(ep_root, crc)}},
	{"ARENA",
	 sizeof(struct ep_arena),
	 {FIELD(ep_arena, committed), FIELD(ep_arena, gate), FIELD(ep_arena, sections)}},
	{"SECTION",
	 sizeof(struct ep_section),
	 {FIELD(ep_section, type), FIELD(ep_section, offset), FIELD(ep_section, size),
	  FIELD(ep_section, entry_size)}},
	{"SWITCHES",
	 sizeof(struct ep_switches),
	 {FIELD(ep_switches, capacity), FIELD(ep_switches, count),
	  FIELD(ep_switches, control_capacity), FIELD(ep_switches, control_count)}},
	{"SWITCHED",
	 sizeof(struct ep_switched),
	 {FIELD(ep_switched, start), FIELD(ep_switched, reasons)}},
	{"CLOCK", sizeof(struct ep_clock), {FIELD(ep_clock, tsc_hz), FIELD(ep_clock, anchors)}},
	{"ANCHOR",
	 sizeof(struct ep_anchor),
	 {FIELD(ep_anchor, tsc), FIELD(ep_anchor, monotonic_raw)}},
	{"SNAPSHOT_NOTE",
	 sizeof(struct ep_snapshot_note),
	 {FIELD(ep_snapshot_note, major), FIELD(ep_snapshot_note, minor),
	  FIELD(ep_snapshot_note, size), FIELD(ep_snapshot_note, arena_address),
	  FIELD(ep_snapshot_note, arena_size), FIELD(ep_snapshot_note, arena_saved),
	  FIELD(ep_snapshot_note, root_address), FIELD(ep_snapshot_note, pages_wanted),
	  FIELD(ep_snapshot_note, pages_saved), FIELD(ep_snapshot_note, taken_tsc),
	  FIELD(ep_snapshot_note, found), FIELD(ep_snapshot_note, thread_count),
	  FIELD(ep_snapshot_note, written)}},
	{"SNAPSHOT_THREAD",
	 sizeof(struct ep_snapshot_thread),
	 {FIELD(ep_snapshot_thread, tid), FIELD(ep_snapshot_thread, stack_pointer),
	  FIELD(ep_snapshot_thread, stack_wanted), FIELD(ep_snapshot_thread, stack_saved)}},
};

static void print_layout(const struct layout *layout)
{
	printf("\n%s = (%zu, {\n", layout->name, layout->size);
	for (const struct field *field = layout->fields; field->name; field++) {
		printf("    \"%s\": (\"", field->name);
		if (*field->letter)
			printf("<%s\", %zu),\n", field->letter, field->offset);
		else
			printf("%zus\", %zu),\n", field->size, field->offset);
	}
	printf("})\n");
}

int main(void)
{
	printf("# SPDX-License-Identifier: BSD-2-Clause\n"
	       "\"\"\"Made from runtime/format.h by gdb-ext/constants.c.\"\"\"\n\n");
	printf("EP_ROOT_MAGIC = b\"%s\"\nEP_ARENA_MAGIC = b\"%s\"\nEP_NOTE_NAME = b\"%s\"\n",
	       EP_ROOT_MAGIC, EP_ARENA_MAGIC, EP_NOTE_NAME);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		printf("%s = %" PRIu64 "\n", numbers[i].name, numbers[i].value);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		print_layout(&layouts[i]);
	return fflush(stdout) || ferror(stdout);
}
