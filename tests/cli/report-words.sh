#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The report's first lines have what the program itself said (glibc's last words, the type of an exception that nobody caught) and
# the instruction that failed, which is gdb's; from the core, a snapshot of it, dynamic and static, gcc and clang.
# sanitized only
set -euo pipefail
. "$TOP/tests/cli/lib/core.bash"

report() { # FILE
	"$EPITAPH" report "$1" >report || [ $? -eq 1 ]
}

wants() { # WHAT WORDS
	grep -qF -- "$2" report || { cat report; fail "$1: no \"$2\""; }
}

lacks() { # WHAT WORDS
	! grep -qF -- "$2" report || { cat report; fail "$1: \"$2\""; }
}

cat >said.c <<'END'
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void smash(const char *text)
{
	char small[8];

	strcpy(small, text);
	__asm__ volatile("" : : "r"(small) : "memory");
}

struct thing { char before[24]; int value; };

int main(int count, char **words)
{
	struct thing *volatile none = NULL;
	void *volatile block = malloc(100);
	volatile int zero = count - 2;

	(void)count;
	switch (atoi(words[1])) {
	case 1:
		assert(!"the moon is cheese");
		break;
	case 2:
		free(block);
		free(block);
		break;
	case 3:
		smash("far more than eight bytes, up to the return address and beyond");
		break;
	case 4:
		abort();
	case 5:
		return none->value;
	case 6:
		return count / zero;
	case 7:
		__builtin_trap();
	}
	return 0;
}
END

# What each prints on stderr is what is wanted of the report.
for link in '' -static; do
	# shellcheck disable=SC2086
	"$BIN/epitaph-cc" -O1 -w -fstack-protector-all $link said.c -o said
	for way in 1 2 3; do
		crash 134 ./said $way
		words=$(tail -n 1 stderr)
		[ -n "$words" ] || fail "way $way says nothing here"
		report core
		wants "way $way $link" "abort message $words"
		rm -f small
		"$EPITAPH" extract -q -o small core
		report small
		wants "snapshot of way $way $link" "abort message $words"
	done
done
crash 134 ./said 4
report core
lacks "abort()" "abort message"

# The instruction: libcapstone's words, gdb's address and bytes.
"$BIN/epitaph-cc" -O1 -w said.c -o said
for way in 5 6 7; do
	status=139
	[ $way -eq 6 ] && status=136
	[ $way -eq 7 ] && status=132
	crash $status ./said $way
	report core
	# "=> 0x55… <main+70>:	mov    0x18(%rax),%eax": with another width suffix and blanks.
	gdb -nx -batch -iex 'set debuginfod enabled off' -ex 'x/i $pc' ./said core 2>/dev/null | grep '^=>' >gdb
	address=$(sed -E 's/^=> (0x[0-9a-f]+).*/\1/' gdb)
	mnemonic=$(sed -E 's/.*:\t([a-z0-9]+).*/\1/' gdb)
	operands=$(sed -nE 's/.*:\t[a-z0-9]+ +(.*)/\1/p' gdb | sed 's/,/, /g')
	line=$(grep "^at " report) || { cat report; fail "way $way: no instruction"; }
	[[ $line == *"$address: $mnemonic"* && $line == *"$operands"* ]] || { cat gdb; fail "way $way: $line"; }
done
crash 139 ./said 5
report core
register=$(sed -nE 's/^at .*0x18\(%([a-z0-9]+)\).*/\1/p' report)
wants "way 5" "($register 0x0)"

cat >thrown.cc <<'END'
#include <cstdlib>
#include <stdexcept>

struct mine : std::runtime_error { using runtime_error::runtime_error; };

#define KEPT __attribute__((noinline))
KEPT void deep(int way)
{
	if (way == 1 || way == 3)
		throw mine("no more");
	if (way == 2 || way == 9)
		throw 7;
	if (way >= 4)
		abort();
}
KEPT void again(int way)
{
	try {
		deep(way);
	} catch (int) {
		throw;
	}
}
KEPT void quiet(int way) noexcept { again(way); }

int main(int, char **words)
{
	int way = atoi(words[1]);

	try {
		deep(9);
	} catch (int) {
	}
	if (way == 3)
		quiet(way);
	again(way);
}
END
for compiler in g++ clang++; do
	for link in '' -static; do
		# shellcheck disable=SC2086
		EPITAPH_CXX=$compiler "$BIN/epitaph-c++" -O1 $link thrown.cc -o thrown
		for way in 1 2 3; do
			crash 134 ./thrown $way
			report core
			type=mine
			[ $way -ne 2 ] || type=int
			wants "$compiler $link $way" "uncaught   exception of type $type, thrown in"
		done
		# An exception that was caught before is not what killed it.
		crash 134 ./thrown 4
		report core
		lacks "$compiler $link 4" "uncaught   exception"
	done
done
