/* SPDX-License-Identifier: BSD-2-Clause */
/* catch_install.c: kernel.core_pattern, there and back. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/catch/catch.h"
#include "cli/commands/extract.h"
#include "cli/common/say.h"
#include "coredump/files/procfile.h"
#include "coredump/handler/core_pattern.h"
#include "coredump/handler/handle.h"
#include "coredump/handler/peer.h"
#include "coredump/util/number.h"

#define PATTERN_FILE "/proc/sys/kernel/core_pattern"
#define LIMIT_FILE   "/proc/sys/kernel/core_pipe_limit"
#define PID_FILE     "/proc/sys/kernel/core_uses_pid"
/* Without a limit the kernel does not wait for the handler (core(5)), and with a low one a user's
 * crashes, also those that are turned away at once, take the places of everybody else's: which
 * crash is left out is for the gate to say. */
#define PIPE_LIMIT 4096u

/* ---- the kernel's settings ---- */

static int kernel_read(const char *path, char *out, size_t size)
{
	if (!ep_procfile_line(path, out, size)) {
		ep_say("%s: %s", path, strerror(errno));
		return EP_EXIT_UNREADABLE;
	}
	return 0;
}

/* False: errno says why. */
static bool try_write(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t size = strlen(value);
	bool written = fd >= 0 && write(fd, value, size) == (ssize_t)size;
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return written;
}

static int kernel_write(const char *path, const char *value)
{
	if (try_write(path, value))
		return 0;
	ep_say("%s: %s%s", path, strerror(errno),
	       errno == EACCES || errno == EPERM ? "; only root may" : "");
	return EP_EXIT_UNREADABLE;
}

static bool is_ours(const char *pattern, const struct ep_arguments *arguments,
		    char folder[PATH_MAX])
{
	const char *asked = ep_argument(arguments, "store");

	snprintf(folder, PATH_MAX, "%s", asked ? asked : EP_STORE_DEFAULT);
	return ep_store_is_named(pattern, folder);
}

/* ---- installing ---- */

static int size_option(const struct ep_arguments *arguments, const char *name, uint64_t *out)
{
	const char *text = ep_argument(arguments, name);

	if (!text || ep_size_parse(text, out))
		return 0;
	ep_say("--%s=%s: a number, from 1", name, text);
	return EP_EXIT_USAGE;
}

static int limits_parse(struct ep_store *store, const struct ep_arguments *arguments)
{
	uint64_t seconds = store->seconds;

	if (size_option(arguments, "max-files", &store->most_files) ||
	    size_option(arguments, "max-size", &store->most_bytes) ||
	    size_option(arguments, "keep-free", &store->spare) ||
	    size_option(arguments, "timeout", &seconds))
		return EP_EXIT_USAGE;
	store->seconds = (unsigned)seconds;
	return ep_extract_parse_redact(arguments, &store->redact);
}

/* The gate, which is installed beside epitaph (PREFIX/bin, PREFIX/lib/epitaph), and starts it where
 * there is a place; where it is not, epitaph itself, which looks for a place no sooner than it
 * runs. */
static void handler_find(char out[PATH_MAX])
{
	char program[PATH_MAX], gate[PATH_MAX + 32];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	const char *slash;

	program[n > 0 ? n : 0] = '\0';
	slash = strrchr(program, '/');
	snprintf(out, PATH_MAX, "%.*s catch", PATH_MAX - 8, program);
	if (!slash || slash - program < 4 || strncmp(slash - 4, "/bin", 4) != 0)
		return;
	n = slash - 4 - program;
	snprintf(gate, sizeof(gate), "%.*s/lib/epitaph/catch", (int)n, program);
	if (strlen(gate) < PATH_MAX && access(gate, X_OK) == 0)
		memcpy(out, gate, strlen(gate) + 1);
}

static int pattern_make(char out[EP_PATTERN_MAX], const char *folder)
{
	char program[PATH_MAX], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[n > 0 ? n : 0] = '\0';
	handler_find(program);
	if (strpbrk(path, " %") || strpbrk(folder, " %") ||
	    snprintf(out, EP_PATTERN_MAX, "|%s %s %%P %%I %%s %%t %%d %%c %%C %%u %%g %%F", program,
		     folder) >= EP_PATTERN_MAX) {
		ep_say("%s, %s: too long for kernel.core_pattern, which has %d bytes, or with a "
		       "blank or %% in it; install epitaph at a shorter path",
		       program, folder, EP_PATTERN_MAX - 1);
		return EP_EXIT_USAGE;
	}
	return 0;
}

/* What is there now, unless it is us: then what we know of before. */
static int previous_read(struct ep_store *store, const struct ep_arguments *arguments)
{
	char pattern[256], folder[PATH_MAX], number[32];
	struct ep_store known;
	int result = kernel_read(PATTERN_FILE, pattern, sizeof(pattern));

	if (result)
		return result;
	if (is_ours(pattern, arguments, folder)) {
		if (ep_store_load(&known, folder, NULL) == EP_OK) {
			memcpy(store->previous, known.previous, sizeof(store->previous));
			store->uses_pid = known.uses_pid;
			store->pipe_limit = known.pipe_limit;
		}
		return 0;
	}
	snprintf(store->previous, sizeof(store->previous), "%s", pattern);
	result = kernel_read(LIMIT_FILE, number, sizeof(number));
	store->pipe_limit = strtoull(number, NULL, 10);
	if (!result)
		result = kernel_read(PID_FILE, number, sizeof(number));
	store->uses_pid = number[0] == '1';
	return result;
}

