/* SPDX-License-Identifier: BSD-2-Clause */
/* packets.c: what all packets have in common. */
#include "decoder/export/perfetto/perfetto.h"

/* Steele, Lea and Flood's SplitMix64. */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint64_t ep_perfetto_uuid(const struct ep_trace *trace, enum ep_perfetto_track of, uint64_t a,
			  uint64_t b)
{
	uint64_t uuid = mix(ep_trace_realtime(trace, trace->first_tsc) ^ trace->process.pid);

	uuid = mix(mix(mix(uuid ^ of) ^ a) ^ b);
	return uuid ? uuid : 1; /* 0 is everybody's */
}

void ep_perfetto_begin(struct ep_perfetto *perfetto)
{
	ep_protobuf_reset(&perfetto->packet);
	ep_protobuf_open(&perfetto->packet, EP_PB_TRACE_PACKET);
	ep_protobuf_uint(&perfetto->packet, EP_PB_PACKET_SEQUENCE_ID, 1);
}

void ep_perfetto_end(struct ep_perfetto *perfetto)
{
	struct ep_protobuf *packet = &perfetto->packet;

	while (packet->depth)
		ep_protobuf_close(packet);
	ep_outbuf_put(&perfetto->out, packet->bytes, packet->used);
}

void ep_perfetto_track(struct ep_perfetto *perfetto, uint64_t uuid, uint64_t parent,
		       const char *name)
{
	struct ep_protobuf *packet = &perfetto->packet;

	ep_perfetto_begin(perfetto);
	ep_protobuf_open(packet, EP_PB_PACKET_TRACK_DESCRIPTOR);
	ep_protobuf_uint(packet, EP_PB_TRACK_UUID, uuid);
	if (parent)
		ep_protobuf_uint(packet, EP_PB_TRACK_PARENT, parent);
	if (name)
		ep_protobuf_text(packet, EP_PB_TRACK_NAME, name);
}

void ep_perfetto_event(struct ep_perfetto *perfetto, uint64_t track, int64_t ns, unsigned type)
{
	struct ep_protobuf *packet = &perfetto->packet;

	ep_perfetto_begin(perfetto);
	ep_protobuf_uint(packet, EP_PB_PACKET_TIMESTAMP, ns > 0 ? (uint64_t)ns : 0);
	ep_protobuf_open(packet, EP_PB_PACKET_TRACK_EVENT);
	ep_protobuf_uint(packet, EP_PB_TRACK_EVENT_TYPE, type);
	ep_protobuf_uint(packet, EP_PB_TRACK_EVENT_TRACK, track);
}

void ep_perfetto_text(struct ep_perfetto *perfetto, const char *name, const char *text)
{
	struct ep_protobuf *packet = &perfetto->packet;

	ep_protobuf_open(packet, EP_PB_TRACK_EVENT_ANNOTATION);
	ep_protobuf_text(packet, EP_PB_ANNOTATION_NAME, name);
	ep_protobuf_text(packet, EP_PB_ANNOTATION_TEXT, text);
	ep_protobuf_close(packet);
}

void ep_perfetto_number(struct ep_perfetto *perfetto, unsigned kind, const char *name,
			uint64_t value)
{
	struct ep_protobuf *packet = &perfetto->packet;

	ep_protobuf_open(packet, EP_PB_TRACK_EVENT_ANNOTATION);
	ep_protobuf_text(packet, EP_PB_ANNOTATION_NAME, name);
	ep_protobuf_uint(packet, kind, value);
	ep_protobuf_close(packet);
}
