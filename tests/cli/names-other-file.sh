#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The file that lies at a module's path is another one than ran: without a build-id, with an equal one, of other sizes or with its
# functions in another order, executable and library, core and running process. It is said, nothing is named by it, and nothing is
# claimed of the stack; the right file is believed without a word where it can be proven, and a running process's is had in any case.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
epitaph=$EPITAPH
unset EPITAPH # to a traced program it is on or off
process=
trap '[ -z "$process" ] || kill -9 $process 2>/dev/null || true' EXIT

cat >v1.c <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int charge(int n) { volatile int x = n; return x + 1; }
__attribute__((noinline)) int refund(int n) { volatile int x = n; if (n == 7) *(volatile int *)8 = 1; return x - 1; }
__attribute__((noinline)) int order(int n) { int r = charge(n); r += refund(n); return r; }
#ifndef LIBRARY
int main(int count, char **words)
{
	(void)words;
	int s = 0;
	for (int i = 0; i < (count > 1 ? 6 : 10); i++)
		s += order(i);
	puts("ready");
	fflush(stdout);
	pause();
	return s;
}
#endif
END
{ sed -n '/refund(int n)/p' v1.c | head -1; grep -v '^__attribute__.*refund(int n)' v1.c; } | sed '/^#include/d' |
	sed '1i #include <stdio.h>\n#include <unistd.h>' >swapped.c
{ sed -n 1,2p v1.c; echo '__attribute__((noinline)) int audit(int n) { volatile int x = n; return x * 3; }'; sed -n '3,$p' v1.c; } |
	sed 's/r += refund(n)/r += refund(n) + audit(n)/' >larger.c
build() { # SOURCE OUTPUT FLAGS...
	local source=$1 output=$2
	shift 2
	"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls "$source" "$@" -o "$output"
}
judge() { # WHAT CORE: another file lies there, which is what is said
	"$epitaph" report "$2" >out 2>err || true
	grep -Eq "$3: .*/$3 is not the file that ran" out || { say "$1: not said:"; cat out err; }
	for words in 'stack is overwritten' 'stack overwritten' audit 'a return without a call' 'v1.c' 'larger.c' 'swapped.c' 'frame lost'; do
		! grep -q "$words" out || { say "$1: \"$words\":"; cat out; }
	done
	"$epitaph" replay "$2" >out 2>err || true
	! grep -Eq 'audit|refund|charge' out || { say "$1: names in the replay:"; cat out; }
	grep -q 'is not the file that ran' err || say "$1: replay does not say it"
	# Who insists gets it, with the word.
	"$epitaph" replay --force "$2" >out 2>err || true
	grep -q 'used all the same' err || say "$1: --force"
}

# ---- cores: the program ----
for id in none 0x12345678 0x123456; do
	build v1.c prog -Wl,--build-id=$id
	crash core.$id "$PWD/prog"
	"$epitaph" report core.$id >out 2>err || true
	has out '#0    refund'
	hasnt out 'not the file that ran'
	# That a file without is the one is not proven by a default core.
	if [ $id = none ]; then has out 'no build-id to check'; else hasnt out warnings; fi
	# Nor is it changed by what changes no code.
	cp prog kept
	strip --strip-debug prog
	"$epitaph" report core.$id >out 2>err || true
	has out '#0    refund'
	hasnt out 'not the file that ran'
	for other in larger swapped; do
		build $other.c prog -Wl,--build-id=$id
		judge "$id, $other" core.$id prog
	done
	mv kept prog
done
# A core with all of the code proves it.
build v1.c prog -Wl,--build-id=none
(echo 0x7f >/proc/self/coredump_filter && crash core.whole "$PWD/prog")
gives 0 "$epitaph" report core.whole
has out '#0    refund'
hasnt out 'no build-id'
build swapped.c prog -Wl,--build-id=none
judge "whole" core.whole prog

