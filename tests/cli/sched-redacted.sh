#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# extract --redact: names of threads, the program's and others', are taken out of scheduling events too; the events stay.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"
need_scheduling
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/secrets.bash"

scheduling() { # FILE
	"$EPITAPH" info "$1" | grep '^scheduling'
}
# What the kernel still holds of the dead changes: it may not have put them away yet, and the next traced program, of another
# test, takes what is left of them away. So the plain snapshot is made again when the others have been.
extracted() {
	"$EPITAPH" extract -q -o plain --redact stacks core
	"$EPITAPH" extract -q -o redacted --redact notes,stacks core
	"$EPITAPH" extract -q -o paths --redact paths,cmdline,stacks core
	"$EPITAPH" extract -q -o everything --redact all core
	"$EPITAPH" extract -q -o again --redact stacks core
	[ "$(scheduling plain)" = "$(scheduling again)" ]
}

build_secrets
for source in "${sources[@]}"; do
	rm -f "Cwd$tail"/core*
	{ EPITAPH_SCHED=$source run_secrets >/dev/null 2>&1 || true; } 2>/dev/null
	mv "Cwd$tail"/core* core
	for _ in {1..10}; do extracted && break; done
	# The section by itself: what else tells the names is gone.
	[ "$(LC_ALL=C grep -aoE "Thr$tail" plain | wc -l)" -gt 2 ] || say "$source: the test itself: the names are not in it"
	! LC_ALL=C grep -qaE "Thr$tail|PrgQ7w2Zx\$" redacted || say "$source: a name is left"
	tells everything "" "$source"
	for file in redacted paths everything; do
		[ "$(scheduling plain)" = "$(scheduling $file)" ] || say "$source, $file: $(scheduling $file), not $(scheduling plain)"
	done
	"$EPITAPH" info --json plain >one.json
	"$EPITAPH" info --json everything >other.json
	python3 - <<'END' || say "$source: the events are others"
import json
one, other = (json.load(open(f)) for f in ("one.json", "other.json"))
def plain(x):
    return json.dumps(x["scheduling"], sort_keys=True)
assert plain(one) == plain(other), (plain(one), plain(other))
END
done
exit $((failures != 0))
