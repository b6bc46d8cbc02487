/* SPDX-License-Identifier: BSD-2-Clause */
/* control_hooks.h: epitaph control SOURCE hooks. */
#ifndef EPITAPH_CONTROL_HOOKS_H
#define EPITAPH_CONTROL_HOOKS_H

#include <stdbool.h>

#include "cli/common/session.h"

/* Lists the functions of an open session that are switched off, or were, or are kept on. An exit
 * status. */
int ep_control_hooks(struct ep_session *session, bool json);

#endif
