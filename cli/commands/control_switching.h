/* SPDX-License-Identifier: BSD-2-Clause */
/* control_switching.h: epitaph control PID off, on, trace and untrace. */
#ifndef EPITAPH_CONTROL_SWITCHING_H
#define EPITAPH_CONTROL_SWITCHING_H

#include <stdbool.h>

#include "cli/common/session.h"
#include "coredump/live/control.h"

/* What they work on: a running process, opened. */
struct ep_control_target {
	struct ep_session *session;
	struct ep_control *control;
	bool quiet;
};

/* Each returns an exit status; what was done is printed. */
int ep_control_all_off(const struct ep_control_target *target);
int ep_control_all_on(const struct ep_control_target *target);

/* The functions that one of the patterns names go off, or come back. */
int ep_control_functions(const struct ep_control_target *target, char *const *patterns,
			 size_t count, bool off);

#endif
