/* SPDX-License-Identifier: BSD-2-Clause */
/* environment.h: the environment, also before libc has found it. */
#ifndef EPITAPH_ENVIRONMENT_H
#define EPITAPH_ENVIRONMENT_H

/* NULL-terminated, as environ; libc's own, or those of its entries that begin with EPITAPH, taken
 * from the kernel. Called once. */
char *const *ep_environment(void);

/* Takes all EPITAPH entries but EPITAPH=off out of environ: what a program with privileges of its
 * own starts must not get them as if it had set them itself. */
void ep_environment_clean(void);

#endif
