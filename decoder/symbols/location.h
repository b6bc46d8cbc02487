/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * location.h: where a variable is in one frame of a stack: DWARF's location expressions (DWARF 5,
 * section 2.6), calculated from the frame's registers and the process's memory. An expression runs
 * a bounded number of steps; what it needs and cannot have is an answer of its own, never a zero.
 */
#ifndef EPITAPH_LOCATION_H
#define EPITAPH_LOCATION_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DWARF's numbers (psABI x86-64, figure 3.36): 0-15 and the return address; xmm0-15 from 17 on. */
#define EP_LOCATION_REGISTERS   17u
#define EP_LOCATION_VECTORS     16u
#define EP_LOCATION_VECTOR_SIZE 32u

/* What a frame is made of. */
struct ep_location_frame {
	uint64_t address; /* of the instruction that it is at, in the file */
	uint64_t bias;    /* process virtual - address in the file */
	uint64_t registers[EP_LOCATION_REGISTERS];
	uint32_t known; /* a bit a register */
	uint8_t vectors[EP_LOCATION_VECTORS][EP_LOCATION_VECTOR_SIZE];
	size_t vector_size; /* bytes of each that are known: 0, 16, 32 */
	bool cfa_known;
	uint64_t cfa;   /* the stack pointer before the function was called */
	Dwarf_Die base; /* the function, whose DW_AT_frame_base counts */
	/* All of `size` bytes of the process; else EP_E_ of why not. */
	int (*read)(void *context, uint64_t address, void *out, size_t size);
	/* The lowest 8 bytes that the register (0-15, 17-32) had when the function was entered, by
	 * what its caller says that it gave it. False: unknown. May be NULL. */
	bool (*entry)(void *context, unsigned number, uint64_t *out);
	/* Where in the process the byte `offset` of the module's thread-local storage is, for this
	 * thread. False: unknown. May be NULL. */
	bool (*tls)(void *context, uint64_t offset, uint64_t *out);
	void *context;
};

enum ep_location_kind {
	EP_LOCATION_NONE,    /* optimized out */
	EP_LOCATION_MEMORY,  /* at `address` */
	EP_LOCATION_BYTES,   /* in registers, or nowhere but in the debug information */
	EP_LOCATION_POINTER, /* a pointer to byte `offset` of `target`, which has no address */
	EP_LOCATION_UNKNOWN, /* `why` says what is missing */
};

#define EP_LOCATION_BYTES_MAX 256u

struct ep_location {
	enum ep_location_kind kind;
	uint64_t address;                       /* process virtual */
	uint8_t bytes[EP_LOCATION_BYTES_MAX];   /* of EP_LOCATION_BYTES; `size` of them: */
	uint8_t missing[EP_LOCATION_BYTES_MAX]; /* their bits that were optimized out */
	size_t size;
	Dwarf_Die target; /* the variable */
	uint64_t offset;
	bool by_caller;  /* calculated from what the function was called with */
	const char *why; /* static */
};

/* Of a variable or parameter: by DW_AT_location or DW_AT_const_value, its own or its abstract
 * origin's. */
void ep_location_find(struct ep_location *out, const struct ep_location_frame *frame,
		      Dwarf_Die *variable);

/* The number that an attribute's expression comes to, or that of the variable which it names (of an
 * array's bounds); of a floating-point number its bits. False: there is none. */
bool ep_location_number(const struct ep_location_frame *frame, Dwarf_Attribute *expression,
			uint64_t *out);

/* The one register (0-15, 17-32) that the entry's DW_AT_location is; false: it is something else.
 */
bool ep_location_register(Dwarf_Die *die, unsigned *number);

#endif