# ---- a library ----
printf 'int order(int n);\nint main(void) { int s = 0; for (int i = 0; i < 10; i++) s += order(i); return s; }\n' >main.c
for id in none 0x12345678; do
	build v1.c liborder.so -DLIBRARY -fpic -shared -Wl,--build-id=$id
	build main.c shop -L. -lorder -Wl,-rpath,"$PWD"
	crash core.library "$PWD/shop"
	"$epitaph" report core.library >out 2>err || true
	has out '#0    refund'
	for other in larger swapped; do
		build $other.c liborder.so -DLIBRARY -fpic -shared -Wl,--build-id=$id
		judge "library, $id, $other" core.library liborder.so
	done
done

# ---- debug files: of another file with the same build-id; by link with another CRC ----
build v1.c prog -Wl,--build-id=0x12345678
crash core.debug "$PWD/prog"
mkdir -p debug/.build-id/12
objcopy --only-keep-debug prog debug/.build-id/12/345678.debug
strip prog
"$epitaph" report --debug-path=debug core.debug >out 2>err || true
has out 'refund+0x24'
has out 'v1.c'
hasnt out warnings
build larger.c larger -Wl,--build-id=0x12345678
objcopy --only-keep-debug larger debug/.build-id/12/345678.debug
"$epitaph" report --debug-path=debug core.debug >out 2>err || true
has out 'is of another file'
hasnt out larger.c
build v1.c prog -Wl,--build-id=none
crash core.link "$PWD/prog"
objcopy --only-keep-debug prog prog.debug
strip prog
objcopy --add-gnu-debuglink=prog.debug prog
"$epitaph" report core.link >out 2>err || true
has out 'v1.c'
objcopy --only-keep-debug larger prog.debug
"$epitaph" report core.link >out 2>err || true
has out 'CRC of'
hasnt out 'larger.c'

# ---- a running process: its own file, whatever lies at the path ----
begin() { # FILE: a program that waits
	rm -f from && mkfifo from
	"$1" live >from &
	process=$!
	read -r -t 60 line <from
	[ "$line" = ready ] || { say "$1 says $line"; exit 1; }
}
finish() {
	kill "$process"
	wait "$process" 2>/dev/null || true
	process=
}
own() { # WHAT [WRAPPER...]
	local what=$1
	shift
	"$@" "$epitaph" replay "$process" >out 2>err || true
	grep -q 'refund()' out && ! grep -q audit out || { say "$what:"; cat out err; }
	[ ! -s err ] || { say "$what: $(cat err)"; }
}
for id in none sha1; do
	build v1.c prog -Wl,--build-id=$id
	begin "$PWD/prog"
	own "$id, there"
	build larger.c larger -Wl,--build-id=$id
	mv larger prog
	own "$id, renamed over"
	rm prog
	own "$id, deleted"
	# Functions are found by name there, too.
	gives 0 "$epitaph" control "$process" untrace refund
	has out '1 function'
	finish
done
if [ "$(id -u)" -eq 0 ]; then
	# Who may not open map_files has the program by /proc/PID/exe, and a library by its path and inode.
	room=$(mktemp -d "${TMPDIR:-/tmp}/epo.XXXXXX")
	trap '[ -z "$process" ] || kill -9 $process 2>/dev/null || true; rm -rf "$room"' EXIT
	chmod 755 "$room"
	cp ./*.c "$room"
	cd "$room"
	build v1.c liborder.so -DLIBRARY -fpic -shared -Wl,--build-id=none
	{ sed -n 1,2p v1.c; echo 'int order(int n);'; sed -n '/^int main/,/^}/p' v1.c; } >waits.c
	build waits.c shop -L. -lorder -Wl,-rpath,"$room" -Wl,--build-id=none
	chmod 755 shop liborder.so
	rm -f from && mkfifo -m 666 from
	setpriv --reuid=65534 --regid=65534 --clear-groups ./shop live >from &
	process=$!
	read -r -t 60 line <from
	own "another user's" setpriv --reuid=65534 --regid=65534 --clear-groups
	mv shop away
	build larger.c shop -Wl,--build-id=none
	own "another user's, renamed over" setpriv --reuid=65534 --regid=65534 --clear-groups
	finish
fi
exit $((failures > 0))
