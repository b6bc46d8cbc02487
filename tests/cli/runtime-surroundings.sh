#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The runtime in unfriendly places: no privileges, little memory, no /proc, a system call filter, sanitizers, valgrind, set-uid,
# children that nobody wanted to trace. The program's output and exit status stay its own; stderr stays empty.
set -euo pipefail

cat >main.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "epitaph.h"
static int calls;
__attribute__((noinline)) static int work(int n) { return n ? work(n - 1) + 1 : calls++; }
int main(int argc, char **argv)
{
	int status = 0;
	for (int i = 0; i < 2000; i++)
		work(20);
	if (argc > 1 && epitaph_snapshot_write(strcmp(argv[1], "-") ? argv[1] : NULL))
		return 9;
	if (!fork()) {
		work(20);
		_exit(5);
	}
	wait(&status);
	printf("%d %d\n", calls, WEXITSTATUS(status));
	return 3;
}
END
for compiler in gcc clang; do
	EPITAPH_CC=$compiler "$BIN/epitaph-cc" -O1 -g main.c -o $compiler
	EPITAPH_CC=$compiler "$BIN/epitaph-cc" -O1 -g main.c -o $compiler-static -static
	EPITAPH_CC=$compiler "$BIN/epitaph-cc" -O1 -g main.c -o $compiler-nopie -no-pie -fno-pie
	EPITAPH_CC=$compiler "$BIN/epitaph-cc" -O1 -g main.c -o $compiler-pie -fPIE -static-pie
	EPITAPH_CC=$compiler "$BIN/epitaph-cc" -O1 -g main.c -o $compiler-asan -fsanitize=address,undefined
done
EPITAPH_CC=gcc "$BIN/epitaph-cc" -O1 -g main.c -o gcc-shared -epitaph-runtime=shared
EPITAPH_CC=gcc "$BIN/epitaph-cc" -O1 -g main.c -o gcc-tsan -fsanitize=thread

undisturbed() { # WORDS COMMAND...: says what it always says
	local words=$1 status=0 said
	shift
	said=$("$@" 2>err) || status=$?
	if [ "$said" != "2000 5" ] || [ $status -ne 3 ] || [ -s err ]; then
		echo "$words: status $status, said '$said', stderr:"
		cat err
		exit 1
	fi
}

for program in gcc clang {gcc,clang}-{static,nopie,pie,asan} gcc-shared gcc-tsan; do
	undisturbed "$program" ./$program
	rm -f s.core
	undisturbed "$program, snapshot" ./$program s.core
	[ -s s.core ]
	undisturbed "$program, paused" env EPITAPH=off ./$program
	case $program in *san) continue ;; esac # they reserve terabytes
	for limit in 20000 60000 200000; do
		undisturbed "$program, $limit KiB" bash -c "ulimit -v $limit; exec ./$program"
	done
done
undisturbed "no environment" env -i ./gcc
undisturbed "no descriptors left" bash -c 'ulimit -n 3; exec ./gcc-static'
undisturbed "no files may be written" bash -c 'trap "" XFSZ; ulimit -f 0; exec ./gcc'
undisturbed "stdin closed" bash -c 'exec ./gcc <&-'

if [ "$(id -u)" -eq 0 ]; then
	chmod 755 . && mkdir own && chown 65534 own
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	undisturbed "unprivileged" "${nobody[@]}" ./gcc
	undisturbed "unprivileged, snapshot" "${nobody[@]}" ./gcc own/s.core
	[ "$(stat -c '%u %a' own/s.core)" = "65534 600" ]

	# No /proc at all.
	mkdir -p jail && cp gcc-static jail/
	undisturbed "no /proc" chroot jail /gcc-static
	undisturbed "no /proc, snapshot" chroot jail /gcc-static s.core
	gdb -nx -batch -ex bt gcc-static jail/s.core 2>/dev/null | grep "^#" | grep -qw main

	# A set-uid program must not be made to write files by who started it.
	cp gcc setuid && chown 0 setuid && chmod 4755 setuid
	status=0
	EPITAPH_OUTPUT=$PWD/own/evil.%n "${nobody[@]}" ./setuid - >out 2>err || status=$?
	[ -n "$(find . -maxdepth 1 -name 'epitaph.*.core' -uid 0)" ] # it was root indeed, and used the default name
	[ ! -e own/evil.1 ] || { echo "a set-uid program wrote where it was told"; exit 1; }
	"${nobody[@]}" env EPITAPH_SIGNAL=USR1 sh -c './setuid >/dev/null & kill -USR1 $!; wait $!' 2>/dev/null || true
	[ -z "$(find . own -maxdepth 1 -name 'evil*')" ]
fi

# A system call filter as of a container: own memory may be read by no other way than /proc.
cat >deny.c <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	struct sock_fprog program = {5, code};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	(void)argc;
	execv(argv[1], argv + 1);
	return 99;
}
END
gcc deny.c -o deny
rm -f s.core
undisturbed "filtered" ./deny ./gcc s.core
# … and the snapshot has the libraries all the same.
gdb -nx -batch -ex 'info sharedlibrary' gcc s.core 2>&1 | grep -q 'libc\.so'

if command -v valgrind >/dev/null; then
	undisturbed "valgrind" valgrind -q --error-exitcode=98 --child-silent-after-fork=yes ./gcc-nopie
fi

# A program that rewrites its arguments and environment (setproctitle), and one whose very first hook comes early.
cat >early.c <<'END'
#include <stdio.h>
#include <string.h>
#include "epitaph.h"
static int before;
static int hooked(int x) { return x + 1; }
static void preinit(int argc, char **argv, char **environment)
{
	(void)environment;
	before = hooked(argc);
	(void)argv;
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = preinit;
int main(int argc, char **argv, char **environment)
{
	for (char **entry = environment; *entry; entry++)
		memset(*entry, 'x', strlen(*entry));
	memset(argv[0], 'y', strlen(argv[0]));
	printf("%d %d\n", before, epitaph_snapshot_write(NULL));
	return argc - 1;
}
END
for options in "" "-epitaph-runtime=shared" "-static -no-pie -fno-pie"; do
	# shellcheck disable=SC2086
	"$BIN/epitaph-cc" -O0 $options early.c -o early
	rm -f early.1.core
	[ "$(EPITAPH_OUTPUT=early.%n.core ./early)" = "2 0" ]
	[ -s early.1.core ]
done

# A bad value is named once; by a child that was started with it, too, but nothing else is ever said.
EPITAPH_RING=foo ./gcc >out 2>err || true
[ "$(cat err)" = "epitaph: EPITAPH_RING=foo: not auto or a power of two from 4K to 1G; using auto" ]
[ "$(cat out)" = "2000 5" ]
LD_PRELOAD=$LIB/libepitaph.so bash -c 'for i in 1 2 3; do true | sed s/a/b/; done; exec ls main.c' >out 2>err
[ "$(cat out)" = main.c ] && [ ! -s err ]
echo good