/* Questions first where the kernel has them (6.17): then it waits for us without a setting of its
 * own. */
static int socket_install(const char *path)
{
	char pattern[EP_PATTERN_MAX + 2];

	snprintf(pattern, sizeof(pattern), "@@%s", path);
	return try_write(PATTERN_FILE, pattern) ? 0 : kernel_write(PATTERN_FILE, pattern + 1);
}

/* Where nobody listens, a crash would leave nothing at all. */
static int socket_check(struct ep_store *store, const char *path)
{
	struct sockaddr_un address;
	struct ep_err err = {0};

	if (ep_peer_address(path, &address, &err)) {
		ep_say("%s", err.text);
		return EP_EXIT_USAGE;
	}
	if (!ep_peer_is_served(&address)) {
		ep_say("%s: nobody listens there; start epitaph catch --listen=%s first", path,
		       path);
		return EP_EXIT_UNREADABLE;
	}
	snprintf(store->socket, sizeof(store->socket), "%s", path);
	return 0;
}

int ep_catch_install(const struct ep_arguments *arguments)
{
	const char *folder = ep_argument(arguments, "store");
	const char *listens = ep_argument(arguments, "listen");
	char pattern[EP_PATTERN_MAX], number[32];
	struct ep_store store = EP_STORE_INIT;
	struct ep_err err = {0};
	int result;

	if (folder && *folder != '/') {
		ep_say("--store=%s: an absolute path: the handler runs in /", folder);
		return EP_EXIT_USAGE;
	}
	if (folder)
		snprintf(store.path, sizeof(store.path), "%s", folder);
	result = listens ? socket_check(&store, listens) : pattern_make(pattern, store.path);
	result = result ? result : previous_read(&store, arguments);
	result = result ? result : limits_parse(&store, arguments);
	if (result)
		return result;
	if (ep_store_save(&store, &err)) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	snprintf(number, sizeof(number), "%u", PIPE_LIMIT);
	if (store.pipe_limit < PIPE_LIMIT && kernel_write(LIMIT_FILE, number))
		return EP_EXIT_UNREADABLE;
	result = listens ? socket_install(listens) : kernel_write(PATTERN_FILE, pattern);
	if (result == 0)
		printf("installed: snapshots go to %s, cores to \"%s\" as before\n",
		       ep_shown(store.path), ep_shown(store.previous));
	return result;
}

int ep_catch_uninstall(const struct ep_arguments *arguments)
{
	char pattern[256], folder[PATH_MAX], number[32];
	struct ep_store store;
	struct ep_err err = {0};
	int result = kernel_read(PATTERN_FILE, pattern, sizeof(pattern));

	if (result)
		return result;
	if (!is_ours(pattern, arguments, folder)) {
		ep_say("not installed: kernel.core_pattern is \"%s\"; nothing was changed",
		       pattern);
		return EP_EXIT_NOTHING;
	}
	if (ep_store_load(&store, folder, &err)) {
		ep_say("%s; what was there before is not known: set kernel.core_pattern yourself "
		       "(Linux's default is core)",
		       err.text);
		return EP_EXIT_UNREADABLE;
	}
	result = kernel_write(PATTERN_FILE, store.previous[0] ? store.previous : "core");
	snprintf(number, sizeof(number), "%" PRIu64, store.pipe_limit);
	if (result == 0 && store.pipe_limit < PIPE_LIMIT)
		result = kernel_write(LIMIT_FILE, number);
	if (result == 0)
		printf("uninstalled: kernel.core_pattern is \"%s\" again; the snapshots in %s "
		       "stay\n",
		       ep_shown(store.previous), ep_shown(folder));
	return result;
}

static void print_socket(const char *path)
{
	struct sockaddr_un address;

	if (ep_peer_address(path, &address, NULL) == EP_OK)
		printf("by the socket %s, %s\n", ep_shown(path),
		       ep_peer_is_served(&address) ? "which is served"
						   : "where nobody listens: crashes leave nothing "
						     "(epitaph catch --listen)");
}

int ep_catch_status(const struct ep_arguments *arguments)
{
	char pattern[256], folder[PATH_MAX];
	struct ep_store store;
	struct ep_stored *list;
	struct ep_err err = {0};
	size_t count;
	int result = kernel_read(PATTERN_FILE, pattern, sizeof(pattern));

	if (result)
		return result;
	if (!is_ours(pattern, arguments, folder)) {
		printf("not installed: kernel.core_pattern is \"%s\"\n", ep_shown(pattern));
		return EP_EXIT_NOTHING;
	}
	if (ep_store_load(&store, folder, &err) < 0) {
		ep_say("%s: crashes leave nothing", err.text);
		return EP_EXIT_UNREADABLE;
	}
	printf("installed: cores go on to \"%s\"\n", ep_shown(store.previous));
	if (store.socket[0] && *pattern == '@')
		print_socket(store.socket);
	if (ep_store_list(folder, &list, &count, NULL) == EP_OK) {
		printf("%s holds %zu snapshots, at most %" PRIu64 " of %" PRIu64 " MiB together\n",
		       ep_shown(folder), count, store.most_files, store.most_bytes >> 20);
		free(list);
	}
	return EP_EXIT_COMPLETE;
}
