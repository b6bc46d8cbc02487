/* SPDX-License-Identifier: BSD-2-Clause */
/* debuginfod.c: elfutils' client, by dlopen: it brings a whole HTTP library, which most runs have
 * no use for. */
#include "decoder/names/debuginfod.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIBRARY "libdebuginfod.so.1"
#define TIMEOUT "20"                /* seconds; the library's own is 90 */
#define MAXTIME "600"               /* seconds for one file; the library's own: no end */
#define MAXSIZE (UINT64_C(4) << 30) /* bytes of one file; its own: no end */
#define LATE    (16 << 20)

static struct {
	enum { NEW, READY, OFF } state;
	const char *why; /* OFF */
	debuginfod_client *client;
	__typeof__(&debuginfod_find_debuginfo) find_debuginfo;
	__typeof__(&debuginfod_find_executable) find_executable;
	__typeof__(&debuginfod_find_source) find_source;
	__typeof__(&debuginfod_set_user_data) set_user_data;
	__typeof__(&debuginfod_get_user_data) get_user_data;
} library;

/* Of the question that is being asked. */
struct question {
	const char *module;
	ep_debuginfod_progress_fn progress;
	uint64_t most; /* bytes that may come */
	bool cancelled, too_large;
};

static int progress(debuginfod_client *client, long done, long total)
{
	struct question *question = library.get_user_data(client);

	if (!question)
		return false;
	if (done > 0 && (uint64_t)done > question->most)
		question->too_large = true;
	if (question->progress && !question->progress(question->module, done < 0 ? 0 : done, total))
		question->cancelled = true;
	return question->cancelled || question->too_large;
}

static void *function(void *handle, const char *name)
{
	void *found = dlsym(handle, name);

	if (!found)
		library.why = LIBRARY " lacks a function";
	return found;
}

static bool load(void)
{
	__typeof__(&debuginfod_begin) begin;
	__typeof__(&debuginfod_set_progressfn) set_progress;
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	library.why = "";
	if (!handle) {
		library.why = "DEBUGINFOD_URLS is set, but " LIBRARY
			      " (package libdebuginfod1) is not there";
		return false;
	}
	setenv("DEBUGINFOD_TIMEOUT", TIMEOUT, 0);
	setenv("DEBUGINFOD_MAXTIME", MAXTIME, 0);
	begin = function(handle, "debuginfod_begin");
	set_progress = function(handle, "debuginfod_set_progressfn");
	library.find_debuginfo = function(handle, "debuginfod_find_debuginfo");
	library.find_executable = function(handle, "debuginfod_find_executable");
	library.find_source = function(handle, "debuginfod_find_source");
	library.set_user_data = function(handle, "debuginfod_set_user_data");
	library.get_user_data = function(handle, "debuginfod_get_user_data");
	if (*library.why)
		return false;
	library.client = begin();
	if (!library.client)
		library.why = "the debuginfod client cannot start";
	else
		set_progress(library.client, progress);
	return library.client != NULL;
}

/* Asked for, and able to. */
static bool is_ready(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!urls || !urls[strspn(urls, " \t\n")])
		return false;
	if (library.state == NEW)
		library.state = load() ? READY : OFF;
	return library.state == READY;
}

/* ---- no more of it than was allowed ---- */

/* The library (0.188) believes what a server says of a file's size; one that says nothing could
 * fill the disk. What came is looked at now and then; should that be too seldom, the kernel ends it
 * a little later. */
struct limits {
	struct rlimit size;
	struct sigaction action;
};

static uint64_t most_bytes(void)
{
	const char *wanted = getenv("DEBUGINFOD_MAXSIZE");
	uint64_t most = wanted ? strtoull(wanted, NULL, 10) : 0;

	return most ? most : MAXSIZE;
}

static void limits_set(struct limits *saved, uint64_t most)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &saved->size);
	limit = saved->size;
	if (limit.rlim_cur > most + LATE)
		limit.rlim_cur = most + LATE;
	sigaction(SIGXFSZ, &ignore, &saved->action);
	setrlimit(RLIMIT_FSIZE, &limit);
}

static void limits_restore(const struct limits *saved)
{
	setrlimit(RLIMIT_FSIZE, &saved->size);
	sigaction(SIGXFSZ, &saved->action, NULL);
}

/* No server answers: the next question would wait as long. */
static const char *give_up(int error, const struct question *question)
{
	library.state = OFF;
	library.why = "";
	if (question->too_large || error == -EFBIG)
		return "a debuginfod server sent more than DEBUGINFOD_MAXSIZE allows (4 GB, when "
		       "it is not set)";
	if (question->cancelled)
		return "cancelled, debuginfod servers are not asked any more";
	if (error == -ETIME || error == -ETIMEDOUT)
		return "no debuginfod server answered in time (DEBUGINFOD_TIMEOUT, "
		       "DEBUGINFOD_MAXTIME)";
	return "no debuginfod server of DEBUGINFOD_URLS can be reached";
}

static int ask(enum ep_debuginfod_kind kind, const void *build_id, size_t size, const char *module,
	       char **path)
{
	switch (kind) {
	case EP_DEBUGINFOD_DEBUGINFO:
		return library.find_debuginfo(library.client, build_id, (int)size, path);
	case EP_DEBUGINFOD_EXECUTABLE:
		return library.find_executable(library.client, build_id, (int)size, path);
	default:
		return library.find_source(library.client, build_id, (int)size, module, path);
	}
}

bool ep_debuginfod_find(char out[PATH_MAX], enum ep_debuginfod_kind kind, const void *build_id,
			size_t build_id_size, const char *module, ep_debuginfod_progress_fn told,
			const char **why)
{
	struct question question = {module, told, most_bytes(), false, false};
	struct limits limits;
	char *path = NULL;
	int fd;

	*why = "";
	if (build_id_size == 0 || !is_ready()) {
		if (library.state == OFF) {
			*why = library.why;
			library.why = "";
		}
		return false;
	}
	limits_set(&limits, question.most);
	library.set_user_data(library.client, &question);
	fd = ask(kind, build_id, build_id_size, module, &path);
	library.set_user_data(library.client, NULL);
	limits_restore(&limits);
	if (told)
		told(module, -1, 0);
	if (fd < 0) {
		if (fd != -ENOENT || question.cancelled || question.too_large)
			*why = give_up(fd, &question);
		return false;
	}
	close(fd);
	snprintf(out, PATH_MAX, "%s", path ? path : "");
	free(path);
	return *out != 0;
}
