/* SPDX-License-Identifier: BSD-2-Clause */
/* asks.c: glibc's rseq area, and what stands in its rseq_cs. The hooks' side: due_or_asked and arm
 * in x86_64/hooks.S. */
#include "runtime/record/asks.h"

#include <stddef.h>
#include <sys/utsname.h>

#include "runtime/lib/hookcode.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/local.h"
#include "runtime/x86_64/offsets.h"

/* <sys/rseq.h> since glibc 2.35; 0 bytes: none was registered. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

/* linux/rseq.h, struct rseq: where these lie in the area. */
#define CPU_ID  4
#define RSEQ_CS 8

uint64_t ep_asks_at;

uint64_t ep_asks_masks;

static uint64_t next(void)
{
	return ep_asks_masks + HOOK_NEXT;
}

static uint64_t *sequence(void)
{
	return (uint64_t *)((char *)__builtin_thread_pointer() + ep_asks_at);
}

static uint64_t present(void)
{
	return *(const volatile uint64_t *)sequence();
}

static bool is_armed(uint64_t word)
{
	return word - ep_asks_masks < 0x100 || word == next();
}

/* What is armed is what the mask says, also where a handler comes between, which sets both. */
void ep_asks_set_timing(struct ep_tls *tls, uint32_t mask)
{
	volatile uint32_t *timing = &tls->timing_mask;

	*timing = mask;
	while (ep_asks_at) {
		uint64_t word = present(), low = *timing & 0xff;
		uint64_t wanted = low ? ep_asks_masks + low : next();

		if (!is_armed(word) || word == wanted)
			return;
		ep_cmpxchg_local(sequence(), word, wanted);
	}
}

bool ep_asks_now(void)
{
	return ep_tls.thread && ep_tls.thread->flags & EP_THREAD_ASKED && !present();
}

void ep_asks_answer(void)
{
	if (ep_tls.thread && ep_tls.thread->flags & EP_THREAD_ASKED)
		ep_cmpxchg_local(sequence(), 0, next());
}

bool ep_asks_foreign(void)
{
	uint64_t word = ep_asks_at ? present() : 0;

	return word && !is_armed(word);
}

bool ep_asks_caller(void)
{
	return ep_asks_at &&
	       *(const volatile int32_t *)((char *)sequence() - RSEQ_CS + CPU_ID) >= 0;
}

/* "MAJOR.MINOR…", of which one number is enough for each. */
static bool kernel_clears(void)
{
	static struct utsname name;
	unsigned numbers[2] = {0, 0}, at = 0;

	if (ep_syscall1(SYS_uname, (long)&name))
		return false;
	for (const char *c = name.release; at < 2 && (*c == '.' || (*c >= '0' && *c <= '9')); c++) {
		if (*c == '.')
			at++;
		else
			numbers[at] = numbers[at] * 10 + (unsigned)(*c - '0');
	}
	return numbers[0] < 6 || (numbers[0] == 6 && numbers[1] < 19);
}

void ep_asks_start(void)
{
	int64_t offset;

	if (&__rseq_offset == NULL || &__rseq_size == NULL ||
	    __rseq_size < RSEQ_CS + sizeof(uint64_t) || ep_settings.min_duration ||
	    ep_settings.counting || !kernel_clears())
		return;
	offset = __rseq_offset + RSEQ_CS;
	ep_asks_masks =
		ep_hooks_move((char *)__builtin_thread_pointer() + offset - (char *)&ep_tls);
	if (ep_asks_masks)
		ep_asks_at = (uint64_t)offset;
}
