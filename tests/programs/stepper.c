/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stepper.c: stepper PROGRAM PATTERN [MET]: runs PROGRAM one instruction at a time from where its
 * function run() begins to where that returns, and at each instruction of a function whose name
 * matches the shell pattern lets libdw unwind; again only where the two calls around it are others.
 * Who called whom is known: each call was seen. Status 0: every frame was right at every
 * instruction; 1: not so, or there was nothing to see.
 *
 * MET: a file, to which the instructions are added, as FUNCTION OFFSET. For the hooks: then time
 * goes by as if nobody stepped, but for a gap now and then, and now and then a signal handler seems
 * to have recorded in between.
 */
#include <elfutils/libdwfl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH_MAX 256
#define SLED_SKIP 128 /* what the hook of a sled takes from the stack when it returns */

static pid_t child;
static Dwfl *dwfl;
static struct {
	uint64_t address, stack;
} calls[DEPTH_MAX]; /* where each returns to, and with which stack pointer */
static size_t depth;
static size_t checked, wrong; /* instructions */

static void die(const char *what)
{
	perror(what);
	if (child > 0)
		kill(child, SIGKILL);
	exit(1);
}

static struct user_regs_struct registers(void)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, child, NULL, &regs))
		die("PTRACE_GETREGS");
	return regs;
}

static uint64_t word_at(uint64_t address)
{
	return (uint64_t)ptrace(PTRACE_PEEKDATA, child, (void *)address, NULL);
}

/* False: the child has ended. */
static bool go(enum __ptrace_request how)
{
	int status;

	if (ptrace(how, child, NULL, NULL) || waitpid(child, &status, 0) < 0)
		die("ptrace");
	return WIFSTOPPED(status);
}

static void attach(const char *program)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	int status;

	child = fork();
	if (child == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status))
		die(program);
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl || dwfl_linux_proc_report(dwfl, child) || dwfl_report_end(dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(dwfl, child, true))
		die(dwfl_errmsg(-1));
}

/* The address of run() in the program itself, the first module. */
static int find_run(Dwfl_Module *module, void **unused, const char *name, Dwarf_Addr start,
		    void *out)
{
	int count = dwfl_module_getsymtab(module);

	(void)unused, (void)name, (void)start;
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *called =
			dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);

		if (called && !strcmp(called, "run") && symbol.st_size) {
			*(uint64_t *)out = address;
			return DWARF_CB_ABORT;
		}
	}
	return DWARF_CB_OK;
}

static void run_to(uint64_t address)
{
	long old = (long)word_at(address);
	struct user_regs_struct regs;

	ptrace(PTRACE_POKEDATA, child, (void *)address, (void *)((old & ~0xffL) | 0xcc));
	if (!go(PTRACE_CONT))
		die("the program ended before run()");
	regs = registers();
	if (regs.rip != address + 1)
		die("run() was not reached");
	ptrace(PTRACE_POKEDATA, child, (void *)address, (void *)old);
	regs.rip = address;
	ptrace(PTRACE_SETREGS, child, NULL, &regs);
}

/* ---- instructions ---- */

#define PLACES (1 << 16) /* more than the code that one run comes through */

struct place {
	uint64_t pc; /* 0: free */
	const char *function;
	uint64_t offset;
	bool wanted;   /* its function's name is */
	bool clock;    /* rdtsc */
	bool exchange; /* cmpxchg of a hook's */
	bool moved;    /* the sled of a return has just moved the stack pointer: no table knows */
};

static const char *pattern;

static void learn(struct place *place, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(dwfl, pc);
	uint64_t code = word_at(pc);
	GElf_Off offset = 0;
	GElf_Sym symbol;

	place->pc = pc;
	if (module)
		place->function =
			dwfl_module_addrinfo(module, pc, &offset, &symbol, NULL, NULL, NULL);
	place->offset = offset;
	place->clock = (code & 0xffff) == 0x310f;
	/* 48 or 4a, 83 c4 80, and the call: runtime/sled_code.h */
	place->moved = (word_at(pc - 4) & 0xfffffffffd) == 0xe880c48348;
	if (!place->function)
		return;
	place->wanted = !fnmatch(pattern, place->function, FNM_EXTMATCH);
	/* fs, REX.W, 0f b1; C code has the like of it. */
	place->exchange = (code & 0xfffff8ff) == 0xb10f4864 && strstr(place->function, "__");
}

static const struct place *place_of(uint64_t pc)
{
	static struct place places[PLACES];

	for (uint64_t i = pc % PLACES;; i = (i + 1) % PLACES) {
		if (!places[i].pc)
			learn(&places[i], pc);
		if (places[i].pc == pc)
			return &places[i];
	}
}

/* ---- hooks, undisturbed and disturbed ---- */

#define CYCLES 100       /* from one look at the clock to the next */
#define GAP    (1 << 20) /* a thread that has slept */
#define OFTEN  17

