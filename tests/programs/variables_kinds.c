/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * variables_kinds.c N: dies in its Nth function; together they have variables of each kind that C
 * has, and of each way in which compilers say where one is: registers, parts of them, numbers that
 * are calculated, what a caller gave, pointers to what has no address.
 */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>

#define APART __attribute__((noinline))

volatile int sink;
volatile double real_sink;
static int *volatile nowhere;

/* Dies there, and the optimizer knows nothing of it. */
#define DIE() (*nowhere = 1)

enum mode { M_NONE, M_READ = 1, M_WRITE = 2, M_EXEC = 4, M_HIGH = 0x80 };
enum level { LOW = -3, MIDDLE, TOP = 100 };

struct pair {
	long first, second;
};

struct mixed {
	double ratio;
	int count;
	short small;
};

struct node {
	struct node *next;
	int number;
};

struct packed {
	bool on : 1;
	unsigned low : 3;
	int : 2;
	signed middle : 7;
	enum mode mode : 8;
	unsigned long long wide : 40;
};

struct unnamed {
	union {
		int as_int;
		float as_float;
		unsigned char as_bytes[4];
	};
	struct {
		short x, y;
	};
	int (*call)(int);
};

struct flexible {
	int size;
	int items[];
};

typedef float quad __attribute__((vector_size(16)));
typedef int eight __attribute__((vector_size(32)));

_Thread_local int of_thread = 11;
static _Thread_local struct pair of_thread_too = {3, 4};

static APART void use(int a)
{
	sink += a;
}

static APART void use_real(double a)
{
	real_sink += a;
}

static APART void use_pointer(const void *pointer)
{
	sink += ((const volatile char *)pointer)[0];
}

APART int narrow(int number, unsigned char byte, short small, bool flag)
{
	unsigned char low = (unsigned char)(number + 3);
	short half = (short)(number * 5);
	unsigned wide = (unsigned)number << 4 | byte;
	long long extended = (long long)number * small;
	char letter = (char)(byte + 1);
	bool both = flag && number > 5;
	int8_t negative = (int8_t)-small;

	use(number);
	DIE();
	use(low + half + (int)wide + (int)extended + letter + both + negative);
	return number + byte;
}

APART double reals(double a, float b, int n, long double c)
{
	float sum = b * 2.5f + (float)n;
	double quotient = a / 3.0;
	double converted = n;
	float shorter = (float)a;
	int truncated = (int)(a * 10);
	long double longer = c * 2;
	double fixed = 0.1;
	float third = 1.0f / 3.0f;

	use_real(sum);
	DIE();
	use_real(quotient + converted + shorter + truncated + (double)longer + fixed + third);
	return quotient;
}

APART long spread(struct pair pair, struct mixed mixed, unsigned __int128 wide, double complex z)
{
	struct pair swapped = {pair.second, pair.first + 1};
	struct mixed copy = mixed;
	unsigned __int128 shifted = wide << 3;
	__int128 negative = -(__int128)7;
	float complex half = (float complex)z;

	copy.count++;
	use((int)pair.first);
	DIE();
	use((int)(swapped.first + swapped.second + copy.count + copy.small) + (int)shifted +
	    (int)negative);
	use_real(copy.ratio + creal(z) + cimagf(half));
	return pair.first;
}

static inline __attribute__((always_inline)) int through(const struct pair *pointer, const int *one)
{
	const struct pair *again = pointer;

	DIE();
	return (int)again->first + *one;
}

APART int implicit(int number)
{
	struct pair pair = {number, number + 1};
	int single = number * 3;
	const int *pointer = &single;

	return through(&pair, pointer) + number;
}

APART int threads(int number)
{
	static _Thread_local int counter = 5;
	static _Thread_local struct pair seen = {7, 8};
	static _Thread_local char zeros[24];
	static int shared = 9;

	counter += number;
	seen.second += number;
	zeros[1] = 'z';
	shared++;
	of_thread += counter + (int)of_thread_too.first;
	DIE();
	return counter + (int)seen.second + zeros[1] + shared;
}

APART int kept_not(int a, int b, struct node *list, double d)
{
	int sum = a + b;

	use(sum);
	use_real(d);
	use_pointer(list);
	sink = 4;
	DIE();
	return 0;
}

APART int texts(const char *text, char *wild)
{
	char with_nul[8] = "a\0b\0c";
	char exact[4] = {'f', 'u', 'l', 'l'};
	unsigned char bytes[6] = {1, 2, 0xff, 0, 7, 9};
	signed char small[3] = {-1, 0, 1};
	wchar_t wide[6] = L"w\u00e9b";
	char16_t sixteen[5] = u"u16";
	char32_t thirty_two[4] = U"32";
	wchar_t letter = L'\u00e9';
	char16_t unit = u'q';
	const wchar_t *wide_pointer = L"far \u20ac";
	const char *list[3] = {"one", "two", 0};
	char control[8] = "\t\033[1m\n";

	use_pointer(with_nul), use_pointer(exact), use_pointer(bytes), use_pointer(small);
	use_pointer(wide), use_pointer(sixteen), use_pointer(thirty_two), use_pointer(list);
	use_pointer(control), use_pointer(wide_pointer), use_pointer(&letter), use_pointer(&unit);
	DIE();
	use_pointer(text), use_pointer(wild);
	return with_nul[0] + exact[1] + bytes[2] + small[0] + wide[0] + sixteen[0];
}

