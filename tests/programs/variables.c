/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * variables.c: dies of a null pointer in die(), which has an argument or a local of each kind; what
 * they hold is used behind the fault, too, so that optimization keeps some of them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum color { RED, GREEN = 5, BLUE };
enum flags { F_A = 1, F_B = 2, F_C = 4 };

struct point {
	int x, y;
};

struct bits {
	unsigned a : 3;
	int b : 5;
	enum color c : 4;
};

union both {
	int number;
	float real;
};

struct list {
	struct list *next;
	const char *name;
	struct point at;
	char tag[8];
};

static int fun(int a)
{
	return a;
}

__attribute__((noinline)) int die(int argc, const char *name, struct list *list, double ratio,
				  enum color color)
{
	int table[4] = {1, 2, 3, 4};
	int zeros[40] = {0};
	char buffer[32] = "hello\n\"w\"";
	struct bits bits = {5, -3, BLUE};
	union both both = {.number = 0x3f800000};
	enum flags flags = F_A | F_C;
	struct list copy = *list;
	float small = 0.5f;
	long long big = -1234567890123;
	unsigned char byte = 200;
	char letter = 'x';
	int (*call)(int) = fun;
	int *wild = (int *)0x1234567;
	void *nothing = NULL;
	int matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
	static int counter = 17;
	const char *bad = (char *)0x99;

	for (int i = 0; i < 3; i++) {
		int square = i * i;

		if (i == 2)
			*(volatile int *)(uintptr_t)argc =
				square + counter + call(i) + table[i] + zeros[i] + buffer[i] +
				bits.a + both.number + (int)flags + copy.at.x + (int)small +
				(int)big + byte + letter + *(char *)&wild + (nothing != 0) +
				matrix[1][i] + (int)ratio + (int)color + name[0] + bad[0] * 0;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct list two = {NULL, "second", {3, 4}, "two"};
	struct list one = {&two, "first", {-1, 2}, "one"};

	return die(argc - 1, "the name", &one, 2.5, GREEN) + (int)strlen(argv[0]);
}
