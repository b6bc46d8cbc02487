/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counts_file.c: whose file it is, its name, and when it is written. A process may be about to end
 * several times (exec may fail; libraries' destructors come after the program's): each time the
 * file is written anew, whole, in place of the one before. A file that another process of the same
 * run wrote is never replaced.
 */
#include "runtime/counting/counts_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/inherit.h"
#include "runtime/counting/counter.h"
#include "runtime/lib/complain.h"
#include "runtime/lib/files.h"
#include "runtime/lib/incarnation.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/new_file.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/lib/vdso.h"
#include "runtime/settings/pattern.h"
#include "runtime/settings/settings.h"
#include "runtime/snapshot/snapshot.h"

#define SECOND  UINT64_C(1000000000)
#define TICKS   100 /* of /proc/PID/stat a second: USER_HZ */
#define NUMBERS 100000
/* A file's time is that of the kernel's last tick. Nobody has a pid again so soon. */
#define SLACK (SECOND / 50)

static struct {
	char path[EP_PATH_MAX]; /* "": nothing written yet */
	uint64_t total;         /* calls in it */
	uint32_t generation;    /* whose it is */
	bool exiting;           /* the program's destructors ran */
} written;

/* When the first process of the family started: the same in forked children. */
static uint64_t family_start;

/* ---- whose file is it? ---------------------------------------------------- */

/* When the process began, before any exec: ns since 1970. */
static uint64_t process_start(void)
{
	uint64_t age = ep_clock_read(CLOCK_BOOTTIME) - ep_process_start_ticks(0) * (SECOND / TICKS);

	return ep_clock_read(CLOCK_REALTIME) - age - SLACK;
}

/* A file that was written since must be of this run: by our image before an exec, when its name has
 * the pid; else by another process. */
static uint64_t begin_of_run(void)
{
	return ep_path_pattern_has(ep_settings.counts_output, 'p') ? process_start() : family_start;
}

static bool read_at(long fd, uint64_t offset, void *out, uint64_t size)
{
	return ep_syscall4(SYS_pread64, fd, (long)out, (long)size, (long)offset) == (long)size;
}

/* The head of the counts in a file of ours (snapshot.c); false: it is none. */
static bool read_head(long fd, struct ep_counts_head *head)
{
	static struct ep_arena arena;
	Elf64_Ehdr elf;
	Elf64_Phdr load;
	uint64_t from;

	if (!read_at(fd, 0, &elf, sizeof elf) || !ep_bytes_equal(elf.e_ident, ELFMAG, SELFMAG) ||
	    !read_at(fd, elf.e_phoff + sizeof load, &load, sizeof load) ||
	    !read_at(fd, load.p_offset, &arena, sizeof arena) ||
	    !ep_bytes_equal(arena.root.magic, EP_ARENA_MAGIC, EP_MAGIC_SIZE))
		return false;
	for (unsigned i = 0; i < EP_SECTION_MAX; i++) {
		from = load.p_offset + arena.sections[i].offset;
		if (arena.sections[i].type == EP_SECTION_COUNTS)
			return read_at(fd, from, head, sizeof *head);
	}
	return false;
}

/* Written by one of those that forked each other? Not by us: we would replace it without asking. */
static bool is_family(const char *path)
{
	struct ep_counts_head head = {0};
	long fd = ep_fd_open(path);

	if (fd < 0)
		return false;
	read_head(fd, &head);
	ep_fd_close(fd);
	return head.family && head.family == ep_counter_head()->family;
}

/* What is there may be replaced: 0; -EEXIST: not; -EINVAL: never. */
static int may_replace(const char *path)
{
	struct stat status;
	uint64_t changed;

	if (ep_syscall4(SYS_newfstatat, AT_FDCWD, (long)path, (long)&status, 0))
		return 0;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	changed = (uint64_t)status.st_mtim.tv_sec * SECOND + (uint64_t)status.st_mtim.tv_nsec;
	return changed >= begin_of_run() || is_family(path) ? -EEXIST : 0;
}

/* ---- its name ------------------------------------------------------------- */

static void print_taken(const char *path, const char *other)
{
	char line[EP_PATH_MAX];
	struct ep_text text;

	ep_text_init(&text, line, sizeof line);
	ep_text_add(&text, "epitaph: ");
	ep_text_add(&text, path);
	ep_text_add(&text, ": another process of this run wrote its counts there; these are in ");
	ep_text_add(&text, other);
	ep_text_add(&text, " (%p in EPITAPH_OUTPUT keeps them apart)\n");
	ep_complain(&text);
}