static int doubled(int a)
{
	return a * 2;
}

APART int kinds(int number, int (*callback)(int), enum mode mode)
{
	struct packed packed = {true, 5, -33, M_READ | M_EXEC, 0xabcdef0123};
	struct unnamed unnamed = {{.as_float = 1.5f}, {-4, 4}, doubled};
	struct node a = {0, 1}, b = {&a, 2};
	union {
		long number;
		char text[8];
	} local = {.text = "union"};
	enum mode none = M_NONE, several = M_WRITE | M_HIGH, odd = (enum mode)0x42;
	enum level level = MIDDLE, beyond = (enum level)55;
	struct flexible *flexible = malloc(sizeof(*flexible) + 3 * sizeof(int));
	void *volatile corrupt = (void *)0x4141414141414141;
	const struct node *volatile wild = (const struct node *)0xdeadbeef000;
	int (*volatile function)(int) = callback;
	int (*volatile wrong)(int) = (int (*)(int))(uintptr_t)0x10;
	const char *const *pointers = (const char *const *)&corrupt;
	_Bool yes = true;
	bool odd_bool;
	int empty[0];

	a.next = &b;
	*flexible = (struct flexible){3};
	flexible->items[0] = 1, flexible->items[1] = 2, flexible->items[2] = 3;
	memset(&odd_bool, 7, 1);
	use_pointer(&packed), use_pointer(&unnamed), use_pointer(&b), use_pointer(&local);
	use_pointer(&none), use_pointer(&several), use_pointer(&odd), use_pointer(&level);
	use_pointer(&beyond), use_pointer(&yes), use_pointer(&odd_bool), use_pointer(pointers);
	use_pointer(empty);
	DIE();
	use(callback(number) + function(1) + (wrong != 0) + (corrupt != 0) + (wild != 0) + mode);
	return flexible->size;
}

APART int arrays(int count, int rows)
{
	int variable[count];
	short table[rows][count];
	int cube[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
	struct pair pairs[3] = {{1, 2}, {3, 4}, {5, 6}};
	double reals[20] = {1, 2, 3};
	int many[300];
	int *pointer = variable;
	int(*row)[2] = cube[1];
	float complex numbers[2] = {1 + 2 * I, -1};

	for (int i = 0; i < count; i++)
		variable[i] = i * i;
	for (int i = 0; i < rows; i++)
		for (int k = 0; k < count; k++)
			table[i][k] = (short)(i * 10 + k);
	for (int i = 0; i < 300; i++)
		many[i] = i / 20;
	use_pointer(variable), use_pointer(table), use_pointer(cube), use_pointer(pairs);
	use_pointer(reals), use_pointer(many), use_pointer(numbers);
	DIE();
	return *pointer + row[0][1] + variable[count - 1] + table[rows - 1][0];
}

APART __attribute__((target("avx2"))) int vectors(quad four, int number)
{
	eight ints = {1, 2, 3, 4, 5, 6, 7, 8};
	quad doubled = four + four;
	double scalar = number * 0.5;
	eight more;

	ints += number;
	more = ints * 3;
	__asm__ volatile("" : "+x"(ints), "+x"(doubled), "+x"(scalar), "+x"(more));
	DIE();
	__asm__ volatile("" : "+x"(ints), "+x"(doubled), "+x"(scalar), "+x"(more));
	use_real(scalar);
	return ints[7] + (int)doubled[3] + more[0];
}

static inline __attribute__((always_inline)) int inner(int depth, const char *word)
{
	int local = depth * 2;

	{
		int block = local + 1;

		for (unsigned i = 0; i < 3; i++) {
			size_t length = strlen(word) + i;

			if (i == 2)
				DIE();
			use((int)length + block);
		}
	}
	return local;
}

APART int inlined(int number)
{
	int own = inner(number, "word");

	return own + inner(number + 1, "other");
}

static APART int recursive(int left, struct pair *pair)
{
	struct pair next = {pair->first + left, left};
	int below = 0;

	if (left == 0)
		DIE();
	if (left > 0)
		below = recursive(left - 1, &next);
	return below + (int)next.first;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	struct node ring = {&ring, 42};
	struct pair pair = {100 + argc, -200};
	struct mixed mixed = {0.75, 7 + argc, -3};

	switch (n) {
	case 0:
		return narrow(argc + 10, 250, -7, argc > 0);
	case 1:
		return (int)reals(argc + 0.25, 1.5f, argc + 5, 3.25L);
	case 2:
		return (int)spread(pair, mixed, (unsigned __int128)argc << 100 | 5, 1.5 + 2.5 * I);
	case 3:
		return implicit(argc + 20);
	case 4:
		return threads(argc);
	case 5:
		return kept_not(argc + 1, 77, &ring, argc * 1.25);
	case 6:
		return texts("pointed at", (char *)(uintptr_t)0x99);
	case 7:
		return kinds(argc, doubled, M_READ | M_WRITE);
	case 8:
		return arrays(argc + 3, argc);
	case 9:
		return vectors((quad){1, 2, 3, 4.5f}, argc);
	case 10:
		return inlined(argc + 1);
	default:
		return recursive(argc + 1, &pair);
	}
}
