/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults.c: dies of one instruction, and says what the kernel knew of it. faults TRUTH N runs
 * case_N of the assembly that tests/cli/lib/faults.py writes; faults TRUTH random SEED runs bytes
 * by chance, with registers by chance, and no system call but the return from a handler. A handler
 * writes trap, error code, address and registers into TRUTH (mcontext), and lets the instruction
 * fault again, for good. The memory that is pointed at:
 *
 *   0x10000000 writable    0x10010000 read-only    0x10020000 no access    0x10040000 code,
 * readable 0x10050000 the second page of a file of one page                       0x10030000
 * nothing
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

extern void (*const cases[])(void);

struct truth {
	uint64_t signal, code, address;
	uint64_t registers[NGREG];
};

static struct truth *truth;
static uint8_t stack[65536];

/* No thread-local storage: fs may be anything by now. */
static void __attribute__((no_stack_protector)) handle(int signal, siginfo_t *info, void *words)
{
	ucontext_t *context = words;
	greg_t *registers = context->uc_mcontext.gregs;
	const uint8_t *pc = (const uint8_t *)registers[REG_RIP];

	truth->signal = (uint64_t)signal;
	truth->code = (uint64_t)info->si_code;
	truth->address = (uint64_t)info->si_addr;
	for (int i = 0; i < NGREG; i++)
		truth->registers[i] = (uint64_t)registers[i];
	/* A trap comes behind its instruction. */
	/* At an int1 it stays, under KVM on some processors of AMD. */
	if (signal == SIGTRAP && info->si_code != TRAP_TRACE && *pc != 0xf1)
		registers[REG_RIP] -= pc[-1] == 3 && pc[-2] == 0xcd ? 2 : 1;
}

static void map(uint64_t address, int rights, int file)
{
	uint8_t *at = mmap((void *)address, 4096, PROT_READ | PROT_WRITE,
			   MAP_FIXED | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED), file,
			   file < 0 ? 0 : 4096);

	if (at == MAP_FAILED)
		exit(70);
	if (file < 0)
		memset(at, 0x11, 4096);
	mprotect(at, 4096, rights);
}

static uint64_t state;

static uint64_t chance(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 33) ^ (state << 31);
}

static uint64_t any_address(void)
{
	static const uint64_t bases[] = {
		0x10000000,     0x10000000,         0x10000000,        0x10010000, 0x10020000,
		0x10030000,     0x10040000,         0x10050000,        0,          0,
		0x800000000000, 0x4141414141414141, 0xffff888000000000};
	uint64_t within = chance() % 4096;

	if (chance() % 8 == 0)
		return chance() >> chance() % 64;
	return bases[chance() % (sizeof(bases) / sizeof(*bases))] +
	       (chance() % 2 ? within & ~UINT64_C(63) : within);
}

static void run_random(void)
{
	uint8_t *code = mmap((void *)0x20000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static uint64_t values[16];
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0xc000003e, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {6, filter};
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	static const uint8_t first[] = {0x0f, 0x66, 0xf3, 0xf2, 0x48, 0xc5, 0x64, 0xf0};
	uint8_t mixed = (uint8_t)(chance() % 4);

	for (int i = 0; i < 4000; i++)
		code[i] = (uint8_t)chance();
	/* More of the rare maps of opcodes. */
	if (mixed)
		code[0] = first[chance() % sizeof(first)];
	if (mixed == 2)
		code[1] = 0x0f;
	for (int i = 0; i < 16; i++)
		values[i] = any_address();
	if (chance() % 4)
		values[4] = (uint64_t)(stack + 32768);
	setitimer(ITIMER_REAL, &soon, NULL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	__asm__ volatile(
		"mov 8(%0), %%rbx; mov 16(%0), %%rcx; mov 24(%0), %%rdx; mov 32(%0), %%rsp\n\t"
		"mov 40(%0), %%rbp; mov 48(%0), %%rsi; mov 56(%0), %%rdi; mov 64(%0), %%r8\n\t"
		"mov 72(%0), %%r9; mov 80(%0), %%r10; mov 88(%0), %%r11; mov 96(%0), %%r12\n\t"
		"mov 104(%0), %%r13; mov 112(%0), %%r14; mov 120(%0), %%r15; mov (%0), %%rax\n\t"
		"jmp *target(%%rip)\n\t"
		".pushsection .data; target: .quad 0x20000000; .popsection"
		:
		: "a"(values)
		: "memory");
}

int main(int count, char **words)
{
	static uint8_t other[65536];
	stack_t alternate = {.ss_sp = other, .ss_size = sizeof(other)};
	struct sigaction action = {.sa_flags = SA_ONSTACK | SA_SIGINFO | (int)SA_RESETHAND};
	const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
	char name[] = "short.XXXXXX";
	int file;

	if (count < 3)
		return 64;
	file = open(words[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (file < 0 || ftruncate(file, 4096))
		return 71;
	truth = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	map(0x10000000, PROT_READ | PROT_WRITE, -1);
	map(0x10010000, PROT_READ, -1);
	map(0x10020000, PROT_NONE, -1);
	map(0x10040000, PROT_READ | PROT_EXEC, -1);
	file = mkstemp(name);
	unlink(name);
	if (ftruncate(file, 4096))
		return 71;
	map(0x10050000, PROT_READ | PROT_WRITE, file);
	sigaltstack(&alternate, NULL);
	action.sa_sigaction = handle;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	if (count > 3) {
		state = strtoull(words[3], NULL, 0) * 2654435761u + 12345;
		chance();
		chance();
		run_random();
	} else {
		cases[atoi(words[2])]();
	}
	return 0;
}
