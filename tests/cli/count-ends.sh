# SPDX-License-Identifier: BSD-2-Clause
# A process that counts writes its counts however it ends, but for SIGKILL: whole, under its name, and it ends just as it
# would have: by the same status or signal, with its core. What a core or a running process holds are the same counts.
# plain only: the runtime writes here; the reader of counts is in count-tool
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

calls() { awk -F, -v f="\"$1\"" '$1 == f { n += $3 } END { print n + 0 }' out; }
are() { # FUNCTION CALLS...
	while [ $# -gt 0 ]; do
		[ "$(calls "$1")" = "$2" ] || say "$how: $1 was called $2 times, not $(calls "$1")"
		shift 2
	done
}

traced counted counted
traced counted static -static
traced counted shared -epitaph-runtime=shared
mkdir run
ends() { # STATUS HOW [PROGRAM]: runs it twice, counting and not: both end with STATUS and print the same
	local want=$1 program=${3:-counted} got
	how="$2 ($program)"
	rm -rf run && mkdir run
	for mode in trace count; do
		got=0
		{ (cd run && EPITAPH_MODE=$mode "../$program" "$2" >../printed.$mode 2>&1) || got=$?; } 2>/dev/null
		[ $got -eq "$want" ] || say "$how, $mode: status $got, not $want"
	done
	cmp -s printed.trace printed.count || say "$how: prints other things: $(diff printed.trace printed.count)"
	ls run/.epitaph* >/dev/null 2>&1 && say "$how: leaves parts of files"
	return 0
}
written() { # all that it wrote together, into out
	gives 0 "$EPITAPH" count report --csv run/*.counts*
}

for program in counted static shared; do
	ends 0 exit $program
	written && are main 1 at_end 1 after 4
	ends 3 _exit $program
	written && are main 1 at_end 1 after 0
	ends 143 signal-15 $program
	written && are main 1 at_end 1 after 0
done
ends 3 _Exit && written && are at_end 1
ends 3 quick_exit && written && are at_end 1
ends 0 execlp && written && are at_end 1 after 0
ends 0 failing-exec && written && are at_end 2 after 4
ends 129 signal-1 && written && are at_end 1
ends 168 signal-40 && written && are at_end 1
ends 143 default-again && written && are at_end 1
ends 0 own-handler && written && are in_handler 1 at_end 1 after 4
# The program that it becomes counts too, and under another name.
ends 0 execv && written && are main 2 at_end 2 after 4
[ "$(ls run/*.counts* | wc -l)" = 2 ] || say 'exec: two programs of one pid, not two files'
# A fork: each its own, from zero.
EPITAPH_MODE=count ./counted fork >printed
child=$(sed 's/child //' printed)
how=child
gives 0 "$EPITAPH" count report --csv "epitaph.$child.counts"
are main 0 in_child 7 child 1 after 4 before 0
how=parent
for file in epitaph.*.counts; do
	[ "$file" = "epitaph.$child.counts" ] || gives 0 "$EPITAPH" count report --csv "$file"
done
are main 1 in_child 0 after 4 before 3
[ "$(ls epitaph.*.counts | wc -l)" = 2 ] || say 'fork: not two files'

# Deadly: with a core, of that signal, in which the counts are as in the file.
for how in segv abort overflow; do
	EPITAPH_MODE=count crash "core.$how" "$PWD/counted" $how
	gives 0 "$EPITAPH" count report --csv crash.dir/*.counts
	are main 1 at_end 1 after 0
	mv out file
	gives 0 "$EPITAPH" count report --csv "core.$how"
	cmp -s out file || say "$how: the core has other counts than the file"
	gives 0 "$EPITAPH" count diff "core.$how" crash.dir/*.counts
	eu-readelf --notes "core.$how" | grep -o 'cursig: [0-9]*' | sed -n 1p >signal
	case $how in segv | overflow) grep -qx 'cursig: 11' signal ;; abort) grep -qx 'cursig: 6' signal ;; esac ||
		say "$how: the core is of $(cat signal)"
done
# A fault is told as it is without us: in the same function, at the same address.
gdb -q -batch -ex 'p $_siginfo._sifields._sigfault.si_addr' -ex bt counted core.segv >gdb.out 2>&1
has gdb.out '(void *) 0x8'
has gdb.out '#0  end ('

# A live process.
how='a live process'
EPITAPH_MODE=count ./counted wait &
pid=$!
for _ in {1..200}; do
	grep -q '^State:.*S' "/proc/$pid/status" && [ "$(cat "/proc/$pid/comm")" = counted ] && break
	sleep 0.05
done
gives 0 "$EPITAPH" count report --csv "$pid"
are main 1 at_end 1 twice 2
gives 0 "$EPITAPH" extract "$pid" -o live.core
gives 0 "$EPITAPH" count report --csv live.core
are main 1 at_end 1 twice 2
kill -TERM $pid
wait $pid 2>/dev/null || true
[ -s "epitaph.$pid.counts" ] || say 'SIGTERM: no counts'
exit $((failures != 0))