/* PATH.2, PATH.3 … */
static int name_beside(struct ep_new_file *output)
{
	static char other[EP_PATH_MAX];
	struct ep_text text;
	int error = -EEXIST;

	for (uint64_t i = 2; error == -EEXIST && i < NUMBERS; i++) {
		ep_text_init(&text, other, sizeof other);
		ep_text_add(&text, written.path);
		ep_text_add(&text, ".");
		ep_text_add_number(&text, i);
		if (text.cut)
			return -ENAMETOOLONG;
		error = ep_new_file_name(output, other, true);
	}
	if (error)
		return error;
	if (!ep_path_pattern_has(ep_settings.counts_output, 'p'))
		print_taken(written.path, other);
	ep_bytes_copy(written.path, other, sizeof other);
	return 0;
}

/* The first time; another process may take the name at any moment. */
static int name_new(struct ep_new_file *output)
{
	int error = ep_new_file_name(output, written.path, true);

	if (error != -EEXIST)
		return error;
	error = may_replace(written.path);
	if (error == -EEXIST)
		return name_beside(output);
	return error ? error : ep_new_file_name(output, written.path, false);
}

static int name_again(struct ep_new_file *output)
{
	return ep_new_file_name(output, written.path, false);
}

static int expand(uint64_t number)
{
	struct ep_text text;

	ep_text_init(&text, written.path, sizeof written.path);
	ep_path_pattern_expand(ep_settings.counts_output, number, &text);
	return text.cut ? -ENAMETOOLONG : text.used ? 0 : -ENOENT;
}

/* %n: the first that is free. */
static int write_numbered(void)
{
	int error = -EEXIST;

	for (uint64_t i = 1; error == -EEXIST && i < NUMBERS; i++) {
		error = expand(i);
		if (!error && !ep_syscall4(SYS_faccessat, AT_FDCWD, (long)written.path, 0, 0))
			error = -EEXIST;
	}
	return error ? error : ep_snapshot_arena(written.path, name_new);
}

/* ---- writing -------------------------------------------------------------- */

static void complain(int error)
{
	char line[EP_PATH_MAX];
	struct ep_text text;

	ep_text_init(&text, line, sizeof line);
	ep_text_add(&text, "epitaph: no counts in ");
	ep_text_add(&text, *written.path ? written.path : ep_settings.counts_output);
	ep_text_add(&text, error == -EINVAL ? ": not a regular file" : ": error ");
	if (error != -EINVAL)
		ep_text_add_number(&text, (uint64_t)-error);
	ep_text_add(&text, "\n");
	ep_complain(&text);
}

/* EPITAPH_OUTPUT=/dev/null: nobody wants them. */
static bool is_device(const char *path)
{
	struct stat status;

	return ep_syscall4(SYS_newfstatat, AT_FDCWD, (long)path, (long)&status, 0) == 0 &&
	       S_ISCHR(status.st_mode);
}

static int write_named(int (*name)(struct ep_new_file *output))
{
	return is_device(written.path) ? 0 : ep_snapshot_arena(written.path, name);
}

static int write_first(void)
{
	int error;

	if (ep_path_pattern_has(ep_settings.counts_output, 'n'))
		return write_numbered();
	error = expand(1);
	return error ? error : write_named(name_new);
}

/* The process itself, and not one that shares its memory for a while or has just begun with a copy
 * of it. */
static bool is_ours(void)
{
	return ep_settings.counting && !ep_overwritten() && ep_counter_head() && ep_arena &&
	       ep_inherits_nothing();
}

static void write_counts(uint64_t total)
{
	bool again = *written.path && written.generation == epitaph_root.generation;
	int error;

	ep_counter_note_times();
	error = again ? write_named(name_again) : write_first();
	if (!error) {
		written.total = total;
		written.generation = epitaph_root.generation;
		return;
	}
	if (error != -EBUSY)
		complain(error);
	if (!again)
		written.path[0] = 0;
}

void ep_counting_write(void)
{
	uint64_t total;
	bool first;

	if (!is_ours() || ep_jailed())
		return;
	first = !*written.path || written.generation != epitaph_root.generation;
	total = ep_counter_total();
	if (first ? total || !epitaph_root.generation : total != written.total)
		write_counts(total);
}

void ep_counting_library_ends(void)
{
	if (written.exiting)
		ep_counting_write();
}

/* After the program's other destructors: 101 is the last. */
__attribute__((destructor(101))) static void at_exit(void)
{
	written.exiting = true;
	ep_counting_write();
}

__attribute__((constructor(101))) static void note_family(void)
{
	family_start = ep_clock_read(CLOCK_REALTIME);
}
