#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Names that mean harm: of the program, its folder, arguments, threads, libraries, sources, spans, watchdogs and notes, with escape
# sequences, ends of lines, and bytes that are no UTF-8. Whatever a command prints is UTF-8 without control characters,
# none of Unicode that turns text or ends lines, and no line is forged.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

bad=$'x\e]0;y\a\nFORGED \xc2\x9b31m \xff\x9b\rFORGED\x7f \u202egnp.exe\u2069 \u2028FORGED'
mkdir "$bad"
cat >"$bad/p$bad.c" <<'SRC'
#include <dlfcn.h>
#include <epitaph.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
static const char bad[] = "x\033]0;y\a\nFORGED \302\23331m \377\233\rFORGED\177 \342\200\256gnp.exe\342\201\251 \342\200\250FORGED";
static __attribute__((noinline)) void work(int n) { if (n) __asm__ volatile(""); }
static void missed(const struct epitaph_miss *miss) { (void)miss; }
static int ready;
static void *other(void *arg)
{
	prctl(PR_SET_NAME, "o\033[1m\nFORGED\377");
	for (int i = 0; i < 3; i++)
		work(i);
	epitaph_note("%s", bad);
	__atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
	for (;;)
		pause();
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	void *library = dlopen(argv[1], RTLD_NOW);
	void (*inside)(int) = library ? (void (*)(int))dlsym(library, "inside") : NULL;

	pthread_create(&thread, NULL, other, NULL);
	while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST))
		usleep(1000);
	prctl(PR_SET_NAME, "m\033[1m\nFORGED\377");
	epitaph_mark_begin(bad);
	epitaph_watchdog_create(bad, 3600000000000, missed);
	for (int i = 0; i < 3; i++)
		work(i);
	inside(3);
	epitaph_note("note %s", bad);
	if (argc > 2)
		creat(argv[2], 0600);
	while (argc > 2)
		pause();
	abort();
}
SRC
echo 'void inside(int n) { if (n) __asm__ volatile(""); }' >l.c
sed -i 's/#include <dlfcn.h>/&\n#include <fcntl.h>/' "$bad/p$bad.c"
"$BIN/epitaph-cc" -g -shared -fPIC l.c -o "$bad/l$bad.so"
"$BIN/epitaph-cc" -g "$bad/p$bad.c" -o "$bad/p$bad" -lpthread -ldl 2>/dev/null
program=$PWD/$bad/p$bad library=$PWD/$bad/l$bad.so
crash "$bad/c$bad" "$program" "$library"
core=$bad/c$bad

cat >look.py <<'END'
import re, sys
for name in "out", "err":
    raw = open(name, "rb").read()
    try:
        text = raw.decode()
    except UnicodeDecodeError as why:
        print(name, why, raw[max(0, why.start - 60):why.end + 20])
        continue
    for line in text.split("\n"):
        if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", line) or line.startswith("FORGED"):
            print(name, ascii(line[:200]))
END
prints() { # COMMAND...: nothing of that kind
	"$EPITAPH" "$@" >out 2>err || true
	[ -s out ] || [ -s err ] || say "$1 prints nothing"
	python3 look.py >found
	[ ! -s found ] || { say "$*" | cat -v; sed 's/^/	/' found; failures=$((failures + 1)); }
}
for words in report 'report --json' 'report --signature' info 'info --json' replay 'replay --merged' 'replay --format=tsv' stats 'stats --spans' \
	'export -f jsonl' 'export -f chrome' 'export -f viztracer' 'export -f collapsed' 'export -f speedscope' 'export -f dot'; do
	# shellcheck disable=SC2086
	prints $words "$core"
done
grep -q 'FORGED' out || say "nothing that was meant to do harm is there"
# Their errors name what was named, and what was not found.
for words in report info replay stats 'export -f jsonl' 'count report' exclude 'budget check' 'exclude --check=nowhere' doctor list; do
	# shellcheck disable=SC2086
	prints $words "$bad/none$bad"
	# shellcheck disable=SC2086
	prints $words "$bad/p$bad.c"
done
prints doctor "$program"
prints diff "$core" "$core"
prints extract -o "$bad/snapshot$bad.core" "$core"
prints info "$bad/snapshot$bad.core"
prints extract -o "$bad/none/$bad" "$core"
prints list "$bad"
prints list --json "$bad"
prints report --sysroot="$bad" --debug-path="$bad" "$core"
prints report --thread="$bad" "$core"
prints "$bad"
prints report "--$bad"
prints report --color="$bad" "$core"
(ulimit -c 0 && exec "$EPITAPH" run -- "$program" "$library") >out 2>err || true
python3 look.py >found
[ ! -s found ] || { say "run"; cat found; }
# A running one.
"$program" "$library" "$PWD/up" &
running=$!
trap 'kill -9 $running 2>/dev/null || true' EXIT
until [ -e up ]; do sleep 0.05; done
for words in report info replay doctor; do prints $words $running; done
prints control $running status
prints control $running snapshot "$bad/own$bad"
kill -9 $running
# Counts.
EPITAPH_MODE=count EPITAPH_OUTPUT=$bad/counts$bad bash -c 'ulimit -c 0; exec "$@"' - "$program" "$library" >/dev/null 2>&1 || true
for words in 'count report' 'count report --csv' exclude 'info'; do
	# shellcheck disable=SC2086
	prints $words "$bad/counts$bad"
done
prints count diff "$bad/counts$bad" "$bad/counts$bad"
[ $failures -eq 0 ]
