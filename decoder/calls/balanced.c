/* SPDX-License-Identifier: BSD-2-Clause */
/* balanced.c: one pass over a block with a stack of its own. */
#include "decoder/calls/balanced.h"

#include <string.h>

struct open {
	uint32_t identity;
	uint16_t at;
};

static int find(struct ep_identities *identities, const struct ep_record *record, uint32_t *out)
{
	const struct ep_identity_site *site;

	if (ep_identities_find(identities, record->address, record->kind == EP_RECORD_RETURN,
			       record->time, &site) != EP_OK)
		return EP_E_MEMORY;
	/* A return below all entries may be of whatever is open. */
	*out = site->lonely ? UINT32_MAX : site->identity;
	return EP_OK;
}

/* Anything but the return of the innermost call is left to pairing.c, and so are all that are open
 * then. */
int ep_balanced_look(struct ep_balanced *balanced, struct ep_identities *identities,
		     const struct ep_records *records)
{
	struct open open[EP_BLOCK_RECORDS + 2];
	size_t height = 0;
	uint32_t identity;

	balanced->block = records->next_block;
	memset(balanced->end, 0, records->count * sizeof(*balanced->end));
	for (unsigned i = 0; i < records->count; i++) {
		const struct ep_record *record = &records->decoded[i];

		if (record->kind > EP_RECORD_RETURN) {
			height = 0;
			continue;
		}
		if (find(identities, record, &identity) != EP_OK)
			return EP_E_MEMORY;
		if (record->kind == EP_RECORD_CALL) {
			identities->list[identity].flags |= EP_IDENTITY_CALLED;
			open[height++] = (struct open){identity, (uint16_t)i};
		} else if (height && open[height - 1].identity == identity) {
			balanced->end[open[--height].at] = (uint16_t)i;
		} else {
			height = 0;
		}
	}
	return EP_OK;
}
