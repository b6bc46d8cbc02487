/* SPDX-License-Identifier: BSD-2-Clause */
/* dies_of.c: dies_of HOW: dies of what HOW says, in die_of(); tests/cli/report-deaths.sh has the
 * list. */
#define _GNU_SOURCE
#include <alloca.h>
#include <fenv.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define KEPT     __attribute__((noinline, noclone))
#define IS(name) (!strcmp(how, name))
#define DO(text) __asm__ volatile(text) /* it does not come back */

static char bytes[4096] __attribute__((aligned(64)));
static volatile long sink;

static char *page(int rights)
{
	char *at = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(at + 8192, 4096);
	mprotect(at + 4096, 4096, rights);
	return at + 4096;
}

static void handle(int signal)
{
	sink = signal;
}

static void spoil(int signal, siginfo_t *info, void *words)
{
	ucontext_t *context = words;

	(void)signal;
	(void)info;
	context->uc_mcontext.fpregs = (void *)8;
}

KEPT static int recurse(int depth)
{
	volatile char frame[2048];

	frame[0] = (char)depth;
	return recurse(depth + 1) + frame[0];
}

/* Its only frame is larger than the stack. */
KEPT static void large(size_t size)
{
	volatile char *frame = alloca(size);

	frame[0] = 1;
	sink = frame[size / 2];
}

static void *in_thread(void *how)
{
	if (!strcmp(how, "overflow-thread"))
		recurse(0);
	else
		large(256 << 10);
	return NULL;
}

/* The kernel's ABI, not glibc's: the area is registered by whoever asks first. */
static void restartable(void)
{
	static struct {
		uint32_t cpu_start, cpu;
		uint64_t cs;
		uint32_t flags, pad[3];
	} area __attribute__((aligned(32)));

	if (syscall(SYS_rseq, &area, sizeof(area), 0, 0x53053053))
		exit(77);
	area.cs = 0x10; /* no descriptor is there */
	for (;;)
		sched_yield();
}

static void denied(int number, unsigned action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, filter};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	syscall(number);
}

KEPT static void smashed(uintptr_t address)
{
	void **frame = __builtin_frame_address(0);

	sink++;
	frame[1] = (void *)address;
	__asm__ volatile("" ::: "memory");
}

KEPT static void die_of_stack(char *how)
{
	if (IS("overflow"))
		recurse(0);
	if (IS("overflow-frame"))
		large(16 << 20);
	if (IS("overflow-thread") || IS("overflow-thread-frame")) {
		pthread_attr_t attributes;
		pthread_t thread;

		pthread_attr_init(&attributes);
		pthread_attr_setstacksize(&attributes, 128 << 10);
		pthread_create(&thread, &attributes, in_thread, how);
		pthread_join(thread, NULL);
	}
	if (IS("overflow-handler")) {
		signal(SIGSEGV, handle);
		recurse(0);
	}
	if (IS("frame-room")) {
		signal(SIGUSR1, handle);
		__asm__ volatile("mov $0x10000, %%rsp; syscall" ::"a"(SYS_tgkill), "D"(getpid()),
				 "S"(gettid()), "d"(SIGUSR1)
				 : "memory", "rcx", "r11");
	}
	if (IS("sigreturn-unmapped"))
		DO("mov $0x10000, %esp; mov $15, %eax; syscall");
	if (IS("sigreturn-floating")) {
		struct sigaction action = {.sa_sigaction = spoil, .sa_flags = SA_SIGINFO};

		sigaction(SIGUSR1, &action, NULL);
		raise(SIGUSR1);
	}
	if (IS("rseq"))
		restartable();
	if (IS("stack-unmapped"))
		DO("mov $0x4242000, %esp; push %rax");
	if (IS("stack-kernel"))
		DO("mov $0xffff888000000000, %rax; mov %rax, %rsp; push %rax");
	if (IS("stack-text"))
		DO("mov $0x4141414141414141, %rax; mov %rax, %rsp; call 1f; 1:");
	if (IS("stack-null"))
		DO("xor %esp, %esp; push %rax");
	if (IS("stack-heap-end"))
		__asm__ volatile("mov %0, %%rsp; pop %%rax; pop %%rax" ::"r"(
					 page(PROT_READ | PROT_WRITE) + 4088)
				 : "memory");
	if (IS("frame-text"))
		DO("mov $0x4141414141414141, %rbp; mov -8(%rbp), %rax");
	if (IS("ret-text"))
		smashed(0x4141414141414141);
	if (IS("ret-wild"))
		smashed(0x42424242);
	if (IS("ret-null"))
		smashed(0);
	if (IS("call-null"))
		((void (*volatile)(void))NULL)();
	if (IS("call-data"))
		((void (*)(void))(void *)bytes)();
	if (IS("call-kernel"))
		((void (*volatile)(void))0xffffffff81000000)();
	if (IS("call-text"))
		((void (*volatile)(void))0x4141414141414141)();
	if (IS("code-ends")) {
		char *at = page(PROT_READ | PROT_WRITE);

		memcpy(at + 4093, "\x48\xb8\x01", 3);
		mprotect(at, 4096, PROT_READ | PROT_EXEC);
		((void (*)(void))(at + 4093))();
	}
}

