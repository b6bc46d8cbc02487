/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inlined.cc: dies five calls deep inside of one function: a method of a
 * template, in a lambda, in a static function, in an anonymous namespace's.
 */
#define ALWAYS inline __attribute__((always_inline))
#define NEVER  __attribute__((noinline))

static volatile int *nowhere;
volatile int many = 3;

namespace shop
{
template <typename T> struct shelf {
	T items[8];
	ALWAYS void put(int at, T item)
	{
		items[at] = item;
		*nowhere = at; /* dies here */
		items[at + 1] = item;
	}
};

namespace
{
ALWAYS void stock(shelf<int> &shelf, int from)
{
	auto one = [&](int at) __attribute__((always_inline)) {
		shelf.put(at, from);
	};
	for (int i = 0; i < many; i++)
		one(i);
}
} // namespace

ALWAYS int visit(shelf<int> &shelf)
{
	stock(shelf, many);
	return shelf.items[0];
}

NEVER int open_up(int first)
{
	shelf<int> shelf = {};

	if (first > 100)
		return 0;
	return visit(shelf) + first;
}
} // namespace shop

extern "C" NEVER int enter(int first)
{
	return shop::open_up(first + 1) * 2;
}

int main()
{
	return enter(many);
}
