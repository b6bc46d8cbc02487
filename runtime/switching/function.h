/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * function.h: which function holds an address, by the binary-search table of PT_GNU_EH_FRAME (LSB
 * Core, "Exception Frames": .eh_frame_hdr), which each program has in memory, stripped or not: up
 * to where the next one begins. A part that was moved elsewhere (.cold) is a function here.
 */
#ifndef EPITAPH_FUNCTION_H
#define EPITAPH_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

/* [*start, *end), process virtual. False: no module of the load map holds it, or that has no such
 * table. Some us; signal safe. */
bool ep_function_range(uint64_t address, uint64_t *start, uint64_t *end);

/* All of the module that holds it, as the load map has it; false: none does. */
bool ep_module_range(uint64_t address, uint64_t *start, uint64_t *end);

/* The segment of code that holds it, [*start, *end), process virtual, and whether its module's ELF
 * header lies in it too. False likewise. */
bool ep_code_segment(uint64_t address, uint64_t *start, uint64_t *end, bool *has_header);

#endif
