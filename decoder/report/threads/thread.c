/* SPDX-License-Identifier: BSD-2-Clause */
/* thread.c: one thread: its stack, its open calls, the two beside each other, and its last calls.
 */
#include <stdio.h>
#include <string.h>

#include "decoder/report/death/handler_call.h"
#include "decoder/report/parts.h"

/* Frames that are unwound: enough for any stack that ends by itself. */
#define FRAMES_MAX     100000
#define FRAMES_COUNTED 200 /* of those that are not shown */

/* ---- its stack ---- */

/* Of other threads the outer frames are counted only: following a stack costs little, names and
 * lines do. */
static size_t frames_wanted(const struct ep_report_limits *limits, bool died)
{
	return died || limits->frames > FRAMES_MAX - FRAMES_COUNTED
		       ? FRAMES_MAX
		       : limits->frames + FRAMES_COUNTED;
}

static void cut_stack(struct ep_report_thread *thread, size_t frames)
{
	struct ep_stack *stack = &thread->stack;

	if (thread->died || stack->count <= frames)
		return;
	thread->more = stack->count - frames;
	thread->uncounted = stack->end == EP_STACK_LIMIT;
	stack->count = frames;
	stack->end = EP_STACK_LIMIT;
	stack->complete = false;
	snprintf(stack->why, sizeof(stack->why), "limit of %zu frames reached", stack->count);
}

static void unwind(struct ep_report_thread *thread, const struct ep_evidence *evidence,
		   const struct ep_report_limits *limits)
{
	thread->unwound = ep_evidence_unwind(evidence, thread->tid,
					     frames_wanted(limits, thread->died), &thread->stack);
	if (thread->unwound && thread->entry.core && thread->entry.core->has_registers)
		ep_lock_wait_find(&thread->wait, evidence, &thread->stack, thread->entry.core,
				  thread->state.inside ? &thread->state.call : NULL);
	if (thread->unwound)
		cut_stack(thread, limits->frames);
	else
		snprintf(thread->stackless, sizeof(thread->stackless), "%s",
			 evidence->no_unwinder ? evidence->no_unwinder
			 : !thread->entry.core ? "it does not hold the thread"
					       : "no registers");
}

/* ---- an exception that nobody caught ---- */

/* Frames of a throw that finds nobody, or that meets a noexcept function. */
static bool is_terminating(const char *symbol)
{
	static const char *const begins[] = {
		"_ZSt9terminatev", "_ZN10__cxxabiv111__terminate", "__cxa_throw",
		"__cxa_rethrow",   "_Unwind_RaiseException",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(symbol, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

/* clang's noexcept functions catch all, and end the process. */
#define CALL_TERMINATE "__clang_call_terminate"

/* Then it is still on its way, and the stack, where there is one, is in std::terminate. */
static bool is_uncaught(const struct ep_report_thread *thread, const struct ep_evidence *evidence)
{
	const struct ep_exception *exception = &thread->open.exception;
	bool ending = !thread->unwound;

	for (size_t i = 0; i < thread->stack.count; i++) {
		const char *symbol =
			ep_evidence_function(evidence, &thread->stack.frames[i])->symbol;

		if (strcmp(symbol, CALL_TERMINATE) == 0)
			return exception->where != NULL;
		ending |= is_terminating(symbol);
	}
	return ending && exception->flying;
}

/* ---- all of it ---- */

static void identify(struct ep_report_thread *thread)
{
	const struct ep_report_entry *entry = &thread->entry;

	thread->tid = entry->core ? entry->core->tid : entry->trace->tid;
	thread->name = entry->trace && entry->trace->name[0] ? entry->trace->name
		       : entry->core                         ? entry->core->name
							     : "";
	thread->ended = !thread->died && entry->trace && !entry->core &&
			entry->trace->state == EP_THREAD_DEAD;
}

void ep_report_thread_init(struct ep_report_thread *thread, const struct ep_evidence *evidence,
			   const struct ep_report_limits *limits,
			   const struct ep_report_entry *entry, bool died)
{
	const struct ep_event *handler = NULL;

	*thread = (struct ep_report_thread){.entry = *entry, .died = died};
	identify(thread);
	if (!thread->ended)
		ep_report_state_init(&thread->state, evidence, entry);
	ep_evidence_open_calls(evidence, entry->trace, &thread->open);
	unwind(thread, evidence, limits);
	thread->uncaught = died && is_uncaught(thread, evidence);
	ep_evidence_align(evidence, thread->unwound ? &thread->stack : NULL, &thread->open,
			  limits->inlines, limits->page, &thread->alignment);
	if (died)
		handler = ep_report_handler_call(evidence, &thread->alignment, &thread->open);
	ep_report_last_init(&thread->last, evidence, &thread->open,
			    died ? limits->crash_calls : limits->other_calls, handler);
	ep_open_calls_drop_history(&thread->open);
}

void ep_report_thread_deinit(struct ep_report_thread *thread)
{
	ep_report_last_deinit(&thread->last);
	ep_alignment_deinit(&thread->alignment);
	ep_stack_deinit(&thread->stack);
	ep_open_calls_deinit(&thread->open);
}
