/* SPDX-License-Identifier: BSD-2-Clause */
/* own_events.h: whether this process's scheduling events are recorded by now, and copied. */
#ifndef EP_TEST_OWN_EVENTS_H
#define EP_TEST_OWN_EVENTS_H

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
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

/* A number of /proc/self/task/TID/status, where the file's first line is `first`; or -1. */
OWN_EVENTS_UNTRACED static inline long own_status_of(const char *path, const char *first,
						     const char *key)
{
	FILE *file = fopen(path, "r");
	char line[256];
	long number = -1;

	if (file && fgets(line, sizeof(line), file) && !strcmp(line, first))
		while (fgets(line, sizeof(line), file))
			if (!strncmp(line, key, strlen(key)))
				number = atol(line + strlen(key));
	if (file)
		fclose(file);
	return number;
}

/* How often the thread that copies events has gone to sleep, as it does after each time; -1: there
 * is none. From one to the second after it all is copied once. */
OWN_EVENTS_UNTRACED static inline long own_events_copied(void)
{
	long times = -1;
	glob_t found;

	if (!glob("/proc/self/task/*/status", GLOB_NOSORT, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc && times < 0; i++)
			times = own_status_of(found.gl_pathv[i], "Name:\tepitaph-sched\n",
					      "voluntary_ctxt_switches:");
	globfree(&found);
	return times;
}

#endif
