// SPDX-License-Identifier: BSD-2-Clause
//
// untraced.cc: a program that takes its own functions out of its trace, by name, and back. What it
// is told is checked here; what is in the trace, by who reads the snapshot that it writes. With an
// argument: code cannot be changed here.
#include <dlfcn.h>
#include <epitaph.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT         __attribute__((noinline, used))
#define CHECK(holds) ((holds) ? (void)0 : wrong(#holds, __LINE__))

NOFUNTRACE static void wrong(const char *what, int line)
{
	fprintf(stderr, "line %d: not %s (errno %d)\n", line, what, errno);
	exit(1);
}

namespace net
{
struct Server {
	int load = 0;

	KEPT void run()
	{
		__asm__ volatile("" : "+m"(load));
	}

	template <typename T> KEPT void handle(T)
	{
		__asm__ volatile("" : "+m"(load));
	}
};

KEPT void other()
{
	__asm__ volatile("");
}
} // namespace net

KEPT static void call_all(net::Server &server)
{
	server.run();
	server.handle(1);
	net::other();
}

static void refused()
{
	char pattern[257];

	memset(pattern, 'a', sizeof(pattern));
	pattern[256] = '\0';
	CHECK(epitaph_untrace("") == -1 && errno == EINVAL);
	CHECK(epitaph_trace(pattern) == -1 && errno == EINVAL);
	pattern[255] = '\0';
	CHECK(epitaph_trace(pattern) == 0);
}

static void in_child(net::Server &server)
{
	pid_t child = fork();
	int status;

	if (!child) {
		call_all(server);
		CHECK(epitaph_trace("net::Server::run") == 1);
		call_all(server);
		CHECK(epitaph_snapshot_write("child.core") == 0);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

typedef void plugin_fn();

/* Patterns hold for what comes later, and for what comes again. */
static void with_plugin()
{
	for (int i = 0; i < 2; i++) {
		void *plugin = dlopen("./libplugin.so", RTLD_NOW);

		CHECK(plugin);
		((plugin_fn *)dlsym(plugin, "plugin_quiet"))();
		((plugin_fn *)dlsym(plugin, "plugin_loud"))();
		dlclose(plugin);
	}
}

static void too_many()
{
	char pattern[16];
	int i = 0, result;

	do {
		snprintf(pattern, sizeof(pattern), "nobody%d", i++);
		result = epitaph_untrace(pattern);
	} while (result == 0);
	CHECK(errno == ENOSPC && i > 32 && i <= 65);
}

int main(int argc, char **)
{
	net::Server server;

	if (argc > 1) {
		CHECK(epitaph_untrace("call_all") == -1 && errno == ENOTSUP);
		call_all(server);
		return 0;
	}
	refused();
	call_all(server);
	errno = 77;
	CHECK(epitaph_untrace("net::Server::*") == 2 && errno == 77);
	CHECK(epitaph_untrace("net::Server::*") == 0);
	call_all(server);
	in_child(server);
	CHECK(epitaph_trace("net::Server::h?ndle") == 1);
	call_all(server);
	CHECK(epitaph_untrace("plugin_q*") == 0);
	with_plugin();
	too_many();
	CHECK(epitaph_snapshot_write("untraced.core") == 0);
	return 0;
}
