/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_strip.c: any bytes as a linked file that is to lose all its hooks, or to get them back. What
 * was stripped is put back to the very bytes.
 */
#include "funcount/strip/strip.h"
#include "tests/fuzz/fuzz.h"

static void check_back(const uint8_t *bytes, size_t size, const uint8_t *stripped,
		       size_t stripped_size)
{
	struct ep_err err;
	uint8_t *back;
	size_t back_size;

	MUST(ep_strip_restore(&back, &back_size, stripped, stripped_size, &err) == 0);
	MUST(back_size == size && !memcmp(back, bytes, size));
	free(back);
}

static void check_strip(const uint8_t *bytes, size_t size)
{
	struct ep_rules rules = {.threshold = 1000000, .ignore_loops = true};
	struct ep_strip strip;
	struct ep_err err = {0};
	uint8_t *made;
	size_t made_size;
	int rc = ep_strip_decide(&strip, bytes, size, &rules, true, &err);

	if (rc) {
		if (rc != EP_END)
			fuzz_check_failure(rc, &err);
		return;
	}
	rc = ep_strip_write(&made, &made_size, bytes, size, &strip.patches, &err);
	if (rc) {
		fuzz_check_failure(rc, &err);
	} else {
		check_back(bytes, size, made, made_size);
		free(made);
	}
	ep_strip_deinit(&strip);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct ep_err err = {0};
	uint8_t *made;
	size_t made_size;
	int rc = ep_strip_restore(&made, &made_size, bytes, size, &err);

	if (!rc)
		free(made);
	else if (rc != EP_END)
		fuzz_check_failure(rc, &err);
	/* One that has a record already is put back before it is stripped. */
	if (rc == EP_END)
		check_strip(bytes, size);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
	return fuzz_mutate(bytes, size, max_size, seed, NULL);
}
