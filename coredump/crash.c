/* SPDX-License-Identifier: BSD-2-Clause */
/* crash.c: see crash.h. */
#include "coredump/crash.h"
#include "coredump/procfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* ---- the process ---- */

static bool number(const char *text, uint64_t most, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return *end == '\0' && errno == 0 && *out <= most;
}

/* The last number of a line of /proc/PID/status: the innermost namespace's. */
static void status_take(struct ep_crash *crash, const char *line)
{
	const char *last = strrchr(line, '\t');
	unsigned real;

	if (strncmp(line, "NSpid:", 6) == 0 && last)
		crash->inner_pid = (pid_t)atoi(last + 1);
	else if (sscanf(line, "Uid: %u", &real) == 1)
		crash->uid = real;
	else if (sscanf(line, "Gid: %u", &real) == 1)
		crash->gid = real;
}

static int status_read(struct ep_crash *crash, struct ep_err *err)
{
	struct ep_procfile file;
	char path[64], *line;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)crash->pid);
	if (!ep_procfile_open(&file, path))
		return ep_fail(err, EP_E_IO, 0, "%s: %m", path);
	while ((line = ep_procfile_next(&file, '\n')))
		status_take(crash, line);
	ep_procfile_close(&file);
	return EP_OK;
}

static void thread_read(struct ep_crash *crash)
{
	struct ep_procfile file;
	char path[96], *line;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)crash->pid,
		 (int)crash->tid);
	ep_procfile_open(&file, path);
	while ((line = ep_procfile_next(&file, '\n'))) {
		if (strncmp(line, "NSpid:", 6) == 0 && strrchr(line, '\t'))
			crash->inner_tid = (pid_t)atoi(strrchr(line, '\t') + 1);
	}
	ep_procfile_close(&file);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)crash->pid,
		 (int)crash->tid);
	ep_procfile_line(path, crash->comm, sizeof(crash->comm));
}

/* The kernel names the executable as the process does, below its own root. */
static void path_inside(struct ep_crash *crash)
{
	char link[64], root[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/root", (int)crash->pid);
	n = readlink(link, root, sizeof(root) - 1);
	root[n > 0 ? n : 0] = '\0';
	if (n > 1 && strncmp(crash->path, root, (size_t)n) == 0 &&
	    crash->path[n] == '/')
		memmove(crash->path, crash->path + n,
			strlen(crash->path + n) + 1);
}

static void host_take(struct ep_crash *crash)
{
	struct utsname name;

	if (uname(&name) == 0)
		snprintf(crash->host, sizeof(crash->host), "%s", name.nodename);
}

/* As the process calls it, which may be in a UTS namespace of its own. Where it
 * cannot be entered, the host's name stands. */
static void host_read(struct ep_crash *crash)
{
	struct stat own, others;
	char path[64];
	int home, there;

	host_take(crash);
	snprintf(path, sizeof(path), "/proc/%d/ns/uts", (int)crash->pid);
	home = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
	there = open(path, O_RDONLY | O_CLOEXEC);
	if (home >= 0 && there >= 0 && fstat(home, &own) == 0 &&
	    fstat(there, &others) == 0 && own.st_ino != others.st_ino &&
	    setns(there, CLONE_NEWUTS) == 0) {
		host_take(crash);
		setns(home, CLONE_NEWUTS);
	}
	if (home >= 0)
		close(home);
	if (there >= 0)
		close(there);
}

static void names_read(struct ep_crash *crash)
{
	static const char deleted[] = " (deleted)";
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)crash->pid);
	n = readlink(path, crash->path, sizeof(crash->path) - 1);
	crash->path[n > 0 ? n : 0] = '\0';
	if (n > (ssize_t)strlen(deleted) &&
	    strcmp(crash->path + n - strlen(deleted), deleted) == 0)
		crash->path[(size_t)n - strlen(deleted)] = '\0';
	path_inside(crash);
	host_read(crash);
}

/* ---- who dumps ---- */

#define PF_DUMPCORE 0x00000200u /* linux/sched.h, in /proc/PID/stat */

/* Fields of /proc/PID/stat and the like, behind the name, which may hold
 * anything (proc(5)): flags and exit_code. While a process is dumped that is
 * its signal (fs/coredump.c, zap_process; since Linux 5.14 the process's own
 * file has it). */
static bool stat_read(const char *path, unsigned *flags, int *exit_code)
{
	char line[1024], *at;

	ep_procfile_line(path, line, sizeof(line));
	at = strrchr(line, ')');
	if (!at || sscanf(at, ") %*c %*d %*d %*d %*d %*d %u", flags) != 1)
		return false;
	at = strrchr(at, ' ');
	*exit_code = at ? atoi(at) : 0;
	return true;
}

/* The thread that the kernel has write the core; 0: none. */
static pid_t dumper_find(pid_t pid)
{
	const struct dirent *entry;
	char path[320];
	pid_t found = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder)) != NULL) {
		unsigned flags = 0;
		int ignored;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid,
			 entry->d_name);
		if (stat_read(path, &flags, &ignored) && flags & PF_DUMPCORE)
			found = (pid_t)atoi(entry->d_name);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* What a handler's words say and a socket does not. */
