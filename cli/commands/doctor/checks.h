/* SPDX-License-Identifier: BSD-2-Clause */
/* checks.h: epitaph doctor's questions, and their answers with a remedy each. */
#ifndef EPITAPH_CHECKS_H
#define EPITAPH_CHECKS_H

#include "cli/commands/doctor/target.h"

enum ep_health {
	EP_WELL,
	EP_DOUBT, /* a trace would be left, but less than there could be */
	EP_LOST,  /* none would be left */
};

struct ep_finding {
	enum ep_health verdict;
	char text[512];   /* what was seen */
	char remedy[512]; /* what to do; "" nothing */
};

struct ep_check {
	const char *name;
	/* Fills *out; false: it does not apply. */
	bool (*look)(const struct ep_doctor_target *target, struct ep_finding *out);
};

extern const struct ep_check ep_checks[]; /* ends with a name of NULL */

#endif
