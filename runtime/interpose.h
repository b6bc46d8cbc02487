/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interpose.h: the few functions of libc that the runtime stands in front of.
 *
 * The shared runtime exports them under their own names. The static one holds
 * them as epitaph_NAME only, so that a static program keeps libc's; into a
 * dynamically linked executable epitaph-cc puts, for each NAME, a weak and
 * exported jump to epitaph_NAME (cli/wrapper/kit/interpose.S): a program's own
 * function of that name stays. (--defsym would replace it without a word.)
 */
#ifndef EPITAPH_INTERPOSE_H
#define EPITAPH_INTERPOSE_H

/* dlopen, dlmopen: modules come. dlclose: they go. pthread_setname_np: the name
 * that a report shows changes. */
#define EP_INTERPOSED(X) \
	X(dlopen)        \
	X(dlmopen)       \
	X(dlclose)       \
	X(pthread_setname_np)

/* Looks up the real ones while that is safe. Not signal safe; once. */
void ep_interpose_start(void);

#endif
