#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that has more rights than who starts it (set-uid, file capabilities) takes no settings from him but "do not record",
# and hands none on to what it starts; nor can he make it write a snapshot, by any signal.
set -euo pipefail
fail() { echo "$*"; exit 1; }
[ "$(id -u)" -eq 0 ] || { echo "only root makes set-uid programs"; exit 77; }
if findmnt -no OPTIONS -T . | grep -w nosuid >/dev/null; then # the bits mean nothing in such a /tmp
	here=$(mktemp -d "$BUILD/setuid.XXXXXX")
	trap 'rm -rf "$here"' EXIT
	cd "$here"
fi
user=(setpriv --reuid=65533 --regid=65533 --clear-groups)
chmod 755 .
mkdir -m 777 here

cat >privileges.c <<'SRC'
#define _GNU_SOURCE
#include <epitaph.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static __attribute__((noinline)) int work(int n) { __asm__ volatile(""); return n + 1; }
static void missed(const struct epitaph_miss *miss) { (void)miss; puts("missed"); fflush(stdout); }
int main(int argc, char **argv, char **envp)
{
	for (int i = 0; i < 1000; i++)
		work(i);
	if (argc == 1)
		return 0;
	if (!strcmp(argv[1], "dies"))
		raise(SIGSEGV);
	if (!strcmp(argv[1], "says"))
		for (; *envp; envp++)
			if (strstr(*envp, "EPITAPH") || strstr(*envp, "OTHER"))
				puts(*envp);
	if (!strcmp(argv[1], "execs")) { /* its rights are its own now */
		if (setresgid(getegid(), getegid(), getegid()) || setresuid(geteuid(), geteuid(), geteuid()))
			return 9;
		execv(argv[2], argv + 2);
	}
	if (!strcmp(argv[1], "waits")) {
		struct epitaph_watchdog *dog = epitaph_watchdog_create("dog", UINT64_C(3600000000000), missed);
		epitaph_watchdog_feed(dog);
		puts("ready");
		fflush(stdout);
		getchar();
	}
	return 0;
}
SRC
"$BIN/epitaph-cc" -O1 privileges.c -o own
"$BIN/epitaph-cc" -O1 -static privileges.c -o own-static
"$BIN/epitaph-cc" -O1 -epitaph-runtime=shared privileges.c -o own-shared
gcc -O1 -D_GNU_SOURCE -x c -o forge - <<'SRC'
/* forge PID SIGNAL VALUE: as if the process itself had sent it (sigqueue(3)). */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	siginfo_t info = {.si_signo = atoi(argv[2]), .si_code = SI_QUEUE};
	info.si_pid = atoi(argv[1]);
	info.si_value.sival_int = strtol(argv[3], NULL, 0);
	return syscall(SYS_rt_sigqueueinfo, atoi(argv[1]), atoi(argv[2]), &info) != 0;
}
SRC
for build in '' -static -shared; do
	cp own$build suid$build && chmod 4755 suid$build
	cp own$build sgid$build && chgrp 65500 sgid$build && chmod 2755 sgid$build
	cp own$build caps$build
done
# cap_net_raw=ep (linux/capability.h: VFS_CAP_REVISION_2)
python3 -c 'import os, struct
for build in "", "-static", "-shared":
    os.setxattr("caps" + build, "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0))'
names=$("$BIN/epitaph" help --settings | sed -n 's/^| `\(EPITAPH[A-Z_]*\)`.*/\1/p')
[ "$(wc -w <<<"$names")" -ge 18 ] || fail "the table of settings is not found: $names"

# Each setting: what makes no sense is named by a program of the user's own, and not even read by one with rights. Of a file's
# name nothing is nonsense: see below.
for name in $names; do
	[[ $name != @(EPITAPH_OUTPUT|EPITAPH_FILE) ]] || continue
	(cd here && "${user[@]}" env "$name=nonsense" ../own) 2>said >&2
	grep -q "epitaph: $name=nonsense" said || fail "$name is no setting of the user's own: $(cat said)"
	for program in {suid,sgid,caps}{,-static,-shared}; do
		(cd here && "${user[@]}" env "$name=nonsense" ../$program) >said 2>&1
		[ ! -s said ] || fail "$program reads $name: $(cat said)"
	done
done

# What they would do: nothing is written, anywhere.
made() { find here /dev/shm -newer began -name '*evil*' -o -newer began -path 'here/*'; }
touch began
for program in {suid,sgid,caps}{,-static,-shared}; do
	for setting in EPITAPH_MODE=count EPITAPH_ON_CRASH=snapshot EPITAPH_FILE=here/evil EPITAPH_FILE=/dev/shm/evil.%p 'EPITAPH_SCHED=ftrace,perf'; do
		for does in '' dies; do
			(ulimit -c 0; cd here && exec "${user[@]}" env "$setting" EPITAPH_OUTPUT=evil ../$program $does) >said 2>&1 || true
			[ ! -s said ] && [ -z "$(made)" ] || fail "$program $does under $setting: $(cat said) $(made)"
		done
	done
done
# The user's own do (or the test is none).
(cd here && "${user[@]}" env EPITAPH_MODE=count EPITAPH_OUTPUT=evil ../own)
[ -s here/evil ] || fail "no counts of the user's own"
rm here/evil

# What it starts, with its rights as its own, inherits nothing; but the wish not to be recorded, and what is not ours.
for program in {suid,caps}{,-static,-shared}; do
	(cd here && "${user[@]}" env EPITAPH=off EPITAPH_MODE=count EPITAPH_OUTPUT=evil OTHER=1 ../$program says) >said
	[ "$(cat said)" = $'EPITAPH=off\nOTHER=1' ] || fail "$program keeps $(cat said)"
	(cd here && "${user[@]}" env EPITAPH_MODE=count EPITAPH_OUTPUT=evil ../$program execs ../own)
	[ -z "$(made)" ] || fail "$program hands on: $(made)"
done
(cd here && "${user[@]}" env EPITAPH=on ../suid says) >said
[ ! -s said ] || fail "EPITAPH=on stays"

# Signals: the user may send any, with any sender's name in it. That of a watchdog's miss, forged, and SIGTRAP.
mkfifo go
for signal in forged TRAP; do
	(cd here && exec "${user[@]}" ../suid waits <../go) >said 2>&1 &
	waiting=$!
	exec 5>go
	for ((i = 0; i < 100; i++)); do grep -q ready said && break || sleep 0.05; done
	caught=$((16#$(awk '/^SigCgt:/ { print $2 }' "/proc/$waiting/status")))
	for number in {34..64}; do
		((caught >> (number - 1) & 1)) || continue
		[ $signal = TRAP ] || "${user[@]}" ./forge $waiting "$number" 0x20000 || fail "not sent"
		[ $signal = forged ] || kill -TRAP $waiting
	done
	[ $signal = TRAP ] || echo >&5
	exec 5>&-
	status=0
	wait $waiting || status=$?
	[ "$(cat said)" = ready ] || fail "$signal: a watchdog of an hour: $(cat said)"
	[ $signal = TRAP ] || [ $status -eq 0 ] || fail "$signal: $status"
	[ -z "$(made)" ] || fail "$signal: $(made)"
done
