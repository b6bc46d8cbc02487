/* SPDX-License-Identifier: BSD-2-Clause */
/* balanced.c: one pass over a block with a stack of its own. */
#include "decoder/calls/balanced.h"

#include <string.h>

struct open {
	uint32_t identity;
	uint16_t at;
};

static uint32_t find(struct ep_identities *identities, const struct ep_record *record)
{
	const struct ep_identity_site *site = ep_identities_find(
		identities, record->address, record->kind == EP_RECORD_RETURN, record->time);

	/* A return below all entries may be of whatever is open. */
	return site->lonely ? UINT32_MAX : site->identity;
}

/* Anything but the return of the innermost call is left to pairing.c, and so are all that are open
 * then. */
void ep_balanced_look(struct ep_balanced *balanced, struct ep_identities *identities,
		      const struct ep_records *records)
{
	struct open open[EP_DECODED_MAX];
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
		identity = find(identities, record);
		if (record->kind == EP_RECORD_CALL) {
			identities->all.list[identity].flags |= EP_IDENTITY_CALLED;
			open[height++] = (struct open){identity, (uint16_t)i};
		} else if (height && open[height - 1].identity == identity) {
			balanced->end[open[--height].at] = (uint16_t)i;
		} else {
			height = 0;
		}
	}
}
