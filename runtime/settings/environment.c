/* SPDX-License-Identifier: BSD-2-Clause */
/* environment.c: the first hook may come before libc set environ; then the kernel is asked. */
#include "runtime/settings/environment.h"

#include <stdbool.h>
#include <stddef.h>

#include "runtime/lib/files.h"
#include "runtime/lib/text.h"

extern char **environ __attribute__((weak));

#define PREFIX        "EPITAPH"
#define PREFIX_LENGTH 7
#define ENTRIES       32

static char kept[8192];
static char *entries[ENTRIES + 1];

/* What is being read: entries follow each other, each ended by a NUL. */
struct filter {
	size_t used;   /* bytes of `kept` that hold whole entries */
	size_t length; /* of the entry now coming */
	size_t count;  /* of entries kept */
	bool unwanted; /* the entry now coming is another's */
};

static void read_byte(struct filter *filter, char byte)
{
	size_t at = filter->used + filter->length;

	if (filter->length < PREFIX_LENGTH && byte != PREFIX[filter->length])
		filter->unwanted = true;
	if (at >= sizeof kept || filter->count == ENTRIES)
		filter->unwanted = true; /* no room */
	if (!filter->unwanted)
		kept[at] = byte;
	filter->length++;
	if (byte)
		return;
	if (!filter->unwanted) {
		entries[filter->count++] = kept + filter->used;
		filter->used += filter->length;
	}
	filter->length = 0;
	filter->unwanted = false;
}

static void ask_kernel(void)
{
	struct filter filter = {0};
	char chunk[512];
	long fd = ep_fd_open("/proc/self/environ");
	long got;

	if (fd < 0)
		return;
	while ((got = ep_fd_read(fd, chunk, sizeof chunk)) > 0) {
		for (long i = 0; i < got; i++)
			read_byte(&filter, chunk[i]);
	}
	ep_fd_close(fd);
}

char *const *ep_environment(void)
{
	if (&environ && environ)
		return environ;
	ask_kernel();
	return entries;
}

/* In place, as libc itself takes LD_PRELOAD out (ld.so(8), secure-execution mode): main's envp is
 * the same list. */
void ep_environment_clean(void)
{
	char **kept_end = &environ ? environ : NULL;

	for (char **entry = kept_end; entry && *entry; entry++)
		if ((!ep_string_starts(*entry, PREFIX "=") &&
		     !ep_string_starts(*entry, PREFIX "_")) ||
		    ep_string_equal(*entry, PREFIX "=off"))
			*kept_end++ = *entry;
	if (kept_end)
		*kept_end = NULL;
}
