/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * secrets.c: secrets wherever a snapshot could take one from. They are spelled one letter further
 * in this file, so that a program's own file has none.
 *
 *   secrets LIBRARY WORD [stay]: dies of a failed assertion, or stays
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/epitaph.h"

#define NODES 64

void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));

static char names[8][32], *heap[NODES];
static volatile int there;

static const char *told(char *out, const char *further)
{
	size_t i = 0;

	for (; further[i]; i++)
		out[i] = (char)(further[i] - 1);
	out[i] = '\0';
	return out;
}

static void rest(void)
{
	struct timespec time = {.tv_nsec = 400000000};

	while (nanosleep(&time, &time) != 0)
		;
}

/* In its registers: 16 bytes of xmm9, 8 of r12. */
__attribute__((noinline)) static void *hold(void *argument)
{
	char vector[32] = {0}, word[16] = {0};

	(void)argument;
	pthread_setname_np(pthread_self(), told(names[0], "UisR8x3[y:"));
	told(vector, "WfdR8x3[y:");
	told(word, "HqsR8x3[");
	there = 1;
	__asm__ volatile("movdqu %0, %%xmm9\n\t"
			 "mov %1, %%r12\n"
			 "1: mov $34, %%eax\n\t"
			 "syscall\n\t"
			 "jmp 1b"
			 :
			 : "m"(vector), "m"(word)
			 : "rax", "rcx", "r11", "r12", "xmm9", "memory");
	return NULL;
}

static void late(const struct epitaph_miss *miss)
{
	(void)miss;
}

/* Between pieces of what the linker has of a library. */
static void scatter(const char *library)
{
	for (int i = 0; i < NODES; i++) {
		heap[i] = malloc(48);
		told(heap[i], "IfbqR8x3[y:");
	}
	for (int i = 0; i < NODES; i += 2)
		free(heap[i]);
	if (!dlopen(library, RTLD_NOW))
		exit(2);
	for (int i = 0; i < NODES; i += 2)
		told(heap[i] = malloc(48), "IfbqR8x3[y:");
}

__attribute__((noinline)) static void speak(void)
{
	char text[32];

	epitaph_mark_begin(told(names[1], "TqboR8x3[y:"));
	epitaph_note("it was %s", told(names[2], "OpufR8x3[y:"));
	epitaph_mark_begin(told(text, "U"));
	epitaph_mark_end(text);
	epitaph_mark_end(names[1]);
	epitaph_snapshot_take();
}

__attribute__((noinline)) static void die(const char *how)
{
	volatile char text[32];

	told((char *)text, "TubdlR8x3[y:");
	puts("ready");
	fflush(stdout);
	while (how && strcmp(how, "stay") == 0)
		pause();
	__assert_fail(told(names[4], "BcpsuR8x3[y:"), "x", 1, "y");
}

int main(int argc, char **argv)
{
	struct epitaph_watchdog *dog;
	pthread_t thread;

	if (argc < 3)
		return 2;
	scatter(argv[1]);
	pthread_create(&thread, NULL, hold, NULL);
	while (!there)
		usleep(1000);
	dog = epitaph_watchdog_create(told(names[3], "EphR8x3[y:"), 100000000, late);
	epitaph_watchdog_feed(dog);
	speak();
	rest();
	die(argc > 3 ? argv[3] : NULL);
}
