/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * corefile.h: the file that core_pattern names, made where, and as, the kernel would have made it
 * (fs/coredump.c of Linux 6.18, coredump_file; docs/catch.md has the table). Everything in its name
 * but the pattern is the crashed user's choice: folders, links, what lies there already.
 */
#ifndef EPITAPH_COREFILE_H
#define EPITAPH_COREFILE_H

#include "coredump/handler/crash.h"

/*
 * A new file to write to, as *fd. For a process of its own: it then has the file rights of the
 * crashed thread and no others, for good. EP_END: there is to be no core (ulimit -c);
 * EP_E_PERMISSION, EP_E_IO and others: why not.
 */
int ep_corefile_open(const struct ep_crash *crash, const char *pattern, bool uses_pid, int *fd,
		     struct ep_err *err);

#endif
