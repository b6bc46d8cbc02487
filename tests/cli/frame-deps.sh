#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ci/install-deps asks dpkg once, installs exactly what is missing, and elsewhere names it. npm's registry may be out of reach.
set -euo pipefail

mkdir fake
cat >fake/dpkg-query <<'FAKE'
#!/bin/bash
echo asked >>"$ASKED"
for package; do
	case $package in -* | '${'*) ;; gdb | check) echo "not-installed $package" ;; *) echo "installed $package" ;; esac
done
FAKE
cat >fake/apt-get <<'FAKE'
#!/bin/bash
echo "$*" >>"$RAN"
exit "${APT_STATUS:-0}"
FAKE
cat >fake/id <<'FAKE'
#!/bin/bash
echo "${FAKE_UID:-0}"
FAKE
cat >fake/sudo <<'FAKE'
#!/bin/bash
echo "sudo" >>"$RAN"
exec "$@"
FAKE
cat >fake/npm <<'FAKE'
#!/bin/bash
echo "$*" >>"$NPM_RAN"
exit "${NPM_STATUS:-0}"
FAKE
chmod +x fake/*
# In a tree of its own: what npm installs goes beside the script.
mkdir -p tree/ci
cp "$TOP/ci/install-deps" tree/ci/
deps=tree/ci/install-deps
export NPM_RAN=$PWD/npm-ran
export RAN=$PWD/ran ASKED=$PWD/asked

if [ -e /etc/debian_version ]; then
	PATH=$PWD/fake:$PATH $deps >out
	[ "$(head -1 out)" = "ci/install-deps: installing check gdb" ]
	grep -q '^install .*speedscope' npm-ran
	[ "$(wc -l <asked)" -eq 1 ]
	diff - ran <<'EXPECTED'
-q update
-q -y --no-install-recommends install check gdb
EXPECTED
	rm ran
	FAKE_UID=1000 PATH=$PWD/fake:$PATH $deps >out
	[ "$(grep -c sudo ran)" -eq 2 ]
	! APT_STATUS=100 PATH=$PWD/fake:$PATH $deps >out 2>err
	grep -q 'apt-get failed' err
	# A registry that is not there: said, and no failure.
	rm -r tree/build
	NPM_STATUS=1 PATH=$PWD/fake:$PATH $deps >out 2>err
	grep -q 'npm could not get them' err
	PATH=$PWD/fake:$PATH $deps >out
	# Nothing missing: silent, and neither apt-get nor npm is run.
	printf '#!/bin/bash\nfor p; do echo "installed $p"; done\n' >fake/dpkg-query
	rm -f ran npm-ran
	[ -z "$(PATH=$PWD/fake:$PATH $deps 2>&1)" ]
	[ ! -e ran ] && [ ! -e npm-ran ]
	# The demo needs no browser, and nothing that only tests use.
	printf '#!/bin/bash\nexit 1\n' >fake/dpkg-query
	PATH=$PWD/fake:$PATH $deps demo >/dev/null
	grep -q ' gdb ' ran
	! grep -Eq 'chromium|nodejs|clang|valgrind| check' ran
	grep -A1 '^demo:' "$TOP/Makefile" | grep -q 'ci/install-deps demo'
fi

# Another system: a path without apt-get, gdb and eu-stack, and a compiler that finds no check.h.
mkdir other
for tool in bash awk sed env gcc g++ make ld objcopy readelf nm c++filt clang ld.lld llvm-ar clang-format pkg-config \
	eu-readelf eu-elflint python3 file man groff xz flock setsid ps id cat rm mktemp sort comm dirname; do
	ln -s "$(command -v $tool)" other/
done
cat >other/cc <<'FAKE'
#!/bin/bash
read -r line
[[ $line != *check.h* && $line != *nothing* ]]
FAKE
chmod +x other/cc
status=0
PATH=$PWD/other CC=cc $deps >out 2>err || status=$?
[ "$status" -eq 1 ]
[ ! -s out ]
grep -qx '  tool gdb (Debian: gdb)' err
grep -qx '  tool eu-stack (Debian: elfutils)' err
! grep -q 'tool gcc' err
