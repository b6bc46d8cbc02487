/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build_core.h: makes an ELF core in memory as the kernel lays it out (headers, notes, pages), and
 * lets a test damage any of it.
 *
 * 	struct build_core *core = build_core_create();
 *
 * 	build_core_thread(core, 101, pc, sp, fp, SIGSEGV);
 * 	build_core_process(core, 100);
 * 	build_core_memory(core, 0x10000, bytes, 4096, 8192, PF_R | PF_W);
 * 	build_core_finish(core);        // from here on: core->bytes, ->size
 * 	build_core_phdr(core, 1)->p_offset = 1; // damage
 * 	ep_source_open_core(&source, build_core_path(core), &err);
 * 	build_core_destroy(core);
 *
 * A failed allocation ends the test (abort).
 */
#ifndef EPITAPH_TESTS_BUILD_CORE_H
#define EPITAPH_TESTS_BUILD_CORE_H

#include <elf.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/unit/build_arena.h"

struct build_core_load {
	uint64_t address, filesz, memsz;
	uint32_t flags;
	uint8_t *bytes; /* filesz; owned */
};

struct build_core_file {
	uint64_t start, end, offset; /* offset in pages */
	const char *path;
};

struct build_core {
	uint8_t *notes; /* as they will lie in the file */
	size_t notes_size;
	struct build_core_load *loads;
	size_t load_count;
	bool many;      /* set it before finish: PN_XNUM, as with 65,535
			   segments */
	uint8_t *bytes; /* the file, after finish */
	size_t size;
	int fd; /* of build_core_path */
	char path[64];
};

struct build_core *build_core_create(void);
void build_core_destroy(struct build_core *core);

void build_core_note(struct build_core *core, const char *name, uint32_t type, const void *desc,
		     size_t size);
void build_core_thread(struct build_core *core, uint32_t tid, uint64_t pc, uint64_t sp, uint64_t fp,
		       int signal);
void build_core_process(struct build_core *core, uint32_t pid);
void build_core_signal(struct build_core *core, const siginfo_t *info);
/* `count` pairs; AT_NULL is added. */
void build_core_auxv(struct build_core *core, const uint64_t (*pairs)[2], size_t count);
void build_core_files(struct build_core *core, const struct build_core_file *files, size_t count);
/* `bytes` NULL: zeroes. */
void build_core_memory(struct build_core *core, uint64_t address, const void *bytes,
		       uint64_t filesz, uint64_t memsz, uint32_t flags);
/* The arena's committed bytes at its address, and what is only reserved behind them, as the kernel
 * dumps them. */
void build_core_arena(struct build_core *core, const struct build_arena *arena);

void build_core_finish(struct build_core *core);
Elf64_Ehdr *build_core_ehdr(struct build_core *core);
/* 0 is the PT_NOTE, then the loads in the order they were added. */
Elf64_Phdr *build_core_phdr(struct build_core *core, size_t index);

/* A file with the first `size` bytes of `bytes`; goes with the process. The path is that of a
 * descriptor: cheap to make thousands of. */
const char *build_file(const void *bytes, size_t size, int *fd);
/* The same with all of the core; stays until destroy. */
const char *build_core_path(struct build_core *core);

/* A core of two threads with an arena in it, damaged by nothing: what most tests begin with. The
 * arena has `blocks` blocks of one thread. */
struct build_core *build_core_usual(struct build_arena **arena, uint32_t blocks);

#endif
