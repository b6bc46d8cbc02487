#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Stacks that a thread goes on with in turn: by ucontext, by longjmp between stacks, ended by their link. Each has calls of
# its own, at depths of its own, compared with the program's log. Switches that nobody can see are noticed and said.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

cat >compare.py <<'END'
import re
from collections import defaultdict

want, stacks = [], defaultdict(list)
for line in open("truth"):
    _, kind, name, fiber = line.split()
    stack = stacks[fiber]
    if kind == "B":
        stack.append(name)
    assert stack[-1] == name, line
    # main() is outside of flow_main().
    want.append((kind, name, len(stack) - 1 + (fiber == "5")))
    if kind == "E":
        stack.pop()
have = []
for line in open("tsv"):
    columns = line.rstrip("\n").split("\t")
    found = re.match(r"flow_(\w+)$", columns[7])
    if columns[0] in "BES" and found:
        assert columns[0] != "S" and not {"abandoned", "ambiguous"} & set(columns[10].split(",")), line
        have.append((columns[0], found[1], int(columns[6])))
for i, (a, b) in enumerate(zip(want, have)):
    assert a == b, "event %d: true %s, told %s, after %s" % (i, a, b, want[max(0, i - 6):i])
assert len(want) == len(have) and len(want) > 1000, (len(want), len(have))
END

# Who is seen inside of whom by outputs that nest: by call, its caller's name.
cat >nests.py <<'END'
import json
import re
from collections import defaultdict

want, stacks = [], defaultdict(list)
stacks["5"].append(None) # main() is outside of flow_main()
for line in open("truth"):
    _, kind, name, fiber = line.split()
    stack = stacks[fiber]
    if kind == "B":
        want.append((name, stack[-1] if stack else None))
        stack.append(name)
    else:
        stack.pop()
lines = sorted((json.loads(line) for line in open("jsonl") if '"type":"call"' in line), key=lambda line: line["call"])
names = {line["call"]: re.sub("^flow_", "", line["function"]) for line in lines}
have = [(names[line["call"]], names.get(line["parent"])) for line in lines if line["function"].startswith("flow_")]
have = [(name, None if caller == "main" and name in ("main", "last") else caller) for name, caller in have]
assert have[-1][0] == "last", have[-1]
for i, (a, b) in enumerate(zip(want, have)):
    assert a == b, "call %d: true %s, told %s" % (i, a, b)
assert len(want) == len(have), (len(want), len(have))
END
nests() { # inside of whom the last program's calls are
	gives 0 "$EPITAPH" export -f jsonl core
	mv out jsonl
	python3 nests.py 2>why || say "$mode, $*: $(tail -n 1 why)"
}

build() { # FLAGS...
	"$BIN/epitaph-cc" -g "$@" "$TOP/tests/programs/fibers.c" -o fibers
	for mode in linked jumping forever; do
		rm -f truth
		crash core "$PWD/fibers" $mode
		mv crash.dir/truth .
		gives 0 "$EPITAPH" replay --format=tsv core
		mv out tsv
		python3 compare.py 2>why || say "$mode, $*: $(tail -n 1 why)"
		[ "$*" != -O2 ] || nests "$@"
	done
}

build -O2
build -O0 -epitaph-method=finstrument
build -O1 -static
for level in -O0 -O2; do # the others, with a shorter log
	for method in pg finstrument; do
		build $level -epitaph-method=$method -DEVENTS=2500
	done
	for method in after-inlining finstrument; do
		EPITAPH_CC=clang build $level -epitaph-method=$method -DEVENTS=2500
	done
done
EPITAPH_TIMESTAMP_EVERY=64 build -O1 -epitaph-runtime=shared

"$BIN/epitaph-cc" -O1 "$TOP/tests/programs/unseen.c" -o unseen
crash core "$PWD/unseen"
gives 0 "$EPITAPH" replay core
has out "goes on upon other stacks (fibers) by means that leave no mark"
gives 0 "$EPITAPH" replay --format=tsv core
awk -F '\t' '$1 == "P" && $11 ~ /^new-stack/ { told = 1; next } told && $1 == "E" && $11 ~ /abandoned/ && $11 !~ /ambiguous/ { print; bad = 1 }
	END { exit bad || !told }' out || say "guesses are not marked"
[ $failures -eq 0 ]
