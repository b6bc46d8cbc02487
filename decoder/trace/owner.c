/* SPDX-License-Identifier: BSD-2-Clause */
/* owner.c: the trace has the user that it began with, the kernel's vector (getauxval(3)) that of
 * the exec, the notes the one at the end. */
#include "decoder/trace/owner.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>

/* Snapshots that `extract PID` made up to format 1.8 have zeroes for the ids: a program that began
 * with no right of root's has not become root. */
static bool is_blank(const struct ep_owner *owner, const struct ep_source *source, uint32_t gid)
{
	uint64_t secure;

	return ep_source_kind(source) == EP_SOURCE_SNAPSHOT && !owner->uid && !gid &&
	       owner->start_known && owner->uid_at_start && owner->effective_at_start &&
	       ep_source_auxv(source, AT_SECURE, &secure) == EP_OK && !secure;
}

void ep_owner_find(struct ep_owner *out, const struct ep_source *source,
		   const struct ep_trace *trace)
{
	uint64_t uid, effective;
	uint32_t gid = 0;

	*out = (struct ep_owner){0};
	if (ep_source_kind(source) == EP_SOURCE_FUNTRACE)
		return;
	if (trace && trace->process.known) {
		out->start_known = true;
		out->uid_at_start = out->effective_at_start = trace->process.uid;
	}
	/* A forked child is of its parent's exec, and began with the rights that were left. */
	if (ep_source_auxv(source, AT_UID, &uid) == EP_OK &&
	    ep_source_auxv(source, AT_EUID, &effective) == EP_OK &&
	    (!out->start_known || uid == out->uid_at_start)) {
		out->start_known = true;
		out->uid_at_start = (uint32_t)uid;
		out->effective_at_start = (uint32_t)effective;
	}
	out->known = ep_source_owner(source, &out->uid, &gid) == EP_OK;
	if ((!out->known || is_blank(out, source, gid)) && out->start_known) {
		out->known = true;
		out->uid = out->uid_at_start;
	}
}

const char *ep_owner_text(const struct ep_owner *owner, char *out, size_t size)
{
	out[0] = '\0';
	if (owner->known && owner->start_known && owner->uid_at_start != owner->uid)
		snprintf(out, size, "uid %" PRIu32 " (%" PRIu32 " at its start)", owner->uid,
			 owner->uid_at_start);
	else if (owner->known && owner->start_known &&
		 owner->effective_at_start != owner->uid_at_start)
		snprintf(out, size, "uid %" PRIu32 " (with the rights of %" PRIu32 " at its start)",
			 owner->uid, owner->effective_at_start);
	else if (owner->known)
		snprintf(out, size, "uid %" PRIu32, owner->uid);
	return out;
}
