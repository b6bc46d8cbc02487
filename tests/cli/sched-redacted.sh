#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# extract --redact: names of threads, the program's and others', are taken out of scheduling events too; the events stay.
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"
need_tracefs
source "$TOP/tests/cli/lib/traced.bash"
source "$TOP/tests/cli/lib/secrets.bash"

build_secrets
for source in ftrace perf; do
	rm -f "Cwd$tail"/core*
	{ EPITAPH_SCHED=$source run_secrets >/dev/null 2>&1 || true; } 2>/dev/null
	mv "Cwd$tail"/core* core
	# On a busy machine the kernel still switches from the dead to others, and that is recorded: until no more comes.
	before=none
	for _ in {1..50}; do
		now=$("$EPITAPH" info core | grep '^scheduling')
		[ "$now" != "$before" ] || break
		before=$now
		sleep 0.1
	done
	"$EPITAPH" extract -q -o plain --overwrite --redact stacks core
	# The section by itself: what else tells the names is gone.
	[ "$(LC_ALL=C grep -aoE "Thr$tail" plain | wc -l)" -gt 2 ] || say "$source: the test itself: the names are not in it"
	"$EPITAPH" extract -q -o redacted --overwrite --redact notes,stacks core
	! LC_ALL=C grep -qaE "Thr$tail|PrgQ7w2Zx\$" redacted || say "$source: a name is left"
	"$EPITAPH" extract -q -o paths --overwrite --redact paths,cmdline,stacks core
	"$EPITAPH" extract -q -o everything --overwrite --redact all core
	tells everything "" "$source"
	for file in redacted paths everything; do
		[ "$("$EPITAPH" info plain | grep '^scheduling')" = "$("$EPITAPH" info $file | grep '^scheduling')" ] ||
			say "$source, $file: $("$EPITAPH" info $file | grep '^scheduling'), not $("$EPITAPH" info plain | grep '^scheduling')"
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
