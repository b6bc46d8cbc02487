/* SPDX-License-Identifier: BSD-2-Clause */
/* store_impl.h: what the files of the store share. */
#ifndef EPITAPH_STORE_IMPL_H
#define EPITAPH_STORE_IMPL_H

#include "coredump/handler/store.h"

/* EP_E_LIMIT: too long. */
int ep_store_path(char out[PATH_MAX], const char *folder, const char *name, struct ep_err *err);

#endif
