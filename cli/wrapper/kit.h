/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit.h: where the wrapper's own files are: beside its binary, found through /proc/self/exe, in a
 * build tree (build/bin, build/lib, build/include) as in an installed one (PREFIX/bin, …).
 */
#ifndef EPITAPH_WRAPPER_KIT_H
#define EPITAPH_WRAPPER_KIT_H

struct ep_kit {
	char *lib;       /* directory of libepitaph.so, for a run path */
	char *runtime;   /* object with all of libepitaph.a */
	char *shared;    /* libepitaph.so */
	char *registrar; /* object for traced shared libraries */
	char *keeps;     /* … for all that is traced: tells of DOFUNTRACE's functions */
	char *sleds;     /* object for what may have XRay sleds */
	char *stub;      /* object with empty hooks, for programs without libc */
	char *early;     /* object with hooks for static programs */
	char *hooks;     /* object with hooks that lead to the process's runtime */
	char *jumps;     /* archive with setjmp and the like, the same */
	char *own; /* archive with what calls of the program's own -finstrument-functions do */
	char *own_header; /* what asks the linker for it */
	char *interpose;  /* object with what stands before others' functions */
	char *wrapped;    /* … in static programs */
	char *pg_specs;   /* gcc specs file of the method pg */
	char *epitaph;    /* the command, for what it knows of linked files */
	char *assembler;  /* directory that holds our `as` and nothing else */
	char *include;    /* directory that holds epitaph.h and nothing else */
};

/* Fills *kit; ends the wrapper with a message when a file isn't there. */
void ep_kit_find(struct ep_kit *kit);

#endif
