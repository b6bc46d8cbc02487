#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# --path-map: sources that lie elsewhere than where the program was built, in the report, and read by export.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

mkdir -p built/src
cp "$TOP/tests/programs/story.c" built/src/story.c
"$BIN/epitaph-cc" -g -O1 -fno-optimize-sibling-calls "$PWD/built/src/story.c" -o story -lpthread
crash core "$PWD/story"
mv built moved

gives 0 "$EPITAPH" report --full-names core
has out "$PWD/built/src/story.c:"
gives 0 "$EPITAPH" report --full-names --path-map="$PWD/built=$PWD/moved" core
has out "$PWD/moved/src/story.c:"
hasnt out "$PWD/built/"
gives 0 "$EPITAPH" report --full-names --path-map="$PWD/buil=$PWD/moved" core
has out "$PWD/built/src/story.c:"
gives 0 "$EPITAPH" report --full-names --path-map=/nowhere=/x --path-map="$PWD/built/src/=/s" core
has out " /s/story.c:"

sources() { python3 -c 'import json; print(" ".join(sorted(json.load(open("out"))["file_info"]["files"])))'; }
gives 3 "$EPITAPH" export -f viztracer --sources=built core
gives 0 "$EPITAPH" export -f viztracer --sources=moved core
[ -z "$(sources)" ] || say "sources that are not there: $(sources)"
gives 0 "$EPITAPH" export -f viztracer --sources=moved --path-map="$PWD/built=$PWD/moved" core
[ "$(sources)" = "$PWD/moved/src/story.c" ] || say "sources: $(sources)"

for bad in /a =/b ''; do
	gives 64 "$EPITAPH" report --path-map="$bad" core
	has err "OLD=NEW"
done
[ $failures -eq 0 ]
