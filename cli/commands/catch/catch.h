/* SPDX-License-Identifier: BSD-2-Clause */
/* catch.h: what epitaph catch does besides handling a crash. All return exit statuses. */
#ifndef EPITAPH_CATCH_H
#define EPITAPH_CATCH_H

#include "cli/common/option.h"

int ep_catch_install(const struct ep_arguments *arguments);
int ep_catch_uninstall(const struct ep_arguments *arguments);
int ep_catch_listen(const struct ep_arguments *arguments, const char *path);
int ep_catch_status(const struct ep_arguments *arguments);

#endif
