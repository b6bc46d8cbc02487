/* SPDX-License-Identifier: BSD-2-Clause */
/* pattern.c: names of snapshots and arena files. What is put in never adds a directory. */
#include "runtime/settings/pattern.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <time.h>

#include "runtime/lib/syscalls.h"
#include "runtime/lib/vdso.h"

bool ep_path_pattern_good(const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern != '%')
			continue;
		pattern++;
		if (*pattern != 'p' && *pattern != 'e' && *pattern != 'h' && *pattern != 't' &&
		    *pattern != 'n' && *pattern != '%')
			return false;
	}
	return true;
}

bool ep_path_pattern_has(const char *pattern, char letter)
{
	for (; *pattern; pattern++) {
		if (*pattern != '%')
			continue;
		pattern++;
		if (*pattern == letter)
			return true;
		if (!*pattern)
			return false;
	}
	return false;
}

/* Known before there is an arena, as its file's name may hold them. */
static char executable[256];
static char host[65];

/* The part after the last slash. */
static void keep_name(const char *path, size_t length, char *out, size_t size)
{
	struct ep_text text;
	size_t from = length;

	while (from && path[from - 1] != '/')
		from--;
	ep_text_init(&text, out, size);
	ep_text_add_bytes(&text, path + from, length - from);
}

void ep_path_pattern_start(void)
{
	static char path[4096];
	static struct utsname name;
	long got = ep_syscall4(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path,
			       sizeof path);

	keep_name(path, got > 0 ? (size_t)got : 0, executable, sizeof executable);
	if (!ep_syscall1(SYS_uname, (long)&name))
		keep_name(name.nodename, ep_string_length(name.nodename), host, sizeof host);
}

static void add_fact(const char *fact, struct ep_text *out)
{
	ep_text_add(out, fact[0] ? fact : "unknown");
}

static void add_meaning(char letter, uint64_t number, struct ep_text *out)
{
	switch (letter) {
	case 'p':
		ep_text_add_number(out, (uint64_t)ep_syscall0(SYS_getpid));
		break;
	case 'e':
		add_fact(executable, out);
		break;
	case 'h':
		add_fact(host, out);
		break;
	case 't':
		ep_text_add_number(out, ep_clock_read(CLOCK_REALTIME) / 1000000000);
		break;
	case 'n':
		ep_text_add_number(out, number);
		break;
	default:
		ep_text_add_bytes(out, &letter, 1);
	}
}

void ep_path_pattern_expand(const char *pattern, uint64_t number, struct ep_text *out)
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
