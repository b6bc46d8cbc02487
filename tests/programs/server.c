/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server.c: a small key-value server that dies under load. Worker threads serve connections on an
 * abstract Unix socket, a keeper thread expires old entries, and client threads of the same process
 * make the load.
 *
 * 	server [-w WORKERS] [-c CLIENTS] [-n REQUESTS] [-p PLACE]
 *
 * The first request after REQUESTS that comes to PLACE (parse, get, put, evict, digest, expire, or
 * any) writes through a bad pointer. Without -p it serves twice REQUESTS and ends with status 0.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NOT_TRACED   __attribute__((no_instrument_function))
#define KEPT         __attribute__((noinline))
#define BUCKETS      64
#define BUCKET_LIMIT 8
#define LINE         128
#define MANY         64

struct entry {
	struct entry *next;
	uint64_t age;
	uint32_t digest;
	char key[24];
	char value[64];
};

struct request {
	char verb;
	char key[24];
	char value[64];
};

static struct entry *table[BUCKETS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_ulong served;
static unsigned long crash_after = 20000;
static const char *crash_place;
static int listener;
static atomic_bool stopping;
static struct entry *volatile nobody; /* nothing ever points it anywhere */

/* The bug: a pointer that is only bad at the chosen place, after a while. */
NOT_TRACED static inline void visit(const char *place)
{
	if (crash_place && served >= crash_after &&
	    (!strcmp(crash_place, "any") || !strcmp(crash_place, place)))
		nobody->digest = 1;
}

KEPT static uint32_t digest_bytes(const char *bytes)
{
	uint32_t digest = 2166136261u;

	visit("digest");
	while (*bytes)
		digest = (digest ^ (uint8_t)*bytes++) * 16777619u;
	return digest;
}

KEPT static struct entry *find_entry(const char *key, uint32_t digest)
{
	struct entry *entry = table[digest % BUCKETS];

	while (entry && strcmp(entry->key, key))
		entry = entry->next;
	return entry;
}

KEPT static void evict_oldest(uint32_t bucket)
{
	struct entry **oldest = &table[bucket], *gone;

	visit("evict");
	for (struct entry **at = oldest; *at; at = &(*at)->next)
		if ((*at)->age < (*oldest)->age)
			oldest = at;
	gone = *oldest;
	*oldest = gone->next;
	free(gone);
}

KEPT static void store_put(const char *key, const char *value)
{
	uint32_t digest = digest_bytes(key), bucket = digest % BUCKETS;
	struct entry *entry = find_entry(key, digest);
	int length = 0;

	visit("put");
	if (!entry) {
		for (struct entry *at = table[bucket]; at; at = at->next)
			length++;
		if (length >= BUCKET_LIMIT)
			evict_oldest(bucket);
		entry = calloc(1, sizeof(*entry));
		snprintf(entry->key, sizeof(entry->key), "%s", key);
		entry->next = table[bucket];
		table[bucket] = entry;
	}
	snprintf(entry->value, sizeof(entry->value), "%s", value);
	entry->digest = digest_bytes(value);
	entry->age = served;
}

KEPT static const char *store_get(const char *key)
{
	struct entry *entry = find_entry(key, digest_bytes(key));

	visit("get");
	return entry && entry->digest == digest_bytes(entry->value) ? entry->value : "";
}

KEPT static bool parse_request(const char *line, struct request *out)
{
	visit("parse");
	memset(out, 0, sizeof(*out));
	return sscanf(line, "%c %23s %63s", &out->verb, out->key, out->value) >= 2;
}

KEPT static void handle_request(const char *line, char *answer)
{
	struct request request;

	if (!parse_request(line, &request)) {
		strcpy(answer, "bad request");
		return;
	}
	pthread_mutex_lock(&table_lock);
	if (request.verb == 'P')
		store_put(request.key, request.value);
	snprintf(answer, LINE, "%s", request.verb == 'G' ? store_get(request.key) : "stored");
	pthread_mutex_unlock(&table_lock);
	served++;
}

KEPT static void serve_connection(int fd)
{
	char line[LINE], answer[LINE];
	ssize_t size;

	while ((size = read(fd, line, sizeof(line) - 1)) > 0) {
		line[size] = 0;
		handle_request(line, answer);
		if (write(fd, answer, strlen(answer) + 1) < 0)
			break;
	}
	close(fd);
}

KEPT static void *worker_main(void *number)
{
	char name[16];
	int fd;

	snprintf(name, sizeof(name), "worker-%d", (int)(intptr_t)number);
	pthread_setname_np(pthread_self(), name);
	while ((fd = accept(listener, NULL, NULL)) >= 0)
		serve_connection(fd);
	return NULL;
}

KEPT static void expire_entries(void)
{
	pthread_mutex_lock(&table_lock);
	visit("expire");
	for (int i = 0; i < BUCKETS; i++)
		if (table[i] && table[i]->age + 5000 < served)
			evict_oldest((uint32_t)i);
	pthread_mutex_unlock(&table_lock);
}

KEPT static void *keeper_main(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "keeper");
	while (!stopping) {
		expire_entries();
		nanosleep(&(struct timespec){0, 2000000}, NULL);
	}
	return NULL;
}

