/* SPDX-License-Identifier: BSD-2-Clause */
/* control_status.h: epitaph control PID status. */
#ifndef EPITAPH_CONTROL_STATUS_H
#define EPITAPH_CONTROL_STATUS_H

#include <stdbool.h>

#include "cli/common/session.h"

/* Prints how the running process of an open session is traced. An exit status. */
int ep_control_status(struct ep_session *session, bool json);

#endif
