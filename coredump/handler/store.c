/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store.c: settings, names and the log. The relay comes here (relay.h): what reads the settings and
 * writes the log allocates nothing, and where a list finds no memory, that is an error to log.
 */
#include "coredump/handler/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "coredump/snapshot/redacted.h"
#include "coredump/files/output.h"
#include "coredump/files/procfile.h"
#include "coredump/handler/core_pattern.h"
#include "coredump/util/utf8.h"

#define SUFFIX   ".core"
#define LOG_MOST (UINT64_C(1) << 20) /* bytes; then it becomes log.1 */

/* ---- settings ---- */

int ep_store_path(char out[PATH_MAX], const char *folder, const char *name, struct ep_err *err)
{
	if (snprintf(out, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
		return ep_fail(err, EP_E_LIMIT, 0, "%.200s/…: too long", folder);
	return EP_OK;
}

static void setting_parse(struct ep_store *store, const char *name, const char *value)
{
	const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = {
		{"pipe-limit", &store->pipe_limit},
		{"max-files", &store->most_files},
		{"max-size", &store->most_bytes},
		{"keep-free", &store->spare},
	};

	if (strcmp(name, "previous") == 0)
		snprintf(store->previous, sizeof(store->previous), "%s", value);
	if (strcmp(name, "socket") == 0)
		snprintf(store->socket, sizeof(store->socket), "%s", value);
	if (strcmp(name, "uses-pid") == 0)
		store->uses_pid = *value == '1';
	if (strcmp(name, "timeout") == 0)
		store->seconds = (unsigned)strtoul(value, NULL, 10);
	if (strcmp(name, "redact") == 0 && *value && ep_redacted_parse(value, &store->redact, NULL))
		store->redact = EP_REDACTED_ALL; /* rather too much */
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(name, numbers[i].name) == 0)
			*numbers[i].value = strtoull(value, NULL, 10);
}

/* ---- whose they are ---- */

/* Nobody but root, or us, can have put there what lies there. */
static bool is_trusted(const struct stat *st, bool may_be_sticky)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) &&
	       (!(st->st_mode & 022) || (may_be_sticky && st->st_mode & S_ISVTX));
}

static int distrust(const char *path, struct ep_err *err)
{
	return ep_fail(err, EP_E_PERMISSION, 0,
		       "%s: others than root may write there; what it says is not believed", path);
}

/* Whoever may write to a folder may replace what lies in it, unless it is sticky, as /tmp is. */
static int folders_check(const char *path, struct ep_err *err)
{
	char real[PATH_MAX], *slash;
	struct stat st;

	if (!realpath(path, real) || stat(real, &st) != 0)
		return ep_fail(err, EP_E_IO, 0, "%s: %m", path);
	if (!is_trusted(&st, false))
		return distrust(path, err);
	while ((slash = strrchr(real, '/'))) {
		slash[slash == real] = '\0';
		if (stat(real, &st) != 0)
			return ep_fail(err, EP_E_IO, 0, "%s: %m", real);
		if (!is_trusted(&st, true))
			return distrust(real, err);
		if (slash == real)
			break;
	}
	return EP_OK;
}

