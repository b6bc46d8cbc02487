# SPDX-License-Identifier: BSD-2-Clause
# The ready pipeline files do what they promise: their commands, taken out by a YAML parser, run on a project of three files:
# good, over its budget, and with a test that dies, of which report and snapshot are left.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
PATH=$BIN:$PATH
pipelines=$TOP/ci/pipelines

# The commands, a line each step: run: of GitHub's (by bash -e), script: of GitLab's.
commands() { # FILE
	/usr/bin/python3 - "$1" <<'PYTHON'
import sys, yaml
data = yaml.safe_load(open(sys.argv[1]))
if "jobs" in data:
    assert True in data or "on" in data  # YAML 1.1 reads `on` as true
    steps = data["jobs"]["tracing"]["steps"]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    commands = [step["run"] for step in steps if "run" in step]
else:
    assert set(data["tracing"]["artifacts"]["paths"]) == {"crashes", "budget.json"}
    commands = data["tracing"]["script"]
print("set -eo pipefail")
print("\n".join(commands))
PYTHON
}

project() { # FOLDER: as a checkout would leave it
	rm -rf "$1" && mkdir -p "$1/ci"
	cp "$TOP/tests/programs/records.c" "$pipelines/budget.mk" "$1"
	cp "$pipelines/crash-smoke" "$1/ci"
	cat >"$1/Makefile" <<'EOF'
CFLAGS = -g -O1
records: records.c
	$(CC) $(CFLAGS) records.c -o records
check: records
	./records $(RECORDS) $(HOW)
RECORDS = 1000
include budget.mk
EOF
	printf '[test check]\nmax-calls = 4002\ntolerance = 0%%\n' >"$1/epitaph.budget"
}

for file in github.yml gitlab.yml; do
	commands "$pipelines/$file" >script
	[ "$(wc -l <script)" -ge 5 ] || say "$file: few commands"
	project good
	(cd good && gives 0 bash ../script && [ "$failures" = 0 ]) || say "$file: a good project failed"
	[ $file = github.yml ] || python3 -m json.tool good/budget.json >/dev/null || say "$file: no JSON"
	project over
	(cd over && sed -i 's/^RECORDS = .*/RECORDS = 2000/' Makefile && gives 1 bash ../script && grep -q 8,002 out &&
		[ "$failures" = 0 ]) || say "$file: over its budget"
	project dies
	(cd dies && sed -i 's/^RECORDS = .*/RECORDS = 1000\nHOW = kill/' Makefile && gives 2 bash ../script && [ "$failures" = 0 ]) ||
		say "$file: a test that dies"
	report=$(echo dies/crashes/records.*.txt) snapshot=$(echo dies/crashes/records.*.core)
	has "$report" digit
	gives 0 "$BIN/epitaph" replay --last=20 "$snapshot"
	has out digit
done
[ ! -e good/crashes ] || [ -z "$(ls good/crashes)" ] || say 'a good run left crashes'

# The make fragment.
project fragment
cd fragment
unset MAKEFLAGS MAKELEVEL
gives 0 make -s CC=epitaph-cc budget
sed -i 's/^RECORDS = .*/RECORDS = 2000/' Makefile
gives 2 make CC=epitaph-cc budget
has err 'Error 4'
[ "$failures" = 0 ]
