/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_process.c: the process section: facts and strings. */
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/trace/trace_parts.h"

static const char *text(struct ep_trace *trace, const struct ep_trace_section *section,
			struct ep_string string, const char *what)
{
	const uint8_t *bytes;

	if (string.length == 0)
		return "";
	bytes = ep_trace_string(trace, section, string);
	if (bytes)
		return ep_trace_keep_text(trace, bytes, string.length);
	ep_trace_warn(trace, "process section: the string of the %s lies outside of what was saved",
		      what);
	return "";
}

/* Arguments end with NUL bytes; people read blanks. */
static const char *words(struct ep_trace *trace, const struct ep_trace_section *section,
			 struct ep_string string)
{
	const uint8_t *bytes = ep_trace_string(trace, section, string);
	const char *kept;
	char *copy;

	while (bytes && string.length && bytes[string.length - 1] == '\0')
		string.length--;
	if (!bytes || string.length == 0)
		return text(trace, section, string, "command line");
	copy = ep_malloc(string.length);
	for (size_t i = 0; i < string.length; i++)
		copy[i] = bytes[i] ? (char)bytes[i] : ' ';
	kept = ep_trace_keep_text(trace, copy, string.length);
	free(copy);
	return kept;
}

static void read_strings(struct ep_trace *trace, const struct ep_trace_section *section,
			 const struct ep_process *from)
{
	struct ep_trace_process *to = &trace->process;

	to->executable = text(trace, section, from->executable, "executable");
	to->directory = text(trace, section, from->directory, "directory");
	to->host = text(trace, section, from->host, "host");
	to->kernel = text(trace, section, from->kernel, "kernel");
	to->cgroup = text(trace, section, from->cgroup, "cgroup");
	to->runtime = text(trace, section, from->runtime, "runtime's version");
	to->command_line = words(trace, section, from->command_line);
}

void ep_trace_read_process(struct ep_trace *trace, const struct ep_trace_section *section)
{
	struct ep_trace_process *to = &trace->process;
	struct ep_process from;
	const void *bytes = NULL;

	to->executable = to->directory = to->host = to->kernel = "";
	to->cgroup = to->runtime = to->command_line = "";
	if (section->there && section->size >= sizeof(from))
		bytes = ep_trace_view(trace, section->offset, sizeof(from));
	if (!bytes)
		return;
	memcpy(&from, bytes, sizeof(from));
	to->known = true;
	to->file_full = from.file_full;
	to->file_lost = from.file_lost;
	to->two_writers = from.two_writers;
	to->pid = from.pid;
	to->parent_pid = from.parent_pid;
	to->uid = from.uid;
	to->gid = from.gid;
	to->start_tsc = from.start_tsc;
	to->start_realtime = from.start_realtime;
	read_strings(trace, section, &from);
}