/* Of what lies in the folder. EP_END: there is none. */
static int settings_open(struct ep_procfile *file, const char *path, struct ep_err *err)
{
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int rc = EP_OK;

	*file = (struct ep_procfile){.fd = -1};
	if (folder >= 0 && (fstat(folder, &st) != 0 || !is_trusted(&st, false)))
		rc = distrust(path, err);
	else
		file->fd =
			openat(folder, "settings", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (rc == EP_OK && file->fd < 0)
		rc = ep_fail(err, EP_END, 0, "%s/settings: %m", path);
	else if (rc == EP_OK &&
		 (fstat(file->fd, &st) != 0 || !S_ISREG(st.st_mode) || !is_trusted(&st, false)))
		rc = distrust(path, err);
	if (rc)
		ep_procfile_close(file);
	if (folder >= 0)
		close(folder);
	return rc;
}

/* ---- there and back ---- */

int ep_store_load(struct ep_store *store, const char *path, struct ep_err *err)
{
	struct ep_procfile file;
	char *line;
	int rc;

	*store = EP_STORE_INIT;
	snprintf(store->path, sizeof(store->path), "%s", path);
	rc = settings_open(&file, path, err);
	if (rc)
		return rc;
	while ((line = ep_procfile_next(&file, '\n'))) {
		char *equals = strchr(line, '=');

		if (!equals || *line == '#')
			continue;
		*equals = '\0';
		setting_parse(store, line, equals + 1);
	}
	ep_procfile_close(&file);
	return EP_OK;
}

static bool settings_write(const struct ep_store *store, FILE *file)
{
	char words[EP_REDACTED_TEXT_MAX];

	fprintf(file,
		"# written by epitaph catch --install\n"
		"previous=%s\nuses-pid=%d\npipe-limit=%" PRIu64 "\nmax-files=%" PRIu64
		"\nmax-size=%" PRIu64 "\nkeep-free=%" PRIu64 "\ntimeout=%u\nredact=%s\nsocket=%s\n",
		store->previous, store->uses_pid, store->pipe_limit, store->most_files,
		store->most_bytes, store->spare, store->seconds,
		ep_redacted_words(words, sizeof(words), store->redact), store->socket);
	return fchmod(fileno(file), 0644) == 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
}

int ep_store_save(const struct ep_store *store, struct ep_err *err)
{
	struct ep_output output;
	char name[PATH_MAX];
	int rc = ep_store_path(name, store->path, "settings", err);

	if (rc)
		return rc;
	if (mkdir(store->path, 0755) != 0 && errno != EEXIST)
		return ep_fail(err, EP_E_IO, 0, "%s: %m", store->path);
	rc = folders_check(store->path, err);
	rc = rc ? rc : ep_output_open_text(&output, name, err);
	if (rc)
		return rc;
	if (settings_write(store, output.file))
		return ep_output_commit(&output, err);
	rc = ep_fail(err, EP_E_IO, 0, "%s: %m", name);
	ep_output_abandon(&output);
	return rc;
}

bool ep_store_is_named(const char *pattern, char folder[PATH_MAX])
{
	char program[EP_PATTERN_MAX], named[EP_PATTERN_MAX];
	struct ep_store store;
	const char *ending = NULL;

	/* `epitaph catch`, or the gate in front of it. */
	if (sscanf(pattern, "|%127s catch %127s %%P", program, named) == 2)
		ending = "/epitaph";
	else if (sscanf(pattern, "|%127s %127s %%P", program, named) == 2)
		ending = "/lib/epitaph/catch";
	if (ending) {
		size_t length = strlen(program), wanted = strlen(ending);

		if (length < wanted || strcmp(program + length - wanted, ending) != 0)
			return false;
		snprintf(folder, PATH_MAX, "%s", named);
		return true;
	}
	return *pattern == '@' && ep_store_load(&store, folder, NULL) == EP_OK && store.socket[0] &&
	       strcmp(pattern + strspn(pattern, "@"), store.socket) == 0;
}

/* ---- snapshots ---- */

int ep_store_name(const struct ep_store *store, const struct ep_crash *crash, char out[PATH_MAX],
		  struct ep_err *err)
{
	time_t seconds = (time_t)crash->time;
	char name[NAME_MAX + 1], when[32], program[PATH_MAX];
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &utc);
	if (ep_core_pattern_expand(crash, crash->path[0] ? "%f" : "%e", program, sizeof(program),
				   NULL))
		program[0] = '\0';
	if (store->redact & (EP_REDACTED_PATHS | EP_REDACTED_CMDLINE))
		snprintf(program, sizeof(program), "snapshot");
	for (char *c = program; *c; c++)
		if (*c < ' ' || *c >= '\x7f')
			*c = '_';
	snprintf(name, sizeof(name), "%.100s.%u.%d.%s" SUFFIX, program[0] ? program : "unknown",
		 (unsigned)crash->account, (int)crash->pid, when);
	return ep_store_path(out, store->path, name, err);
}