KEPT static void die_of_address(const char *how)
{
	volatile int zero = 0;

	if (IS("read-none"))
		sink = *(volatile char *)page(PROT_NONE);
	if (IS("write-readonly"))
		*(volatile char *)page(PROT_READ) = 1;
	if (IS("write-code"))
		*(volatile char *)(uintptr_t)smashed = 1;
	if (IS("key")) {
		char *at = page(PROT_READ | PROT_WRITE);
		int key = pkey_alloc(0, PKEY_DISABLE_WRITE);

		if (key < 0 || pkey_mprotect(at, 4096, PROT_READ | PROT_WRITE, key))
			exit(77);
		*(volatile char *)at = 1;
	}
	if (IS("beyond-file")) {
		FILE *file = tmpfile();
		char *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);

		*(volatile char *)(at + 4096) = 1;
	}
	if (IS("null"))
		*(volatile int *)(uintptr_t)zero = 1;
	if (IS("null-field"))
		sink = ((volatile struct {
			       char pad[1000];
			       int field;
		       } *)(uintptr_t)zero)
			       ->field;
	if (IS("small-number"))
		sink = *(volatile char *)0x4242;
	if (IS("kernel-read"))
		sink = *(volatile char *)-8L;
	if (IS("vsyscall-read"))
		sink = *(volatile long *)0xffffffffff600000;
	if (IS("text-pointer"))
		sink = *(volatile char *)0x4242424242424242;
	if (IS("beyond-half"))
		sink = *(volatile long *)0x7ffffffffffc; /* its end is not canonical */
	if (IS("movaps"))
		__asm__ volatile("movaps %%xmm0, 4(%0)" ::"r"(bytes) : "memory");
	if (IS("addps"))
		__asm__ volatile("addps 8(%0), %%xmm0" ::"r"(bytes) : "xmm0");
	if (IS("cmpxchg16b"))
		__asm__ volatile("cmpxchg16b 8(%0)" ::"r"(bytes) : "memory", "rax", "rdx");
	if (IS("fxsave"))
		__asm__ volatile("fxsave 8(%0)" ::"r"(bytes) : "memory");
	if (IS("alignment-check"))
		DO("pushf; orl $0x40000, (%rsp); popf; movl $1, bytes+1(%rip)");
}

KEPT static void die_of_instruction(const char *how)
{
	volatile int zero = 0, least = INT_MIN, minus = -1;
	volatile double nought = 0;
	volatile long double wide = 0;

	if (IS("hlt"))
		DO("hlt");
	if (IS("cr3"))
		DO("mov %cr3, %rax");
	if (IS("out"))
		DO("out %al, $0x80");
	if (IS("int-81"))
		DO("int $0x81");
	if (IS("ss"))
		DO("mov $0x1234, %eax; mov %eax, %ss");
	if (IS("ldmxcsr"))
		DO("movl $-1, bytes(%rip); ldmxcsr bytes(%rip)");
	if (IS("tsc")) {
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
		__asm__ volatile("rdtsc" ::: "rax", "rdx");
		exit(77); /* a hypervisor that does not let it trap */
	}
	if (IS("cpuid")) {
		if (syscall(SYS_arch_prctl, 0x1012, 0))
			exit(77);
		__asm__ volatile("cpuid" ::: "rax", "rbx", "rcx", "rdx");
	}
	if (IS("divide"))
		sink = 7 / zero;
	if (IS("divide-overflow"))
		sink = least / minus;
	if (IS("float-divide")) {
		feenableexcept(FE_DIVBYZERO);
		sink = (long)(1.0 / nought);
	}
	if (IS("float-invalid")) {
		feenableexcept(FE_INVALID);
		sink = (long)(nought / nought);
	}
	if (IS("x87-divide")) {
		feenableexcept(FE_DIVBYZERO);
		wide = 1.0L / wide;
		sink = (long)wide;
	}
	if (IS("ud2"))
		__builtin_trap();
	if (IS("ud1"))
		DO(".byte 0x0f, 0xb9, 0xc0");
	if (IS("no-opcode"))
		DO(".byte 0x06");
	if (IS("lock"))
		DO(".byte 0xf0, 0x89, 0xc0");
	if (IS("clac"))
		DO("clac");
	if (IS("int3"))
		DO("int3");
	if (IS("int1"))
		DO(".byte 0xf1");
	if (IS("step"))
		DO("pushf; orl $0x100, (%rsp); popf; nop; nop");
}

KEPT static void die_of(char *how)
{
	die_of_stack(how);
	die_of_address(how);
	die_of_instruction(how);
	if (IS("seccomp-kill"))
		denied(SYS_getppid, SECCOMP_RET_KILL_PROCESS);
	if (IS("seccomp-trap"))
		denied(SYS_getppid, SECCOMP_RET_TRAP);
	if (IS("dispatch")) {
		static volatile char selector = 1;

		if (prctl(59, 1, 0, 0, &selector)) /* PR_SET_SYSCALL_USER_DISPATCH */
			exit(77);
		getppid();
	}
	if (IS("sent"))
		kill(getpid(), SIGSEGV);
	if (IS("queued"))
		sigqueue(getpid(), SIGBUS, (union sigval){.sival_int = 1});
	sink++;
}

int main(int count, char **words)
{
	for (int i = 0; i < 3; i++)
		die_of("");
	if (count > 1)
		die_of(words[1]);
	return 9;
}
