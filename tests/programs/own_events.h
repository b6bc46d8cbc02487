/* SPDX-License-Identifier: BSD-2-Clause */
/* own_events.h: whether this process's scheduling events are recorded by now. */
#ifndef EP_TEST_OWN_EVENTS_H
#define EP_TEST_OWN_EVENTS_H

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OWN_EVENTS_UNTRACED __attribute__((no_instrument_function))

/* ftrace's last event is switched on, in the instance of this process. */
OWN_EVENTS_UNTRACED static inline int own_ftrace_is_on(void)
{
	char pattern[128];
	glob_t found;
	int on = 0;

	snprintf(pattern, sizeof(pattern),
		 "/sys/kernel/tracing/instances/epitaph.%d.*/events/task/task_rename/enable",
		 getpid());
	if (!glob(pattern, GLOB_NOSORT, NULL, &found)) {
		FILE *file = fopen(found.gl_pathv[0], "r");

		if (file) {
			on = fgetc(file) == '1';
			fclose(file);
		}
	}
	globfree(&found);
	return on;
}

/* perf's buffers are mapped. */
OWN_EVENTS_UNTRACED static inline int own_perf_is_on(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[1024];
	int on = 0;

	while (maps && fgets(line, sizeof(line), maps))
		on |= strstr(line, "[perf_event]") != NULL;
	if (maps)
		fclose(maps);
	return on;
}

/* `source`: "ftrace" or "perf". */
OWN_EVENTS_UNTRACED static inline int own_events_are_on(const char *source)
{
	return !strcmp(source, "ftrace") ? own_ftrace_is_on() : own_perf_is_on();
}

#endif