static FILE *met;

static void set_registers(struct user_regs_struct *regs)
{
	if (ptrace(PTRACE_SETREGS, child, NULL, regs))
		die("PTRACE_SETREGS");
}

/* After rdtsc: the program's own time. */
static void set_clock(struct user_regs_struct *regs)
{
	static uint64_t clock, looks;

	if (!clock)
		clock = regs->rdx << 32 | (uint32_t)regs->rax;
	clock += ++looks % OFTEN ? CYCLES : GAP;
	regs->rax = (uint32_t)clock;
	regs->rdx = clock >> 32;
	set_registers(regs);
}

/* Around the cmpxchg of a cursor: another one is there, and where it is may be the end of a
 * block. */
static unsigned disturbance;

static void before_exchange(struct user_regs_struct *regs)
{
	if (++disturbance % OFTEN > 2)
		return;
	regs->rax = 1;
	set_registers(regs);
}

static void after_exchange(struct user_regs_struct *regs)
{
	if (disturbance % OFTEN != 1)
		return;
	regs->rax = 0;
	set_registers(regs);
}

static void step(const struct place *place, struct user_regs_struct *regs,
		 struct user_regs_struct *next)
{
	if (met && place->exchange)
		before_exchange(regs);
	if (!go(PTRACE_SINGLESTEP))
		die("the program ended within run()");
	*next = registers();
	if (met && place->clock)
		set_clock(next);
	if (met && place->exchange)
		after_exchange(next);
}

/* ---- stacks ---- */

/* What a step did to the calls. */
static void follow(const struct user_regs_struct *before, const struct user_regs_struct *after)
{
	bool jumped = after->rip <= before->rip || after->rip > before->rip + 15;

	while (depth && after->rip == calls[depth - 1].address &&
	       (after->rsp == calls[depth - 1].stack ||
		after->rsp == calls[depth - 1].stack + SLED_SKIP))
		depth--;
	if (after->rsp == before->rsp - 8 && jumped && depth < DEPTH_MAX) {
		uint64_t back = word_at(after->rsp);

		if (back > before->rip && back <= before->rip + 15) {
			calls[depth].address = back;
			calls[depth++].stack = after->rsp + 8;
		}
	}
}

struct seen {
	size_t frames; /* looked at: the first is the instruction itself */
	bool wrong;
};

static int on_frame(Dwfl_Frame *frame, void *argument)
{
	struct seen *seen = argument;
	Dwarf_Addr pc;

	if (seen->frames > depth)
		return DWARF_CB_ABORT;
	if (!dwfl_frame_pc(frame, &pc, NULL) ||
	    (seen->frames && pc != calls[depth - seen->frames].address))
		seen->wrong = true;
	seen->frames++;
	return seen->wrong ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static bool unwinds(void)
{
	struct seen seen = {0, false};

	dwfl_getthread_frames(dwfl, child, on_frame, &seen);
	return !seen.wrong && seen.frames == depth + 1;
}

/* Seen before: the instruction, with these two calls around it. */
#define SEEN (1 << 16)

static bool is_new(uint64_t pc)
{
	static uint64_t seen[SEEN];
	uint64_t key = pc * 31;

	for (size_t i = 1; i <= 2 && i <= depth; i++)
		key = (key ^ calls[depth - i].address) * 0x9e3779b97f4a7c15;
	for (uint64_t i = key >> 48;; i = (i + 1) % SEEN) {
		if (seen[i] == key)
			return false;
		if (seen[i])
			continue;
		seen[i] = key;
		return true;
	}
}

static void look_at(const struct place *place)
{
	checked++;
	if (!place->moved && !unwinds() && wrong++ < 5)
		printf("wrong at %#lx in %s+%#lx\n", place->pc, place->function, place->offset);
	if (met)
		fprintf(met, "%s %lx\n", place->function, place->offset);
}

int main(int argc, char *argv[])
{
	struct user_regs_struct regs, next;
	uint64_t start = 0;

	if (argc < 3)
		return 64;
	if (argc > 3 && !(met = fopen(argv[3], "a")))
		die(argv[3]);
	pattern = argv[2];
	attach(argv[1]);
	dwfl_getmodules(dwfl, find_run, &start, 0);
	if (!start)
		die("no run()");
	run_to(start);
	/* The libraries are there now. */
	dwfl_linux_proc_report(dwfl, child);
	dwfl_report_end(dwfl, NULL, NULL);
	regs = registers();
	calls[depth].address = word_at(regs.rsp);
	calls[depth++].stack = regs.rsp + 8;
	for (; depth; regs = next) {
		const struct place *place = place_of(regs.rip);

		if (place->wanted && is_new(regs.rip))
			look_at(place);
		step(place, &regs, &next);
		follow(&regs, &next);
	}
	kill(child, SIGKILL);
	printf("%zu instructions, %zu wrong\n", checked, wrong);
	return wrong || !checked;
}
