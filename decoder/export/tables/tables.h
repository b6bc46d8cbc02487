/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.h: the calls, and all around them, as tables for SQL: a CSV file each; schema.sql loads
 * them into DuckDB, clickhouse.sql has views of them for ClickHouse. docs/tables.md describes the
 * columns; a change that is not an addition is told there.
 *
 * Who asks for tables says where their files are: memory is bounded as with other formats.
 */
#ifndef EPITAPH_TABLES_H
#define EPITAPH_TABLES_H

#include "decoder/export/export.h"

struct ep_tables_place {
	void *context;
	const char *suffix; /* of the CSV files' names: "", ".zst" */
	/* A new file, to be closed by whoever asked; `plain`: not compressed. EP_OK, or an error
	 * that is handed on. */
	int (*open)(void *context, const char *name, bool plain, FILE **out, struct ep_err *err);
};

/* Nothing is left in the files when *shown is 0. EP_OK, EP_E_IO with errno's words, or what `open`
 * said. */
int ep_tables_write(const struct ep_tables_place *place, const struct ep_export *export,
		    uint64_t *shown, struct ep_err *err);

/* A file of that name is one that is written here, compressed or not. */
bool ep_tables_is_file(const char *name);

#endif
