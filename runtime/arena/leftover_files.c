/* SPDX-License-Identifier: BSD-2-Clause */
/* leftover_files.c: what dead processes left: whose it is, out of the way with it, and how much of
 * it stays. */
#include "runtime/arena/leftover_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "runtime/arena/root.h"
#include "runtime/lib/files.h"
#include "runtime/lib/incarnation.h"
#include "runtime/lib/new_file.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/lib/vdso.h"
#include "runtime/settings/pattern.h"
#include "runtime/settings/settings.h"

#define ROUNDS       1000 /* files that one start removes */
#define IN_USE       "a process that runs has it"
#define NOT_AN_ARENA "something else is there, which is left alone"

/* ---- one file ---- */

struct old {
	uint64_t age;  /* its mtime, ns */
	uint64_t size; /* bytes that it takes on the file system */
	bool empty;    /* a regular file of ours that holds nothing: cut off */
	bool arena;    /* … that holds an arena */
	bool dead;
};

static bool is_arena(const struct ep_arena *arena)
{
	return ep_bytes_equal(arena->root.magic, EP_ARENA_MAGIC, EP_MAGIC_SIZE) &&
	       ep_root_crc_holds(&arena->root);
}

/* A pid is some other process's by now, or it is the same: then its program may be another (exec),
 * which only the lock tells. */
static bool runs(long fd, const struct ep_arena *arena)
{
	struct ep_process then, now = {0};
	const struct ep_section *first = &arena->sections[0];

	if (first->type != EP_SECTION_PROCESS ||
	    ep_syscall4(SYS_pread64, fd, (long)&then, sizeof then, (long)first->offset) !=
		    sizeof then)
		return false;
	ep_process_incarnation(&now);
	if (!ep_bytes_equal(then.boot_id, now.boot_id, sizeof now.boot_id) ||
	    then.pid_namespace != now.pid_namespace)
		return false;
	if (arena->root.pid == (uint32_t)ep_syscall0(SYS_getpid))
		return false;
	return then.start_ticks && then.start_ticks == ep_process_start_ticks(arena->root.pid);
}

static bool is_locked(long fd)
{
	struct flock all = {.l_type = F_WRLCK};

	return !ep_syscall3(SYS_fcntl, fd, F_OFD_GETLK, (long)&all) && all.l_type != F_UNLCK;
}

static void look_into(long fd, struct old *out)
{
	struct ep_arena arena;
	struct stat st;

	if (ep_syscall2(SYS_fstat, fd, (long)&st) || !S_ISREG(st.st_mode) ||
	    st.st_uid != (uint32_t)ep_syscall0(SYS_geteuid))
		return;
	out->empty = !st.st_size && !is_locked(fd);
	if (ep_syscall4(SYS_pread64, fd, (long)&arena, sizeof arena, 0) != sizeof arena ||
	    !is_arena(&arena))
		return;
	out->arena = true;
	out->age = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	out->size = (uint64_t)st.st_blocks * 512;
	out->dead = !is_locked(fd) && !runs(fd, &arena);
}

/* 0, or a negative errno. */
static long look_at(const char *path, struct old *out)
{
	long fd = ep_syscall4(SYS_openat, AT_FDCWD, (long)path,
			      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0);

	*out = (struct old){0};
	if (fd < 0)
		return fd;
	look_into(fd, out);
	ep_fd_close(fd);
	return 0;
}

/* ---- names by a pattern ---- */

static const char *after_slash(const char *path)
{
	const char *last = path;

	for (; *path; path++)
		last = *path == '/' ? path + 1 : last;
	return last;
}

static const char *skip_digits(const char *at)
{
	while (*at >= '0' && *at <= '9')
		at++;
	return at;
}

/* What of `name` follows the text that the % code means; NULL: another text. */
static const char *match_code(char letter, const char *name)
{
	char code[3] = {'%', letter, '\0'}, bytes[256];
	struct ep_text text;

	if (letter == 'p' || letter == 't' || letter == 'n') {
		const char *end = skip_digits(name);

		return end == name ? NULL : end;
	}
	ep_text_init(&text, bytes, sizeof bytes);
	ep_path_pattern_expand(code, 1, &text);
	return ep_string_starts(name, bytes) ? name + text.used : NULL;
}

/* `name` is one by the pattern's last part, or that and .N: *number is N. */
static bool match(const char *pattern, const char *name, uint64_t *number)
{
	const char *end;

	*number = 0;
	for (pattern = after_slash(pattern); *pattern && name; pattern++) {
		if (*pattern == '%' && pattern[1])
			name = match_code(*++pattern, name);
		else
			name = *name == *pattern ? name + 1 : NULL;
	}
	if (!name || (*name && *name != '.'))
		return false;
	if (!*name++)
		return true;
	end = skip_digits(name);
	return !*end && ep_text_number(&name, end, 10, number);
}

/* ---- directories ---- */

static struct ep_folder folder;
static char folder_path[EP_PATH_MAX]; /* with the slash */

/* That of `path`. */
static bool open_folder(const char *path)
{
	struct ep_text text;

	ep_text_init(&text, folder_path, sizeof folder_path);
	ep_text_add_bytes(&text, path, (size_t)(after_slash(path) - path));
	ep_folder_begin(&folder, ep_fd_open(folder_path));
	return folder.fd >= 0;
}

