/* SPDX-License-Identifier: BSD-2-Clause */
/* export_folder.c: the files that the tables ask for, in a folder that is not there yet. */
#include "cli/commands/export_folder.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/gzip.h"
#include "cli/common/zstd.h"
#include "coredump/files/output_folder.h"
#include "decoder/export/tables/tables.h"

struct place {
	struct ep_output_folder folder;
	enum ep_export_pack pack;
};

static int open_packed(FILE **out, int fd, enum ep_export_pack pack, struct ep_err *err)
{
	if (pack == EP_EXPORT_ZSTD)
		return ep_zstd_open(out, fd, err);
	if (pack == EP_EXPORT_GZIP) {
		*out = ep_gzip_open(fd);
	} else {
		fd = dup(fd);
		*out = fd < 0 ? NULL : fdopen(fd, "w");
		if (!*out && fd >= 0)
			close(fd);
	}
	return *out ? EP_OK : ep_fail(err, EP_E_IO, 0, "%s", strerror(errno));
}

static int place_open(void *context, const char *name, bool plain, FILE **out, struct ep_err *err)
{
	struct place *place = context;
	int fd, rc = ep_output_folder_add(&place->folder, name, &fd, err);

	return rc ? rc : open_packed(out, fd, plain ? EP_EXPORT_PLAIN : place->pack, err);
}

int ep_export_folder(const char *path, bool replace, enum ep_export_pack pack,
		     const struct ep_export *export, uint64_t *shown, struct ep_err *err)
{
	static const char *const suffixes[] = {
		[EP_EXPORT_PLAIN] = "", [EP_EXPORT_GZIP] = ".gz", [EP_EXPORT_ZSTD] = ".zst"};
	static struct place place; /* a signal may look at it */
	const struct ep_tables_place tables = {
		.context = &place, .suffix = suffixes[pack], .open = place_open};
	int rc = ep_output_folder_open(&place.folder, path, replace, ep_tables_is_file, err);

	if (rc)
		return rc;
	place.pack = pack;
	rc = ep_tables_write(&tables, export, shown, err);
	if (rc == EP_OK && *shown)
		return ep_output_folder_commit(&place.folder, err);
	if (rc)
		ep_err_prefix(err, "%s", path);
	ep_output_folder_abandon(&place.folder);
	return rc;
}
