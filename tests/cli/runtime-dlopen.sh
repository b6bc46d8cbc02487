#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# dlopen, dlmopen and dlclose through the runtime: who calls still matters (RUNPATH, namespaces), errors are the dynamic
# linker's own, and the load map follows. With the runtime in the executable, linked as a library, and preloaded.
set -euo pipefail
ulimit -c unlimited

mkdir -p sub plug
cat >inner.c <<'END'
int inner(void) { return 42; }
END
cat >outer.c <<'END'
#include <dlfcn.h>
int outer(void)
{
	void *handle = dlopen("libinner.so", RTLD_NOW); /* found by this library's own RUNPATH only */
	int (*inner)(void) = handle ? (int (*)(void))dlsym(handle, "inner") : 0;
	return inner ? inner() : -1;
}
END
cat >main.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *handle = dlopen("./plug/libouter.so", RTLD_NOW), *other;
	int (*outer)(void) = (int (*)(void))dlsym(handle, "outer");
	char name[16];

	printf("%d\n", outer());
	other = dlmopen(LM_ID_NEWLM, "./sub/libinner.so", RTLD_NOW);
	printf("%s\n", other && dlsym(other, "inner") ? "namespace" : dlerror());
	printf("%s\n", dlopen("./none.so", RTLD_NOW) ? "what?" : dlerror());
	printf("%s\n", dlerror() ? "stale error" : "no error left");
	printf("%s\n", dlopen(NULL, RTLD_NOW) ? "itself" : dlerror());
	printf("%d %d\n", dlclose(other), dlclose(handle));
	printf("%d\n", pthread_setname_np(pthread_self(), "renamed"));
	pthread_getname_np(pthread_self(), name, sizeof name);
	printf("%s %d\n", name, pthread_setname_np(pthread_self(), "a name far too long") == ERANGE);
	fflush(stdout);
	if (argc > 1) {
		handle = dlopen(argv[1], RTLD_NOW);
		if (argc > 2)
			dlclose(handle);
		abort();
	}
	return 0;
}
END
gcc -shared -fPIC inner.c -o sub/libinner.so
gcc -shared -fPIC outer.c -o plug/libouter.so -Wl,--enable-new-dtags,-rpath,'$ORIGIN/../sub'
gcc main.c -g -o plain
"$BIN/epitaph-cc" main.c -g -o static
"$BIN/epitaph-cc" main.c -g -o shared -epitaph-runtime=shared
cp plain preloaded

./plain >expected
[ "$(sed -n '1p;2p' expected)" = $'42\nnamespace' ]
for program in static shared preloaded; do
	preload=
	[ $program != preloaded ] || preload=$LIB/libepitaph.so
	LD_PRELOAD=$preload ./$program >got 2>err
	diff expected got
	[ ! -s err ] || { cat err; exit 1; }
done

# Somebody else's dlopen in front of libc's is called too.
cat >before.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
void *dlopen(const char *name, int flags)
{
	static void *(*next)(const char *, int);
	if (!next)
		next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	if (name)
		(void)!write(2, "seen\n", 5);
	return next(name, flags);
}
END
gcc -shared -fPIC before.c -o before.so
LD_PRELOAD=./before.so ./static >/dev/null 2>err
[ "$(grep -c seen err)" -ge 2 ]
LD_PRELOAD="./before.so $LIB/libepitaph.so" ./preloaded >/dev/null 2>err
[ "$(grep -c seen err)" -ge 2 ]

# What the load map knew at the moment of a crash, read by gdb from the core: path and whether it was gone.
modules() { # PROGRAM CORE
	gdb -nx -batch -ex 'set print elements 0' -ex 'set pagination off' -ex 'python
m = gdb.parse_and_eval("(struct ep_modules *)modules").dereference()
e = gdb.parse_and_eval("(struct ep_module *)entries")
base = int(gdb.parse_and_eval("(unsigned long)modules"))
for i in range(int(m["count"])):
    s = e[i]["path"]
    name = bytes(gdb.selected_inferior().read_memory(base + int(s["offset"]), int(s["length"])))
    print("module", name.decode(), "gone" if int(e[i]["unload_tsc"]) else "there")
print("stale", int(m["stale"]))' "$1" "$2" 2>&1
}
crash() { # PROGRAM ARGUMENTS...
	local program=$1
	shift
	rm -f core core.*
	(exec ./$program "$@") >/dev/null 2>&1 || true
	modules $program "$(find . -maxdepth 1 '(' -name core -o -name 'core.*' ')' | head -n 1)" >map
}

cat >traced.c <<'END'
int traced(void) { return 1; }
END
"$BIN/epitaph-cc" -shared -fPIC traced.c -o traced.so
for program in static shared; do
	# A traced library tells of itself at once; any other is looked for soon.
	crash $program ./traced.so
	grep -q "^module $PWD/traced.so there" map
	grep -q "^stale 1" map
	crash $program ./traced.so close
	grep -q "^module $PWD/traced.so gone" map
	grep -q "^module $PWD/plug/libouter.so gone" map
done

# A traced library in a program that has no runtime brings one along, or finds the preloaded one, or the program's: nothing
# is said (builds-plugins.sh: what is recorded).
cat >bare.c <<'END'
int traced(void);
int main(void) { return traced() - 1; }
END
"$BIN/epitaph-cc" -epitaph-method=finstrument -epitaph-runtime=shared -shared -fPIC traced.c -o libtraced.so
gcc bare.c -o bare -L. -ltraced -Wl,-rpath,"$PWD"
./bare >out 2>err
[ ! -s out ] && [ ! -s err ]
LD_PRELOAD=$LIB/libepitaph.so ./bare >out 2>err
[ ! -s out ] && [ ! -s err ]
"$BIN/epitaph-cc" bare.c -o bare -L. -ltraced -Wl,-rpath,"$PWD"
./bare >out 2>err
[ ! -s out ] && [ ! -s err ]

# Two runtimes in one process, the executable's and that of a library: the one whose hooks are found records, and the
# other leaves its root alone, whichever of them starts first.
"$BIN/epitaph-cc" -epitaph-runtime=shared -shared -fPIC traced.c -o libtraced.so
cat >two.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
extern unsigned long epitaph_root[]; /* magic, version and size, self, arena */
#ifdef LINKED
int traced(void);
#else
static int traced(void)
{
	return ((int (*)(void))dlsym(dlopen("./libtraced.so", RTLD_NOW), "traced"))();
}
#endif
int main(void)
{
	unsigned long arena = epitaph_root[3];
	int result = traced();

	printf("%d %d %d\n", result, arena && arena == epitaph_root[3], epitaph_root[2] == (unsigned long)epitaph_root);
	return 0;
}
END
"$BIN/epitaph-cc" two.c -o two-opened
"$BIN/epitaph-cc" -DLINKED two.c -o two-linked -L. -ltraced -Wl,-rpath,"$PWD"
for program in two-opened two-linked; do
	[ "$(./$program)" = "1 1 1" ]
	[ "$(LD_PRELOAD=$LIB/libepitaph.so ./$program)" = "1 1 1" ]
done

# Without any runtime in the process the library is just a library.
"$BIN/epitaph-cc" -epitaph-method=finstrument -epitaph-runtime=none -shared -fPIC traced.c -o libtraced.so
gcc bare.c -o bare -L. -ltraced -Wl,-rpath,"$PWD"
./bare >out 2>err
[ ! -s out ] && [ ! -s err ]
echo good
