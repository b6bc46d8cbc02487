#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Control flow that compilers and kernels bend: C++20 coroutines, gcc's nested functions, labels and aliases in assembly, a
# vfork child in its parent's memory, exec, threads by the ten thousand. Each has exactly the calls that its source says.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

# tells WANTED PATTERN: the calls of the functions that match are WANTED, "name(" a call, "name)" its return, "name!" left.
tells() {
	local got
	gives 0 "$EPITAPH" replay --format=tsv core
	got=$(awk -F '\t' -v pattern="$2" '$1 ~ /^[BES]$/ && $8 ~ pattern { name = $8; sub(/^flow(_|::)/, "", name); sub(/\(.*/, "", name)
		printf "%s%s%s ", $1 == "S" ? "~" : "", name, $1 == "B" ? "(" : $11 ~ /abandoned/ ? "!" : ")" }' out)
	[ "$got" = "$1 " ] || say "$words: true $1, told $got"
}
build() { # WRAPPER SOURCE FLAGS...
	local wrapper=$1 source=$2
	shift 2
	words="$source $* ${EPITAPH_CC:-}${EPITAPH_CXX:-}"
	"$BIN/$wrapper" -w -g "$@" "$source" -o program -pthread -Wl,--no-warn-execstack
	crash core "$PWD/program"
}

cat >coroutine.cc <<'END'
#include <coroutine>
#include <cstdlib>
#define FLOW __attribute__((noinline))
#define QUIET __attribute__((no_instrument_function, always_inline)) inline
static volatile int sink;
struct task {
	struct promise_type {
		QUIET task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		QUIET std::suspend_always initial_suspend() { return {}; }
		QUIET std::suspend_always final_suspend() noexcept { return {}; }
		QUIET void return_void() {}
		QUIET void unhandled_exception() { abort(); }
	};
	std::coroutine_handle<promise_type> handle;
};
namespace flow {
FLOW void leaf() { sink = sink + 1; }
FLOW void inner() { leaf(); sink = sink + 1; }
FLOW void outer(task t) { t.handle.resume(); sink = sink + 1; }
}
task body() { flow::leaf(); co_await std::suspend_always{}; flow::inner(); co_await std::suspend_always{}; flow::leaf(); }
namespace flow {
FLOW void last() { abort(); }
}
int main() { task a = body(), b = body(); flow::outer(a); flow::outer(b); flow::outer(b); flow::outer(a); flow::last(); }
END
for level in -O0 -O2; do
	want="outer( leaf( leaf) outer) outer( leaf( leaf) outer) outer( inner( leaf( leaf) inner) outer) outer( inner( leaf( leaf) inner) outer) last("
	build epitaph-c++ coroutine.cc -std=c++20 $level
	tells "$want" '^flow::'
	build epitaph-c++ coroutine.cc -std=c++20 $level -epitaph-method=finstrument
	tells "$want" '^flow::'
done

cat >nested.c <<'END'
#include <stdlib.h>
#define FLOW __attribute__((noinline))
static volatile int sink;
FLOW static void flow_each(void (*f)(int)) { f(1); f(2); sink++; }
FLOW static void flow_outer(int n)
{
	int sum = 0;
	FLOW void flow_add(int x) { sum += x * n; sink = sum; }
	flow_each(flow_add);
	flow_add(3);
	sink = sum;
}
FLOW static void flow_labelled(void)
{
	__asm__ volatile(".globl flow_inside\nflow_inside:\n\tnop\n\t.globl flow_too\nflow_too:");
	sink++;
}
FLOW void flow_real(void) { sink++; }
void flow_other(void) __attribute__((alias("flow_real")));
FLOW static void flow_last(void) { abort(); }
int main(void) { flow_outer(2); flow_labelled(); flow_other(); flow_last(); }
END
for method in pg finstrument; do
	for level in -O0 -O1; do
		build epitaph-cc nested.c $level -epitaph-method=$method -fno-ipa-icf
		gives 0 "$EPITAPH" replay --format=tsv core
		# The compiler numbers nested functions; an alias may give its name to what it stands for.
		got=$(awk -F '\t' '$1 ~ /^[BES]$/ && $8 ~ /^flow_/ { sub(/\.[0-9]+$/, "", $8); sub(/other/, "real", $8); sub(/^flow_/, "", $8)
			printf "%s%s ", $8, $1 == "B" ? "(" : $11 ~ /abandoned/ ? "!" : ")" }' out)
		want="outer( each( add( add) add( add) each) add( add) outer) labelled( labelled) real( real) last( "
		[ "$got" = "$want" ] || say "$words: true $want, told $got"
	done
done

cat >vforks.c <<'END'
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define FLOW __attribute__((noinline))
static volatile int sink;
extern char **environ;
FLOW static void flow_leaf(void) { sink++; }
FLOW static void flow_child(void) { flow_leaf(); execl("/bin/true", "true", (char *)0); _exit(1); }
__attribute__((no_instrument_function)) static void child(void)
{
	pid_t pid = vfork();
	if (pid == 0)
		flow_child();
	waitpid(pid, 0, 0);
}
FLOW static void flow_spawn(void)
{
	pid_t pid;
	posix_spawn(&pid, "/bin/true", 0, 0, (char *[]){"true", 0}, environ);
	waitpid(pid, 0, 0);
	sink++;
}
FLOW static void flow_vfork(void) { child(); sink++; }
FLOW static void flow_last(void) { abort(); }
int main(void) { flow_leaf(); flow_vfork(); flow_spawn(); flow_leaf(); flow_last(); }
END
for level in -O0 -O2; do
	for compiler in gcc clang; do
		EPITAPH_CC=$compiler build epitaph-cc vforks.c $level
		tells "leaf( leaf) vfork( child( leaf( leaf) child! vfork) spawn( spawn) leaf( leaf) last(" '^flow_'
	done
done

# exec: a program of its own begins, whose trace is its own.
cat >execs.c <<'END'
#include <stdlib.h>
#include <unistd.h>
#define FLOW __attribute__((noinline))
static volatile int sink;
FLOW static void flow_before(char *self) { sink++; execl(self, self, "again", (char *)0); }
FLOW static void flow_after(void) { abort(); }
int main(int argc, char **argv) { if (argc > 1) flow_after(); flow_before(argv[0]); }
END
build epitaph-cc execs.c -O1
tells "after(" '^flow_'

# Twenty thousand threads, one after the other: the last ones are whole, and none is told twice.
cat >many.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#define FLOW __attribute__((noinline))
static volatile int sink;
FLOW static void flow_leaf(void) { sink++; }
FLOW static void flow_body(void) { flow_leaf(); sink++; }
__attribute__((no_instrument_function)) static void *body(void *p) { flow_body(); return p; }
FLOW static void flow_last(void) { abort(); }
int main(void)
{
	for (int i = 0; i < 20000; i++) {
		pthread_t t;
		if (pthread_create(&t, 0, body, 0))
			return 3;
		pthread_join(t, 0);
	}
	flow_last();
}
END
EPITAPH_MEMORY=16M build epitaph-cc many.c -O1
status=0
"$EPITAPH" replay --format=tsv core >out 2>err || status=$?
[ $status -le 1 ] || say "20,000 threads: status $status"
awk -F '\t' '$8 ~ /^flow_(body|leaf)$/ { calls[$5]++; order[$5] = order[$5] $1 }
	END { for (tid in calls) { n++; if (calls[tid] % 4 || order[tid] !~ /^(BBEE)+$/) bad++ } exit bad || n < 10 }' out ||
	say "20,000 threads: some are not whole"
[ $failures -eq 0 ]
