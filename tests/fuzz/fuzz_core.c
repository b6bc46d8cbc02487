/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_core.c: any bytes as a core (core.c says what must hold). Each input is taken twice: as it
 * is, and with the CRCs of all roots in it repaired, so that a flip gets past them.
 */
#include "runtime/format.h"
#include "tests/fuzz/arena.h"
#include "tests/fuzz/core.h"
#include "tests/fuzz/fuzz.h"

/* The CRCs of all roots in it. */
static void repair(uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + sizeof(struct ep_root) <= size; at += 8) {
		if (memcmp(bytes + at, EP_ROOT_MAGIC, 8) == 0 ||
		    memcmp(bytes + at, EP_ARENA_MAGIC, 8) == 0 ||
		    memcmp(bytes + at, EP_KEPT_MAGIC, 8) == 0)
			fuzz_repair_root(bytes + at);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	MUST(copy != NULL);
	fuzz_check_core(bytes, size);
	memcpy(copy, bytes, size);
	repair(copy, size);
	if (memcmp(copy, bytes, size) != 0)
		fuzz_check_core(copy, size);
	free(copy);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
	return fuzz_mutate(bytes, size, max_size, seed, seed % 4 ? repair : NULL);
}
