/* SPDX-License-Identifier: BSD-2-Clause */
/* replay.c: main() for a fuzz target without libFuzzer: runs it over the files
 * that are named. A failure ends the process; the last line names the file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes;
	long size;

	if (!file || fseek(file, 0, SEEK_END) != 0 ||
	    (size = ftell(file)) < 0) {
		perror(path);
		exit(1);
	}
	rewind(file);
	bytes = malloc((size_t)size + 1);
	if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
		perror(path);
		exit(1);
	}
	fclose(file);
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(bytes, (size_t)size);
	free(bytes);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	printf("%d files\n", argc - 1);
	return argc > 1 ? 0 : 1;
}