/* ---- aside with it ---- */

static uint64_t last_number(const char *path)
{
	const char *name, *own = after_slash(path);
	uint64_t number, last = 0;
	size_t length = ep_string_length(own);

	if (!open_folder(path))
		return 0;
	while ((name = ep_folder_next(&folder))) {
		const char *at = name + length + 1;

		if (ep_string_starts(name, own) && name[length] == '.' &&
		    ep_text_number(&at, skip_digits(at), 10, &number) && !*at && number > last)
			last = number;
	}
	ep_folder_end(&folder);
	return last;
}

static long move_aside(const char *path)
{
	static char to[EP_PATH_MAX];
	uint64_t number = last_number(path);
	struct ep_text text;
	long error;

	do {
		ep_text_init(&text, to, sizeof to);
		ep_text_add(&text, path);
		ep_text_add(&text, ".");
		ep_text_add_number(&text, ++number);
		error = text.cut ? -ENAMETOOLONG : ep_rename_fresh(path, to);
	} while (error == -EEXIST && number < ROUNDS);
	return error == -ENOENT ? 0 : error;
}

long ep_backing_put_aside(const char *path, const char **why)
{
	struct old old;
	long error = look_at(path, &old);

	if (error == -ENOENT)
		return 0;
	if (error || (!old.arena && !old.empty))
		*why = NOT_AN_ARENA;
	else if (!old.dead && !old.empty)
		*why = IN_USE;
	if (*why)
		return -EBUSY;
	return move_aside(path);
}

/* ---- what never got its name ---- */

#define STALE_SECONDS 60

/* ".epitaph.PID.N.part", as ep_backing_create makes them. */
static bool is_part(const char *name)
{
	if (!ep_string_starts(name, ".epitaph."))
		return false;
	name = skip_digits(name + 9);
	if (*name++ != '.')
		return false;
	return ep_string_equal(skip_digits(name), ".part");
}

/* Its process was killed before it could name it, a while ago. */
static bool is_stale(const char *path)
{
	long now = (long)(ep_clock_read(CLOCK_REALTIME) / 1000000000);
	struct stat st;
	bool stale;
	long fd = ep_syscall4(SYS_openat, AT_FDCWD, (long)path,
			      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);

	if (fd < 0)
		return false;
	stale = !ep_syscall2(SYS_fstat, fd, (long)&st) && S_ISREG(st.st_mode) &&
		st.st_uid == (uint32_t)ep_syscall0(SYS_geteuid) &&
		st.st_mtim.tv_sec + STALE_SECONDS < now && !is_locked(fd);
	ep_fd_close(fd);
	return stale;
}

static void remove_stale(const char *path)
{
	static char full[EP_PATH_MAX];
	const char *name;

	if (!open_folder(path))
		return;
	while ((name = ep_folder_next(&folder))) {
		struct ep_text text;

		if (!is_part(name))
			continue;
		ep_text_init(&text, full, sizeof full);
		ep_text_add(&text, folder_path);
		ep_text_add(&text, name);
		if (!text.cut && is_stale(full))
			ep_syscall3(SYS_unlinkat, AT_FDCWD, (long)full, 0);
	}
	ep_folder_end(&folder);
}

/* ---- how much stays ---- */

struct census {
	uint64_t count, size;
	uint64_t oldest; /* age */
	char name[256];
};

/* What the dead left in the open directory. */
static void count(const char *pattern, const char *path, struct census *out)
{
	static char full[EP_PATH_MAX];
	const char *name;
	uint64_t number;

	*out = (struct census){.oldest = UINT64_MAX};
	while ((name = ep_folder_next(&folder))) {
		struct ep_text text;
		struct old old;

		if (!match(pattern, name, &number))
			continue;
		ep_text_init(&text, full, sizeof full);
		ep_text_add(&text, folder_path);
		ep_text_add(&text, name);
		if (text.cut || ep_string_equal(full, path) || look_at(full, &old) || !old.arena ||
		    !old.dead)
			continue;
		out->count++;
		out->size += old.size;
		if (old.age >= out->oldest)
			continue;
		out->oldest = old.age;
		ep_bytes_copy(out->name, name, ep_string_length(name) + 1);
	}
}

static bool remove_oldest(const char *pattern, const char *path)
{
	static struct census census;
	static char full[EP_PATH_MAX];
	struct ep_text text;

	if (!open_folder(path))
		return false;
	count(pattern, path, &census);
	ep_folder_end(&folder);
	if (census.count <= ep_settings.file_keep && census.size <= ep_settings.file_keep_size)
		return false;
	if (!census.count)
		return false;
	ep_text_init(&text, full, sizeof full);
	ep_text_add(&text, folder_path);
	ep_text_add(&text, census.name);
	return !text.cut && !ep_syscall3(SYS_unlinkat, AT_FDCWD, (long)full, 0);
}

void ep_backing_prune(const char *pattern, const char *path)
{
	remove_stale(path);
	for (int i = 0; i < ROUNDS && remove_oldest(pattern, path); i++)
		;
}
