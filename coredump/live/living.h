/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * living.h: the folder in /proc by which a process is seen. A main thread that has ended
 * (pthread_exit) while others live leaves a /proc/PID whose mem, maps, auxv, environ, exe, root and
 * map_files are gone; /proc/TID of any thread that lives has them all. The folder is opened once,
 * and everything else is opened below its descriptor, which stays the same thread's whoever gets
 * its number next.
 */
#ifndef EPITAPH_LIVING_H
#define EPITAPH_LIVING_H

#include <stdbool.h>
#include <sys/types.h>

struct ep_living {
	pid_t pid; /* as it was asked for */
	pid_t tid; /* of the thread by which it is seen: `pid`, or another one where that has ended;
		      0: no thread of it lives, it waits to be reaped (a zombie) */
	int folder;   /* /proc/TID; where tid is 0 /proc/PID */
	bool kernels; /* a thread of the kernel, which has no memory */
};

/* By the main thread where that lives, else by the one that is listed first, which is the oldest.
 * False: there is no such process (errno). Allocates what opendir(3) does, and only where the main
 * thread has ended. */
bool ep_living_open(struct ep_living *living, pid_t pid);
void ep_living_close(struct ep_living *living);

/*
 * A descriptor of the whole process (pidfd_open(2)): it is opened by the number, and is this
 * process's since `folder` was there before and after. -1: errno is ESRCH, the process has ended;
 * or the kernel gives none (before Linux 5.3, or a filter of system calls).
 */
int ep_living_process(const struct ep_living *living);

/* Whether all threads of the process have ended that ep_living_process gave a descriptor of. */
bool ep_living_ended(int process);

/* Is there a thread of a process of that number that lives? It may be another process than it was.
 */
bool ep_living_is(pid_t pid);

#endif
