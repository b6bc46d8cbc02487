#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# compat/funtrace.h: programs that use each function of the funtrace project's API as its README does build with -I compat, in
# C and in C++, by gcc and clang, with each way of tracing; what they write decodes, and holds what it should.
# sanitized only
# timeout: 600
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
export EPITAPH_TIMESTAMP_EVERY=1

# The header says nothing under the strictest warnings, in no dialect.
printf '#include "funtrace.h"\nint main(void) { return funtrace_time() == 0; }\n' >quiet.c
cp quiet.c quiet.cc
for one in 'gcc -std=c99' 'gcc -std=gnu11' 'clang -std=c11'; do
	$one -Wall -Wextra -Wpedantic -Wstrict-prototypes -Wmissing-prototypes -Werror -I"$TOP/compat" -c quiet.c || say "$one"
done
for one in 'g++ -std=c++98' 'g++ -std=c++20' 'clang++ -std=c++11' 'clang++ -std=c++20'; do
	$one -Wall -Wextra -Wpedantic -Werror -I"$TOP/compat" -c quiet.cc || say "$one"
done

# Keeps the slowest of its requests, as the README's server does.
cat >server.cc <<'END'
#include "funtrace.h"
#include <pthread.h>
#include <thread>

#define NI __attribute__((noinline))

volatile int n;

void NI step() { n = n + 1; }
void NI quick() { step(); n = n + 1; }
void NI slow() { for (int i = 0; i < 40; i++) step(); n = n + 1; }
void NI secret() { n = n + 1; }
void NOFUNTRACE NI hidden() { n = n + 1; }
void NI unseen() { n = n + 1; }
void DOFUNTRACE NI seen() { n = n + 1; }

struct Server {
	funtrace_snapshot *snapshot = nullptr;
	uint64_t slowest = 0;

	void NI request(int number)
	{
		uint64_t start = funtrace_time();
		uint64_t end;

		if (number == 700)
			slow();
		else
			quick();
		/* Not by the clock, which others share: it is the 701st. */
		end = number == 700 ? start + funtrace_ticks_per_second() : start + 1;
		if (end - start > slowest) {
			funtrace_free_snapshot(snapshot);
			snapshot = funtrace_pause_and_get_snapshot_starting_at_time(start);
			slowest = end - start;
		}
	}
	NOFUNTRACE ~Server()
	{
		funtrace_write_snapshot("slowest.raw", snapshot);
		funtrace_free_snapshot(snapshot);
	}
};

int main()
{
	{
		Server server;

		for (int i = 0; i < 1000; i++)
			server.request(i);
	}
	std::thread([] {
		pthread_setname_np(pthread_self(), "small");
		funtrace_set_thread_log_buf_size(5 + 4);
		for (int i = 0; i < 2000; i++)
			quick();
		seen();
	}).join();
	std::thread([] {
		pthread_setname_np(pthread_self(), "ignored");
		funtrace_ignore_this_thread();
		secret();
	}).join();
	std::thread([] {
		pthread_setname_np(pthread_self(), "none");
		funtrace_set_thread_log_buf_size(4);
		secret();
	}).join();
	hidden();
	funtrace_disable_tracing();
	funtrace_disable_tracing();
	unseen();
	funtrace_enable_tracing();
	seen();
	funtrace_enable_tracing();

	funtrace_snapshot *all = funtrace_pause_and_get_snapshot();
	funtrace_snapshot *recent = funtrace_pause_and_get_snapshot_up_to_age(funtrace_ticks_per_second() / 1000000);
	funtrace_snapshot *ages = funtrace_pause_and_get_snapshot_up_to_age(UINT64_MAX);
	funtrace_procmaps *maps = funtrace_get_procmaps();

	if (!all || !recent || !ages || !maps)
		return 1;
	funtrace_write_saved_snapshot("all.raw", maps, all);
	funtrace_write_snapshot("recent.raw", recent);
	funtrace_free_snapshot(recent);
	funtrace_free_snapshot(all);
	funtrace_free_snapshot(ages);
	funtrace_free_procmaps(maps);
	funtrace_free_snapshot(nullptr);

	/* Nothing of these may write past its end: funtrace.raw, then numbers. */
	for (int i = 0; i < 12; i++)
		funtrace_pause_and_write_current_snapshot();
	quick();
	funtrace_pause_and_write_current_snapshot();
	return 0;
}
END

