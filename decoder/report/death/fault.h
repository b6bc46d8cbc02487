/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.h: why an instruction faulted: the kernel's signal and code, held against what the
 * instruction at the thread's pc can have done with the registers that it had. A conclusion is
 * drawn where both agree and nothing else fits; else it is said what is not known.
 */
#ifndef EPITAPH_REPORT_FAULT_H
#define EPITAPH_REPORT_FAULT_H

#include "decoder/report/evidence.h"

struct ep_fault {
	const char *kind; /* "null-pointer", for programs (docs/report.md); NULL: not settled */
	bool likely;      /* it is inferred */
	bool has_address;
	uint64_t address;   /* that it is about */
	const char *access; /* "read", "write", "execute"; NULL unknown */
	char text[1024];
};

/*
 * `death` is a signal of the processor's faults (ep_signal_of_fault) with a code above zero.
 * `thread`: the one that took it, with the registers of the fault; NULL unknown.
 */
void ep_fault_explain(struct ep_fault *out, const struct ep_evidence *evidence,
		      const struct ep_death *death, const struct ep_source_thread *thread);

#endif
