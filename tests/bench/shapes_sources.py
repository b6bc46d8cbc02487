# SPDX-License-Identifier: BSD-2-Clause
"""shapes_sources.py: the shapes of shapes.py: how each program is written and built."""

HEAD = '#include "shapes.h"\n'
EACH = 5000  # functions a file
GROUP = 100  # that one calls


class Shape:
    """One program. `source` makes its files: text by name, or the text of the only one."""

    def __init__(self, name, source, compiler="gcc", level="-O2", flags=(), method="", seconds=0,
                 rounds=0, library=()):
        self.name, self.source, self.compiler, self.level = name, source, compiler, level
        self.flags, self.method, self.library = flags, method, library
        self.seconds, self.rounds = seconds, rounds

    def files(self):
        made = self.source()
        if isinstance(made, dict):
            return made
        return {"main.cc" if self.compiler.endswith("++") else "main.c": HEAD + made}

    def told(self):
        return " ".join([self.compiler, self.level, *self.flags, self.method]).strip()


# ---- many functions -------------------------------------------------------------------------

def bodies(first, last, loop, static=""):
    return "".join(f"{static}__attribute__((noinline)) int part{i}(int x) {{ for (int k = 0; k < {loop}; k++) "
                   f"sum += x; return x + {i}; }}\n" for i in range(first, last))


def group(number, first, last, static=""):
    calls = "".join(f"\tx += part{i}(x);\n" for i in range(first, last))
    return f"{static}__attribute__((noinline)) int group{number}(int x)\n{{\n{calls}\treturn x;\n}}\n"


