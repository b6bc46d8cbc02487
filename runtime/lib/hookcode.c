/* SPDX-License-Identifier: BSD-2-Clause */
/* hookcode.c: writes over a few bytes of each hook. */
#include "runtime/lib/hookcode.h"

#include <assert.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>
#include <sys/mman.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/x86_64/offsets.h"

#define PAGE      UINT64_C(4096)
#define CODE_MOST 8192 /* bytes of all hooks */

/* x86_64/hooks.S: those of this very runtime, whoever's the linker finds. */
extern char ep_hooks_begin[], ep_hook_entry[], ep_hook_return[], ep_hook_enter[], ep_hook_exit[],
	ep_hook_sled_entry[], ep_hook_sled_return[], ep_hooks_end_here[];

static const struct {
	char *at;
	uint8_t byte; /* that ends it, as `ret` … */
	uint8_t here; /* … at this distance */
} hooks[] = {
	{ep_hook_entry, 0xc3, 0},
	{ep_hook_return, 0xc3, 0},
	{ep_hook_enter, 0xc3, 0},
	{ep_hook_exit, 0xc3, 0},
	{ep_hook_sled_entry, 0xc3, 0},
	/* Behind its endbr64; with the two bytes that follow, ret $128. */
	{ep_hook_sled_return, 0xc2, 4},
};
#define HOOKS (sizeof(hooks) / sizeof(*hooks))

/* Four bytes of an instruction each, so far behind ep_hooks_begin, that name a field of ep_tls. */
struct word {
	uint32_t at, field;
};
extern const struct word ep_hook_words[], ep_hook_words_end[];

extern char ep_hook_masks[], ep_hook_next[], ep_hook_descriptors[];

uint64_t ep_hook_address(unsigned number)
{
	return number < HOOKS ? (uint64_t)hooks[number].at : 0;
}

bool ep_hooks_contain(uint64_t address)
{
	return address >= (uint64_t)ep_hooks_begin && address < (uint64_t)ep_hooks_end_here;
}

/* Code need not be writable for that, unless a kernel is told otherwise (proc_mem.force_override,
 * Linux 6.12). Not by pwrite, which a filter of system calls that the process was born with may not
 * know. */
static bool write_by_file(char *at, const void *bytes, size_t size)
{
	long fd = ep_fd_open_own("mem", O_RDWR);
	bool done;

	if (fd < 0)
		return false;
	done = ep_syscall3(SYS_lseek, fd, (long)at, SEEK_SET) == (long)at &&
	       ep_syscall3(SYS_write, fd, (long)bytes, (long)size) == (long)size;
	ep_fd_close(fd);
	return done;
}

static bool protect(int how)
{
	uint64_t start = (uint64_t)ep_hooks_begin & -PAGE;

	return !ep_syscall3(SYS_mprotect, (long)start, (long)((uint64_t)ep_hooks_end_here - start),
			    how);
}

static bool end_by_file(void)
{
	bool done = true;

	for (unsigned i = 0; i < HOOKS && done; i++)
		done = write_by_file(hooks[i].at + hooks[i].here, &hooks[i].byte, 1);
	return done;
}

bool ep_hooks_end(void)
{
	if (end_by_file())
		return true;
	if (!protect(PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	for (unsigned i = 0; i < HOOKS; i++)
		__atomic_store_n((uint8_t *)hooks[i].at + hooks[i].here, hooks[i].byte,
				 __ATOMIC_RELEASE);
	protect(PROT_READ | PROT_EXEC);
	return true;
}

/* linux/rseq.h, struct rseq_cs */
struct descriptor {
	uint32_t version, flags;
	uint64_t start, length;
	uint64_t abort; /* where it would go on, right behind … */
};
#define SIGNATURE UINT32_C(0x53053053) /* … this: what glibc registers (bits/rseq.h, RSEQ_SIG) */

/*
 * The lowest byte of the address of a descriptor is that of a timing mask, so they overlap: a word
 * of one is versions or start of another. All words are 0, but for where they would go on, which is
 * never a length.
 */
static void make_descriptors(char *code, uint64_t base)
{
	static const uint16_t at[] = {0x08, 0x18, 0x38, 0x78, 0xf8, HOOK_NEXT};
	char *room = code + (base - (uint64_t)ep_hooks_begin);
	uint64_t next = base + HOOK_NEXT;
	uint64_t abort = next + sizeof(struct descriptor) + sizeof(uint32_t);
	uint32_t signature = SIGNATURE;

	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++)
		ep_bytes_copy(room + at[i] + offsetof(struct descriptor, abort), &abort,
			      sizeof(abort));
	ep_bytes_copy(room + HOOK_NEXT + sizeof(struct descriptor), &signature, sizeof(signature));
	ep_bytes_copy(code + (ep_hook_masks - ep_hooks_begin), &base, sizeof(base));
	ep_bytes_copy(code + (ep_hook_next - ep_hooks_begin), &next, sizeof(next));
}
static_assert(HOOK_NEXT + sizeof(struct descriptor) + sizeof(uint32_t) + 255 <= HOOK_DESCRIPTORS,
	      "offsets.h");

uint64_t ep_hooks_move(int64_t place)
{
	char code[CODE_MOST];
	size_t size = (size_t)(ep_hooks_end_here - ep_hooks_begin);
	uint64_t base = ((uint64_t)ep_hook_descriptors + 255) & ~UINT64_C(255);

	if (size > sizeof(code) || place != (int32_t)place)
		return 0;
	ep_bytes_copy(code, ep_hooks_begin, size);
	for (const struct word *word = ep_hook_words; word < ep_hook_words_end; word++) {
		int32_t now;

		ep_bytes_copy(&now, code + word->at, sizeof(now));
		now += (int32_t)(place - word->field);
		ep_bytes_copy(code + word->at, &now, sizeof(now));
	}
	make_descriptors(code, base);
	if (write_by_file(ep_hooks_begin, code, size))
		return base;
	if (!protect(PROT_READ | PROT_WRITE | PROT_EXEC))
		return 0;
	ep_bytes_copy(ep_hooks_begin, code, size);
	protect(PROT_READ | PROT_EXEC);
	return base;
}