cat >plain.c <<'END'
#include "funtrace.h"

void other(void);
volatile int n;

__attribute__((noinline)) void f(void) { n++; }
__attribute__((noinline)) void g(void) { f(); n++; f(); n++; }

int main(void)
{
	uint64_t start = funtrace_time();
	funtrace_snapshot *snapshot;

	g();
	snapshot = funtrace_pause_and_get_snapshot_starting_at_time(start);
	funtrace_write_snapshot("c.raw", snapshot);
	funtrace_free_snapshot(snapshot);
	funtrace_disable_tracing();
	other();
	f();
	funtrace_pause_and_write_current_snapshot();
	return 0;
}
END
# Another file of the program: the state is one.
cat >other.c <<'END'
#include "funtrace.h"

static volatile int n;
static __attribute__((noinline)) void unseen(void) { n++; }
static __attribute__((noinline)) void seen(void) { n++; }
void other(void);
void other(void)
{
	unseen();
	funtrace_enable_tracing();
	seen();
}
END

replays() { # FILE: into the file out; times may be approximate, names not
	"$EPITAPH" replay "$1" >out 2>err || [ $? -eq 1 ] || say "$1: replay fails: $(cat err)"
}

check_server() {
	local file
	rm -f ./*.raw && ./server || say "$how: server ended with $?"
	replays slowest.raw
	has out 'slow()'
	[ "$(grep -c 'step()' out)" -ge 40 ] || say "$how: not all of the slowest request"
	replays all.raw
	hasnt out 'secret()'
	hasnt out 'hidden()'
	hasnt out 'unseen()'
	[ "$(grep -c 'seen()' out)" -eq 2 ] || say "$how: seen() twice: in the small thread, and enabled again"
	"$EPITAPH" info --json all.raw >info.json
	python3 - <<-'PY' || say "$how: threads are not as they were set"
	import json
	info = json.load(open("info.json"))
	threads = {t["name"]: t for t in info["threads"]}
	assert threads["ignored"]["state"] == threads["none"]["state"] == "ended", threads
	assert threads["small"]["blocks"] <= 2, threads
	PY
	replays recent.raw
	[ "$(wc -l <out)" -lt "$("$EPITAPH" replay all.raw 2>err | wc -l)" ] || say "$how: a microsecond is all there is"
	for file in funtrace.raw funtrace.{1..12}.raw; do
		[ -s "$file" ] || say "$how: no $file"
	done
	[ "$(find . -name '*.raw' | wc -l)" -eq 16 ] || say "$how: $(find . -name '*.raw')"
	replays funtrace.12.raw
	has out 'quick()'
	# Two snapshots, each a core that others read.
	readelf -h funtrace.raw | grep 'CORE' >/dev/null || say "$how: funtrace.raw is no ELF core"
}

check_plain() {
	rm -f ./*.raw && ./plain || say "$how: plain ended with $?"
	replays c.raw
	[ "$(grep -c 'f()' out)" -eq 2 ] || { say "$how: g calls f twice:"; cat out; }
	replays funtrace.raw
	has out ' seen()'
	hasnt out 'unseen()'
	[ "$(grep -c ' f()' out)" -eq 3 ] || say "$how: f is called once more"
}

for how in 'gcc -O0' 'gcc -O2' 'gcc -O2 -epitaph-method=finstrument' 'gcc -O2 -epitaph-runtime=shared' 'clang -O0' 'clang -O2' \
	'clang -O2 -epitaph-method=finstrument'; do
	flags=${how#* }
	case $how in clang*) export EPITAPH_CC=clang EPITAPH_CXX=clang++ ;; *) unset EPITAPH_CC EPITAPH_CXX ;; esac
	# shellcheck disable=SC2086
	"$BIN/epitaph-c++" -g $flags -pthread -I"$TOP/compat" server.cc -o server
	# shellcheck disable=SC2086
	"$BIN/epitaph-cc" -g $flags -I"$TOP/compat" plain.c other.c -o plain
	check_server
	check_plain
done

# With no room to keep anything there are no snapshots, which the program sees, and nothing breaks.
EPITAPH_KEEP=0 ./server >out 2>&1 && status=0 || status=$?
[ $status -eq 1 ] || say "without room: the program ended with $status, not 1"
exit $((failures != 0))
