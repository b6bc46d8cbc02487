/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * death.h: what killed the process, in words: the signal, its code, who sent it, and what the bad
 * address is by the memory map. Says only what the core says; what is inferred is called likely.
 */
#ifndef EPITAPH_REPORT_DEATH_H
#define EPITAPH_REPORT_DEATH_H

#include "decoder/report/death/fault.h"

/* "SIGSEGV (segmentation fault)"; "signal 77" for one without a name. */
void ep_death_signal_text(char *out, size_t size, int signal);

/* "SIGSEGV", "SEGV_MAPERR"; NULL for one without a name. */
const char *ep_death_signal_name(int signal);
const char *ep_death_code_name(const struct ep_death *death);
/* Is `address` one that was accessed? */
bool ep_death_has_address(const struct ep_death *death);

/* "the address is not mapped"; NULL for a code without words. */
const char *ep_death_code_words(const struct ep_death *death);

/*
 * One line: why the signal came. `thread`: the one that took it, NULL unknown. "" when there is
 * nothing to add. *fault: what an instruction did, of no kind where it was not an instruction.
 */
void ep_death_cause_text(char *out, size_t size, const struct ep_evidence *evidence,
			 const struct ep_death *death, const struct ep_source_thread *thread,
			 struct ep_fault *fault);

/* ` ("ABCD")` of an address that is text: it tells whose text ran away; "" of others. Returns
 * `out`. */
const char *ep_death_quoted(uint64_t address, char out[16]);

/* Where `address` lies: "in the stack of thread 12, writable", "not mapped, 24 bytes above
 * /usr/lib/libc.so.6", …; `mapped`: it is known that it was mapped, also where the source does not
 * have the segment. */
void ep_death_place_text(char *out, size_t size, const struct ep_source *source, uint64_t address,
			 bool mapped);

#endif
