/* SPDX-License-Identifier: BSD-2-Clause */
/* store.c: see store.h. */
#include "coredump/handler/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "coredump/snapshot/redacted.h"
#include "coredump/handler/store_impl.h"
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

static void setting_take(struct ep_store *store, const char *name, const char *value)
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
		       "%s: others than root may write there; what it says is "
		       "not believed",
		       path);
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

static int settings_open(FILE **out, const char *path, struct ep_err *err)
{
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	struct stat st;
	int rc = EP_OK;

	*out = NULL;
	if (folder >= 0 && (fstat(folder, &st) != 0 || !is_trusted(&st, false)))
		rc = distrust(path, err);
	else
		fd = openat(folder, "settings", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (rc == EP_OK && fd < 0)
		rc = ep_fail(err, EP_END, 0, "%s/settings: %m", path);
	else if (fd >= 0 &&
		 (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || !is_trusted(&st, false)))
		rc = distrust(path, err);
	else if (fd >= 0)
		*out = fdopen(fd, "r");
	if (!*out && fd >= 0)
		close(fd);
	if (folder >= 0)
		close(folder);
	return *out || rc ? rc : ep_fail(err, EP_E_IO, 0, "%s: %m", path);
}

/* ---- there and back ---- */

int ep_store_load(struct ep_store *store, const char *path, struct ep_err *err)
{
	char line[512];
	FILE *file;
	int rc;

	*store = EP_STORE_INIT;
	snprintf(store->path, sizeof(store->path), "%s", path);
	rc = settings_open(&file, path, err);
	if (rc)
		return rc;
	while (fgets(line, sizeof(line), file)) {
		char *equals = strchr(line, '=');

		line[strcspn(line, "\n")] = '\0';
		if (!equals || *line == '#')
			continue;
		*equals = '\0';
		setting_take(store, line, equals + 1);
	}
	fclose(file);
	return EP_OK;
}

static int settings_write(const struct ep_store *store, const char *name, struct ep_err *err)
{
	FILE *file = fopen(name, "we");
	char words[EP_REDACTED_TEXT_MAX];

	if (!file)
		return ep_fail(err, EP_E_IO, 0, "%s: %m", name);
	fprintf(file,
		"# written by epitaph catch --install\n"
		"previous=%s\nuses-pid=%d\npipe-limit=%" PRIu64 "\nmax-files=%" PRIu64
		"\nmax-size=%" PRIu64 "\nkeep-free=%" PRIu64 "\ntimeout=%u\nredact=%s\nsocket=%s\n",
		store->previous, store->uses_pid, store->pipe_limit, store->most_files,
		store->most_bytes, store->spare, store->seconds,
		ep_redacted_words(words, sizeof(words), store->redact), store->socket);
	if (fchmod(fileno(file), 0644) != 0 || fflush(file) != 0 || fsync(fileno(file)) != 0) {
		fclose(file);
		return ep_fail(err, EP_E_IO, 0, "%s: %m", name);
	}
	fclose(file);
	return EP_OK;
}

int ep_store_save(const struct ep_store *store, struct ep_err *err)
{
	char aside[PATH_MAX], name[PATH_MAX];
	int rc = ep_store_path(aside, store->path, "settings.new", err);

	rc = rc ? rc : ep_store_path(name, store->path, "settings", err);
	if (rc)
		return rc;
	if (mkdir(store->path, 0755) != 0 && errno != EEXIST)
		return ep_fail(err, EP_E_IO, 0, "%s: %m", store->path);
	rc = folders_check(store->path, err);
	rc = rc ? rc : settings_write(store, aside, err);
	if (rc == EP_OK && rename(aside, name) != 0)
		rc = ep_fail(err, EP_E_IO, 0, "%s: %m", name);
	return rc;
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
	if (ep_crash_expand(crash, crash->path[0] ? "%f" : "%e", program, sizeof(program), NULL))
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

static int stored_add(struct ep_stored **list, size_t *count, const struct dirent *entry,
		      int folder)
{
	struct ep_stored *grown;
	struct stat st;

	if (!is_snapshot(entry->d_name) ||
	    fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
		return EP_OK;
	grown = reallocarray(*list, *count + 1, sizeof(*grown));
	if (!grown)
		return EP_E_MEMORY;
	*list = grown;
	grown += (*count)++;
	snprintf(grown->name, sizeof(grown->name), "%s", entry->d_name);
	grown->size = (uint64_t)st.st_blocks * 512;
	grown->time = (uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec;
	grown->account = account_of(grown->name);
	return EP_OK;
}

int ep_store_list(const char *path, struct ep_stored **out, size_t *count, struct ep_err *err)
{
	struct ep_stored *list = NULL;
	const struct dirent *entry;
	DIR *folder = opendir(path);
	int rc = EP_OK;

	*count = 0;
	if (!folder)
		return ep_fail(err,
			       errno == ENOENT   ? EP_END
			       : errno == EACCES ? EP_E_PERMISSION
						 : EP_E_IO,
			       0, "%s: %m", path);
	while (rc == EP_OK && (entry = readdir(folder)))
		rc = stored_add(&list, count, entry, dirfd(folder));
	closedir(folder);
	if (rc) {
		free(list);
		return ep_fail(err, rc, 0, "out of memory");
	}
	if (*count)
		qsort(list, *count, sizeof(*list), by_time);
	*out = list;
	return EP_OK;
}

void ep_store_log(const struct ep_store *store, const struct ep_crash *crash, const char *words)
{
	char path[PATH_MAX], line[PATH_MAX];
	struct stat st;
	int fd, length;
	char *shown;

	if (ep_store_path(path, store->path, "log", NULL))
		return;
	if (lstat(path, &st) == 0 && (uint64_t)st.st_size > LOG_MOST &&
	    ep_store_path(line, store->path, "log.1", NULL) == EP_OK)
		rename(path, line);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	snprintf(line, sizeof(line), "%" PRIu64 " pid %d %s: %.800s", crash->time, (int)crash->pid,
		 crash->comm, words);
	shown = ep_utf8_escape(line, strlen(line));
	length = snprintf(line, sizeof(line), "%s\n", shown ? shown : "?");
	free(shown);
	if (length < (int)sizeof(line) && write(fd, line, (size_t)length) != length)
		length = 0;
	close(fd);
}