static bool is_snapshot(const char *name)
{
	size_t length = strlen(name), suffix = strlen(SUFFIX);

	return length > suffix && strcmp(name + length - suffix, SUFFIX) == 0;
}

/* PROGRAM.USER.PID.TIME.core: from its end, as a program may have any name. */
static uid_t account_of(const char *name)
{
	size_t length = strlen(name) - strlen(SUFFIX);
	unsigned long account;
	char copy[NAME_MAX + 1], *end;
	const char *dot = NULL;

	snprintf(copy, sizeof(copy), "%.*s", (int)length, name);
	for (int i = 0; i < 3; i++) {
		char *last = strrchr(copy, '.');

		if (!last)
			return 0;
		dot = name + (last - copy);
		*last = '\0';
	}
	account = strtoul(dot + 1, &end, 10);
	return *end == '.' && end > dot + 1 ? (uid_t)account : 0;
}

static int by_time(const void *left, const void *right)
{
	const struct ep_stored *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return strcmp(a->name, b->name);
}

static bool is_file(int folder, const char *name, struct stat *st)
{
	return is_snapshot(name) && fstatat(folder, name, st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st->st_mode);
}

static void stored_fill(struct ep_stored *stored, const char *name, const struct stat *st)
{
	snprintf(stored->name, sizeof(stored->name), "%s", name);
	stored->size = (uint64_t)st->st_blocks * 512;
	stored->time = (uint64_t)st->st_ctim.tv_sec * 1000000000 + (uint64_t)st->st_ctim.tv_nsec;
	stored->account = account_of(stored->name);
}

int ep_store_list(const char *path, struct ep_stored **out, size_t *count, struct ep_err *err)
{
	struct ep_stored *list = NULL, *grown;
	const struct dirent *entry;
	DIR *folder = opendir(path);
	size_t room = 0, used = 0;
	struct stat st;

	*count = 0;
	if (!folder)
		return ep_fail(err,
			       errno == ENOENT   ? EP_END
			       : errno == EACCES ? EP_E_PERMISSION
						 : EP_E_IO,
			       0, "%s: %m", path);
	while ((entry = readdir(folder))) {
		if (!is_file(dirfd(folder), entry->d_name, &st))
			continue;
		room = used < room ? room : 2 * room + 16;
		grown = reallocarray(list, room, sizeof(*list));
		if (!grown) {
			free(list);
			closedir(folder);
			return ep_fail(err, EP_E_IO, 0, "%s: %s", path, strerror(ENOMEM));
		}
		list = grown;
		stored_fill(&list[used++], entry->d_name, &st);
	}
	closedir(folder);
	if (used)
		qsort(list, used, sizeof(*list), by_time);
	*out = list;
	*count = used;
	return EP_OK;
}

/* As ep_utf8_escape, into `out`. */
static size_t escape(const char *text, char *out, size_t size)
{
	size_t used = 0, left = strlen(text);

	while (left && used + 5 <= size) {
		size_t taken = ep_utf8_show(text, left, out + used);

		used += strlen(out + used);
		text += taken;
		left -= taken;
	}
	return used;
}

void ep_store_log(const struct ep_store *store, const struct ep_crash *crash, const char *words)
{
	char path[PATH_MAX], text[PATH_MAX], line[PATH_MAX];
	struct stat st;
	size_t length;
	int fd;

	if (ep_store_path(path, store->path, "log", NULL))
		return;
	if (lstat(path, &st) == 0 && (uint64_t)st.st_size > LOG_MOST &&
	    ep_store_path(line, store->path, "log.1", NULL) == EP_OK)
		rename(path, line);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " pid %d %s: %.800s", crash->time, (int)crash->pid,
		 crash->comm, words);
	length = escape(text, line, sizeof(line) - 1);
	line[length++] = '\n';
	if (write(fd, line, length) < 0)
		length = 0;
	close(fd);
}
