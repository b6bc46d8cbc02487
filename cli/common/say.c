/* SPDX-License-Identifier: BSD-2-Clause */
/* say.c: messages, colours, and whether stdout took all of it. */
#include "cli/common/say.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/progress.h"
#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"

static bool colors;

void ep_say(const char *format, ...)
{
	char *text, *shown;
	va_list list;

	fflush(stdout);
	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		ep_out_of_memory();
	va_end(list);
	shown = ep_utf8_escape(text, strlen(text));
	ep_progress_wipe();
	fprintf(stderr, "epitaph: %s\n", shown);
	free(shown);
	free(text);
}

const char *ep_shown(const char *text)
{
	static char kept[4][4 * PATH_MAX + 1];
	static unsigned next;
	char *out = kept[next++ % 4];
	size_t used = 0, left = strlen(text);

	while (left && used + 5 <= sizeof(kept[0])) {
		size_t taken = ep_utf8_show(text, left, out + used);

		used += strlen(out + used);
		text += taken;
		left -= taken;
	}
	out[used] = '\0';
	return out;
}

bool ep_color_choose(const char *when)
{
	const char *no_color = getenv("NO_COLOR");

	if (!when || !strcmp(when, "auto"))
		colors = isatty(STDOUT_FILENO) && !(no_color && *no_color);
	else if (!strcmp(when, "always"))
		colors = true;
	else if (!strcmp(when, "never"))
		colors = false;
	else
		return false;
	return true;
}

const char *ep_color(enum ep_color color)
{
	static const char *const codes[] = {
		[EP_PLAIN] = "\033[0m", [EP_BOLD] = "\033[1m",    [EP_DIM] = "\033[2m",
		[EP_RED] = "\033[31m",  [EP_YELLOW] = "\033[33m", [EP_CYAN] = "\033[36m",
	};

	return colors ? codes[color] : "";
}

bool ep_stdout_finish(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	if (errno == EPIPE)
		return true;
	ep_say("stdout: %s", strerror(errno));
	return false;
}
