// SPDX-License-Identifier: BSD-2-Clause
/*
 * keys.c: a load for memcached: keys SOCKET UNITS. Each of four clients stores and fetches 100 of a
 * thousand keys at a time, UNITS times. In fewer at a time the kernel's work is most of it, and
 * differs by half from run to run.
 * Status 1: the server's answers are not what they should be.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS = 4, KEYS = 1000, BATCH = 100 };
#define STORED "STORED\r\n"
#define VALUE  "VALUE k000 0 32\r\n"
#define DATA   "abcdefghijklmnopqrstuvwxyz012345\r\n"

static const char *socket_path;
static long units;

static void connect_to(int fd)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", socket_path);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		exit(1);
}

static size_t commands(char *out, long batch)
{
	size_t size = 0;

	for (int i = 0; i < BATCH; i++) {
		int key = (int)((batch * BATCH + i) % KEYS);

		size += (size_t)sprintf(out + size, "set k%03d 0 0 32\r\n" DATA "get k%03d\r\n",
					key, key);
	}
	return size;
}

/* Reads all the answers of a batch: every one is of the same size. */
static void answers(int fd)
{
	size_t want = BATCH * (strlen(STORED) + strlen(VALUE) + strlen(DATA) + strlen("END\r\n"));
	char in[16384];

	for (size_t got = 0; got < want;) {
		ssize_t size = read(fd, in, sizeof(in));

		if (size <= 0 || (got == 0 && memcmp(in, "STORED", 6) != 0))
			exit(1);
		got += (size_t)size;
	}
}

static void *client(void *unused)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char out[16384];

	connect_to(fd);
	for (long i = 0; i < units; i++) {
		size_t size = commands(out, i);

		if (write(fd, out, size) != (ssize_t)size)
			exit(1);
		answers(fd);
	}
	close(fd);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[CLIENTS];

	if (argc != 3)
		return 1;
	socket_path = argv[1];
	units = atol(argv[2]);
	for (int i = 0; i < CLIENTS; i++)
		pthread_create(&threads[i], NULL, client, NULL);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