def many(functions, loop, main=None):
    """Called in turn, by a function for each hundred of them."""
    def make():
        files, groups = {}, (functions + GROUP - 1) // GROUP
        for at in range(0, functions, EACH):
            text = "static volatile long sum;\n" + bodies(at, min(at + EACH, functions), loop)
            for first in range(at, min(at + EACH, functions), GROUP):
                text += group(first // GROUP, first, min(first + GROUP, functions))
            files[f"part{at // EACH}.c"] = text
        declared = "".join(f"int group{i}(int);\n" for i in range(groups))
        table = ", ".join(f"group{i}" for i in range(groups))
        files["main.c"] = (f"{HEAD}{declared}static int (*const groups[])(int) = {{ {table} }};\n"
                           f"enum {{ GROUPS = {groups} }};\n" + (main or ALL_IN_TURN))
        return files
    return make


ALL_IN_TURN = """
static void unit(unsigned index, unsigned repeat)
{
	for (unsigned i = 0; i < repeat; i++)
		for (unsigned j = 0; j < GROUPS; j++)
			total += groups[j]((int)(index + i));
}
"""

# The n-th group has 1/n of the calls.
ZIPF = """
static void unit(unsigned index, unsigned repeat)
{
	for (unsigned i = 0; i < repeat; i++) {
		unsigned step = index * repeat + i;

		for (unsigned j = 0; j < GROUPS; j++)
			if (step % (j + 1) == 0)
				total += groups[j]((int)step);
	}
}
"""

# Some units long the program runs one part of its functions, and then another one.
PHASES = """
static void unit(unsigned index, unsigned repeat)
{
	unsigned phase = index / LONG % PARTS;

	for (unsigned i = 0; i < repeat; i++)
		for (unsigned j = phase * GROUPS / PARTS; j < (phase + 1) * GROUPS / PARTS; j++)
			total += groups[j]((int)(index + i));
}
"""

# Calls for a tenth of a second, and then none for as long.
STORMS = """
UNTRACED static void compute(unsigned steps)
{
	for (volatile unsigned i = 0; i < steps; i++)
		;
}
static void unit(unsigned index, unsigned repeat)
{
	if (index / 50 % 2)
		compute(repeat * 5500);
	else
		for (unsigned i = 0; i < repeat; i++)
			for (unsigned j = 0; j < GROUPS; j++)
				total += groups[j]((int)(index + i));
}
"""

THREADS = """
#include <pthread.h>
static pthread_barrier_t begin, end;
static unsigned job, each;
UNTRACED static void *work(void *unused)
{
	volatile int sum = 0;

	(void)unused;
	for (;;) {
		pthread_barrier_wait(&begin);
		for (unsigned i = 0; i < each; i++)
			for (unsigned j = 0; j < GROUPS; j++)
				sum += groups[j]((int)job);
		pthread_barrier_wait(&end);
	}
	return NULL;
}
static void unit(unsigned index, unsigned repeat)
{
	static int begun;
	pthread_t thread;
	pthread_attr_t small;

	if (!begun) {
		begun = 1;
		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 65536);
		pthread_barrier_init(&begin, NULL, COUNT + 1);
		pthread_barrier_init(&end, NULL, COUNT + 1);
		for (int i = 0; i < COUNT; i++)
			pthread_create(&thread, &small, work, NULL);
	}
	job = index;
	each = repeat;
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
}
"""

# Threads that live for a millisecond, one after the other.
SHORT_THREADS = """
#include <pthread.h>
static void *work(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 20; i++)
		for (unsigned j = 0; j < GROUPS; j++)
			groups[j]((int)i);
	return NULL;
}
static void unit(unsigned index, unsigned repeat)
{
	pthread_t thread;

	for (unsigned i = 0; i < repeat; i++) {
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
	}
	total += index;
}
"""

CHILDREN = """
#include <sys/wait.h>
#include <unistd.h>
static void unit(unsigned index, unsigned repeat)
{
	for (unsigned i = 0; i < repeat; i++) {
		pid_t child = fork();

		if (!child) {
			for (unsigned k = 0; k < 100; k++)
				for (unsigned j = 0; j < GROUPS; j++)
					total += groups[j]((int)(index + i));
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	for (unsigned j = 0; j < GROUPS; j++)
		total += groups[j]((int)index);
}
"""

# Works for 20 us, waits for a millisecond.
IDLE = """
static void unit(unsigned index, unsigned repeat)
{
	struct timespec pause = {0, 1000000};

	for (unsigned i = 0; i < repeat; i++) {
		for (unsigned j = 0; j < GROUPS; j++)
			total += groups[j]((int)(index + i));
		nanosleep(&pause, NULL);
	}
}
"""


def phases(long, parts):
    return f"enum {{ LONG = {long}, PARTS = {parts} }};\n" + PHASES


def threads(count):
    return f"enum {{ COUNT = {count} }};\n" + THREADS


def of_library(functions, loop):
    """The functions lie in a shared library, and the program calls each of them."""
    def make():
        files = {"parts.c": "static volatile long sum;\n" + bodies(0, functions, loop)}
        text = "".join(f"int part{i}(int);\n" for i in range(functions))
        groups = (functions + GROUP - 1) // GROUP
        for number in range(groups):
            text += group(number, number * GROUP, min((number + 1) * GROUP, functions), "static ")
        table = ", ".join(f"group{i}" for i in range(groups))
        files["main.c"] = (f"{HEAD}{text}static int (*const groups[])(int) = {{ {table} }};\n"
                           f"enum {{ GROUPS = {groups} }};\n" + ALL_IN_TURN)
        return files
    return make


def hot(loop, others):
    """One function has half of the time, or all of it."""
    def make():
        text = "static volatile long sum;\n" + bodies(0, others, 10, "static ")
        text += "".join(group(i, i * GROUP, (i + 1) * GROUP, "static ") for i in range(others // GROUP))
        calls = "".join(f"\t\ttotal += group{i}((int)i);\n" for i in range(others // GROUP))
        return text + f"""
__attribute__((noinline)) static int hot(int x)
{{
	for (int k = 0; k < {loop}; k++)
		sum += x;
	return x + 1;
}}
static void unit(unsigned index, unsigned repeat)
{{
	for (unsigned i = 0; i < repeat; i++) {{
		for (unsigned j = 0; j < {max(1000, 5 * others)}; j++)
			total += hot((int)(index + j));
{calls}	}}
}}
"""
    return make


# ---- C++ ------------------------------------------------------------------------------------

def templates():
    """400 instances of a few templates, each with its own functions."""
    return """
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>
template <int N> struct item {
	int key;
	bool operator<(const item &other) const { return key < other.key; }
	int value() const { return key + N; }
};
template <int N> int work(int x)
{
	std::vector<item<N>> all;
	for (int i = 0; i < 6; i++)
		all.push_back(item<N>{(x + i * 7) % 11});
	std::sort(all.begin(), all.end());
	int sum = 0;
	for (const auto &one : all)
		sum += one.value();
	return sum + *std::make_shared<int>(x);
}
template <int N> struct every {
	static int run(int x) { return work<N>(x) + every<N - 1>::run(x); }
};
template <> struct every<0> {
	static int run(int x) { return x; }
};
static void unit(unsigned index, unsigned repeat)
{
	for (unsigned i = 0; i < repeat; i++)
		total += every<200>::run((int)(index + i));
}
"""


def library_of_cpp():
    return """
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
static void unit(unsigned index, unsigned repeat)
{
	for (unsigned i = 0; i < repeat; i++) {
		std::map<std::string, int> count;
		std::unordered_map<int, std::vector<int>> lists;
		std::vector<std::string> words;
		for (int j = 0; j < 60; j++) {
			std::string word = "word" + std::to_string((j * 7 + (int)index) % 40);
			count[word]++;
			lists[j % 7].push_back(j);
			words.push_back(word);
		}
		std::sort(words.begin(), words.end(), std::greater<std::string>());
		words.erase(std::unique(words.begin(), words.end()), words.end());
		for (auto &list : lists)
			total += std::accumulate(list.second.begin(), list.second.end(), 0);
		total += (long)(count.size() + words.size());
	}
}
"""


def virtual_calls():
    return """
#include <memory>
struct node {
	virtual ~node() {}
	virtual long value(long x) const = 0;
};
struct number : node {
	long n;
	explicit number(long v) : n(v) {}
	long value(long) const override { return n; }
};
struct variable : node {
	long value(long x) const override { return x; }
};
struct sum : node {
	std::unique_ptr<node> a, b;
	sum(node *l, node *r) : a(l), b(r) {}
	long value(long x) const override { return a->value(x) + b->value(x); }
};
struct product : sum {
	using sum::sum;
	long value(long x) const override { return a->value(x) * b->value(x); }
};
static node *tree(unsigned depth, unsigned n)
{
	if (!depth)
		return n % 3 ? (node *)new number(n) : (node *)new variable;
	if (n % 2)
		return new sum(tree(depth - 1, n * 5 + 1), tree(depth - 1, n * 3 + 2));
	return new product(tree(depth - 1, n * 5 + 2), tree(depth - 1, n * 3 + 1));
}
static void unit(unsigned index, unsigned repeat)
{
	static node *root = tree(10, 1);

	for (unsigned i = 0; i < repeat; i++)
		total += root->value((long)(index + i));
}
"""


def exceptions(depth):
    def make():
        return f"""
#include <stdexcept>
__attribute__((noinline)) void thrower(int i) {{ if (i >= 0) throw std::runtime_error("x"); }}
__attribute__((noinline)) int deep(int d, int i)
{{
	if (!d) {{ thrower(i); return 1; }}
	int r = deep(d - 1, i);
	total += r;
	return r;
}}
__attribute__((noinline)) int once(int d, int i)
{{
	try {{ return deep(d, i); }} catch (std::exception &e) {{ return e.what()[0]; }}
}}
static void unit(unsigned index, unsigned repeat)
{{
	for (unsigned i = 0; i < repeat; i++)
		total += once({depth}, (int)(index % 1000));
}}
"""
    return make


def coroutines():
    return """
#include <coroutine>
struct numbers {
	struct promise_type {
		long now;
		numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(long value) { now = value; return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};
static numbers count(long from, long to)
{
	for (long i = from; i < to; i++)
		co_yield i * i;
}
static void unit(unsigned index, unsigned repeat)
{
	for (unsigned i = 0; i < repeat; i++) {
		numbers all = count((long)index, (long)index + 50);
		while (all.handle.resume(), !all.handle.done())
			total += all.handle.promise().now;
		all.handle.destroy();
	}
}
"""


# ---- C that is no row of functions ----------------------------------------------------------

def fib():
    return """
__attribute__((noinline, optimize("no-optimize-sibling-calls", "no-inline"))) int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static void unit(unsigned index, unsigned repeat)
{
	for (unsigned i = 0; i < repeat; i++) {
		int n = 15 + (int)(index % 2);

		/* Else gcc calls it once, and multiplies. */
		__asm__ volatile("" : "+r"(n));
		total += fib(n);
	}
}
"""


def deep_list():
    return """
struct item { struct item *next; int value; };
__attribute__((noinline)) int sum_of(const struct item *item)
{
	return item ? item->value + sum_of(item->next) * 3 % 7 : 0;
}
static void unit(unsigned index, unsigned repeat)
{
	static struct item items[20000];

	for (unsigned i = 0; i + 1 < 20000; i++)
		items[i] = (struct item){items + i + 1, (int)(i + index)};
	for (unsigned i = 0; i < repeat; i++)
		total += sum_of(items);
}
"""


def jumps():
    return """
#include <setjmp.h>
static jmp_buf buffer;
__attribute__((noinline)) void away(int n) { if (n >= 0) longjmp(buffer, n + 1); }
__attribute__((noinline)) int through(int n) { away(n); return n; }
__attribute__((noinline)) int once(int n)
{
	int got = setjmp(buffer);

	return got ? got : through(n);
}
static void unit(unsigned index, unsigned repeat)
{
	for (unsigned i = 0; i < repeat; i++)
		total += once((int)(index % 1000));
}
"""


def fibers():
    return """
#include <ucontext.h>
static ucontext_t main_context, fiber;
__attribute__((noinline)) int step(int n) { return n * 3 + 1; }
static void run_fiber(void)
{
	for (int n = 0;; n++) {
		total += step(n);
		swapcontext(&fiber, &main_context);
	}
}
static void unit(unsigned index, unsigned repeat)
{
	static char stack[65536];

	if (!fiber.uc_stack.ss_sp) {
		getcontext(&fiber);
		fiber.uc_stack.ss_sp = stack;
		fiber.uc_stack.ss_size = sizeof(stack);
		makecontext(&fiber, run_fiber, 0);
	}
	for (unsigned i = 0; i < repeat; i++) {
		total += step((int)index);
		swapcontext(&main_context, &fiber);
	}
}
"""


def signals():
    return """
#include <signal.h>
__attribute__((noinline)) int step(int n) { return n * 3 + 1; }
static void handler(int number) { total += step(number); }
static void unit(unsigned index, unsigned repeat)
{
	signal(SIGUSR1, handler);
	for (unsigned i = 0; i < repeat; i++) {
		total += step((int)index);
		raise(SIGUSR1);
	}
}
"""


def calls_of_the_kernel():
    return """
#include <fcntl.h>
#include <unistd.h>
static int file;
__attribute__((noinline)) int get(char *to, unsigned at) { return (int)pread(file, to, 16, at); }
__attribute__((noinline)) int parse(const char *text) { return text[0] * 10 + text[1]; }
__attribute__((noinline)) int one(unsigned at) { char text[16]; return get(text, at) + parse(text); }
static void unit(unsigned index, unsigned repeat)
{
	if (!file)
		file = open("/proc/self/exe", O_RDONLY);
	for (unsigned i = 0; i < repeat; i++)
		total += one((index + i) % 4096);
}
"""


def locks():
    return """
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned each;
__attribute__((noinline)) int change(int x) { total += x; return x + 1; }
__attribute__((noinline)) int locked(int x)
{
	pthread_mutex_lock(&lock);
	x = change(x);
	pthread_mutex_unlock(&lock);
	return x;
}
static void *work(void *unused)
{
	int x = 0;

	(void)unused;
	for (unsigned i = 0; i < each; i++)
		x = locked(x);
	return NULL;
}
static void unit(unsigned index, unsigned repeat)
{
	pthread_t threads[4];

	(void)index;
	each = repeat;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}
"""


NO_TABLES = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
SHAPES = [
    Shape("10-functions", many(10, 10)),
    Shape("100-functions", many(100, 10)),
    Shape("100-tiny", many(100, 1), "clang"),
    Shape("1000-functions", many(1000, 10)),
    Shape("1000-clang", many(1000, 10), "clang"),
    Shape("1000-finstrument", many(1000, 10), method="finstrument"),
    Shape("1000-xray", many(1000, 10), "clang", method="xray"),
    Shape("1000-O0", many(1000, 10), level="-O0"),
    Shape("4000-functions", many(4000, 10)),
    Shape("4000-tiny", many(4000, 1)),
    Shape("10000-functions", many(10000, 10)),
    Shape("10000-unequal", many(10000, 10, ZIPF)),
    Shape("100000-O0", many(100000, 5), level="-O0"),
    Shape("hot", hot(1, 0)),
    Shape("hot-of-1000", hot(1, 1000), "clang"),
    Shape("templates-O0", templates, "g++", "-O0"),
    Shape("templates-clang", templates, "clang++", "-O1"),
    Shape("stl", library_of_cpp, "g++"),
    Shape("stl-O0", library_of_cpp, "clang++", "-O0"),
    Shape("virtual", virtual_calls, "clang++"),
    Shape("fib", fib),
    Shape("fib-O0", fib, "clang", "-O0", ("-Wno-unknown-attributes", "-Wno-ignored-attributes")),
    Shape("recursion-20000", deep_list),
    Shape("exceptions", exceptions(1), "g++"),
    Shape("exceptions-20", exceptions(20), "g++"),
    Shape("exceptions-clang", exceptions(1), "clang++"),
    Shape("exceptions-20-clang", exceptions(20), "clang++"),
    Shape("setjmp", jumps),
    Shape("swapcontext", fibers),
    Shape("coroutines", coroutines, "g++", flags=("-std=c++20",)),
    Shape("signals", signals),
    Shape("no-tables", many(1000, 10), flags=NO_TABLES),
    Shape("static", many(1000, 10), flags=("-static",)),
    Shape("library", of_library(1000, 10), library=("parts.c",)),
    Shape("200-threads", many(300, 10, threads(200))),
    Shape("short-threads", many(100, 10, SHORT_THREADS)),
    Shape("phases-500ms", many(1200, 10, phases(250, 4))),
    Shape("phases-20ms", many(1200, 10, phases(10, 4)), "clang"),
    Shape("storms", many(300, 10, STORMS)),
    Shape("life-1ms", many(100, 10), seconds=0.001),
    Shape("life-20ms", many(300, 10), seconds=0.02),
    Shape("life-60s", many(1200, 10, phases(2500, 6)), seconds=60, rounds=1),
    Shape("children", many(100, 10, CHILDREN)),
    Shape("idle", many(100, 10, IDLE), seconds=1),
    Shape("system-calls", calls_of_the_kernel),
    Shape("locks", locks),
]
