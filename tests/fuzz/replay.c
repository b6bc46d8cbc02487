/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay.c: runs a fuzz target over the files and folders named, with any compiler. -m N: also over
 * N changed copies of each (by the target's own way of changing, or bytes flipped, cut, words
 * replaced), always the same ones; the one at work is kept in replay.last.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

#pragma weak LLVMFuzzerCustomMutator

static unsigned long changes, runs;
static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static size_t change(uint8_t *bytes, size_t size)
{
	static const uint64_t words[] = {0,          1,          0xffff,    0x7fffffff,
					 0xffffffff, UINT64_MAX, INT64_MAX, UINT64_C(1) << 62,
					 4096,       0x1000000};
	/* headers and notes come first: most changes there */
	size_t reach = next() % 4 ? size < 2048 ? size : 2048 : size;

	for (uint64_t i = next() % 4 + 1; i > 0 && reach > 8; i--) {
		size_t at = next() % (reach - 8);
		uint64_t word = words[next() % 10];

		switch (next() % 4) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << next() % 8);
			break;
		case 1:
			bytes[at] = (uint8_t)next();
			break;
		case 2:
			memcpy(bytes + at / 8 * 8, &word, 8);
			break;
		case 3:
			memcpy(bytes + at / 4 * 4, &word, 4);
			break;
		}
	}
	return next() % 8 ? size : next() % (size + 1);
}

/* For targets that change inputs themselves. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t max_size)
{
	(void)max_size;
	return change(bytes, size);
}

static size_t changed(uint8_t *bytes, size_t size, size_t room)
{
	if (LLVMFuzzerCustomMutator && next() % 4)
		return LLVMFuzzerCustomMutator(bytes, size, room, (unsigned)next());
	return change(bytes, size);
}

static void keep(const uint8_t *bytes, size_t size)
{
	FILE *file = fopen("replay.last", "w");

	if (!file)
		return;
	fwrite(bytes, 1, size, file);
	fclose(file);
}

static void replay_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "r");
	uint8_t *bytes = malloc(size + 1), *copy = malloc(size + 1);

	if (!file || !bytes || !copy || fread(bytes, 1, size, file) != size) {
		perror(path);
		exit(1);
	}
	fclose(file);
	fprintf(stderr, "%s\n", path);
	keep(bytes, size);
	LLVMFuzzerTestOneInput(bytes, size);
	runs++;
	for (unsigned long i = 0; i < changes; i++) {
		size_t left;

		memcpy(copy, bytes, size);
		left = changed(copy, size, size);
		keep(copy, left);
		LLVMFuzzerTestOneInput(copy, left);
		runs++;
	}
	free(bytes);
	free(copy);
}

static void replay(const char *path)
{
	struct dirent **names;
	struct stat st;
	int count;

	if (stat(path, &st) != 0) {
		perror(path);
		exit(1);
	}
	if (S_ISREG(st.st_mode)) {
		replay_file(path, (size_t)st.st_size);
		return;
	}
	count = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.' && stat(file, &st) == 0 && S_ISREG(st.st_mode))
			replay_file(file, (size_t)st.st_size);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
}

int main(int count, char **words)
{
	int at = 1;

	if (count > 2 && strcmp(words[1], "-m") == 0) {
		changes = strtoul(words[2], NULL, 10);
		at = 3;
	}
	for (; at < count; at++)
		replay(words[at]);
	remove("replay.last");
	printf("%lu inputs\n", runs);
	return runs ? 0 : 1;
}
