/* SPDX-License-Identifier: BSD-2-Clause */
/* emulator.h: whether valgrind runs the program. It knows threads only as pthread_create makes
 * them. */
#ifndef EPITAPH_X86_64_EMULATOR_H
#define EPITAPH_X86_64_EMULATOR_H

#include <stdbool.h>
#include <stdint.h>

/* A request of valgrind's core: all of its tools answer. */
#define EP_RUNNING_ON_VALGRIND 0x1001

/*
 * A client request (valgrind's manual, "The Client Request mechanism"; the sequence for amd64 is
 * valgrind.h's, a part of its ABI): rax has the address of the request and five arguments, rdx
 * becomes the answer. To a processor it is nothing: rdi is turned by 128 bits in all, rbx exchanged
 * with itself.
 */
static inline bool ep_runs_on_valgrind(void)
{
	volatile uint64_t request[6] = {EP_RUNNING_ON_VALGRIND};
	uint64_t answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, "
			 "%%rdi\n\txchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(request)
			 : "cc", "memory");
	return answer != 0;
}

#endif
