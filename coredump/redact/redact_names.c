/* SPDX-License-Identifier: BSD-2-Clause */
/* redact_names.c: which names of threads are left out, and what stands for names that are. */
#include <string.h>
#include <sys/auxv.h>

#include "coredump/memory/source_impl.h"
#include "coredump/redact/redact_impl.h"

#define COUNTED 39u /* of a name: as many as a watchdog's entry has */

/* ---- what threads are called ---- */

/* The base name, as the kernel cuts it. */
static void program_set(struct ep_redaction *r, unsigned index, const char *path, size_t length)
{
	const char *slash = memrchr(path, '/', length);

	if (slash) {
		length -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	length = strnlen(path, length < EP_COMM - 1 ? length : EP_COMM - 1);
	memset(r->program[index], 0, EP_COMM);
	memcpy(r->program[index], path, length);
}

bool ep_redact_hides_name(const struct ep_redaction *r, const uint8_t *name, size_t size)
{
	const char *text = (const char *)name;

	if (r->words & EP_REDACTED_NOTES)
		return true;
	if (!(r->words & (EP_REDACTED_CMDLINE | EP_REDACTED_PATHS)))
		return false;
	size = strnlen(text, size);
	for (unsigned i = 0; i < 2; i++)
		if (r->program[i][0] && strlen(r->program[i]) == size &&
		    memcmp(r->program[i], text, size) == 0)
			return true;
	return false;
}

void ep_redact_find_program(struct ep_redaction *r)
{
	const struct ep_source *source = r->gathered->source;
	char path[4096];
	uint64_t at;

	if (ep_source_auxv(r->gathered->source, AT_EXECFN, &at) == EP_OK &&
	    ep_source_read_string(r->gathered->source, at, path, sizeof(path), NULL) == EP_OK)
		program_set(r, 0, path, strlen(path));
	/* As it stands in the load map, which also a snapshot has. */
	if (ep_source_auxv(r->gathered->source, AT_PHDR, &at) == EP_OK)
		for (size_t i = 0; i < source->mappings.count; i++) {
			const struct ep_mapping *one = &source->mappings.list[i];

			if (at >= one->start && at < one->end)
				program_set(r, 1, one->path, strlen(one->path));
		}
}

/* ---- names that stand for others ---- */

static uint64_t rotated(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotated(v[1], 13) ^ v[0];
	v[0] = rotated(v[0], 32);
	v[2] += v[3];
	v[3] = rotated(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotated(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotated(v[1], 17) ^ v[2];
	v[2] = rotated(v[2], 32);
}

/* SipHash-2-4 (Aumasson and Bernstein, 2012): who does not have the key cannot try names. */
static uint64_t sip_hash(const uint64_t key[2], const uint8_t *bytes, size_t size)
{
	uint64_t v[4] = {
		key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
		key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};

	for (size_t at = 0; at <= size; at += 8) {
		uint64_t word = 0;

		if (size - at >= 8)
			memcpy(&word, bytes + at, 8);
		else
			memcpy(&word, bytes + at, size - at);
		if (size - at < 8)
			word |= (uint64_t)size << 56;
		v[3] ^= word;
		sip_round(v);
		sip_round(v);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void ep_redact_token(const struct ep_redaction *r, uint8_t *name, size_t size)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t length = strnlen((const char *)name, size);
	uint64_t hash = sip_hash(r->key, name, length < COUNTED ? length : COUNTED);
	size_t room = size < 8 ? size : 8;

	if (length == 0)
		return;
	memset(name, 0, size);
	name[0] = '~';
	for (size_t i = 1; i < room; i++, hash >>= 6)
		name[i] = (uint8_t)letters[hash & 63];
}
