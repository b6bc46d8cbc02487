#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every command of docs/guide.md runs, in its order, and comes to what the guide says.
set -euo pipefail
guide=$TOP/docs/guide.md
PATH=${EPITAPH%/*}:$BIN:$PATH
sed -n '/^```c jobs.c$/,/^```$/{/^```/d;p}' "$guide" >jobs.c
sed -n 's/^    \$ //p' "$guide" >commands
[ "$(wc -l <commands)" -ge 15 ] || { echo "only $(wc -l <commands) commands in the guide"; exit 1; }

bad=0 number=0
while read -r command; do
	status=0
	eval "$command" >out 2>err </dev/null || status=$?
	case $command in
	*doctor*) wanted=0 ;;
	'epitaph tui '*) wanted=64 ;; # no terminal
	./jobs | *' ./jobs') wanted=139 ;; # SIGSEGV
	*) wanted=0 ;;
	esac
	if [ $status -ne $wanted ]; then
		bad=1
		echo "status $status: $command"
		sed 's/^/  | /' err
	fi
	cp out "out.$((++number))"
	echo "$number: $command" >>ran
done <commands

out_of() { # PATTERN: what the command that matches printed last
	cat "out.$(grep -- "$1" ran | tail -n 1 | cut -d : -f 1)"
}
says() { # COMMAND PATTERN
	out_of "$1" >said
	grep -Eq -- "$2" said || { bad=1; echo "'$1' does not say '$2':"; head -n 30 said | sed 's/^/  | /'; }
}
says 'epitaph report jobs.core' 'SIGSEGV'
says 'epitaph report jobs.core' 'measure'
says 'report jobs.arena' 'measure\(\).*did not return'
says 'info jobs.core' ' odd '
says 'last=10 jobs.core' 'measure\(\).*did not return'
says 'last=10 jobs.snapshot' 'measure\(\).*did not return'
diff <(out_of 'last=10 jobs.core') <(out_of 'last=10 jobs.snapshot') || { bad=1; echo "core and snapshot differ"; }
says 'gdb -batch' '#0 .*measure \(job='
says 'signature' '^SIGSEGV-[0-9a-f]{16} measure < handle'
says 'epitaph diff' '[Nn]o difference|the same|equal'
says 'doctor' 'would leave a trace'
grep -q measure jobs.tsv && python3 -c 'import json; json.load(open("jobs.json"))' || bad=1
exit $bad
