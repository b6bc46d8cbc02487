/* SPDX-License-Identifier: BSD-2-Clause */
/* owner.h: whose process it was: a program may give its rights up, and has had them at its start.
 */
#ifndef EPITAPH_OWNER_H
#define EPITAPH_OWNER_H

#include "coredump/memory/source.h"
#include "decoder/trace/trace.h"

struct ep_owner {
	bool known;
	uint32_t uid; /* real; when it died or was looked at, where that is known, else the next */
	bool start_known;
	uint32_t uid_at_start, effective_at_start;
};

/* `trace` may be NULL. */
void ep_owner_find(struct ep_owner *out, const struct ep_source *source,
		   const struct ep_trace *trace);

/* "uid 65534 (0 at its start)"; "" unknown. Returns `out`. */
const char *ep_owner_text(const struct ep_owner *owner, char *out, size_t size);
#define EP_OWNER_TEXT_SIZE 80

#endif
