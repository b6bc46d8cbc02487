/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * function.h: which function holds an address, by its description in .eh_frame, which the
 * binary-search table of PT_GNU_EH_FRAME leads to (LSB Core, "Exception Frames"), and which each
 * program has in memory, stripped or not. A part that was moved elsewhere (.cold) is a function
 * here. What was compiled without descriptions lies between others that have one: range.h.
 */
#ifndef EPITAPH_FUNCTION_H
#define EPITAPH_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

enum ep_function_found {
	EP_FUNCTION_NONE,      /* no module of the load map holds it */
	EP_FUNCTION_DESCRIBED, /* [*start, *end) is the function, as its description says */
	EP_FUNCTION_BETWEEN,   /* no description has it: the code between two that are */
};

/* [*start, *end), process virtual; NONE leaves them alone. Some us; signal safe. */
enum ep_function_found ep_function_look(uint64_t address, uint64_t *start, uint64_t *end);

/* All of the module that holds it, as the load map has it; false: none does. */
bool ep_module_range(uint64_t address, uint64_t *start, uint64_t *end);

/* The segment of code that holds it, [*start, *end), process virtual, and whether its module's ELF
 * header lies in it too. False likewise. */
bool ep_code_segment(uint64_t address, uint64_t *start, uint64_t *end, bool *has_header);

#endif
