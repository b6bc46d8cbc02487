/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perfetto.h: packets of a Perfetto trace, and the parts that write them. Numbers of fields:
 * fields.h; how packets of a sequence hang together: trace_packet.proto there.
 *
 * Each thread's calls are a sequence of packets of their own. Its first packet says once what holds
 * for all others: the track, a clock of which each packet has what passed since the one before, and
 * the texts' numbers. All else is in sequence 1, which needs nothing but the packet itself; its
 * times are ns since the trace's first record.
 */
#ifndef EPITAPH_PERFETTO_H
#define EPITAPH_PERFETTO_H

#include "decoder/export/export.h"
#include "decoder/export/perfetto/fields.h"
#include "decoder/util/protobuf.h"

/* Deeper calls are one slice. Perfetto's trace processor draws 512 levels, and what ends beyond
 * them it takes for the end of a call above. */
#define EP_PERFETTO_DEPTH_MAX 500u
#define EP_PERFETTO_TOO_DEEP  "[deeper than 500 frames]"

struct ep_perfetto_thread {
	uint64_t track;          /* 0: it is not selected */
	int64_t last;            /* ns of its last event */
	uint32_t sequence;       /* from 2 on */
	EP_ARRAY(uint8_t) named; /* a bit for each function whose name its packets have */
};

struct ep_perfetto {
	const struct ep_export *export;
	struct ep_protobuf packet;          /* the one that is being written */
	struct ep_perfetto_thread *threads; /* as the trace's */
	uint32_t *tids;                     /* likewise */
	uint64_t process;                   /* its track */
	bool begun;
	struct ep_outbuf out;
};

/* What a track is of: two traces that are looked at together must not share one. */
enum ep_perfetto_track {
	EP_TRACK_OF_PROCESS,
	EP_TRACK_OF_THREAD,  /* a: index of the thread */
	EP_TRACK_OF_SPAN,    /* a: index of the thread, b: number of the span */
	EP_TRACK_OF_RECORDS, /* a: index of the thread */
	EP_TRACK_OF_CLOCK,   /* a: index of the thread */
	EP_TRACK_OF_SWITCHED,
	EP_TRACK_OF_COST,   /* a: which of its two */
	EP_TRACK_OF_WAKING, /* no track, a flow: a: tid, b: TSC */
};
uint64_t ep_perfetto_uuid(const struct ep_trace *trace, enum ep_perfetto_track of, uint64_t a,
			  uint64_t b);

/* A packet of sequence 1, up to ep_perfetto_end. */
void ep_perfetto_begin(struct ep_perfetto *perfetto);
void ep_perfetto_end(struct ep_perfetto *perfetto);

/* A track_descriptor's fields, as far as all have them; `name` NULL: none. The message is left
 * open. */
void ep_perfetto_track(struct ep_perfetto *perfetto, uint64_t uuid, uint64_t parent,
		       const char *name);

/* An event of sequence 1, `ns` since the first record; the message is left open. */
void ep_perfetto_event(struct ep_perfetto *perfetto, uint64_t track, int64_t ns, unsigned type);

/* An argument of the event that is open. */
void ep_perfetto_text(struct ep_perfetto *perfetto, const char *name, const char *text);
void ep_perfetto_number(struct ep_perfetto *perfetto, unsigned kind, const char *name,
			uint64_t value);

/* Sequence 1's other packets: what the kernel recorded; who woke whom; what tracing cost. */
void ep_perfetto_kernel(struct ep_perfetto *perfetto);
void ep_perfetto_wakings(struct ep_perfetto *perfetto);
void ep_perfetto_counters(struct ep_perfetto *perfetto);

#endif
