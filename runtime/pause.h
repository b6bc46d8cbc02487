/* SPDX-License-Identifier: BSD-2-Clause */
/* pause.h: epitaph_pause's count and the arena's gate. */
#ifndef EPITAPH_PAUSE_H
#define EPITAPH_PAUSE_H

/* Shuts or opens the gate as the count wants it. For an arena that is new: a
 * pause may have come before it, or before a fork. Signal safe. */
void ep_pause_apply(void);

#endif
