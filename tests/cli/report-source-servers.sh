# SPDX-License-Identifier: BSD-2-Clause
# The source of the crashing line comes from a debuginfod server when it is not here, and servers were named: never otherwise. One
# that sends nothing, too much or another text is no source; no byte of it is more than text.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

mkdir moved served
cp "$TOP/tests/programs/variables.c" moved/gone.c
(cd moved && gcc -g -Wl,--build-id "$PWD/gone.c" -o ../gone)
crash core "$PWD/gone"
line=$(grep -n 'volatile int' moved/gone.c | cut -d: -f1)
sed "${line}s/.*/from the server \x1b[31m/" moved/gone.c >served/right
rm moved/gone.c
echo 'int one;' >served/wrong

python3 "$TOP/tests/cli/lib/debuginfod.py" served port >server.log 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do [ -e port ] && break || sleep 0.1; done
export DEBUGINFOD_CACHE_PATH=$PWD/cache DEBUGINFOD_TIMEOUT=2

page() { # WAY FLAGS...
	rm -rf cache
	DEBUGINFOD_URLS=${1:+http://127.0.0.1:$(cat port)/$1} timeout 60 "$EPITAPH" report --all "${@:2}" core >page || [ $? -eq 1 ]
}

page right
grep -qE "^  .*> +$line  from the server .x1b.31m" page || say "no line from the server: $(grep -A4 '^in' page)"
hasnt page "No such file or directory"
page ''
has page "moved/gone.c: No such file or directory"
[ ! -e cache ] || say "servers were asked that nobody named"
page right --no-debuginfod
has page "moved/gone.c: No such file or directory"
[ ! -e cache ] || say "servers were asked in spite of --no-debuginfod"
for way in wrong empty error; do
	page $way
	has page "moved/gone.c: No such file or directory"
	has page 'argc = 0'
done
page hang
has page "no debuginfod server answered in time"
has page 'argc = 0'
[ "$failures" -eq 0 ]
