/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * truth.cc: threads that call, recurse, throw and go through thunks by chance,
 * and keep a log of their own of what they did. It is written to the file
 * "truth" before main aborts inside of a known call: one line an event, tid,
 * B (call), E (return) or U (left by an exception), name.
 *
 * Names differ by depth, so that no exception leaves a doubt which call it was.
 */
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUIET   __attribute__((no_instrument_function, always_inline)) inline
#define OUTLINE __attribute__((noinline))
#define THREADS 4
#ifndef EVENTS
#define EVENTS 60000
#endif

struct entry {
	char kind;
	const char *name;
	int depth, variant;
};

struct log {
	long tid;
	unsigned count;
	unsigned state;
	entry entries[EVENTS];
};

static log logs[THREADS + 1];
static __thread log *mine;

QUIET static void note(char kind, const char *name, int depth, int variant)
{
	if (mine->count < EVENTS)
		mine->entries[mine->count++] = {kind, name, depth, variant};
}

QUIET static unsigned chance(unsigned n)
{
	mine->state = mine->state * 1103515245 + 12345;
	return (mine->state >> 16) % n;
}

/* Notes the call, and how it was left. */
struct scope {
	const char *name;
	int depth, variant;
	bool returns = false;

	QUIET scope(const char *n, int d, int v) : name(n), depth(d), variant(v)
	{
		note('B', name, depth, variant);
	}
	QUIET ~scope() { note(returns ? 'E' : 'U', name, depth, variant); }
	QUIET void done() { returns = true; }
};

template <int D> struct level;

/* A method that is reached through a thunk when called by its second base. */
struct first {
	virtual int one(int) = 0;
	long filler = 0;
};
struct second {
	virtual int go(int) = 0;
	long filler = 0;
};
template <int D> struct both : first, virtual second {
	OUTLINE int one(int n) override { return n; }
	OUTLINE int go(int n) override
	{
		scope s("go", D, 0);
		n = level<D + 1>::any(n);
		s.done();
		return n;
	}
};

template <int D, int V> OUTLINE int f(int n)
{
	scope s("f", D, V);
	for (unsigned calls = chance(4); calls > 0 && n > 0; calls--) {
		if (chance(40) == 0)
			throw n;
		if (V == 1) {
			try {
				n = level<D + 1>::any(n);
			} catch (int left) {
				n = left - 1;
			}
		} else {
			n = level<D + 1>::any(n);
		}
	}
	s.done();
	return n - 1;
}

template <int D> struct level {
	QUIET static int any(int n)
	{
		static both<D> object;
		second *base = &object;

		switch (chance(5)) {
		case 0:
			__asm__ volatile("" : "+r"(base));
			return base->go(n);
		case 1:
			return f<D, 1>(n);
		case 2:
			return f<D, 2>(n);
		default:
			return f<D, 0>(n);
		}
	}
};

template <> struct level<12> {
	QUIET static int any(int n) { return n - 1; }
};

OUTLINE static int run(int n)
{
	scope s("run", 0, 0);
	while (n > 0 && mine->count < EVENTS - 1000) {
		try {
			n = level<1>::any(n);
		} catch (int left) {
			n = left - 1;
		}
	}
	s.done();
	return n;
}

static void *worker(void *argument)
{
	mine = static_cast<log *>(argument);
	mine->tid = syscall(SYS_gettid);
	run(1000000);
	return nullptr;
}

QUIET static void write_truth(FILE *file)
{
	for (const log &one : logs)
		for (unsigned i = 0; i < one.count; i++)
			fprintf(file, "%ld %c %s%d.%d\n", one.tid,
				one.entries[i].kind, one.entries[i].name,
				one.entries[i].depth, one.entries[i].variant);
	fclose(file);
}

OUTLINE static void last_words(int n)
{
	note('B', "last", 0, n);
	write_truth(fopen("truth", "w"));
	abort();
}

int main()
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		logs[i].state = 77 + i;
		pthread_create(&threads[i], nullptr, worker, &logs[i]);
	}
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	logs[THREADS].state = 99;
	mine = &logs[THREADS];
	mine->tid = getpid();
	run(300);
	last_words(0);
}
