/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interrupted COMMAND...: runs it where no file can be without a name, as on some file systems, and
 * sends it SIGINT just before it gives a file its name: what it wrote lies aside then. Prints the
 * files of this folder at that moment, and ends as the command does.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMELESS 020000000 /* __O_TMPFILE, asm-generic/fcntl.h */

static void command(char *argv[])
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rename, 7, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 6, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_link, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMELESS, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	signal(SIGINT, SIG_DFL);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(99);
	execvp(argv[0], argv);
	_exit(98);
}

static void list_files(void)
{
	DIR *folder = opendir(".");
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			puts(entry->d_name);
	if (folder)
		closedir(folder);
}

/* The call itself is left out: its number becomes one that there is not. */
static void interrupt(pid_t pid)
{
	struct user_regs_struct registers;

	list_files();
	ptrace(PTRACE_GETREGS, pid, 0, &registers);
	registers.orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, pid, 0, &registers);
	kill(pid, SIGINT);
	ptrace(PTRACE_DETACH, pid, 0, 0);
}

int main(int argc, char *argv[])
{
	pid_t pid = fork();
	int status;

	if (argc < 2)
		return 64;
	if (pid == 0)
		command(argv + 1);
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESECCOMP);
	ptrace(PTRACE_CONT, pid, 0, 0);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8))
			interrupt(pid);
		else
			ptrace(PTRACE_CONT, pid, 0,
			       WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status));
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
