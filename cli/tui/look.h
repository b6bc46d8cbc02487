/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * look.h: what a running process did since it was looked at last. The process is not stopped; each
 * look copies its arena anew. Names are kept from look to look, as long as the same modules are
 * loaded.
 */
#ifndef EPITAPH_LOOK_H
#define EPITAPH_LOOK_H

#include "cli/common/session.h"
#include "decoder/stats/stats.h"
#include "decoder/stats/waits.h"

struct ep_look {
	struct ep_session *session; /* borrowed: its source is what is looked at */
	struct ep_image image;
	struct ep_trace *trace;          /* NULL: it was not looked at yet */
	struct ep_trace_module *modules; /* by which `names` are */
	size_t module_count;
	struct ep_names *names;
	struct ep_stats stats;
	struct ep_waits waits;
	uint64_t since, now; /* TSC: what is counted lies between */
	int64_t ns;          /* the same */
	size_t threads;      /* with records between them */
	size_t cut;          /* of them: their history begins later, so that what they did is at
				least what is counted */
};

void ep_look_init(struct ep_look *look, struct ep_session *session);
void ep_look_deinit(struct ep_look *look);

/* Since the last look; of the first one, the last second. What was there stays when it fails: the
 * process has ended, usually. */
int ep_look_again(struct ep_look *look, struct ep_err *err);

#endif
