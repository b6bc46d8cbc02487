/* SPDX-License-Identifier: BSD-2-Clause */
/* cgroup.c: the mounts are looked for where everybody has them. */
#include "runtime/facts/cgroup.h"

#include "runtime/lib/files.h"

static char lines[4096]; /* of /proc/self/cgroup */

/* The number after the word at a line's start. */
static bool find_count(const char *text, const char *end, const char *word, uint64_t *count)
{
	size_t length = ep_string_length(word);

	for (const char *at = text; at + length < end; at++) {
		if ((at == text || at[-1] == '\n') && ep_bytes_equal(at, word, length)) {
			at += length;
			return ep_text_number(&at, end, 10, count);
		}
	}
	return false;
}

bool ep_cgroup_oom_kills(const char *path, uint64_t *kills)
{
	char text[512];
	long got = ep_fd_load(path, text, sizeof text);

	return got > 0 && find_count(text, text + got, "oom_kill ", kills);
}

static bool try_file(struct ep_text *out, const char *mount, const char *group, const char *file,
		     uint64_t *kills)
{
	ep_text_init(out, out->bytes, out->size);
	ep_text_add(out, mount);
	ep_text_add(out, group);
	ep_text_add(out, ep_string_equal(group, "/") ? "" : "/");
	ep_text_add(out, file);
	return !out->cut && ep_cgroup_oom_kills(out->bytes, kills);
}

/* A line is NUMBER:CONTROLLERS:GROUP; in version 2 it has neither number nor controllers. */
static bool has_memory(const char *controllers, const char *end)
{
	while (controllers < end) {
		const char *word = controllers;

		while (controllers < end && *controllers != ',')
			controllers++;
		if (controllers - word == 6 && ep_bytes_equal(word, "memory", 6))
			return true;
		controllers++;
	}
	return false;
}

static bool by_line(const char *line, struct ep_text *out, uint64_t *kills)
{
	const char *controllers = line, *group;

	while (*controllers && *controllers++ != ':')
		;
	group = controllers;
	while (*group && *group != ':')
		group++;
	if (!*group++)
		return false;
	if (has_memory(controllers, group - 1))
		return try_file(out, "/sys/fs/cgroup/memory", group, "memory.oom_control", kills) ||
		       /* in a container that sees its own group only */
		       try_file(out, "/sys/fs/cgroup/memory", "/", "memory.oom_control", kills);
	if (controllers != group - 1)
		return false;
	return try_file(out, "/sys/fs/cgroup", group, "memory.events.local", kills) ||
	       try_file(out, "/sys/fs/cgroup", group, "memory.events", kills);
}

bool ep_cgroup_oom_file(struct ep_text *out, uint64_t *kills)
{
	long got = ep_fd_load("/proc/self/cgroup", lines, sizeof lines - 1);
	char *line = lines;

	if (got <= 0)
		return false;
	lines[got] = '\0';
	for (long i = 0; i < got; i++) {
		if (lines[i] != '\n')
			continue;
		lines[i] = '\0';
		if (by_line(line, out, kills))
			return true;
		line = lines + i + 1;
	}
	return false;
}
