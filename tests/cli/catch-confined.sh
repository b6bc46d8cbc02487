#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A core that takes over what reads it (tests/programs/possessed.c, preloaded), and all else that may go wrong there: it can do
# nothing but fail, the core goes on whole, the log says why there is no snapshot, and no half of one stays.
# sanitized only
# alone
# timeout: 120
set -euo pipefail
. "$TOP/tests/cli/lib/catch.bash"
printf '@%s\n' "$socket" >$pattern_file 2>/dev/null || { echo "the kernel sends no cores to sockets (Linux before 6.16)"; exit 77; }
printf '%s\n' "$pattern_before" >$pattern_file
gcc -O1 -shared -fPIC -w "$TOP/tests/programs/possessed.c" -o demon.so -ldl
export DEMON=$room/demon
user=(setpriv --reuid=65533 --regid=65533 --clear-groups)

# A server with the demon in it: the same processes and rights as the kernel's own, which starts it with no environment.
LD_PRELOAD=$room/demon.so start
possessed() { # WORD [COMMAND...]: a crash under that demon; its core is in here
	echo "$1 $room/trace" >demon
	shift
	rm -f trace "$store/log"
	dies null "$@"
}
core_is_whole() { # NAME: it has all that its program headers promise
	local offset size last=0
	[ -f here/core ] || { cat "$store/log" || true; fail "$1: no core"; }
	while read -r _ offset _ _ size _; do ((last = offset + size > last ? offset + size : last)); done < <(readelf -lW here/core | grep -w LOAD)
	[ $last -gt 100000 ] && [ "$(stat -c %s here/core)" = $last ] || { ls -l here; cat "$store/log" || true; fail "$1: of $last bytes"; }
}
nothing_stays() { # NAME WORDS-IN-THE-LOG
	[ ! -e trace ] || fail "$1: it did ($(stat -c %u trace))"
	[ -z "$snapshot" ] && [ "$(ls "$store" | grep -vcx -e log -e settings -e places)" = 0 ] || fail "$1: left behind: $(ls "$store")"
	grep -q "no snapshot: .*$2" "$store/log" || { cat "$store/log"; fail "$1: the log"; }
}

installed core --listen="$socket" --timeout=2 --max-size=64M
possessed nothing
snapshot_is_of here/core
while read -r demon words; do
	installed core --listen="$socket" --timeout=2 --max-size=64M
	possessed "$demon" "${user[@]}"
	core_is_whole "$demon"
	nothing_stays "$demon" "$words"
done <<END
run SIGSYS
rise SIGSYS
code SIGSYS
kill SIGSYS
signal SIGSYS
fault SIGSEGV
fill SIGXFSZ
eat SIGSEGV
hoard SIGSYS
END
# What a library may look for is refused, and what is there without it is taken.
for demon in write connect; do
	installed core --listen="$socket"
	possessed "$demon" "${user[@]}"
	core_is_whole "$demon"
	[ ! -e trace ] || fail "$demon: it did"
done

