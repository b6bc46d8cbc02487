/* SPDX-License-Identifier: BSD-2-Clause */
/* uncaught.c: whether an exception that nobody caught ended a thread. */
#include <stdlib.h>
#include <string.h>

#include "decoder/report/model.h"

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Frames of a throw that finds nobody, or that meets a noexcept function. */
static const char *const terminating[] = {
	"_ZSt9terminatev", "_ZN10__cxxabiv111__terminate", "__cxa_throw",
	"__cxa_rethrow",   "_Unwind_RaiseException",
};

/* clang's noexcept functions catch all, and end the process. */
#define CALL_TERMINATE "__clang_call_terminate"

bool ep_report_is_uncaught(const struct ep_report *report, const struct ep_exception *thrown,
			   const struct ep_stack *stack)
{
	bool ending = !stack;

	for (size_t i = 0; stack && i < stack->count; i++) {
		const char *symbol =
			ep_frame_function(report->names, report->others, &stack->frames[i])->symbol;

		if (strcmp(symbol, CALL_TERMINATE) == 0)
			return thrown->where != NULL;
		for (size_t k = 0; k < sizeof(terminating) / sizeof(terminating[0]); k++)
			ending |= begins(symbol, terminating[k]);
	}
	return ending && thrown->flying;
}
