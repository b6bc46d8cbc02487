# SPDX-License-Identifier: BSD-2-Clause
# Options that hide a program's functions from the libraries that it loads do not hide the runtime's: what traced libraries call is
# in the trace, with each linker, also where one library loads the other, and for itself alone.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >inner.c <<'END'
static volatile long sum;
__attribute__((noinline)) static void in_inner(long n) { sum += n; if (n == 90) *(volatile int *)8 = 1; }
void inner_entry(long n);
void inner_entry(long n) { in_inner(n); sum++; }
END
cat >outer.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
static void (*f)(long);
int outer_load(void);
int outer_load(void) { void *library = dlopen("./inner.so", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND); *(void **)&f = library ? dlsym(library, "inner_entry") : 0; return !f; }
void outer_entry(long n);
void outer_entry(long n) { f(n); }
END
cat >program.c <<'END'
int outer_load(void);
void outer_entry(long n);
int kept(void);
static volatile long sum;
__attribute__((noinline)) static void step(long n) { outer_entry(n); sum++; }
int kept(void) { return 1; }
int main(void) { if (outer_load()) return 3; for (long i = 0; i < 100; i++) step(i); return 0; }
END
printf '{ global: main; local: *; };\n' >anonymous.map
printf '/* a { comment */\n# another {\nONE { local: *; };\nTWO { global: kept; } ONE;\n' >tagged.map
printf '{ main; kept; };\n' >bare.map
# A linker's own script with versions in it, and one that has nothing else.
printf 'VERSION { { global: main; local: *; }; }\n' >version.ld
{ ld --verbose | sed '1,/^====/d; /^====/,$d'; echo 'VERSION /* { */ { ONE { local: *; }; TWO { global: kept; } ONE; }'; } >whole.ld
printf -- '-Wl,--version-script=anonymous.map\n' >words.rsp
for name in inner outer; do
	"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls -shared -fPIC $name.c -o $name.so
done
"$BIN/epitaph-cc" -g -O1 -c program.c -o program.o

# links LINKER WORDS...: the program made so has the libraries' calls
links() {
	local open
	"$BIN/epitaph-cc" -fuse-ld="$1" "${@:2}" program.o -o program ./outer.so >ld.out 2>&1 || { say "$*: does not link"; cat ld.out; return; }
	[ ! -s ld.out ] || { say "$*: the linker complains"; cat ld.out; }
	rm -f core*
	{ EPITAPH_TIMESTAMP_EVERY=1 ./program >run.out 2>&1 || true; } 2>/dev/null
	mv core* core.now || { say "$*: no core: $(cat run.out)"; return; }
	"$EPITAPH" replay core.now >out
	open=$(grep 'did not return' out | awk '{ print $2 }' | tr -d '(){' | tr '\n' ' ')
	[[ $open == *" outer_entry inner_entry in_inner " ]] || say "$*: open calls are \"$open\""
}

for linker in bfd gold lld mold; do
	links $linker -Wl,--exclude-libs,ALL
	links $linker -Wl,--version-script,anonymous.map -Wl,--gc-sections -s
	links $linker -Xlinker --version-script -Xlinker tagged.map
done
links bfd -Wl,--version-script=bare.map -Wl,-Bsymbolic
links bfd @words.rsp
links bfd -T whole.ld
links bfd -Twhole.ld
links bfd -Wl,--script=whole.ld
links bfd -Xlinker -T -Xlinker whole.ld
links bfd version.ld
links lld version.ld
links gold -Wl,-T,version.ld
links bfd -Wl,-O1,--version-script=anonymous.map,--as-needed -static-libgcc

# What the script says of the program's own functions holds.
"$BIN/epitaph-cc" -rdynamic -Wl,--version-script=tagged.map program.o -o program ./outer.so
nm -D program >exported
grep -q ' T kept@@TWO' exported || say "kept is not exported by its version"
! grep -q ' T main' exported || say "main is exported"
# What cannot be read is the linker's to tell.
! "$BIN/epitaph-cc" -Wl,--version-script=nowhere.map program.o -o program ./outer.so 2>err || say "a script that is not there"
grep -q 'nowhere.map' err || { say "the linker's message"; cat err; }
[ $failures -eq 0 ]