# Its rights while it runs, of each kind of user; stopped by whom it belongs to, it is ended by who waits for it.
# Whatever else crashes meanwhile has a reader as well, by the same server.
reader() { # USER: it is one of his
	local pid
	for pid in $(pgrep -u "$1" -f "catch --listen=$socket"); do
		grep -q '^Seccomp:.2' "/proc/$pid/status" && echo "$pid" >pids && return 0
	done
	return 1
}
for who in 0 65533; do
	wanted=$((who ? who : 65534))
	installed core --listen="$socket" --timeout=5 # while it is looked at
	echo "wait" >demon
	rm -rf here && mkdir -m 777 here
	(cd here && ulimit -c unlimited && exec setpriv --reuid=$who --regid=$who --clear-groups ../deaths null) >/dev/null 2>&1 &
	crashed=$!
	soon reader $wanted || { ps -eo pid,ppid,uid,stat,etime,args; cat "$store/log" || true; fail "no reader of user $wanted"; }
	pid=$(cat pids)
	for line in "Uid:.$wanted.$wanted.$wanted.$wanted" "Gid:.$wanted.$wanted.$wanted.$wanted" 'Groups:. *' 'CapPrm:.0*' 'CapEff:.0*' \
		'CapInh:.0*' 'NoNewPrivs:.1' 'Seccomp:.2'; do
		grep -qx "$line" "/proc/$pid/status" || { cat "/proc/$pid/status"; fail "the reader of $who: no $line"; }
	done
	for line in 'processes 0 0' 'core file size 0 0' 'address space 1073741824 1073741824'; do
		sed 's/^Max //; s/  */ /g' "/proc/$pid/limits" | grep -q "^$line " || { cat "/proc/$pid/limits"; fail "$line"; }
	done
	for fd in "/proc/$pid/fd"/*; do # what it can write to
		name=$(readlink "$fd") flags=$(awk '/^flags:/ { print $2 }' "/proc/$pid/fdinfo/${fd##*/}")
		[ "${flags: -1}" = 0 ] && [[ $name != socket:* ]] || echo "$name"
	done | sed 's/pipe:.*/a pipe/; s/.*(deleted)/a file/' | sort | uniq -c | sed 's/^ *//' >writes
	[ "$(grep -v /dev/null writes)" = $'2 a file\n1 a pipe' ] || { cat writes; fail "the reader of $who can write to"; }
	setpriv --reuid=$wanted --regid=$wanted --clear-groups kill -STOP "$pid"
	soon test -f here/core && soon core_is_whole "stopped"
	[ -d "/proc/$pid" ] || fail "the core waited for the reader"
	wait $crashed || true
	snapshot=$(compgen -G "$store/*.core" || true)
	nothing_stays stopped 'more than 5 seconds'
	[ ! -e "/proc/$pid" ] || { cat "/proc/$pid/status"; fail "the stopped reader of $who lives on"; }
done

# The forwarder, too, has the user's ids: the user who stops it does not keep its place among the handlers.
installed core --listen="$socket" --timeout=2
echo hold >demon
rm -rf here && mkdir -m 777 here
(cd here && ulimit -c unlimited && exec "${user[@]}" ../deaths null) >/dev/null 2>&1 &
crashed=$!
forwarder() { pgrep -u 65533 -f "catch --listen=$socket" >pids; }
soon forwarder || fail "no forwarder"
"${user[@]}" kill -STOP "$(tail -n 1 pids)"
! "${user[@]}" ls "/proc/$(tail -n 1 pids)/fd" >said 2>&1 || fail "the user may trace it: $(cat said)"
begun=$SECONDS
wait $crashed || true
[ $((SECONDS - begun)) -lt 20 ] || fail "a stopped forwarder keeps the process"
grep -q 'nothing moved for 2 seconds' "$store/log" || { cat "$store/log"; fail "a stopped forwarder is not in the log"; }
stop

# Headers and notes that no pipe holds at once: 400 threads, 6000 mappings.
cat >many.c <<'SRC'
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
static void *stays(void *unused) { for (;;) pause(); return unused; }
int main(void)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < 400; i++)
		pthread_create(&thread, &small, stays, 0);
	for (int i = 0; i < 6000; i++)
		*(char *)mmap((void *)(0x300000000000 + i * 8192L), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) = 1;
	*(volatile int *)0 = 1;
}
SRC
"$BIN/epitaph-cc" -O1 many.c -o deaths.many -lpthread
unset DEMON
start
installed core --listen="$socket"
rm -rf here && mkdir -m 777 here
(cd here && ulimit -c unlimited && exec "${user[@]}" ../deaths.many) >/dev/null 2>&1 || true
core_is_whole "400 threads"
snapshot=$(ls "$store"/deaths.many.*.core)
snapshot_is_of here/core
stop

# An arena in a file, which the reader has by its mapping and not by its name.
start
installed core --listen="$socket"
dies null env EPITAPH_FILE="$room/arena.%p"
[ -n "$snapshot" ] || { cat "$store/log"; fail "no snapshot of an arena in a file"; }
rm "$room"/arena.*
"$EPITAPH" replay "$snapshot" >page 2>&1 || [ $? -eq 1 ]
grep -q main page || { cat page; fail "no trace of an arena in a file"; }
stop

# No room: where temporary files are, and in the store.
start unshare -m bash -c 'mount -t tmpfs -o size=4k full /var/tmp && exec "$@"' -
installed core --listen="$socket"
dies null
core_is_whole "/var/tmp is full"
snapshot_is_of here/core
stop
start unshare -m bash -c 'cp store/settings . && mount -t tmpfs -o size=64k,mode=755 full store && cp settings store &&
	{ head -c 100k /dev/zero >store/full 2>/dev/null || exec "$@"; }' -
rm -f "$store"/*.core
dies null
core_is_whole "the store is full"
stop
