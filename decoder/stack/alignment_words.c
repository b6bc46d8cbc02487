/* SPDX-License-Identifier: BSD-2-Clause */
/* alignment_words.c: verdicts and reasons, for programs and for people. */
#include "decoder/stack/alignment.h"

static const char *const verdicts[EP_VERDICT_COUNT][2] = {
	[EP_VERDICT_AGREE] = {"agree", "the trace has this call open"},
	[EP_VERDICT_NOT_INSTRUMENTED] = {"not-instrumented", "not instrumented"},
	[EP_VERDICT_INLINED] = {"inlined", "inlined"},
	[EP_VERDICT_ENTERING] = {"entering", "its hook had not run yet"},
	[EP_VERDICT_RETURNING] = {"returning", "its hook recorded its return"},
	[EP_VERDICT_TRACE_LOST] = {"trace-lost", "trace lost"},
	[EP_VERDICT_UNKNOWN] = {"unknown", "unknown"},
	[EP_VERDICT_OVERWRITTEN] = {"overwritten", "stack overwritten"},
	[EP_VERDICT_FRAME_LOST] = {"frame-lost", "frame lost"},
	[EP_VERDICT_NOT_UNWOUND] = {"not-unwound", "not unwound"},
};

static const char *const reasons[EP_REASON_COUNT][2] = {
	[EP_REASON_NONE] = {"", ""},
	[EP_REASON_NO_HOOK] = {"no-hook", "no hook in its code"},
	[EP_REASON_OWN_HOOK] = {"own-hook", "epitaph's own hook"},
	[EP_REASON_SWITCHED_OFF] = {"switched-off", "its hooks are switched off"},
	[EP_REASON_SIGNAL] = {"signal", "a signal came here, its handler is above"},
	[EP_REASON_SILENT_MODULE] = {"silent-module", "nothing of its module is in the history"},
	[EP_REASON_NO_FILE] = {"no-file", "code that is no file's"},
	[EP_REASON_NOWHERE] = {"nowhere", "no code is there"},
	[EP_REASON_UNREADABLE] = {"unreadable", "nothing tells whether it has hooks"},
	[EP_REASON_BEFORE_HISTORY] = {"before-history", "older than the history"},
	[EP_REASON_BEFORE_FORK] = {"before-fork", "called before the fork: the parent's"},
	[EP_REASON_LOST_BLOCKS] = {"lost-blocks", "blocks of records are lost there"},
	[EP_REASON_PAUSED] = {"paused", "tracing was paused"},
	[EP_REASON_WAS_OFF] = {"was-off", "its hooks were switched off when it was called"},
	[EP_REASON_HOLE] = {"hole", "records are lost there"},
	[EP_REASON_ESCAPE] = {"unknown-record", "records of an unknown kind are there"},
	[EP_REASON_TEXT] = {"text", "text was written over the records there"},
	[EP_REASON_NO_HISTORY] = {"no-history", "nothing of this thread is in the trace"},
	[EP_REASON_UNTOLD] = {"untold", "it has hooks, but no call is open"},
	[EP_REASON_CONTRADICTED] = {"contradicted", "it has hooks, but no call is open"},
	[EP_REASON_GUESSED] = {"guessed", "found by the frame pointer alone"},
	[EP_REASON_TRACE_GOES_ON] = {"trace-goes-on", "by the trace"},
	[EP_REASON_SKIPPED] = {"skipped", "the stack has no frame of it"},
	[EP_REASON_ACROSS_GAP] = {"across-gap", "perhaps it returned where history is lost"},
	[EP_REASON_OFF_SINCE] = {"off-since", "perhaps it returned after it was switched off"},
	[EP_REASON_OTHER_STACK] = {"other-stack", "perhaps on another stack"},
	[EP_REASON_LIMIT] = {"limit", "further out than was unwound"},
	[EP_REASON_UNSAVED] = {"unsaved", "the core lacks the stack there"},
	[EP_REASON_NO_UNWIND] = {"no-unwind-information", "the unwinder could not go on"},
	[EP_REASON_NO_STACK] = {"no-stack", "no stack from the core"},
};

const char *ep_verdict_name(enum ep_verdict verdict)
{
	return verdicts[verdict][0];
}

const char *ep_verdict_words(enum ep_verdict verdict)
{
	return verdicts[verdict][1];
}

const char *ep_reason_name(enum ep_reason reason)
{
	return reasons[reason][0];
}

const char *ep_reason_words(enum ep_reason reason)
{
	return reasons[reason][1];
}
