/* SPDX-License-Identifier: BSD-2-Clause */
/* losses.c: what is damaged or missing; a row a kind. */
#include "decoder/trace/losses.h"

#include <assert.h>
#include <string.h>

size_t ep_losses(const struct ep_trace *trace, struct ep_loss out[EP_LOSSES_MAX])
{
	const struct ep_trace_damage *damage = &trace->damage;
	const struct ep_trace_process *process = &trace->process;
	const struct ep_arena *arena = &trace->arena;
	const struct ep_loss all[] = {
		{"pages_missing", "pages-missing", "pages of the trace were not saved",
		 damage->pages_missing, true},
		{"blocks_torn", "torn-blocks", "blocks of records are damaged: they are left out",
		 damage->blocks_torn, true},
		{"blocks_text", "text-over-blocks",
		 "of these look as if text was written over them", damage->blocks_text, true},
		{"records_text", "text-over-records",
		 "records look as if text was written over them: they are left out, and the calls "
		 "around them are marked",
		 damage->records_text, true},
		{"blocks_duplicate", "duplicate-blocks", "blocks came twice",
		 damage->blocks_duplicate, true},
		{"blocks_backward", "backward-blocks", "blocks run backwards in time",
		 damage->blocks_backward, true},
		/* The report tells it by thread. */
		{"blocks_missed", NULL,
		 "blocks were overwritten before they were copied, as the process went on",
		 damage->blocks_missed, true},
		{"threads_corrupt", "corrupt-threads", "entries of the thread table make no sense",
		 damage->threads_corrupt, true},
		{"modules_corrupt", "corrupt-modules", "entries of the load map make no sense",
		 damage->modules_corrupt, true},
		{"threads_without_ring", "threads-without-ring",
		 "threads had no room for a history (EPITAPH_MEMORY)", arena->threads_without_ring,
		 true},
		{"threads_untold", "threads-untold", "threads did not fit into the thread table",
		 arena->threads_untold, true},
		{"modules_untold", "modules-untold", "modules did not fit into the load map",
		 arena->modules_untold, true},
		{"file_full", "file-full",
		 "times there was no room on the file system of EPITAPH_FILE", process->file_full,
		 true},
		{"file_lost", "file-cut",
		 "times somebody cut off the file of EPITAPH_FILE: what was in it then is lost",
		 process->file_lost, true},
		{"holes", "holes",
		 "records are missing inside of blocks: a signal handler interrupted a hook, or "
		 "the process went on while it was read",
		 damage->holes, false},
		{"two_writers", "two-writers",
		 "blocks have records of a child too, which was forked past the C library (_Fork, "
		 "clone): some of their calls are its own",
		 process->two_writers, false},
		{"kept_refused", NULL, "snapshots to be kept had no room (EPITAPH_KEEP)",
		 arena->kept_refused, false},
		{"settings_refused", NULL, "settings were not understood", arena->settings_refused,
		 false},
		/* At most one for each live thread is as it should be. */
		{"blocks_entering", NULL, "blocks were just being entered", damage->blocks_entering,
		 false},
		{"blocks_foreign", NULL, "blocks are of an earlier generation",
		 damage->blocks_foreign, false},
	};

	static_assert(sizeof(all) <= EP_LOSSES_MAX * sizeof(*all), "room");
	memcpy(out, all, sizeof(all));
	return sizeof(all) / sizeof(*all);
}

bool ep_losses_partial(const struct ep_trace *trace)
{
	struct ep_loss list[EP_LOSSES_MAX];
	size_t count = ep_losses(trace, list);

	for (size_t i = 0; i < count; i++)
		if (list[i].partial && list[i].count)
			return true;
	return trace->warning_count != 0;
}
