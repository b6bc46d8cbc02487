/* SPDX-License-Identifier: BSD-2-Clause */
/* export_names.h: names of formats that people try, and what to say of those that there are not. */
#ifndef EPITAPH_EXPORT_NAMES_H
#define EPITAPH_EXPORT_NAMES_H

#include <stddef.h>

/* The format that goes by that name, too; else `name` itself. In small letters, with - for _. */
const char *ep_export_alias(const char *name);

/* What serves in the place of a format that is known, and is not written; NULL. Static. */
const char *ep_export_instead(const char *name);

/* The format or other name that `name` is a misspelling of; NULL: of none. */
const char *ep_export_nearest(const char *name, const char *const *formats, size_t count);

#endif
