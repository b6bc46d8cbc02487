/* SPDX-License-Identifier: BSD-2-Clause */
/* pattern.c: names of snapshots. What is put in never adds a directory. */
#include "runtime/pattern.h"

#include <time.h>

#include "runtime/arena.h"
#include "runtime/format.h"
#include "runtime/syscalls.h"
#include "runtime/vdso.h"

bool ep_path_pattern_good(const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern != '%')
			continue;
		pattern++;
		if (*pattern != 'p' && *pattern != 'e' && *pattern != 'h' &&
		    *pattern != 't' && *pattern != 'n' && *pattern != '%')
			return false;
	}
	return true;
}

bool ep_path_pattern_numbered(const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern != '%')
			continue;
		pattern++;
		if (*pattern == 'n')
			return true;
		if (!*pattern)
			return false;
	}
	return false;
}

/* The part of a process fact after its last slash. */
static void add_fact(const struct ep_process *process, struct ep_string fact,
		     struct ep_text *out)
{
	const char *bytes = (const char *)process + fact.offset;
	uint32_t from = fact.length;

	while (from && bytes[from - 1] != '/')
		from--;
	if (from == fact.length)
		ep_text_add(out, "unknown");
	else
		ep_text_add_bytes(out, bytes + from, fact.length - from);
}

static void add_meaning(char letter, uint64_t number, struct ep_text *out)
{
	const struct ep_process *process =
		ep_arena_section(EP_SECTION_PROCESS, NULL);

	switch (letter) {
	case 'p':
		ep_text_add_number(out, (uint64_t)ep_syscall0(SYS_getpid));
		break;
	case 'e':
		add_fact(process, process->executable, out);
		break;
	case 'h':
		add_fact(process, process->host, out);
		break;
	case 't':
		ep_text_add_number(out,
				   ep_clock_read(CLOCK_REALTIME) / 1000000000);
		break;
	case 'n':
		ep_text_add_number(out, number);
		break;
	default:
		ep_text_add_bytes(out, &letter, 1);
	}
}

void ep_path_pattern_expand(const char *pattern, uint64_t number,
			    struct ep_text *out)
{
	for (; *pattern; pattern++) {
		if (*pattern != '%')
			ep_text_add_bytes(out, pattern, 1);
		else if (*++pattern)
			add_meaning(*pattern, number, out);
		else
			return;
	}
}
