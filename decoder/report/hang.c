/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hang.c: for a process that hung: which watchdog was not fed, and for each thread whether it waits
 * or runs, in which call, and since when.
 */
#include <signal.h>
#include <string.h>
#include <sys/user.h>

#include "decoder/code/hooks.h"
#include "decoder/report/parts.h"
#include "decoder/stack/signal_frame.h"
#include "runtime/format_watchdogs.h"

/* ---- watchdogs ---- */

static const char *name_of(const struct ep_evidence *evidence, uint32_t tid)
{
	const struct ep_trace_thread *thread = ep_evidence_trace_thread(evidence, tid);

	return thread ? thread->name : "";
}

const struct ep_trace_watchdog *ep_report_missed(const struct ep_evidence *evidence)
{
	const struct ep_trace *trace = evidence->trace;
	const struct ep_trace_watchdog *found = NULL;

	if (!trace || evidence->death.signal != SIGABRT)
		return NULL;
	for (size_t i = 0; i < trace->watchdog_count; i++) {
		const struct ep_trace_watchdog *one = &trace->watchdogs[i];

		if (one->action == EP_WATCHDOG_ABORT && one->missed_tsc &&
		    (!found || one->missed_tsc > found->missed_tsc))
			found = one;
	}
	return found;
}

static int rank_of(const struct ep_trace *trace, const struct ep_trace_watchdog *one)
{
	return ep_trace_watchdog_late(trace, one) ? 0 : one->misses ? 1 : 2;
}

void ep_report_add_watchdogs(struct ep_report *report)
{
	const struct ep_trace *trace = report->trace;

	for (int rank = 0; trace && rank < 3; rank++)
		for (size_t i = 0; i < trace->watchdog_count; i++) {
			const struct ep_trace_watchdog *one = &trace->watchdogs[i];

			if (rank_of(trace, one) != rank)
				continue;
			*ep_array_add(&report->watchdogs) = (struct ep_report_watchdog){
				.watchdog = one,
				.late = ep_trace_watchdog_late(trace, one),
				.fed_name = name_of(report->evidence, one->fed_by),
				.missed_name = name_of(report->evidence, one->missed_by),
			};
		}
}

#define HOOK_FRAMES 14 /* of the runtime, and of what it calls */

/* ---- what each thread does ---- */

static const struct ep_trace_stack *taken_stack(const struct ep_trace *trace, uint32_t tid)
{
	for (size_t i = 0; i < trace->stack_count; i++)
		if (trace->stacks[i].tid == tid)
			return &trace->stacks[i];
	return NULL;
}

static bool is_syscall(const struct ep_evidence *evidence, uint64_t at)
{
	uint8_t code[2];

	return ep_names_code(evidence->names, at, code, sizeof(code)) == sizeof(code) &&
	       code[0] == 0x0f && code[1] == 0x05;
}

/*
 * In a system call: the core says so; or a signal has interrupted one, which then stands before the
 * instruction again, or has ended with EINTR.
 */
static bool waits(const struct ep_evidence *evidence, const struct ep_source_thread *core,
		  const struct ep_trace_stack *taken)
{
	struct user_regs_struct registers;
	int64_t result;

	if (!core || !ep_thread_registers(core, &registers)) {
		if (!taken)
			return false;
		memcpy(&registers, taken->registers, sizeof(registers));
	}
	result = (int64_t)registers.rax;
	return (int64_t)registers.orig_rax >= 0 || is_syscall(evidence, registers.rip) ||
	       (result < 0 && result >= -4095 && is_syscall(evidence, registers.rip - 2));
}

/* "__lll_lock_wait", "pthread_mutex_lock": down to the traced call. */
static void find_innermost(struct ep_report_hung *hung, const struct ep_evidence *evidence)
{
	struct ep_stack stack;
	size_t first;

	if (!ep_evidence_unwind(evidence, hung->tid, EP_REPORT_HUNG_FRAMES + HOOK_FRAMES, &stack))
		return;
	/* The kernel's clock is asked for in hooks now and then, and that is no wait of the
	 * program's. */
	first = ep_evidence_behind_hook(evidence, &stack, 0);
	if (first)
		hung->waits = false;
	for (size_t i = first; i < stack.count && hung->function_count < EP_REPORT_HUNG_FRAMES;
	     i++) {
		const struct ep_function *function =
			ep_evidence_function(evidence, &stack.frames[i]);

		if (hung->has_call && function == hung->call.function)
			break;
		hung->functions[hung->function_count++] = function;
	}
	ep_stack_deinit(&stack);
}

static void add_hung(struct ep_report_hang *hang, const struct ep_evidence *evidence, uint32_t tid,
		     const struct ep_source_thread *core)
{
	struct ep_report_hung *hung = &hang->list[hang->count];
	struct ep_open_calls open;

	if (hang->count == EP_REPORT_HUNG_MAX) {
		hang->left++;
		return;
	}
	hung->tid = tid;
	hung->name = name_of(evidence, tid);
	hung->trace = ep_evidence_trace_thread(evidence, tid);
	hung->waits = waits(evidence, core, taken_stack(evidence->trace, tid));
	ep_evidence_open_calls(evidence, hung->trace, &open);
	hung->has_call = open.count > 0;
	if (hung->has_call)
		hung->call = *ep_open_calls_inner(&open, 0);
	ep_open_calls_deinit(&open);
	find_innermost(hung, evidence);
	hang->count++;
}

/* A core has all threads, a snapshot at a miss those that answered. */
static bool is_hang(const struct ep_evidence *evidence)
{
	const struct ep_death *death = &evidence->death;
	pid_t self = ep_source_pid(evidence->source);

	if (!evidence->trace || ep_source_kind(evidence->source) == EP_SOURCE_LIVE)
		return false;
	if (ep_report_missed(evidence))
		return true;
	if (death->signal == 0)
		return evidence->trace->stacks_tsc != 0;
	return (death->signal == SIGQUIT || death->signal == SIGABRT) && death->has_siginfo &&
	       death->code <= 0 && death->sender_pid != (uint32_t)self;
}

void ep_report_hang_init(struct ep_report_hang *hang, const struct ep_evidence *evidence)
{
	const struct ep_trace *trace = evidence->trace;
	size_t count;
	const struct ep_source_thread *core = ep_source_threads(evidence->source, &count);

	*hang = (struct ep_report_hang){.there = is_hang(evidence)};
	if (!hang->there)
		return;
	for (size_t i = 0; i < count; i++)
		if (!ep_trace_is_helper(trace, core[i].tid) && core[i].has_registers)
			add_hung(hang, evidence, core[i].tid, &core[i]);
	/* Those that only the miss knows. */
	for (size_t i = 0; !evidence->death.signal && i < trace->stack_count; i++) {
		const struct ep_source_thread *one =
			ep_source_thread(evidence->source, trace->stacks[i].tid);

		if (!one || !one->has_registers)
			add_hung(hang, evidence, trace->stacks[i].tid, NULL);
	}
}
