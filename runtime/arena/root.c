/* SPDX-License-Identifier: BSD-2-Clause */
/* root.c: the root's page, the note that leads to it, and its copy in the arena. */
#include "runtime/arena/root.h"

#include "runtime/lib/syscalls.h"

#define PAGE 4096

/* Alone in its page, so that no other data makes it dirty or moves it. Hidden, not static: clang
 * would keep the alias's name only, and the note below needs this one. */
struct {
	struct ep_root root;
	char rest[PAGE - sizeof(struct ep_root)];
} ep_root_page __attribute__((aligned(PAGE), section(".data.epitaph"), used)) = {
	{.magic = EP_ROOT_MAGIC},
	{0},
};
extern struct ep_root epitaph_root __attribute__((alias("ep_root_page"), visibility("default")));

/* The note that leads a reader to the root in a stripped object. */
__asm__(".pushsection .note.epitaph, \"a\", @note\n"
	"	.balign 4\n"
	"	.long 8, 8, 1\n" /* namesz, descsz, EP_NOTE_ROOT */
	"	.asciz \"EPITAPH\"\n"
	"1:	.quad ep_root_page - 1b\n"
	"	.popsection\n");

struct ep_arena *ep_arena;

static uint32_t crc32_of(const void *bytes, uint64_t size)
{
	const uint8_t *at = bytes;
	uint32_t crc = ~0u;

	while (size--) {
		crc ^= *at++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
	}
	return ~crc;
}

char *ep_root_rest(void)
{
	return ep_root_page.rest;
}

bool ep_root_crc_holds(const struct ep_root *root)
{
	return root->crc == crc32_of(root, offsetof(struct ep_root, crc));
}

void ep_root_fill(struct ep_root *root, const struct ep_root *from, const char *magic,
		  uint64_t self)
{
	struct ep_root made = *from;

	__builtin_memcpy(made.magic, magic, EP_MAGIC_SIZE);
	made.self = self;
	made.crc = crc32_of(&made, offsetof(struct ep_root, crc));
	*root = made;
}

/* The path is left out of the copy: a file has its name from then on, and may be all that is left
 * at any moment after. */
void ep_root_publish(void)
{
	struct ep_root copy = epitaph_root;

	copy.file_path = copy.file_path_size = 0;
	if (ep_arena)
		ep_root_fill(&ep_arena->root, &copy, EP_ARENA_MAGIC, (uint64_t)ep_arena);
	ep_root_fill(&epitaph_root, &epitaph_root, EP_ROOT_MAGIC, (uint64_t)&epitaph_root);
}

void ep_arena_stop(uint32_t reason)
{
	epitaph_root.off_reason = reason;
	if (ep_arena) {
		ep_arena->off_reason = reason;
		__atomic_fetch_or(&ep_arena->gate, EP_GATE_STOPPED, __ATOMIC_SEQ_CST);
	}
	ep_root_publish();
}
