/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * source.h: the memory and the facts of a process, wherever they lie: a core, a snapshot (a core
 * too), a live process. One interface; nobody above it knows which. A *fault* is its own answer,
 * never zeroes: not mapped (EP_E_UNMAPPED), mapped but not saved (EP_E_UNSAVED: file-backed,
 * filtered, p_filesz < p_memsz), promised by the core's headers but cut off (EP_E_TRUNCATED),
 * nonsense (EP_E_CORRUPT).
 *
 * Not thread safe: one source, one thread.
 */
#ifndef EPITAPH_SOURCE_H
#define EPITAPH_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "coredump/util/error.h"
#include "runtime/format.h"

struct ep_source;
struct ep_segment;

enum ep_source_kind {
	EP_SOURCE_CORE,
	EP_SOURCE_SNAPSHOT,
	EP_SOURCE_LIVE,
	EP_SOURCE_FUNTRACE, /* made of a funtrace.raw: nothing but a trace */
	EP_SOURCE_ARENA,    /* the file of EPITAPH_FILE (arena_file.h) */
};

/* Reads `size` bytes from process address `at` on, all of which the segment has (present_size).
 * *got came, also when fewer. */
typedef int ep_segment_read_fn(struct ep_source *source, const struct ep_segment *segment,
			       uint64_t at, void *out, size_t size, size_t *got,
			       struct ep_err *err);

/* A piece of the address space: a PT_LOAD, or a line of /proc/PID/maps. */
struct ep_segment {
	uint64_t address;      /* process virtual */
	uint64_t memory_size;  /* bytes mapped */
	uint64_t saved_size;   /* bytes from `address` on that the headers say can be read;
				  memory_size in a live process */
	uint64_t present_size; /* bytes of those that the file really holds: less than saved_size in
				  a truncated core */
	uint64_t file_offset;  /* where they lie in the core; 0 live */
	uint32_t flags;        /* PF_R PF_W PF_X, and EP_SEGMENT_ below */
	ep_segment_read_fn *read; /* NULL: as all of this kind of source */
};
/* Bits of PF_MASKOS that Linux does not use. */
/* The program header makes no sense (offset + size overflows): reading what it promises answers
 * EP_E_CORRUPT. */
#define EP_SEGMENT_CORRUPT (1u << 20)
/* A core that came as a stream held it, but it was not kept (spool.h). */
#define EP_SEGMENT_UNKEPT (1u << 21)

/* An ELF note of the core. `desc` is borrowed until the source is closed. */
struct ep_note {
	const char *name; /* NUL-terminated, "" if absent */
	uint32_t type;    /* NT_ */
	uint32_t desc_size;
	const uint8_t *desc;
	uint64_t file_offset; /* of desc */
};

/* A file mapping: NT_FILE of a core, or /proc/PID/maps. */
struct ep_mapping {
	uint64_t start, end;  /* process virtual, end exclusive */
	uint64_t file_offset; /* bytes */
	const char *path;     /* borrowed; not necessarily UTF-8 */
	dev_t device;         /* live: of the file, as the kernel's list of mappings has it */
	ino_t inode;
};

/* The registers that everybody needs; all others are in the NT_PRSTATUS note. */
struct ep_registers {
	uint64_t pc, sp, fp;
};

/* A thread of the process. The first is the one that took the signal, in a core by the kernel. */
struct ep_source_thread {
	uint32_t tid;
	bool has_registers; /* false in a live process, which is not stopped */
	struct ep_registers registers;
	int signal;              /* pr_cursig */
	const uint8_t *prstatus; /* borrowed: whole NT_PRSTATUS descriptor, or NULL */
	uint32_t prstatus_size;
	char name[17]; /* comm; live only, else "" (a core does not hold it) */
};

/* The note of a snapshot, of any version? */
static inline bool ep_note_is_snapshot(const struct ep_note *note)
{
	return (note->type == EP_NOTE_SNAPSHOT || note->type == EP_NOTE_SNAPSHOT_1_5) &&
	       strcmp(note->name, EP_NOTE_NAME) == 0;
}

/* What killed it. */
struct ep_death {
	int signal;       /* 0 unknown or alive */
	int code;         /* si_code; valid when has_siginfo */
	int error;        /* si_errno */
	uint64_t address; /* si_addr; valid for SIGSEGV SIGBUS SIGILL SIGFPE SIGTRAP */
	uint32_t sender_pid, sender_uid; /* valid for SI_USER, SI_TKILL, SI_QUEUE */
	uint32_t call;                   /* the system call; valid for SIGSYS by a filter */
	bool has_siginfo;
	uint32_t tid; /* the thread that took it; 0 unknown */
};

