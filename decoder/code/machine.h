/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine.h: what a core holds of the machine that the process ran on: the kernel's auxiliary
 * vector (getauxval(3)), and the version that the vdso has in a note.
 */
#ifndef EPITAPH_MACHINE_H
#define EPITAPH_MACHINE_H

#include "coredump/memory/source.h"
#include "decoder/trace/trace.h"

struct ep_machine {
	char platform[32];  /* AT_PLATFORM, as it is: "x86_64"; "" unknown */
	uint64_t page_size; /* bytes; 0 unknown */
	bool hwcap_known;
	uint64_t hwcap;  /* AT_HWCAP: CPUID 1, edx */
	uint32_t kernel; /* LINUX_VERSION_CODE: 0x061205; 0 unknown */
};

/* `modules` are the source's. What is not there stays unknown. */
void ep_machine_read(struct ep_machine *out, struct ep_source *source,
		     const struct ep_trace_module *modules, size_t count);

#endif
