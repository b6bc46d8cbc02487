/* SPDX-License-Identifier: BSD-2-Clause */
/* bursts.c: bursts N READY: N processes that die of SIGSEGV at once, when the file READY, which is
 * made when all are there, is gone again. Prints how many died so. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline)) void die(int go)
{
	char byte;

	while (read(go, &byte, 1) > 0)
		;
	*(volatile int *)0 = 1;
}

int main(int argc, char **argv)
{
	struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
	int go[2], died = 0, status;

	setrlimit(RLIMIT_CORE, &all);
	if (argc < 3 || pipe(go) != 0)
		return 1;
	for (int i = 0; i < atoi(argv[1]); i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child == 0) {
			close(go[1]);
			die(go[0]);
		}
	}
	close(open(argv[2], O_CREAT | O_WRONLY, 0644));
	while (access(argv[2], F_OK) == 0)
		usleep(1000);
	close(go[1]);
	while (wait(&status) > 0)
		died += WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
	printf("%d\n", died);
	return 0;
}
