#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The report's lines of source: a link of somebody else's, called as a source is, shows none of what it leads to; a file that is no
# text, or whose own name is no source's, neither. A folder that the reader names with --path-map shows what is in it.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

mkdir src
printf 'int main(void)\n{\n\t__builtin_trap();\n}\n' >src/x.c
gcc -g "$PWD/src/x.c" -o program
crash core "$PWD/program"
page() { "$EPITAPH" report "$@" core >page || [ $? -eq 1 ]; }
page
has page '__builtin_trap();'

# What is behind the name is a secret of the reader's.
printf 'one\ntwo\nthe secret\nfour\n' >secret
rm src/x.c
ln -s ../secret src/x.c
page
hasnt page 'the secret'
has page "it leads to a file whose name is no source file's"
rm src/x.c
printf 'one\ntwo\nthe secret\0\nfour\n' >src/x.c
page
hasnt page 'the secret'
has page 'it is no text'

# Where others may put something, it may be theirs.
printf 'one\ntwo\n\t__builtin_trap();\nfour\n' >src/x.c
chmod 777 src
page
hasnt page '__builtin_trap();'
has page 'not all of its path belongs to root or to you'
page --path-map "$PWD/src=$PWD/src"
has page '__builtin_trap();'
chmod 755 src
if [ "$(id -u)" -eq 0 ]; then
	mv secret secret.c
	rm src/x.c
	ln -s ../secret.c src/x.c
	page
	has page 'the secret' # root's own link
	chown -h 65534 src/x.c
	page
	hasnt page 'the secret'
	has page 'not all of its path belongs to root or to you'
	page --path-map "$PWD/src=$PWD/src"
	hasnt page 'the secret' # it leads out of the folder
fi
[ $failures -eq 0 ]
