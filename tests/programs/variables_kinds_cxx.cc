// SPDX-License-Identifier: BSD-2-Clause
// variables_kinds_cxx.cc N: dies in its Nth function; together they have variables of the kinds that C++ adds: classes in
// namespaces, templates, references, enumerations of their own scope, members by pointer, and the library's types.
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define APART __attribute__((noinline))

static int *volatile nowhere;
#define DIE() (*nowhere = 1)

volatile int sink;

static APART void use(const void *pointer)
{
	sink += static_cast<const volatile char *>(pointer)[0];
}

namespace shop {

enum class Color : unsigned char { Red, Green = 5 };
enum Plain { P_ONE = 1, P_TWO, P_FOUR = 4 };

struct Base {
	virtual ~Base() = default;
	int id = 7;
};

struct Other {
	virtual int twice() const { return 2; }
	long weight = 99;
};

template <typename T, int N> struct Box {
	T items[N];
	T &at(int i) { return items[i]; }
};

template <typename T> struct Pair {
	T first, second;
};

namespace {
struct Hidden {
	int secret = 13;
};
} // namespace

class Klass : public Base, public Other {
public:
	struct Inner {
		short a = 3;
		Color color = Color::Green;
	};
	enum class State { Open, Closed };
	APART int method(const Klass &other, Klass *next, Inner inner, State state);
	APART static int fixed(Klass by_value, Plain plain);
	static int counter;
	bool flag = true;
	Inner inner;

private:
	std::string name = "klass";
};

int Klass::counter = 21;

int Klass::method(const Klass &other, Klass *next, Inner given, State state)
{
	Klass *const self = this;
	const Klass *const *twice = reinterpret_cast<const Klass *const *>(&self);
	Base &as_base = *next;
	Other *as_other = next;
	const Inner copy = given;
	State local = state;
	Color color = copy.color;
	int Klass::*member = nullptr;
	int (Klass::*function)(const Klass &, Klass *, Inner, State) = &Klass::method;
	Hidden hidden;

	use(self), use(&as_base), use(as_other), use(&copy), use(&local), use(&color), use(&hidden);
	use(twice), use(&member), use(&function);
	DIE();
	use(&other);
	return id + copy.a + counter;
}

int Klass::fixed(Klass by_value, Plain plain)
{
	Box<int, 3> box = {{1, 2, 3}};
	Box<Pair<short>, 2> pairs = {{{1, 2}, {3, 4}}};
	const Box<const char *, 1> texts = {{"boxed"}};
	Plain other = static_cast<Plain>(7);
	std::nullptr_t null = nullptr;
	int &&moved = 5;
	int &reference = box.at(1);

	use(&box), use(&pairs), use(&texts), use(&other), use(&null), use(&moved), use(&reference);
	DIE();
	use(&by_value);
	return plain;
}

} // namespace shop

template <typename T> static APART T largest(const std::vector<T> &all, T least)
{
	T best = least;

	for (const T &one : all)
		if (best < one)
			best = one;
	use(&all);
	DIE();
	return best;
}

static APART int library(const std::string &by_reference, std::string_view view)
{
	std::string empty, small = "small", large(60, 'x');
	std::string with_nul("a\0b", 3);
	std::vector<int> none, three = {1, 2, 3};
	std::vector<std::string> words = {"one", "two"};
	std::vector<bool> bits = {true, false, true};
	std::unique_ptr<int> owner = std::make_unique<int>(5), nobody;
	std::shared_ptr<std::string> shared = std::make_shared<std::string>("shared");
	std::optional<int> maybe = 4, nothing;
	std::optional<std::string> text = "text";
	std::pair<int, std::string> pair = {1, "pair"};
	std::array<short, 3> array = {1, 2, 3};
	std::unique_ptr<shop::Klass> object = std::make_unique<shop::Klass>();

	use(&small), use(&large), use(&with_nul), use(&none), use(&three), use(&words), use(&bits);
	use(&owner), use(&nobody), use(&shared), use(&maybe), use(&nothing), use(&text);
	use(&pair), use(&array), use(&object), use(&empty);
	DIE();
	return static_cast<int>(by_reference.size() + view.size());
}

static APART int lambdas(int number)
{
	std::string word = "captured";
	auto call = [number, &word](int more) {
		int sum = number + more;

		use(&word), use(&sum);
		DIE();
		return sum;
	};

	return call(3) + number;
}

static APART int thrown(int number)
{
	thread_local int seen = 17;
	thread_local std::string words = "of this thread";

	try {
		if (number)
			throw number + 1;
	} catch (int caught) {
		seen += caught;
		use(&words);
		DIE();
	}
	return seen;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	shop::Klass one, two;
	std::vector<double> doubles = {1.5, 2.5, argc * 1.0};

	two.id = 8;
	switch (n) {
	case 0:
		return one.method(two, &two, {}, shop::Klass::State::Closed);
	case 1:
		return shop::Klass::fixed(two, shop::P_TWO);
	case 2:
		return static_cast<int>(largest<double>(doubles, 0.5));
	case 3:
		return library("referred to", "viewed");
	case 4:
		return lambdas(argc);
	default:
		return thrown(argc);
	}
}
