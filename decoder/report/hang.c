/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hang.c: for a process that hung: which watchdog was not fed, and for each thread whether it waits
 * or runs, in which call, and since when.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

#include "decoder/report/model.h"
#include "runtime/format_watchdogs.h"

/* Indices into the kernel's user_regs_struct. */
#define REGISTER_RAX      10
#define REGISTER_ORIG_RAX 15
#define REGISTER_RIP      16

const char *ep_report_thread_name(const struct ep_report *report, uint32_t tid)
{
	const struct ep_trace_thread *thread = ep_report_trace_thread(report->trace, tid);

	return thread ? thread->name : "";
}

/* ---- watchdogs ---- */

const struct ep_trace_watchdog *ep_report_missed(const struct ep_report *report,
						 const struct ep_death *death)
{
	const struct ep_trace *trace = report->trace;
	const struct ep_trace_watchdog *found = NULL;

	for (size_t i = 0; trace && death->signal == SIGABRT && i < trace->watchdog_count; i++) {
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

const struct ep_trace_watchdog *ep_report_watchdog(const struct ep_trace *trace, size_t index)
{
	for (int rank = 0; trace && rank < 3; rank++)
		for (size_t i = 0; i < trace->watchdog_count; i++)
			if (rank_of(trace, &trace->watchdogs[i]) == rank && index-- == 0)
				return &trace->watchdogs[i];
	return NULL;
}

/* ---- what each thread does ---- */

static const struct ep_trace_stack *taken_stack(const struct ep_trace *trace, uint32_t tid)
{
	for (size_t i = 0; i < trace->stack_count; i++)
		if (trace->stacks[i].tid == tid)
			return &trace->stacks[i];
	return NULL;
}

static bool is_syscall(struct ep_report *report, uint64_t at)
{
	uint8_t code[2];

	return ep_names_code(report->names, at, code, sizeof(code)) == sizeof(code) &&
	       code[0] == 0x0f && code[1] == 0x05;
}

/*
 * In a system call: the core says so; or a signal has interrupted one, which then stands before the
 * instruction again, or has ended with EINTR.
 */
static bool waits(struct ep_report *report, const struct ep_source_thread *core,
		  const struct ep_trace_stack *taken)
{
	uint64_t registers[ELF_NGREG];
	size_t at = offsetof(struct elf_prstatus, pr_reg);

	if (core && core->prstatus && core->prstatus_size >= at + sizeof(registers))
		memcpy(registers, core->prstatus + at, sizeof(registers));
	else if (taken)
		memcpy(registers, taken->registers, sizeof(registers));
	else
		return false;
	return (int64_t)registers[REGISTER_ORIG_RAX] >= 0 ||
	       is_syscall(report, registers[REGISTER_RIP]) ||
	       ((int64_t)registers[REGISTER_RAX] < 0 && (int64_t)registers[REGISTER_RAX] >= -4095 &&
		is_syscall(report, registers[REGISTER_RIP] - 2));
}

/* "__lll_lock_wait", "pthread_mutex_lock": down to the traced call. */
static void take_innermost(struct ep_report_hung *hung, struct ep_report *report)
{
	struct ep_stack stack;
	int rc = report->unwinder ? ep_unwind(report->unwinder, hung->tid,
					      EP_REPORT_HUNG_FRAMES + 2, &stack, NULL)
				  : EP_END;

	report->starved |= rc == EP_E_MEMORY;
	if (rc)
		return;
	for (size_t i = 0; i < stack.count && hung->function_count < EP_REPORT_HUNG_FRAMES; i++) {
		const struct ep_function *function =
			ep_frame_function(report->names, report->others, &stack.frames[i]);

		if (hung->has_call && function == hung->call.function)
			break;
		hung->functions[hung->function_count++] = function;
	}
	ep_stack_deinit(&stack);
}

static int add(struct ep_report_hang *hang, struct ep_report *report, uint32_t tid,
	       const struct ep_source_thread *core, struct ep_err *err)
{
	struct ep_report_hung *hung = &hang->list[hang->count];
	struct ep_open_calls flight;
	int rc;

	if (hang->count == EP_REPORT_HUNG_MAX) {
		hang->left++;
		return EP_OK;
	}
	hung->tid = tid;
	hung->name = ep_report_thread_name(report, tid);
	hung->trace = ep_report_trace_thread(report->trace, tid);
	hung->waits = waits(report, core, taken_stack(report->trace, tid));
	rc = ep_open_calls_init(&flight, report->trace, hung->trace, report->names, err);
	if (rc)
		return rc;
	hung->has_call = flight.count > 0;
	if (hung->has_call)
		hung->call = *ep_open_calls_inner(&flight, 0);
	ep_open_calls_deinit(&flight);
	take_innermost(hung, report);
	hang->count++;
	return EP_OK;
}

/* A core has all threads, a snapshot at a miss those that answered. */
static bool is_hang(const struct ep_report *report, const struct ep_death *death)
{
	pid_t self = ep_source_pid(report->source);

	if (ep_report_missed(report, death))
		return true;
	if (death->signal == 0)
		return report->trace->stacks_tsc != 0;
	return (death->signal == SIGQUIT || death->signal == SIGABRT) && death->has_siginfo &&
	       death->code <= 0 && death->sender_pid != (uint32_t)self;
}

int ep_report_hang_init(struct ep_report_hang *hang, struct ep_report *report,
			const struct ep_death *death, struct ep_err *err)
{
	const struct ep_trace *trace = report->trace;
	size_t count;
	const struct ep_source_thread *core = ep_source_threads(report->source, &count);
	int rc = EP_OK;

	memset(hang, 0, sizeof(*hang));
	hang->there =
		trace && is_hang(report, death) && ep_source_kind(report->source) != EP_SOURCE_LIVE;
	for (size_t i = 0; hang->there && !rc && i < count; i++)
		if (!ep_trace_is_helper(trace, core[i].tid) && core[i].has_registers)
			rc = add(hang, report, core[i].tid, &core[i], err);
	/* Those that only the miss knows. */
	for (size_t i = 0; hang->there && !rc && !death->signal && i < trace->stack_count; i++) {
		const struct ep_source_thread *one =
			ep_report_core_thread(report, trace->stacks[i].tid);

		if (!one || !one->has_registers)
			rc = add(hang, report, trace->stacks[i].tid, NULL, err);
	}
	return rc;
}
