/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aborts.cc: aborts HOW: dies of a check that found something wrong: of the C
 * library's, the C++ library's, the compiler's or its own.
 */
#include <assert.h>
#include <signal.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define KEPT __attribute__((noinline))

static volatile int sink;
static volatile size_t many = 64;
static char *volatile text;

struct shape {
	shape()
	{
		call();
	}
	KEPT void call()
	{
		draw();
	}
	virtual void draw() = 0;
};

struct circle : shape {
	void draw() override
	{
		sink++;
	}
};

/* The caller's canary is above what is here. */
KEPT static void write_beyond(char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = 'A';
	__asm__ volatile("" ::: "memory");
}

KEPT static void smash()
{
	char small[16];

	write_beyond(small, many);
	sink = small[3];
}

KEPT static void pure()
{
	circle one;

	sink++;
}

KEPT static void leaf_throws()
{
	sink++;
	throw std::runtime_error("thrown by the program");
}

KEPT static void no_exceptions() noexcept
{
	leaf_throws();
	sink++;
}

KEPT static void free_twice()
{
	char *block = static_cast<char *>(malloc(2000));
	char *volatile same = block;

	malloc(10);
	free(block);
	free(same);
	sink++;
}

KEPT static void free_wild()
{
	char *volatile inside = static_cast<char *>(malloc(100)) + 8;

	free(inside);
	sink++;
}

KEPT static void rethrow_nothing()
{
	sink++;
	throw;
}

KEPT static void assertion()
{
	assert(sink == 12345);
}

KEPT static void fortify()
{
	char small[16];

	text = static_cast<char *>(malloc(200));
	memset(text, 'x', 100);
	text[99] = 0;
	strcpy(small, text);
	sink = small[many / 8];
}

KEPT static void uncaught()
{
	leaf_throws();
}

KEPT static void bad_alloc()
{
	struct rlimit limit = {UINT64_C(1) << 28, UINT64_C(1) << 28};

	setrlimit(RLIMIT_AS, &limit);
	text = new char[many << 30];
	sink = text[many];
}

KEPT static void out_of_range()
{
	std::vector<int> three(3);

	sink = three.at(many);
}

KEPT static void joinable()
{
	std::thread one([] { sink++; });
}

KEPT static void handled()
{
	std::set_terminate([] {
		sink++;
		abort();
	});
	leaf_throws();
}

/* Caught once, and thrown again; the handler looks at it, too. */
KEPT static void again()
{
	std::set_terminate([] {
		try {
			throw;
		} catch (...) {
			sink++;
		}
		abort();
	});
	try {
		leaf_throws();
	} catch (std::exception &error) {
		sink++;
		throw;
	}
}

/* What the library throws and catches by itself is over. */
KEPT static void swallowed()
{
	try {
		out_of_range();
	} catch (std::exception &error) {
		sink++;
	}
	abort();
}

KEPT static void plain()
{
	abort();
}

KEPT static void raised()
{
	raise(SIGABRT);
	sink++;
}

static const struct {
	const char *name;
	void (*run)();
} ways[] = {
	{"smash", smash},
	{"pure", pure},
	{"noexcept", no_exceptions},
	{"twice", free_twice},
	{"wild", free_wild},
	{"rethrow", rethrow_nothing},
	{"assert", assertion},
	{"fortify", fortify},
	{"uncaught", uncaught},
	{"alloc", bad_alloc},
	{"range", out_of_range},
	{"joinable", joinable},
	{"handled", handled},
	{"again", again},
	{"swallowed", swallowed},
	{"abort", plain},
	{"raise", raised},
};

KEPT static void choose(const char *how)
{
	for (auto &way : ways)
		if (!strcmp(how, way.name))
			way.run();
	sink++;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 64;
	choose(argv[1]);
	return 0;
}
