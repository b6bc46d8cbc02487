/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * possessed.c, preloaded into epitaph catch: what a hostile core would do that has found a fault in
 * libelf. At its first call there it does what the file named by DEMON says, with what rights it
 * then has.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <libelf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char what[32], trace[256];

/* While it may still: the relay makes its memory before it has children. */
static void listen_to(void)
{
	FILE *file = fopen(getenv("DEMON"), "re");

	if (what[0] || !file)
		return;
	if (fscanf(file, "%31s %255s", what, trace) < 1)
		what[0] = '\0';
	fclose(file);
}

int memfd_create(const char *name, unsigned flags)
{
	listen_to();
	return (int)syscall(SYS_memfd_create, name, flags);
}

static void leave_a_trace(void)
{
	int fd = open(trace, O_CREAT | O_WRONLY, 0600);

	if (fd >= 0)
		close(fd);
}

static void run(void)
{
	char *const words[] = {"touch", trace, NULL};

	if (fork() == 0)
		execv("/usr/bin/touch", words);
	wait(NULL);
}

static void rise(void)
{
	if (setresuid(0, 0, 0) == 0 && getuid() == 0)
		leave_a_trace();
}

/* A page of code that is put together, as an exploit's. */
static void make_code(void)
{
	unsigned char *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	page[0] = 0xc3;
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0)
		leave_a_trace();
}

/* A signal without kill(2): a pipe's, to whom it says. */
static void signal_by_pipe(void)
{
	for (int fd = 0; fd < 64; fd++) {
		fcntl(fd, F_SETOWN, getppid());
		fcntl(fd, F_SETSIG, SIGKILL);
		fcntl(fd, F_SETFL, O_ASYNC);
	}
}

static void fill(void)
{
	static char bytes[1 << 20];

	for (;;)
		for (int fd = 0; fd < 64; fd++)
			if (lseek(fd, 0, SEEK_CUR) >= 0 && write(fd, bytes, sizeof(bytes)) < 0)
				continue;
}

/* Memory that counts as no process's: in the file of headers, and in new ones. */
static void hoard(void)
{
	for (int fd = 3; fd < 64; fd++)
		if (lseek(fd, 0, SEEK_END) > 0 && pwrite(fd, "", 1, 60 << 20) == 1)
			*(volatile char *)NULL = 0;
	syscall(SYS_memfd_create, "hoard", 0);
}

static void eat(void)
{
	for (size_t n = 0; n < 8192; n++)
		*(char *)malloc(1 << 20) = 1;
	leave_a_trace();
}

static void act(void)
{
	if (!strcmp(what, "write"))
		leave_a_trace();
	else if (!strcmp(what, "run"))
		run();
	else if (!strcmp(what, "rise"))
		rise();
	else if (!strcmp(what, "code"))
		make_code();
	else if (!strcmp(what, "kill"))
		kill(getppid(), SIGKILL);
	else if (!strcmp(what, "signal"))
		signal_by_pipe();
	else if (!strcmp(what, "connect"))
		socket(AF_INET, SOCK_STREAM, 0) >= 0 ? leave_a_trace() : abort();
	else if (!strcmp(what, "fault"))
		*(volatile char *)NULL = 0;
	else if (!strcmp(what, "fill"))
		fill();
	else if (!strcmp(what, "hoard"))
		hoard();
	else if (!strcmp(what, "eat"))
		eat();
	while (!strcmp(what, "wait"))
		;
}

/* The forwarder's last call, as the user. */
int ftruncate(int fd, off_t size)
{
	while (!strcmp(what, "hold"))
		;
	return (int)syscall(SYS_ftruncate, fd, size);
}

Elf *elf_begin(int fd, Elf_Cmd command, Elf *from)
{
	static Elf *(*real)(int, Elf_Cmd, Elf *);

	if (!real) {
		real = (Elf * (*)(int, Elf_Cmd, Elf *)) dlsym(RTLD_NEXT, "elf_begin");
		listen_to();
		act();
	}
	return real(fd, command, from);
}
