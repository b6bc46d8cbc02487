/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * effects.h: what one instruction asks of the processor: memory, at which addresses and how
 * aligned, rights that a process lacks, a place to go on. By Intel's manual, volume 2, and the
 * registers; it tells which of them can have faulted, not which has.
 */
#ifndef EPITAPH_EFFECTS_H
#define EPITAPH_EFFECTS_H

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>

#include "coredump/memory/source.h"

/* What a process may not do, or not always. */
enum ep_right {
	EP_RIGHT_NONE,
	EP_RIGHT_PRIVILEGED, /* the kernel's own: hlt, cli, wrmsr, mov to cr0 */
	EP_RIGHT_PORT,       /* in, out: ioperm(2) */
	EP_RIGHT_INTERRUPT,  /* int N */
	EP_RIGHT_SEGMENT,    /* loads a segment's selector */
	EP_RIGHT_TSC,        /* prctl(2), PR_SET_TSC */
	EP_RIGHT_CPUID,      /* arch_prctl(2), ARCH_SET_CPUID */
	EP_RIGHT_COUNTER,    /* rdpmc */
	EP_RIGHT_TABLE,      /* sgdt and the like: UMIP */
	EP_RIGHT_VALUE,      /* reserved bits of a register that is loaded: ldmxcsr, xrstor */
};

/* What reads and writes is asked for as a write by the processor. */
enum ep_access_way { EP_ACCESS_READ = 1, EP_ACCESS_WRITE };

struct ep_access {
	unsigned way; /* bits; 0 unknown */
	bool known;   /* else the address is not: a vector of them, a register that is left out */
	uint64_t address;
	uint32_t size;      /* bytes at most */
	uint32_t alignment; /* the address must be a multiple of it; 1: need not */
	bool stack;         /* push, ret and the like: the stack pointer is the address */
	bool by_stack;      /* relative to rsp or rbp, so that #SS comes in the place of #GP */
	const char *base;   /* "rax"; NULL none */
	uint64_t base_value;
};

#define EP_ACCESSES_MAX 4u

struct ep_effects {
	unsigned size; /* bytes */
	char name[32]; /* "movaps" */
	enum ep_right right;
	uint8_t vector; /* of int N */
	struct ep_access accesses[EP_ACCESSES_MAX];
	unsigned access_count;
	bool branches, target_known;
	uint64_t target;
	bool is_trap; /* ud0, ud1, ud2: undefined on purpose */
	bool locked;  /* has a lock prefix */
	bool divides, is_signed, divisor_known;
	uint32_t operand_size;    /* of what divides: bytes */
	uint64_t divisor;         /* sign-extended where is_signed */
	const char *divisor_name; /* "ecx"; NULL: memory */
};

/*
 * Of the instruction at `pc`, whose bytes are `code`. `registers`: NULL when not known, then no
 * address is. `source` has the memory that targets and divisors are read from. False: the bytes are
 * no instruction that is known (`out` is all zero then), or there is no disassembler
 * (*unread is set then).
 */
bool ep_effects_read(struct ep_effects *out, struct ep_source *source, uint64_t pc,
		     const uint8_t *code, size_t size, const struct user_regs_struct *registers,
		     bool *unread);

/* Does a machine of 48 bits have no such address? Intel's manual, volume 1, 3.3.7.1. */
static inline bool ep_is_canonical(uint64_t address)
{
	return address >> 47 == 0 || address >> 47 == 0x1ffff;
}

/* The general register that `reg` is (a part of): its name, the value of that part. False: it is
 * none. `registers` may be NULL, when only *offset (in struct user_regs_struct) is wanted. */
bool ep_general_register(x86_reg reg, const struct user_regs_struct *registers, uint64_t *value,
			 const char **name, size_t *offset);

#endif
