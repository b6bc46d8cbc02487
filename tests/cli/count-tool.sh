# SPDX-License-Identifier: BSD-2-Clause
# epitaph count: as many calls as callgrind counts; libraries that take each other's place; merge and diff; what is refused,
# and what is told to be incomplete.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

calls() { awk -F, -v f="\"$1\"" '$1 == f { n += $3 } END { print n + 0 }' "${2:-out}"; }

# callgrind's calls of the same binary: of each function, over all its callers.
traced counted counted
EPITAPH_SCHED=off valgrind --tool=callgrind --callgrind-out-file=grind --compress-strings=no --compress-pos=no ./counted threads 40 \
	>/dev/null 2>grind.log || { tail -5 grind.log; exit 1; }
EPITAPH_MODE=count EPITAPH_OUTPUT=one.counts ./counted threads 40
gives 0 "$EPITAPH" count report --csv one.counts
for function in in_thread thread once twice before after threads construct; do
	theirs=$(awk -v f="$function" '/^cfn=/ { sub(/^cfn=/, ""); sub(/\x27.*/, ""); name = $0 }
		/^calls=/ { sub(/^calls=/, ""); if (name == f) n += $1 } END { print n + 0 }' grind)
	[ "$(calls $function)" = "$theirs" ] || say "$function: $(calls $function) calls, $theirs by callgrind"
done

# Size, source and raw names.
size=$((16#$(nm -S counted | awk '$4 == "in_thread" { print $2 }')))
grep -q "^\"in_thread\",\"in_thread\",2000,$size,[0-9]*,0,.*counted.c\",[0-9]*$" out || say "in_thread: $(grep in_thread out)"
[ "$(awk -F, '$1 == "\"thread\"" { print $6 }' out)" = 1 ] || say "thread() has a loop: $(grep '"thread"' out)"
gives 0 "$EPITAPH" count report --sort=size --limit=1 one.counts
gives 0 "$EPITAPH" count report --json one.counts
python3 -m json.tool <out >/dev/null || say 'not JSON'
gives 64 "$EPITAPH" count report --sort=x one.counts
gives 2 "$EPITAPH" count report --function=nothing one.counts
gives 0 "$EPITAPH" count report --csv --function=nothing --function=in_thread --function=once -m none -m counted one.counts
[ "$(cut -d, -f1 out | sort | xargs)" = "in_thread once function" ] || say "three --function: $(cat out)"

# Two libraries, one after the other at the same address, one of them twice.
for name in a b; do
	echo "void ${name}_called(void) { __asm__ volatile(\"\"); }" >$name.c
	"$BIN/epitaph-cc" -g -O1 -fPIC -shared $name.c -o lib$name.so
done
cat >opener.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	static const char *const names[] = {"a", "b", "a", "b", "b"};

	for (int i = 0; i < 5; i++) {
		char text[32];
		snprintf(text, sizeof(text), "./lib%s.so", names[i]);
		void *library = dlopen(text, RTLD_NOW);
		snprintf(text, sizeof(text), "%s_called", names[i]);
		void (*called)(void) = (void (*)(void))dlsym(library, text);
		printf("%p\n", (void *)called);
		for (int n = 0; n <= i; n++)
			called();
		dlclose(library);
	}
	return 0;
}
END
"$BIN/epitaph-cc" -g -O1 opener.c -o opener
EPITAPH_MODE=count EPITAPH_OUTPUT=libs.counts ./opener >addresses
[ "$(sort -u addresses | wc -l)" = 1 ] || echo "the libraries lay apart: $(tr '\n' ' ' <addresses)"
gives 0 "$EPITAPH" count report --csv libs.counts
[ "$(calls a_called) $(calls b_called)" = '4 11' ] || say "a and b: $(calls a_called) and $(calls b_called), not 4 and 11"

# Under LD_PRELOAD, where only libraries were built for it.
gcc -g -O1 opener.c -o plain
EPITAPH_MODE=count EPITAPH_OUTPUT=preload.counts LD_PRELOAD="$LIB/libepitaph.so" ./plain >/dev/null
gives 0 "$EPITAPH" count report --csv preload.counts
[ "$(calls a_called) $(calls b_called) $(calls main)" = '4 11 0' ] || say "preloaded: $(cat out)"

# Merging, in any order; the same module elsewhere; comparing.
mkdir elsewhere && cp counted elsewhere/
EPITAPH_MODE=count EPITAPH_OUTPUT=two.counts ./elsewhere/counted
gives 0 "$EPITAPH" count merge -o sum one.counts two.counts
gives 0 "$EPITAPH" count merge -o mus two.counts one.counts
cmp -s sum mus || say 'the order of merging shows'
gives 0 "$EPITAPH" count report --csv sum
[ "$(calls main) $(calls in_thread) $(calls after)" = '2 2000 8' ] || say "the sum: $(cat out)"
[ "$(grep -c '"main"' out)" = 1 ] || say 'one build in two places is two modules'
cp one.counts growing
gives 0 "$EPITAPH" count merge -o growing growing two.counts
cmp -s sum growing || say 'a sum that replaces one of its sources'
gives 3 "$EPITAPH" count merge -o sum one.counts two.counts one.counts
has err 'counted already'
cmp -s sum mus || say 'a refused merge changed the file'
gives 0 "$EPITAPH" count diff sum mus
gives 1 "$EPITAPH" count diff --csv one.counts two.counts
grep -q '^"in_thread","in_thread","counted",2000,0$' out || say "diff: $(cat out)"
! grep -q '"main"' out || say 'diff: main was called as often'

# Another build of the same path: a module of its own, and that is said; another executable is refused.
cp one.counts kept.counts
traced counted counted -fno-omit-frame-pointer
EPITAPH_MODE=count EPITAPH_OUTPUT=other.counts ./counted
gives 1 "$EPITAPH" count report --csv kept.counts other.counts
has err 'several builds'
gives 3 "$EPITAPH" count report -e ./counted kept.counts
has err 'another build'

# Damaged files, and files of something else.
head -c 200 sum >cut
gives 3 "$EPITAPH" count report cut
has err 'cut off'
sed 's/ 2000$/ 2001/' sum >changed
gives 3 "$EPITAPH" count report changed
has err 'was changed'
gives 3 "$EPITAPH" count report "$TOP/README.md"
head -c 20000 one.counts >cut
gives 2 "$EPITAPH" count report cut
has err 'were not saved'
EPITAPH_SIGNAL=USR2 ./counted signal-12 >/dev/null 2>&1 || true
gives 2 "$EPITAPH" count report epitaph.*.core
has err EPITAPH_MODE=count

# Other commands say what it is.
for command in info report replay; do
	"$EPITAPH" $command one.counts >out 2>err || true
	has err 'epitaph count report'
done
"$EPITAPH" info --json one.counts >out 2>err || true
python3 -c 'import json; d = json.load(open("out")); text = json.dumps(d); assert "\"counting\": true" in text' ||
	say "info --json: $(cat out)"

# Two writers of one file: neither is lost, and it is said.
EPITAPH_MODE=count EPITAPH_OUTPUT=both.counts ./counted fork >/dev/null 2>told
has told 'another process of this run'
gives 0 "$EPITAPH" count report --csv both.counts both.counts.2
[ "$(calls in_child) $(calls main)" = '7 1' ] || say "two writers: $(cat out)"
# An earlier run's is replaced.
sleep 0.1
EPITAPH_MODE=count EPITAPH_OUTPUT=both.counts ./counted
gives 0 "$EPITAPH" count report --csv both.counts
[ "$(calls in_child) $(calls main)" = '0 1' ] || say 'an old file stays'
# Nothing but a regular file is ever replaced.
mkfifo pipe
EPITAPH_MODE=count EPITAPH_OUTPUT=pipe ./counted 2>told
has told 'not a regular file'
[ -p pipe ] || say 'a pipe was replaced'

# A device takes nothing and stays what it is, also when there is more to write; calibrate uses that.
EPITAPH_MODE=count EPITAPH_OUTPUT=/dev/null ./counted fork >/dev/null 2>told
[ -s told ] && say "counts into /dev/null: $(cat told)"
[ -c /dev/null ] || say '/dev/null was replaced'

# Too little memory: counted, told, status 1.
{
	printf '#include <fcntl.h>\n#include <unistd.h>\n'
	for i in {1..3000}; do echo "__attribute__((noinline)) void f$i(void) { __asm__ volatile(\".skip 1024, 0x90\"); }"; done
	echo 'int main(int argc, char **argv) {'
	for i in {1..3000}; do echo "f$i();"; done
	echo 'char text[4096]; long n = argc > 1 ? read(open("/proc/self/status", 0), text, sizeof(text)) : 0;'
	echo 'return write(1, text, n) != n; }'
} >many.c
"$BIN/epitaph-cc" -O1 many.c -o many
EPITAPH_MODE=count EPITAPH_MEMORY=1M EPITAPH_OUTPUT=many.counts ./many
gives 1 "$EPITAPH" count report --csv many.counts
has err 'EPITAPH_MEMORY'
lost=$(sed -nE 's/.*\(([0-9]+) calls\).*/\1/p' err)
[ $(($(awk -F, 'NR > 1 { n += $3 } END { print n }' out) + lost)) = 3001 ] || say "lost $lost of 3001: $(wc -l <out) counted"

# Memory in proportion to the code that ran: a page for a KiB of code, and the numbers and counters of 3,001 functions. The
# kernel says the same.
EPITAPH_MODE=count EPITAPH_OUTPUT=all.counts ./many
gives 0 "$EPITAPH" count report --json all.counts
memory=$(python3 -c 'import json; print(json.load(open("out"))["runs"][0]["memory_bytes"] // 1024)')
[ "$memory" -ge 12000 ] && [ "$memory" -le 12600 ] || say "3,000 functions of 1 KiB took $memory KiB"
gives 0 "$EPITAPH" count report --limit=1 all.counts
has out "with $(printf %s "$memory" | sed 's/...$/,&/') KiB of memory"
resident() { # SETTING: of a run of it, what was in memory at its end, KiB
	env "$1" EPITAPH_OUTPUT=rest.counts ./many status | awk '/^VmRSS:/ { print $2 }'
}
took=$(($(resident EPITAPH_MODE=count) - $(resident EPITAPH=off)))
[ $took -gt $((memory * 3 / 4)) ] && [ $took -lt $((memory * 5 / 4 + 1024)) ] || say "it says $memory KiB, the kernel $took"
gives 0 "$EPITAPH" count report --json both.counts
python3 -c 'import json; assert 0 < json.load(open("out"))["runs"][0]["memory_bytes"] < 300000' || say 'a small program takes much'
exit $((failures != 0))
