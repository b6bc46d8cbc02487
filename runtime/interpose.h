/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interpose.h: the few functions of libc that the runtime stands in front of.
 *
 * The shared runtime exports them under their own names. The static one holds
 * them as epitaph_NAME only, so that a static program keeps libc's; into a
 * dynamically linked executable the wrapper links a weak NAME that jumps there
 * (cli/wrapper/kit/interpose.S) and exports it to the libraries. By hand:
 *
 *     --defsym=NAME=epitaph_NAME --export-dynamic-symbol=NAME
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