void ep_source_close(struct ep_source *source); /* NULL is allowed */

/*
 * Where to look for the files that the process had mapped: `executable` in place of the one that
 * the core names, `sysroot` before every path. Either may be NULL.
 */
void ep_source_set_files(struct ep_source *source, const char *executable, const char *sysroot);

enum ep_source_kind ep_source_kind(const struct ep_source *source);
const char *ep_source_name(const struct ep_source *source); /* as the user gave it; borrowed */
pid_t ep_source_pid(const struct ep_source *source);        /* 0 unknown */
/*
 * The real user and group id, at death or when a live process was opened: NT_PRPSINFO
 * (fs/binfmt_elf.c, fill_psinfo), or /proc/PID/status. Either may be NULL. EP_END: not known. The
 * effective ids are in no core.
 */
int ep_source_owner(const struct ep_source *source, uint32_t *uid, uint32_t *gid);
/* /proc/PID of a running process, or that of a thread of it where its main thread has ended, which
 * has all of it: borrowed; -1: it is none. */
int ep_source_folder(const struct ep_source *source);
/* EP_E_USAGE: `path` is the file that the source is read from, which no output may replace. */
int ep_source_spare(const struct ep_source *source, const char *path, struct ep_err *err);
const char *ep_source_path(
	const struct ep_source *source); /* the core's path, NULL for a live process; borrowed */

/* The ELF core's headers and notes, for libraries: a descriptor of the caller's own; -1: there is
 * none. Memory is read by ep_source_read only. */
int ep_source_file(const struct ep_source *source);

/*
 * Reads `size` bytes of process memory at `address`. EP_OK: all of them. Otherwise the reason why
 * byte *done could not be read; the *done bytes before it are good and the rest of `out` is
 * untouched. `done` and `err` may be NULL.
 */
int ep_source_read(struct ep_source *source, uint64_t address, void *out, size_t size, size_t *done,
		   struct ep_err *err);

/* Reads a NUL-terminated string of at most `size` - 1 bytes; always terminates `out`. EP_E_LIMIT
 * when it is longer: `out` then holds its beginning. */
int ep_source_read_string(struct ep_source *source, uint64_t address, char *out, size_t size,
			  struct ep_err *err);

/* Lists in the order of the core, segments by ascending address; all borrowed until close; *count 0
 * is possible. */
const struct ep_segment *ep_source_segments(const struct ep_source *source, size_t *count);
const struct ep_note *ep_source_notes(const struct ep_source *source, size_t *count); /* 0 live */
const struct ep_mapping *ep_source_mappings(const struct ep_source *source, size_t *count);
const struct ep_source_thread *ep_source_threads(const struct ep_source *source, size_t *count);
/* NULL: it does not hold the thread. */
const struct ep_source_thread *ep_source_thread(const struct ep_source *source, uint32_t tid);
/* From now on there is no thread of that id: one of the runtime's own. */
void ep_source_leave_out(struct ep_source *source, uint32_t tid);

void ep_source_death(const struct ep_source *source, struct ep_death *out);

/* Value of an auxv entry (AT_PHDR …); EP_END when absent. */
int ep_source_auxv(const struct ep_source *source, uint64_t type, uint64_t *value);
const uint8_t *ep_source_auxv_bytes(const struct ep_source *source,
				    size_t *size); /* NULL when absent */

/* How the root was found by whoever took the snapshot (EP_FOUND_); 0: it is none. */
uint32_t ep_source_snapshot_found(const struct ep_source *source);
/* TSC when it was taken of a process that ran, or died; ns since 1970 when whoever took it saw the
 * process's end. 0 unknown. */
uint64_t ep_source_snapshot_taken(const struct ep_source *source);
uint64_t ep_source_snapshot_ended(const struct ep_source *source);
uint64_t ep_source_snapshot_written(const struct ep_source *source);

/* ns since 1970: when the file was written last, at the latest, by its time; 0: there is none. That
 * of a copy is the copy's. */
uint64_t ep_source_written(const struct ep_source *source);

/* Damage that did not stop the opening: "core truncated: 12 of 30 segments …". One line each; NULL
 * at the end. Borrowed. */
const char *ep_source_warning(const struct ep_source *source, size_t index);

#endif
