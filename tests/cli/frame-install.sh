#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# make install puts everything where PREFIX says, under DESTDIR; what is installed works from there and from anywhere that
# it is moved to; make uninstall leaves nothing.
set -euo pipefail
make -s -C "$TOP" BUILD="$BUILD" DESTDIR="$PWD/staged" PREFIX=/opt/epi install >/dev/null

mv staged/opt/epi "moved here"
root="$PWD/moved here"
cat >main.c <<'SRC'
#include <epitaph.h>
#include <stdio.h>
int main(void) { return epitaph_time() == 0 || printf("ran\n") != 4; }
SRC
for runtime in static shared; do
	"$root/bin/epitaph-cc" -epitaph-runtime=$runtime -Wall -Werror main.c -o traced
	[ "$(./traced)" = ran ]
done
printf '#include <epitaph.h>\n#include <iostream>\nint main() { std::cout << "ran\\n"; return !epitaph_ticks_per_second(); }\n' >main.cc
"$root/bin/epitaph-c++" -Wall -Wextra -pedantic -Werror main.cc -o traced
[ "$(./traced)" = ran ]
printf '#include "funtrace.h"\nint main() { return funtrace_ticks_per_second() == 0; }\n' >compat.cc
"$root/bin/epitaph-c++" -Wall -Wextra -pedantic -Werror -I"$root/include/epitaph/compat" compat.cc -o traced
./traced
"$root/bin/epitaph" --version | grep -q epitaph
for page in "$root"/share/man/man1/*.1; do
	man -l "$page" >/dev/null
done
[ -e "$root/share/man/man1/epitaph.1" ]
for schema in report info; do
	cmp "$TOP/docs/$schema.schema.json" "$root/share/epitaph/$schema.schema.json"
done
bash -n "$root/share/bash-completion/completions/epitaph"

# Without the wrapper: by pkg-config.
mkdir -p staged/opt && mv "$root" staged/opt/epi
export PKG_CONFIG_PATH=$PWD/staged/opt/epi/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/staged
pkg-config --exists epitaph
# shellcheck disable=SC2046
gcc -finstrument-functions $(pkg-config --cflags epitaph) main.c -o traced $(pkg-config --libs epitaph) "-Wl,-rpath,$PWD/staged/opt/epi/lib"
[ "$(./traced)" = ran ]

make -s -C "$TOP" BUILD="$BUILD" DESTDIR="$PWD/staged" PREFIX=/opt/epi uninstall
[ -z "$(find staged -not -type d)" ]
[ ! -e staged/opt/epi/include/epitaph ] && [ ! -e staged/opt/epi/lib/epitaph ]
# What the user's environment tells epitaph-cc reaches what make starts: the makefile has no variables of these names.
EPITAPH_CC=mine EPITAPH_CXX=mine make -pnq -C "$TOP" BUILD="$PWD/none" help >variables || true
[ "$(grep -cxE 'EPITAPH_(CC|CXX) = mine' variables)" -eq 2 ] || { grep ^EPITAPH_ variables; exit 1; }
