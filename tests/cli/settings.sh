#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each setting that the runtime reads, and no other, is in the man page, in docs/settings.md and among the options of `epitaph
# run`; their texts are not in the runtime. Each variable of ours that the tools read is documented, too.
# sanitized only
# nothing crashes
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

# What the runtime asks the environment for, by what is in it, not by the table. A name may be the end of a longer text.
words() { strings -d "$1" | sed -nE 's/^(.* )?(EPITAPH(_[A-Z_]+)?)=?$/\2/p' | sort -u; }
words "$LIB/libepitaph.so" >asked
[ "$(wc -l <asked)" -ge 20 ] || say "settings are not found in the runtime: $(cat asked)"
gives 0 "$EPITAPH" help --settings
mv out table
same() { diff asked - >different || { say "$1, and the settings that the runtime reads:"; cat different; }; }
sed -nE 's/^\| `(EPITAPH[A-Z_]*)` \|.*/\1/p' table | sort | same 'help --settings'

gives 0 "$EPITAPH" help --man-pages man
sed -n '/^Of the traced program:/,/^Of these commands:/s/^\.B //p' man/epitaph.1 | sort | same epitaph.1
gives 0 "$EPITAPH" run --help
grep -oE -- '(--[a-z-]+=[A-Z]+ +|^ +)EPITAPH[A-Z_]*:' out | grep -oE 'EPITAPH[A-Z_]*' | sort -u | same 'run --help'
sed -n '/^| variable/,/^$/p' "$TOP/docs/settings.md" | sed '/^$/d' >page
diff page table >different || { say "docs/settings.md is not up to date (make docs):"; cat different; }

# What a page has of a setting: its default, its values, the sentence.
tr -d '\\' <man/epitaph.1 | tr '\n' ' ' >plain
while IFS='|' read -r _ name default values text; do
	name=$(tr -d ' `' <<<"$name")
	text=$(sed -E 's/ \(\[.*//; s/ *$//; s/^ //' <<<"$text")
	grep -qF ".B $name $text. It is${values% }; by default $(sed 's/^ *`*//; s/`* *$//' <<<"$default")." plain ||
		say "epitaph.1 says something else of $name: $default|$values|$text"
	! grep -qF "${text:0:30}" "$LIB/libepitaph.so" || say "the runtime has the text of $name"
done < <(sed '1,2d' table)

# Of `epitaph run`: an option sets its variable.
for pair in --ring=64K:EPITAPH_RING=64K --sched-memory=1M:EPITAPH_SCHED_MEMORY=1M --tracing=off:EPITAPH=off --mode=count:EPITAPH_MODE=count; do
	gives 0 "$EPITAPH" run "${pair%%:*}" env
	grep -qx "${pair#*:}" out || say "${pair%%:*} does not set ${pair#*:}"
done

# Of the tools: what they read is in the man page, what the wrapper reads on its own page.
sed -n '/^Of these commands:/,/^\.SH/s/^\.B //p' man/epitaph.1 >own
words "$BIN/epitaph-cc" | grep -xE 'EPITAPH_(CC|CXX)' >wrapper
[ "$(wc -l <wrapper)" -eq 2 ] || say "the wrapper's variables are not found: $(cat wrapper)"
while read -r name; do has "$TOP/docs/epitaph-cc.md" "\`$name\`"; done <wrapper
for name in $(cd "$TOP" && grep -rhoE 'getenv\("EPITAPH[A-Z_]*"\)' cli coredump decoder funcount | cut -d'"' -f2 | sort -u); do
	grep -qx "$name" asked own || say "epitaph.1 does not have $name, which a command reads"
done
# And no page names one that there is not.
for name in $(cd "$TOP" && grep -ohE '\bEPITAPH_[A-Z_]*[A-Z]\b' README.md SECURITY.md docs/*.md | sort -u); do
	grep -qx "$name" asked own wrapper || say "docs name $name, which nothing reads"
done
exit $((failures != 0))
