/* SPDX-License-Identifier: BSD-2-Clause */
/* list.c: epitaph list: the snapshots that epitaph catch took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/commands.h"
#include "cli/common/grid.h"
#include "coredump/kinds/open.h"
#include "coredump/handler/store.h"
#include "decoder/report/death/death.h"
#include "decoder/util/timetext.h"

struct row {
	const struct ep_stored *stored;
	char path[PATH_MAX + NAME_MAX + 2];
	char signal[24]; /* "?" unreadable */
	int pid;
	const char *why; /* NULL: readable */
	struct ep_err err;
};

/* SIGSEGV (segmentation fault) → SIGSEGV */
static void row_fill(struct row *row, const char *folder, const struct ep_stored *stored)
{
	struct ep_source *source;
	struct ep_death death;
	char text[64];

	*row = (struct row){.stored = stored, .signal = "?"};
	snprintf(row->path, sizeof(row->path), "%s/%s", folder, stored->name);
	if (ep_source_open_core(&source, row->path, &row->err)) {
		row->why = row->err.text;
		return;
	}
	ep_source_death(source, &death);
	ep_death_signal_text(text, sizeof(text), death.signal);
	snprintf(row->signal, sizeof(row->signal), "%.*s", (int)strcspn(text, " "),
		 death.signal ? text : "-");
	row->pid = (int)ep_source_pid(source);
	ep_source_close(source);
}

#define COLUMNS_LIST(X)                                                                  \
	X(PATH, EP_TEXT(row->path), .key = "path")                                       \
	X(TIME_NS, EP_COUNT(row->stored->time), .key = "time_ns")                        \
	X(BYTES, EP_COUNT(row->stored->size), .key = "bytes")                            \
	X(TIME, EP_TEXT(when), .head = "time (UTC)", .width = -30)                       \
	X(PID, EP_COUNT((uint64_t)row->pid), .head = "pid", .key = "pid", .width = 8)    \
	X(SIGNAL, EP_TEXT(row->signal), .head = "signal", .key = "signal", .width = -10) \
	X(SIZE, EP_TEXT(size), .head = "size", .width = 12)                              \
	X(SNAPSHOT, EP_TEXT(ep_shown(row->path)), .head = "snapshot")
EP_COLUMNS(COLUMNS_LIST);

static void print_row(struct ep_grid *grid, const struct row *row)
{
	char when[EP_TIMETEXT_SIZE + 16], size[32];
	const struct ep_cell cells[COLUMNS] = EP_CELLS(COLUMNS_LIST);

	ep_timetext_clock(when, row->stored->time);
	when[strlen("2026-11-20 23:59:59")] = '\0';
	snprintf(size, sizeof(size), "%.1f MB", (double)row->stored->size / 1e6);
	ep_grid_row_begin(grid, cells);
	ep_grid_row_end(grid);
}

static int print(const char *folder, const struct ep_stored *list, size_t count, bool as_json)
{
	int result = EP_EXIT_COMPLETE;
	struct ep_grid grid;
	struct row row;

	ep_grid_init(&grid, stdout, as_json ? EP_LAYOUT_JSON : EP_LAYOUT_TEXT, columns, COLUMNS);
	ep_grid_head(&grid, NULL);
	for (size_t i = 0; i < count; i++) {
		row_fill(&row, folder, &list[i]);
		print_row(&grid, &row);
		if (!row.why)
			continue;
		ep_say("%s", row.why);
		result = EP_EXIT_PARTIAL;
	}
	ep_grid_finish(&grid);
	return result;
}

static int run(const struct ep_arguments *arguments)
{
	const char *folder = arguments->operand_count ? arguments->operands[0] : EP_STORE_DEFAULT;
	bool as_json = ep_argument_given(arguments, "json");
	struct ep_stored *list = NULL;
	struct ep_err err = {0};
	size_t count;
	int result;

	result = ep_store_list(folder, &list, &count, &err);
	/* Before the first installation there is no such folder. */
	if (result == EP_END && !arguments->operand_count && !as_json) {
		ep_say("no snapshots: sudo epitaph catch --install has one taken of every crash "
		       "from then on");
		return EP_EXIT_NOTHING;
	}
	if (result && (result != EP_END || arguments->operand_count)) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	if (count == 0 && !as_json) {
		ep_say("%s: no snapshots; epitaph catch says whether it is installed", folder);
		free(list);
		return EP_EXIT_NOTHING;
	}
	result = print(folder, list, count, as_json);
	free(list);
	return result;
}

static const struct ep_option options[] = {
	{"json", 0, NULL, "JSON: an array"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_list = {
	.name = "list",
	.operands = "[DIR]",
	.operands_min = 0,
	.operands_max = 1,
	.summary = "the snapshots that epitaph catch has taken, oldest first",
	.example = "list",
	.description =
		"Lists the snapshots in DIR (" EP_STORE_DEFAULT
		"): when, which process, of what it died. Each is a SOURCE for the other commands.",
	.options = options,
	.run = run,
};
