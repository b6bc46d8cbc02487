/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trigger.c: a signal sent by somebody writes a snapshot; the same signal raised by the processor
 * (a breakpoint trap) kills as it would without us.
 */
#include "runtime/fatal/trigger.h"

#include "runtime/counting/counts_file.h"
#include "runtime/fatal/crash.h"
#include "runtime/lib/new_file.h"
#include "runtime/lib/signals.h"
#include "runtime/settings/settings.h"
#include "runtime/snapshot/snapshot.h"

static void on_signal(int signal, siginfo_t *info, void *context)
{
	int result;

	if (ep_signal_is_fault(signal, info)) {
		if (ep_settings.crash_snapshot)
			ep_crash(signal, info, context, true);
		if (ep_settings.counting)
			ep_counting_write();
		ep_signal_die(signal, info);
		return;
	}
	result = ep_snapshot_write(NULL, context);
	if (result < 0)
		ep_new_file_complain("no snapshot", result);
}

static const struct ep_kernel_action ours = {
	on_signal, SA_SIGINFO | SA_ONSTACK | SA_RESTART | EP_SA_RESTORER, ep_restorer, 0};

void ep_trigger_start(void)
{
	struct ep_kernel_action old;
	int signal = ep_settings.snapshot_signal;

	if (signal && !ep_signal_action(signal, NULL, &old) && old.handler == SIG_DFL)
		ep_signal_action(signal, &ours, NULL);
}

void ep_trigger_end(void)
{
	struct ep_kernel_action none = {SIG_DFL, EP_SA_RESTORER, ep_restorer, 0}, now;
	int signal = ep_settings.snapshot_signal;

	if (signal && !ep_signal_action(signal, NULL, &now) && now.handler == ours.handler)
		ep_signal_action(signal, &none, NULL);
}
