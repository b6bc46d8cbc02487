/* SPDX-License-Identifier: BSD-2-Clause */
/* losses.c: what is damaged or missing; a row a kind. */
#include "decoder/trace/losses.h"

#include <assert.h>
#include <string.h>

/* Where in a trace a count lies, which has 4 or 8 bytes. */
#define COUNT(member) offsetof(struct ep_trace, member), sizeof(((struct ep_trace *)0)->member)

static const struct {
	const char *name, *code, *text;
	size_t offset, size;
	bool partial;
} kinds[] = {
	{"pages_missing", "pages-missing", "pages of the trace were not saved",
	 COUNT(damage.pages_missing), true},
	{"blocks_torn", "torn-blocks", "blocks of records are damaged: they are left out",
	 COUNT(damage.blocks_torn), true},
	{"blocks_text", "text-over-blocks", "of these look as if text was written over them",
	 COUNT(damage.blocks_text), true},
	{"records_text", "text-over-records",
	 "records look as if text was written over them: they are left out, and the calls around "
	 "them are marked",
	 COUNT(damage.records_text), true},
	{"blocks_duplicate", "duplicate-blocks", "blocks came twice",
	 COUNT(damage.blocks_duplicate), true},
	{"blocks_backward", "backward-blocks", "blocks run backwards in time",
	 COUNT(damage.blocks_backward), true},
	/* The report tells it by thread. */
	{"blocks_missed", NULL,
	 "blocks were overwritten before they were copied, as the process went on",
	 COUNT(damage.blocks_missed), true},
	{"threads_corrupt", "corrupt-threads", "entries of the thread table make no sense",
	 COUNT(damage.threads_corrupt), true},
	{"modules_corrupt", "corrupt-modules", "entries of the load map make no sense",
	 COUNT(damage.modules_corrupt), true},
	{"threads_without_ring", "threads-without-ring",
	 "threads had no room for a history (EPITAPH_MEMORY)", COUNT(arena.threads_without_ring),
	 true},
	{"threads_untold", "threads-untold", "threads did not fit into the thread table",
	 COUNT(arena.threads_untold), true},
	{"modules_untold", "modules-untold", "modules did not fit into the load map",
	 COUNT(arena.modules_untold), true},
	{"file_full", "file-full", "times there was no room on the file system of EPITAPH_FILE",
	 COUNT(process.file_full), true},
	{"file_lost", "file-cut",
	 "times somebody cut off the file of EPITAPH_FILE: what was in it then is lost",
	 COUNT(process.file_lost), true},
	{"holes", "holes",
	 "records are missing inside of blocks: a signal handler interrupted a hook, or the "
	 "process went on while it was read",
	 COUNT(damage.holes), false},
	{"two_writers", "two-writers",
	 "blocks have records of a child too, which was forked past the C library (_Fork, clone): "
	 "some of their calls are its own",
	 COUNT(process.two_writers), false},
	{"shared_threads", "shared-threads",
	 "threads share their memory with a task that has no thread-local memory of its own "
	 "(clone without CLONE_SETTLS): its calls are left out, but for those before it was found",
	 COUNT(damage.shared_threads), false},
	{"other_stacks", "other-stacks",
	 "threads went on upon stacks that are not their own (fibers, by assembly): what is inside "
	 "of what in their histories is not certain, nor how long calls took",
	 COUNT(damage.other_stacks), false},
	{"kept_refused", NULL, "snapshots to be kept had no room (EPITAPH_KEEP)",
	 COUNT(arena.kept_refused), false},
	{"settings_refused", NULL, "settings were not understood", COUNT(arena.settings_refused),
	 false},
	/* At most one for each live thread is as it should be. */
	{"blocks_entering", NULL, "blocks were just being entered", COUNT(damage.blocks_entering),
	 false},
	{"blocks_foreign", NULL, "blocks are of an earlier generation",
	 COUNT(damage.blocks_foreign), false},
};

static_assert(sizeof(kinds) <= EP_LOSSES_MAX * sizeof(*kinds), "room");

size_t ep_losses(const struct ep_trace *trace, struct ep_loss out[EP_LOSSES_MAX])
{
	size_t count = sizeof(kinds) / sizeof(*kinds);

	for (size_t i = 0; i < count; i++) {
		out[i] = (struct ep_loss){kinds[i].name, kinds[i].code, kinds[i].text, 0,
					  kinds[i].partial};
		memcpy(&out[i].count, (const char *)trace + kinds[i].offset, kinds[i].size);
	}
	return count;
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
