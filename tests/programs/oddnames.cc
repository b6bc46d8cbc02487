/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oddnames.cc: names that trip writers of other people's formats. The test that
 * builds it renames odd_semicolon, odd_quote, odd_bytes and odd_blank with
 * objcopy; two threads have one name, which is odd, too. oddnames [depth]: also
 * recurses that deep, and returns, before it aborts.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string>
#include <vector>

#define KEPT __attribute__((noinline, noclone))

static volatile int sink;

extern "C" {
KEPT void odd_semicolon(void)
{
	sink++;
}
KEPT void odd_quote(void)
{
	sink++;
}
KEPT void odd_bytes(void)
{
	sink++;
}
KEPT void odd_blank(void)
{
	sink++;
}
}

struct box {
	int value;
	KEPT box operator+(const box &other) const
	{
		sink++;
		return {value + other.value};
	}
	KEPT bool operator<(const box &other) const
	{
		sink++;
		return value < other.value;
	}
	KEPT operator std::string() const
	{
		sink++;
		return "box";
	}
	KEPT int operator()(int a, int b) const
	{
		sink++;
		return a + b + value;
	}
};

template <typename Key, typename Value> struct table {
	template <typename... Rest> KEPT int add(Key, Value, Rest... rest)
	{
		sink++;
		return (int)sizeof...(rest);
	}
};

KEPT static void operators(void)
{
	box one{1}, two{2};

	sink = (one + two).value;
	sink = one < two;
	sink = (int)std::string(one).size();
	sink = one(1, 2);
}

KEPT static void templates(void)
{
	table<std::string, std::vector<const char *>> big;
	auto lambda = [](int n) __attribute__((noinline))
	{
		sink = n;
	};

	big.add("key", {}, 1, 2.0, "three");
	lambda(3);
}

KEPT static void odd(void)
{
	odd_semicolon();
	odd_quote();
	odd_bytes();
	odd_blank();
	sink++;
}

KEPT static void deep(int n)
{
	if (n > 0)
		deep(n - 1);
	sink++;
}

static void *thread(void *)
{
	pthread_setname_np(pthread_self(), "w;x \"\xff\\ y");
	odd();
	return NULL;
}

int main(int argc, char *argv[])
{
	pthread_t threads[2];

	for (pthread_t &one : threads)
		pthread_create(&one, NULL, thread, NULL);
	for (pthread_t &one : threads)
		pthread_join(one, NULL);
	operators();
	templates();
	odd();
	if (argc > 1)
		deep(atoi(argv[1]));
	abort();
}
