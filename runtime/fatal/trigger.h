/* SPDX-License-Identifier: BSD-2-Clause */
/* trigger.h: the signal that asks for a snapshot. */
#ifndef EPITAPH_TRIGGER_H
#define EPITAPH_TRIGGER_H

/*
 * Installs the handler of ep_settings.snapshot_signal, unless the program (or whoever started it:
 * SIG_IGN is inherited) has its own use for that signal. A handler that the program installs later
 * wins. Not signal safe; once.
 */
void ep_trigger_start(void);

/* Takes it away, unless the program has another. */
void ep_trigger_end(void);

#endif
