/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stepper.c: stepper PROGRAM PATTERN: runs PROGRAM one instruction at a time
 * from where its function run() begins to where that returns, and at each
 * instruction of a function whose name matches the shell pattern lets libdw
 * unwind. Who called whom is known: each call was seen. Status 0: every frame
 * was right at every instruction; 1: not so, or there was nothing to see.
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

static pid_t child;
static Dwfl *dwfl;
static struct {
	uint64_t address, stack;
} calls[DEPTH_MAX]; /* where each returns to, and with which stack pointer */
static size_t depth;

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
	if (!dwfl || dwfl_linux_proc_report(dwfl, child) ||
	    dwfl_report_end(dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(dwfl, child, true))
		die(dwfl_errmsg(-1));
}

/* The address of run() in the program itself, the first module. */
static int find_run(Dwfl_Module *module, void **unused, const char *name,
		    Dwarf_Addr start, void *out)
{
	int count = dwfl_module_getsymtab(module);

	(void)unused, (void)name, (void)start;
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *called = dwfl_module_getsym_info(
			module, i, &symbol, &address, NULL, NULL, NULL);

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

	ptrace(PTRACE_POKEDATA, child, (void *)address,
	       (void *)((old & ~0xffL) | 0xcc));
	if (!go(PTRACE_CONT))
		die("the program ended before run()");
	regs = registers();
	if (regs.rip != address + 1)
		die("run() was not reached");
	ptrace(PTRACE_POKEDATA, child, (void *)address, (void *)old);
	regs.rip = address;
	ptrace(PTRACE_SETREGS, child, NULL, &regs);
}

/* What a step did to the calls. */
static void follow(const struct user_regs_struct *before,
		   const struct user_regs_struct *after)
{
	bool jumped =
		after->rip <= before->rip || after->rip > before->rip + 15;

	while (depth && after->rip == calls[depth - 1].address &&
	       after->rsp == calls[depth - 1].stack)
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

int main(int argc, char *argv[])
{
	size_t checked = 0, wrong = 0;
	struct user_regs_struct regs, next;
	uint64_t start = 0;

	if (argc != 3)
		return 64;
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
		Dwfl_Module *module = dwfl_addrmodule(dwfl, regs.rip);
		const char *name =
			module ? dwfl_module_addrname(module, regs.rip) : NULL;

		if (name && !fnmatch(argv[2], name, FNM_EXTMATCH)) {
			checked++;
			if (!unwinds() && wrong++ < 5)
				printf("wrong at %#llx in %s\n", regs.rip,
				       name);
		}
		if (!go(PTRACE_SINGLESTEP))
			die("the program ended within run()");
		next = registers();
		follow(&regs, &next);
	}
	kill(child, SIGKILL);
	printf("%zu instructions, %zu wrong\n", checked, wrong);
	return wrong || !checked;
}
