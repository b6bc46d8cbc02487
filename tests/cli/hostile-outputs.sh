#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Outputs in a directory like /tmp, where somebody else has put a link, a FIFO or a file at the name: nothing is written through or
# over it, and the command says so. Our own links are followed, as everywhere. Where we cannot be two users: our own only.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
"$BIN/epitaph-cc" -g -O1 "$TOP/tests/programs/story.c" -o story
crash core "$PWD/story"
(ulimit -c 0; EPITAPH_MODE=count EPITAPH_OUTPUT=some.counts exec "$PWD/story") >/dev/null 2>&1 || true

mkdir shared
chmod 1777 shared
victim() { echo precious >victim; chmod 600 victim; }
victim

ln -s ../victim shared/mine
gives 0 "$EPITAPH" export -f chrome -o shared/mine core
[ -L shared/mine ] && python3 -c 'import json; json.load(open("victim"))' || say 'our own link was not followed'
rm shared/mine
victim

if [ "$(id -u)" -eq 0 ]; then
	ln -s "$PWD/victim" shared/link
	ln -s /dev/null shared/device
	ln -s "$PWD/nothing" shared/dangling
	ln -s link shared/twice
	mkfifo shared/fifo
	echo planted >shared/file
	chmod 4777 shared/file
	chown -h nobody shared/link shared/device shared/dangling shared/twice shared/fifo shared/file
	chown root shared
	for name in link device dangling twice fifo file; do
		before=$(stat -c '%i %s %A %U' "shared/$name")
		for command in 'extract core' 'export -f chrome core' 'export -f jsonl -z core' 'count merge some.counts' \
			'exclude --budget=1% some.counts'; do
			# shellcheck disable=SC2086
			gives 3 timeout 20 "$EPITAPH" $command -o "shared/$name"
			has err 'somebody else put it there'
		done
		[ "$(stat -c '%i %s %A %U' "shared/$name")" = "$before" ] || say "$name was changed"
	done
	[ "$(cat victim)" = precious ] && [ ! -e nothing ] || say 'somebody wrote through a planted link'
fi
[ -z "$(find shared -name '*.??????' -o -name '.epitaph*')" ] || say "left behind: $(ls -A shared)"
exit $((failures != 0))
