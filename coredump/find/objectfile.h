/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objectfile.h: the file on disk of an object that the process had mapped, for the few symbols that
 * extraction needs. Naming is decoder/'s, with its own ways to a file; here a file is looked for at
 * its path only.
 */
#ifndef EPITAPH_OBJECTFILE_H
#define EPITAPH_OBJECTFILE_H

#include <libelf.h>

#include "coredump/memory/source.h"

/* A loader maps a file once in each of dlmopen(3)'s namespaces: glibc's DL_NNS. What is mapped more
 * often was not mapped by it. */
#define EP_OBJECT_LOADED_MAX 16

struct ep_object_file {
	Elf *elf;
	int fd;
	uint64_t start; /* process virtual, where the ELF header lies */
	uint64_t bias;  /* address in the process - address in the file */
	char path[4352];
};

/*
 * The file of `mapping`, whose file offset is 0: ep_source_set_files's executable, the path below
 * its sysroot, or in a live process's own root; of one that runs or is held, the file itself. Only
 * a regular file. Which build it is, is not checked. EP_END: there is none.
 */
int ep_object_file_open(struct ep_object_file *file, const struct ep_source *source,
			const struct ep_mapping *mapping);
/*
 * A running process's file itself, also where another one has its name by now, or it has none: -1
 * when the kernel does not let it be had (map_files needs CAP_CHECKPOINT_RESTORE) and what lies at
 * its path, or what the process executes, is not it by device and inode. *path (of `size` bytes):
 * where it lies, or lay.
 */
int ep_object_file_mapped(const struct ep_source *source, const struct ep_mapping *mapping,
			  char *path, size_t size);
/* The same of any path, for an object whose ELF header lies at `start`. */
int ep_object_file_open_path(struct ep_object_file *file, const char *path, uint64_t start);
void ep_object_file_close(struct ep_object_file *file);

/* It is the file that ran: the build-ids of file and memory are there and the same. */
bool ep_object_file_matches(const struct ep_object_file *file, struct ep_source *source);

/* Process address of the symbol that .symtab or .dynsym defines; EP_END. */
int ep_object_file_symbol(const struct ep_object_file *file, const char *name, uint64_t *address);

#endif