KEPT static int connect_to(const struct sockaddr_un *address, socklen_t size)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	if (connect(fd, (const struct sockaddr *)address, size) < 0) {
		perror("server: connect");
		exit(1);
	}
	return fd;
}

struct client {
	pthread_t thread;
	const struct sockaddr_un *address;
	socklen_t size;
	unsigned seed;
};

KEPT static void *client_main(void *argument)
{
	struct client *client = argument;
	int fd = connect_to(client->address, client->size);
	char line[LINE];

	pthread_setname_np(pthread_self(), "client");
	while (served < 2 * crash_after) {
		unsigned key = (unsigned)rand_r(&client->seed) % 2000;
		int size = snprintf(line, sizeof(line), "%c key-%u value-%u",
				    rand_r(&client->seed) % 3 ? 'P' : 'G', key,
				    (unsigned)rand_r(&client->seed));
		if (write(fd, line, (size_t)size) < 0 || read(fd, line, sizeof(line)) <= 0)
			break;
	}
	close(fd);
	return NULL;
}

NOT_TRACED static socklen_t listen_on(struct sockaddr_un *address)
{
	int length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
			      "epitaph-server-%d", (int)getpid());
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);

	address->sun_family = AF_UNIX;
	listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (bind(listener, (struct sockaddr *)address, size) < 0 || listen(listener, MANY) < 0) {
		perror("server: listen");
		exit(1);
	}
	return size;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = {0};
	struct client clients[MANY];
	int workers = 4, client_count = 4, option;
	pthread_t thread;

	while ((option = getopt(argc, argv, "w:c:n:p:")) != -1)
		switch (option) {
		case 'w':
			workers = atoi(optarg);
			break;
		case 'c':
			client_count = atoi(optarg);
			break;
		case 'n':
			crash_after = strtoul(optarg, NULL, 0);
			break;
		case 'p':
			crash_place = optarg;
			break;
		default:
			return 64;
		}
	if (client_count > MANY || client_count > workers)
		client_count = workers < MANY ? workers : MANY;
	socklen_t size = listen_on(&address);
	for (int i = 0; i < workers; i++)
		pthread_create(&thread, NULL, worker_main, (void *)(intptr_t)i);
	pthread_create(&thread, NULL, keeper_main, NULL);
	for (int i = 0; i < client_count; i++) {
		clients[i] = (struct client){0, &address, size, (unsigned)i};
		pthread_create(&clients[i].thread, NULL, client_main, &clients[i]);
	}
	for (int i = 0; i < client_count; i++)
		pthread_join(clients[i].thread, NULL);
	stopping = true;
	printf("served %lu requests\n", served);
	return 0;
}
