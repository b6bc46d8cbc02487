/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dies_as.c: dies_as WORD=VALUE...: becomes what they say, in that order, and crashes. Static, so
 * that it runs in any root.
 *
 *   root=DIR  cwd=DIR  groups=N  gid=N  uid=N  euid=N (real and saved stay)
 *   most=N (saved stays)  dumpable=N  name=TEXT  maps=FILE (its first page, which it does not read)
 *   wait=FILE (until it is there)
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static int map(const char *name)
{
	int fd = open(name, O_RDONLY);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

	close(fd);
	return page == MAP_FAILED ? -1 : 0;
}

static int become(const char *word, const char *value)
{
	id_t id = (id_t)atoi(value);

	if (!strcmp(word, "root"))
		return chroot(value);
	if (!strcmp(word, "cwd"))
		return chdir(value);
	if (!strcmp(word, "groups"))
		return setgroups(1, &id);
	if (!strcmp(word, "gid"))
		return setresgid(id, id, id);
	if (!strcmp(word, "uid"))
		return setresuid(id, id, id);
	if (!strcmp(word, "euid"))
		return setresuid((uid_t)-1, id, (uid_t)-1);
	if (!strcmp(word, "most"))
		return setresuid(id, id, (uid_t)-1);
	if (!strcmp(word, "dumpable"))
		return prctl(PR_SET_DUMPABLE, id);
	if (!strcmp(word, "name"))
		return prctl(PR_SET_NAME, value);
	if (!strcmp(word, "maps"))
		return map(value);
	while (!strcmp(word, "wait") && access(value, F_OK))
		usleep(10000);
	return strcmp(word, "wait") ? -1 : 0;
}

int main(int count, char **words)
{
	for (int i = 1; i < count; i++) {
		char *equals = strchr(words[i], '=');

		if (equals)
			*equals = '\0';
		if (!equals || become(words[i], equals + 1)) {
			perror(words[i]);
			return 1;
		}
	}
	*(volatile int *)0 = 0;
	return 0;
}