static void dumper_read(struct ep_crash *crash)
{
	unsigned flags;
	char path[64];
	int exit_code;

	crash->tid = dumper_find(crash->pid);
	if (crash->tid == 0)
		crash->tid = crash->pid;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)crash->pid);
	if (stat_read(path, &flags, &exit_code))
		crash->signal = exit_code & 0x7f;
}

int ep_crash_of(struct ep_crash *crash, struct ep_err *err)
{
	struct timespec now;
	int rc;

	clock_gettime(CLOCK_REALTIME, &now);
	crash->seen = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	rc = status_read(crash, err);
	if (rc)
		return rc;
	if (crash->tid == 0)
		dumper_read(crash);
	thread_read(crash);
	names_read(crash);
	return EP_OK;
}

int ep_crash_read(struct ep_crash *crash, char *const *words, int count,
		  struct ep_err *err)
{
	uint64_t values[7] = {0};

	memset(crash, 0, sizeof(*crash));
	for (int i = 0; i < 7 && i < count; i++)
		if (!number(words[i], i == 5 || i == 3 ? UINT64_MAX : INT32_MAX,
			    &values[i]) &&
		    i < 5)
			return ep_fail(err, EP_E_USAGE, 0,
				       "\"%s\" is not what the kernel gives a "
				       "handler",
				       words[i]);
	if (count < 5 || values[0] == 0)
		return ep_fail(err, EP_E_USAGE, 0,
			       "too few words: the kernel gives PID, TID, "
			       "signal, time, dumpable and limit");
	crash->pid = crash->inner_pid = (pid_t)values[0];
	crash->tid = crash->inner_tid = (pid_t)values[1];
	crash->signal = (int)values[2];
	crash->time = values[3];
	crash->dumpable = (unsigned)values[4];
	crash->limit = count > 5 ? values[5] : UINT64_MAX;
	crash->cpu = count > 6 ? (int)values[6] : -1;
	return ep_crash_of(crash, err);
}

/* ---- patterns ---- */

struct text {
	char *out;
	size_t used, size;
	bool full;
};

static void put(struct text *text, const char *bytes, bool tame)
{
	for (; *bytes; bytes++) {
		if (text->used + 1 >= text->size) {
			text->full = true;
			return;
		}
		text->out[text->used++] = tame && *bytes == '/' ? '!' : *bytes;
	}
}

static void put_number(struct text *text, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	put(text, digits, false);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A name that is . or .. would lead elsewhere: the kernel has ! for the dot. */
static void put_name(struct text *text, const char *name)
{
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		put(text, "!", false);
		name++;
	}
	put(text, name, true);
}

static void put_word(struct text *text, const struct ep_crash *crash, char word)
{
	switch (word) {
	case '%':
		put(text, "%", false);
		break;
	case 'p':
		put_number(text, (uint64_t)crash->inner_pid);
		break;
	case 'P':
		put_number(text, (uint64_t)crash->pid);
		break;
	case 'i':
		put_number(text, (uint64_t)crash->inner_tid);
		break;
	case 'I':
		put_number(text, (uint64_t)crash->tid);
		break;
	case 'u':
		put_number(text, crash->uid);
		break;
	case 'g':
		put_number(text, crash->gid);
		break;
	case 'd':
		put_number(text, crash->dumpable);
		break;
	case 's':
		put_number(text, (uint64_t)crash->signal);
		break;
	case 't':
		put_number(text, crash->time);
		break;
	case 'c':
		put_number(text, crash->limit);
		break;
	case 'C':
		if (crash->cpu >= 0)
			put_number(text, (uint64_t)crash->cpu);
		break;
	case 'h':
		put_name(text, crash->host);
		break;
	case 'e':
		put_name(text, crash->comm);
		break;
	case 'f':
		put_name(text, base_of(crash->path));
		break;
	case 'E':
		put(text, crash->path, true);
		break;
	}
}

int ep_crash_expand(const struct ep_crash *crash, const char *pattern,
		    char *out, size_t size, struct ep_err *err)
{
	struct text text = {.out = out, .size = size};

	for (; *pattern && !text.full; pattern++) {
		char one[2] = {*pattern, '\0'};

		if (*pattern != '%')
			put(&text, one, false);
		else if (*++pattern)
			put_word(&text, crash, *pattern);
		else
			break;
	}
	if (text.full || size == 0)
		return ep_fail(err, EP_E_LIMIT, 0,
			       "the name that core_pattern gives is too long");
	out[text.used] = '\0';
	return EP_OK;
}

bool ep_crash_names_pid(const char *pattern)
{
	for (; *pattern; pattern++)
		if (*pattern == '%' && *++pattern == 'p')
			return true;
		else if (*pattern == '\0')
			break;
	return false;
}
