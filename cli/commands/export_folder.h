/* SPDX-License-Identifier: BSD-2-Clause */
/* export_folder.h: tables into a folder, each file compressed or not. */
#ifndef EPITAPH_EXPORT_FOLDER_H
#define EPITAPH_EXPORT_FOLDER_H

#include "decoder/export/export.h"

enum ep_export_pack { EP_EXPORT_PLAIN, EP_EXPORT_GZIP, EP_EXPORT_ZSTD };

/* `path` appears whole or not at all, and not when *shown is 0; `replace`: in the place of tables
 * that are there. EP_OK, or the error, with the name. */
int ep_export_folder(const char *path, bool replace, enum ep_export_pack pack,
		     const struct ep_export *export, uint64_t *shown, struct ep_err *err);

#endif
