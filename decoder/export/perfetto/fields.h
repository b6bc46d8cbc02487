/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fields.h: the numbers of Perfetto's messages and fields that are written, one of each
 * message below the other. Their source is the repository google/perfetto, folder
 * protos/perfetto/trace unless another is named; the file of each message stands above it. Numbers
 * never change there: readers of any version take them. docs/views.md says which of them a trace
 * that Chromium wrote has confirmed.
 */
#ifndef EPITAPH_PERFETTO_FIELDS_H
#define EPITAPH_PERFETTO_FIELDS_H

/* trace.proto: Trace, the file */
#define EP_PB_TRACE_PACKET 1u

/* trace_packet.proto: TracePacket */
#define EP_PB_PACKET_FTRACE_EVENTS  1u
#define EP_PB_PACKET_CLOCK_SNAPSHOT 6u
#define EP_PB_PACKET_TIMESTAMP      8u
#define EP_PB_PACKET_SEQUENCE_ID    10u /* trusted_packet_sequence_id */
#define EP_PB_PACKET_TRACK_EVENT    11u
#define EP_PB_PACKET_INTERNED_DATA  12u
#define EP_PB_PACKET_SEQUENCE_FLAGS 13u

#define EP_PB_PACKET_DEFAULTS         59u /* trace_packet_defaults */
#define EP_PB_PACKET_TRACK_DESCRIPTOR 60u
/* its enum SequenceFlags */
#define EP_PB_SEQUENCE_CLEARED 1u /* SEQ_INCREMENTAL_STATE_CLEARED */
#define EP_PB_SEQUENCE_NEEDS   2u /* SEQ_NEEDS_INCREMENTAL_STATE */

/* trace_packet_defaults.proto: TracePacketDefaults */
#define EP_PB_DEFAULTS_TRACK_EVENT 11u /* track_event_defaults */
#define EP_PB_DEFAULTS_CLOCK_ID    58u /* timestamp_clock_id */

/* clock_snapshot.proto: ClockSnapshot, and its message Clock */
#define EP_PB_SNAPSHOT_CLOCK    1u
#define EP_PB_CLOCK_ID          1u
#define EP_PB_CLOCK_TIMESTAMP   2u
#define EP_PB_CLOCK_INCREMENTAL 3u
/* ../common/builtin_clock.proto: enum BuiltinClock; 64 to 127 are a sequence's own */
#define EP_PB_CLOCK_REALTIME 1u
#define EP_PB_CLOCK_BOOTTIME 6u
#define EP_PB_CLOCK_OWN      64u

/* track_event/track_descriptor.proto: TrackDescriptor */
#define EP_PB_TRACK_UUID    1u
#define EP_PB_TRACK_NAME    2u
#define EP_PB_TRACK_PROCESS 3u
#define EP_PB_TRACK_THREAD  4u
#define EP_PB_TRACK_PARENT  5u /* parent_uuid */
#define EP_PB_TRACK_COUNTER 8u

/* track_event/process_descriptor.proto: ProcessDescriptor */
#define EP_PB_PROCESS_PID  1u
#define EP_PB_PROCESS_NAME 6u

/* track_event/thread_descriptor.proto: ThreadDescriptor */
#define EP_PB_THREAD_PID  1u
#define EP_PB_THREAD_TID  2u
#define EP_PB_THREAD_NAME 5u

/* track_event/counter_descriptor.proto: CounterDescriptor */
#define EP_PB_COUNTER_UNIT       3u
#define EP_PB_COUNTER_UNIT_COUNT 2u /* of its enum Unit */

/* track_event/track_event.proto: TrackEvent; TrackEventDefaults has the same number */
#define EP_PB_TRACK_EVENT_CATEGORY      3u /* category_iids */
#define EP_PB_TRACK_EVENT_ANNOTATION    4u /* debug_annotations */
#define EP_PB_TRACK_EVENT_TYPE          9u
#define EP_PB_TRACK_EVENT_NAME_IID      10u
#define EP_PB_TRACK_EVENT_TRACK         11u /* track_uuid */
#define EP_PB_TRACK_EVENT_CATEGORY_NAME 22u /* categories */
#define EP_PB_TRACK_EVENT_NAME          23u
#define EP_PB_TRACK_EVENT_COUNTER       30u /* counter_value */
#define EP_PB_TRACK_EVENT_DOUBLE        44u /* double_counter_value */
#define EP_PB_TRACK_EVENT_FLOW          47u /* flow_ids, fixed64 */
#define EP_PB_TRACK_EVENT_FLOW_END      48u /* terminating_flow_ids, fixed64 */
/* its enum Type */
#define EP_PB_TYPE_BEGIN   1u /* TYPE_SLICE_BEGIN */
#define EP_PB_TYPE_END     2u /* TYPE_SLICE_END */
#define EP_PB_TYPE_INSTANT 3u
#define EP_PB_TYPE_COUNTER 4u

/* track_event/debug_annotation.proto: DebugAnnotation */
#define EP_PB_ANNOTATION_UINT     3u
#define EP_PB_ANNOTATION_INT      4u
#define EP_PB_ANNOTATION_TEXT     6u /* string_value */
#define EP_PB_ANNOTATION_POINTER  7u
#define EP_PB_ANNOTATION_NAME_IID 1u
#define EP_PB_ANNOTATION_NAME     10u
#define EP_PB_ANNOTATION_TEXT_IID 17u /* string_value_iid */

/* interned_data/interned_data.proto: InternedData; EventCategory, EventName
 * (track_event/track_event.proto), DebugAnnotationName (…/debug_annotation.proto) and
 * InternedString (profiling/profile_common.proto) are alike */
#define EP_PB_INTERNED_CATEGORY 1u
#define EP_PB_INTERNED_NAME     2u
#define EP_PB_INTERNED_KEY      3u  /* debug_annotation_names */
#define EP_PB_INTERNED_VALUE    29u /* debug_annotation_string_values */
#define EP_PB_INTERNED_IID      1u
#define EP_PB_INTERNED_TEXT     2u

/* ftrace/ftrace_event_bundle.proto: FtraceEventBundle */
#define EP_PB_BUNDLE_CPU   1u
#define EP_PB_BUNDLE_EVENT 2u
#define EP_PB_BUNDLE_LOST  3u /* lost_events */

/* ftrace/ftrace_event.proto: FtraceEvent */
#define EP_PB_FTRACE_TIMESTAMP     1u
#define EP_PB_FTRACE_PID           2u /* the thread that ran */
#define EP_PB_FTRACE_SWITCH        4u
#define EP_PB_FTRACE_WAKING        20u
#define EP_PB_FTRACE_SOFTIRQ_ENTRY 24u
#define EP_PB_FTRACE_SOFTIRQ_EXIT  25u
#define EP_PB_FTRACE_IRQ_ENTRY     36u
#define EP_PB_FTRACE_IRQ_EXIT      37u

/* ftrace/sched.proto: SchedSwitchFtraceEvent, SchedWakingFtraceEvent */
#define EP_PB_SWITCH_PREV_COMM  1u
#define EP_PB_SWITCH_PREV_PID   2u
#define EP_PB_SWITCH_PREV_STATE 4u
#define EP_PB_SWITCH_NEXT_COMM  5u
#define EP_PB_SWITCH_NEXT_PID   6u
#define EP_PB_WAKING_COMM       1u
#define EP_PB_WAKING_PID        2u

/* ftrace/irq.proto: IrqHandler…, Softirq…FtraceEvent */
#define EP_PB_IRQ_LINE    1u
#define EP_PB_SOFTIRQ_VEC 1u

#endif
