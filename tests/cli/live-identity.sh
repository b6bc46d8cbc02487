#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The process that is looked at is the one that is written to. Between the last look and the first write of `control PID on` the
# process gives its pid away: it ends and another process gets the number, or it starts a program with more rights, while a
# sibling keeps its memory. Nothing is written to who has the number then, and the command fails.
# nothing crashes
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
unset EPITAPH # to a traced program it is on or off
jobs=
trap 'kill -9 $jobs 2>/dev/null || true' EXIT
trap 'exit 1' INT TERM

"$BIN/epitaph-cc" -O1 -I "$TOP" "$TOP/tests/programs/identity.c" -o identity
cat >between.c <<'C'
/* The first write to another process waits until the file `given` is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
static void between(void)
{
	static int once;
	if (once++)
		return;
	close(open("stopped", O_CREAT | O_WRONLY, 0666));
	while (access("given", F_OK))
		usleep(1000);
}
ssize_t process_vm_writev(pid_t pid, const struct iovec *l, unsigned long n, const struct iovec *r, unsigned long m, unsigned long f)
{
	between();
	return ((ssize_t (*)(pid_t, const struct iovec *, unsigned long, const struct iovec *, unsigned long, unsigned long))dlsym(
		RTLD_NEXT, "process_vm_writev"))(pid, l, n, r, m, f);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
	between();
	return ((ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite"))(fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at)
{
	return pwrite(fd, bytes, size, at);
}
C
gcc -O1 -shared -fPIC between.c -o between.so -ldl
cat >victim.c <<'C'
/* At the address where the other one had its table; prints whether somebody wrote there. */
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	unsigned char *page = mmap((void *)0x7e0000000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	int whole = 1;
	memset(page, 0xff, 4096);
	fclose(fopen("given", "w"));
	while (access("over", F_OK))
		usleep(1000);
	for (int i = 0; i < 4096; i++)
		whole &= page[i] == 0xff;
	puts(whole ? "whole" : "written to");
	return 0;
}
C
gcc -O1 victim.c -o victim

cat >attack.sh <<'B'
# attack.sh exec|number: `verdict` has what the victim says, `status` and `err` are the tool's.
set -euo pipefail
rm -f stopped given over verdict in out
mkfifo in out
exec 7<>in 8<>out
if [ "$1" = exec ]; then ./identity ./victim <&7 >&8 & else ./identity <&7 >&8 & fi
pid=$!
read -r sibling <&8
trap 'kill -9 $sibling $pid 2>/dev/null || true; touch given over' EXIT
status=0
{ got=0; LD_PRELOAD=$PWD/between.so timeout -k 1 60 "$BIN/epitaph" control "$pid" on >said 2>err || got=$?; echo $got >status; } &
tool=$!
until [ -e stopped ] || ! kill -0 $tool 2>/dev/null; do sleep 0.01; done
[ -e stopped ] || { echo "it wrote nothing: $(cat said err)"; exit 1; }
echo go >&7
victim=$pid
if [ "$1" = number ]; then
	wait $pid || true
	for _ in 1 2 3 4 5 6 7 8; do
		echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid
		./victim >&8 &
		victim=$!
		[ $victim != $pid ] || break
		kill -9 $victim
		rm -f given
	done
	[ $victim = $pid ] || { echo "the number was not given again"; exit 1; }
fi
wait $tool
touch over
read -r verdict <&8
echo "$verdict" >verdict
wait $victim || true
B

judge() { # HOW
	[ "$(cat verdict)" = whole ] || say "$1: the process that has the number was $(cat verdict)"
	[ "$(cat status)" = 3 ] || say "$1: status $(cat status): $(cat said err)"
	has err 'has started another program'
}

export BIN
bash attack.sh exec
judge exec
if [ "$(id -u)" = 0 ]; then namespace=(unshare); else namespace=(unshare -Ur); fi
if "${namespace[@]}" --fork --pid --mount-proc true 2>/dev/null; then
	"${namespace[@]}" --fork --pid --mount-proc bash attack.sh number
	judge number
fi
[ $failures = 0 ]
