#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ci/fetch-source gets along with a mirror that lists what it lacks: the newest version whose upstream tarball is there is taken,
# also without the distribution's patches; without any it says so, and leaves nothing that looks like a tree.
set -euo pipefail

mkdir -p fake upstream/thing-1.0
echo 'int main(void) { return 0; }' >upstream/thing-1.0/thing.c
tar -C upstream -cJf upstream.tar.xz thing-1.0
cat >fake/apt-get <<'FAKE'
#!/bin/bash
# "update" does nothing; "source … thing=VERSION" gives what the file "mirror" says that it has of that version.
for word; do version=${word#thing=}; done
case " $* " in *' update '*) exit 0 ;; esac
status=100
for what in $(sed -n "s/^$version //p" "$MIRROR"); do
	case $what in
	orig) cp "$UPSTREAM" "thing_${version%-*}.orig.tar.xz" ;;
	all) status=0 ;;
	esac
done
exit $status
FAKE
cat >fake/apt-cache <<'FAKE'
#!/bin/bash
sed -n 's/ .*//p' "$MIRROR" | sed 's/^/Version: /'
FAKE
chmod +x fake/*
export MIRROR=$PWD/mirror UPSTREAM=$PWD/upstream.tar.xz

fetches() { # STATUS: what the mirror has comes on stdin
	local status=0
	rm -rf got
	cat >mirror
	PATH=$PWD/fake:$PATH "$TOP/ci/fetch-source" thing got >out 2>&1 || status=$?
	[ "$status" = "$1" ] || { echo "status $status, not $1"; cat mirror out; exit 1; }
}

fetches 0 <<'END'
1.0-1 orig
END
[ -f got/src/thing.c ] # upstream's tarball came, the patches did not
fetches 0 <<'END'
1.0-1 orig
1.0-2 none
END
[ -f got/src/thing.c ]
grep -q '1.0-2 is listed and not there' out
fetches 1 <<'END'
1.0-1 none
END
grep -q 'the mirror has no version of thing' out
[ ! -e got/src ]
fetches 1 </dev/null
grep -q 'no source package thing' out
[ ! -e got/src ]
