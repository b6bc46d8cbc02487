/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel_events.h: what else the kernel recorded (EPITAPH_SCHED_EVENTS): system calls, interrupts,
 * page faults: in words, and as events for viewers.
 */
#ifndef EPITAPH_KERNEL_EVENTS_H
#define EPITAPH_KERNEL_EVENTS_H

#include "decoder/util/json.h"
#include "decoder/kernel/schedule.h"
#include "decoder/trace/trace.h"

#define EP_KERNEL_EVENT_TEXT 256

/* True of what is told of itself; an end belongs to its begin. */
bool ep_kernel_event_begins(const struct ep_kernel_event *one);

/* The end of a system call or interrupt; NULL: not known. Interrupts end on their CPU, system calls
 * in their thread. */
const struct ep_kernel_event *ep_kernel_event_end(const struct ep_schedule *schedule,
						  const struct ep_kernel_event *one);

/* "futex(0x7f31c0, 128, 2, 0)", "interrupt 9", "soft interrupt TIMER", "page fault at 0x7f31c0".
 * Returns `out`. */
const char *ep_kernel_event_text(char out[EP_KERNEL_EVENT_TEXT], const struct ep_kernel_event *one);

/* The kernel's name of a soft interrupt: "TIMER"; "?" unknown. */
const char *ep_softirq_name(uint64_t vector);

/*
 * Members of traceEvents: system calls and page faults as instants in their threads, for they must
 * not cut calls whose times are known less well; interrupts as slices of a process "CPUs" (pid 0),
 * a thread for each CPU. Nothing without such events. `zero` ns are added to the times.
 */
void ep_kernel_events_write(struct ep_json *json, const struct ep_trace *trace, int64_t zero);

#endif
