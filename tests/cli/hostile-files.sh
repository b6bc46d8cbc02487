#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The program and the library that a core names, with their build-ids and damage in one section or header, or cut off: names, lines,
# inlined calls, unwinding, extraction and doctor end soon, in little memory, with a result or a message. The same damage each time.
set -euo pipefail
source "$TOP/tests/cli/lib/hostile.bash"
readers=$(dirname "$EPITAPH")/../tests/readers

cat >main.cc <<'END'
#include <map>
#include <string>

extern "C" int enter(int);

static std::map<std::string, int> rooms;

__attribute__((noinline)) static void furnish(const std::string &name, int number)
{
	rooms[name + std::to_string(number)] = number;
}

int main()
{
	for (int i = 0; i < 50; i++)
		furnish("room ", enter(1000 + i));
	return enter(3);
}
END
"$BIN/epitaph-c++" -g -O1 -fPIC -shared -Dmain=unused "$TOP/tests/programs/inlined.cc" -o libshop.so
"$BIN/epitaph-c++" -g -O1 main.cc -o shop -L. -lshop -Wl,-rpath,"$PWD"
empty_debug_files debug ./shop
EPITAPH_MEMORY=2M crash ./shop "" core.whole
"$EPITAPH" report --inlines core.whole --debug-path=debug >report
for word in 'main.cc:' 'inlined.cc:' 'open_up' '(inlined)'; do
	grep -q "$word" report || { cat report; echo "no $word in the report of what is whole"; exit 1; }
done

seconds=5 megabytes=200 count=120
[ "$EPITAPH" = "$BIN/epitaph" ] || seconds=15 megabytes=1000 count=60 # a sanitizer's own
python3 "$TOP/tests/cli/lib/hostile_files.py" "$readers" core.whole $seconds $megabytes $count 1 shop libshop.so

# What would keep doctor waiting.
mkfifo fifo
status=0
timeout 60 "$EPITAPH" doctor ./fifo 2>said || status=$?
[ $status -eq 3 ] && grep -q 'fifo: not a regular file' said || { cat said; echo "doctor of a FIFO: status $status"; exit 1; }
