/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * command.h: what a compiler command line is going to do, known from its words alone by the rules
 * that gcc and clang share (gcc manual, "Overall Options"; clang's driver takes the same).
 */
#ifndef EPITAPH_WRAPPER_COMMAND_H
#define EPITAPH_WRAPPER_COMMAND_H

#include <stdbool.h>

#include "cli/wrapper/words.h"

struct ep_build_command {
	bool query;         /* asks the compiler about itself */
	bool preprocess;    /* -E, -M, -MM: ends after the preprocessor */
	bool check;         /* -fsyntax-only, clang's --analyze */
	bool assemble_only; /* -S */
	bool compile_only;  /* -c */
	bool relocatable;   /* -r */
	bool shared;        /* -shared */
	bool static_;       /* -static */
	bool static_pie;    /* -static-pie */
	bool static_libgcc; /* -static-libgcc */
	bool sanitized;     /* -fsanitize= of any kind */
	bool no_libc;       /* -nostdlib, -nodefaultlibs, -nolibc */
	bool freestanding;  /* -ffreestanding, -mkernel: no hooks in there */
	bool other_machine; /* -m32, -mx32, -m16, --target: not x86-64 */
	bool instrumented;  /* has -finstrument-functions… of its own */
	bool profiled;      /* -pg: calls of mcount, and gmon.out */
	bool fentry;        /* -mfentry and what goes with it: those calls are __fentry__'s */
	const char *mcount; /* -mnop-mcount, -minstrument-return= …: what such calls are to be */
	bool sleds;         /* -fxray-instrument of its own */
	bool sledless;      /* -fno-xray-instrument, which the method xray holds to */
	struct ep_words xray;    /* -fxray-…: which functions get sleds */
	bool one_nop;            /* -fpatchable-function-entry=1 */
	bool lto;                /* -flto: code is made at the link */
	bool fat_lto;            /* -ffat-lto-objects: also at the compilation */
	bool unwanted;           /* -fno-instrument-functions */
	bool intel;              /* -masm=intel */
	bool thunks;             /* -mfunction-return=: no plain `ret` */
	const char *output;      /* -o; NULL: the compiler's own name */
	struct ep_words sources; /* C and C++ inputs; "-": standard input */
	unsigned c_sources;      /* inputs that the C or C++ compiler takes */
	unsigned headers;        /* inputs that become precompiled headers */
	unsigned inputs;         /* all of them, libraries too */
};

/* Reads `words`, the command line with its response files expanded and without the compiler's own
 * name. */
void ep_build_command_read(struct ep_build_command *command, const struct ep_words *words);

/* It compiles C or C++ to code. */
bool ep_build_command_compiles(const struct ep_build_command *command);

/* It ends with an executable or a shared library. */
bool ep_build_command_links(const struct ep_build_command *command);

#endif
