# SPDX-License-Identifier: BSD-2-Clause
# Each way to die is told in its own words, with the stack beside the open calls; in the main thread and in another.
# sanitized only
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"
traced deaths deaths

# report HOW WORDS...: of the core of `deaths HOW`; the words must be in it.
report() {
	local how=$1 word
	shift
	crash core.dead "$PWD/deaths" $how
	gives 0 "$EPITAPH" report --threads=16 core.dead
	mv out "report.$how"
	for word; do has "report.$how" "$word"; done
	has "report.$how" "program    $PWD/deaths"
	has "report.$how" "$(readelf -n deaths | awk '/Build ID/ { print $3 }')"
	has "report.$how" "choose+0x"
}

report null 'SIGSEGV (segmentation fault)' 'null pointer dereference, likely: address 0x18, not mapped (SEGV_MAPERR)' 'die_null+0x'
report call 'call of a null function pointer (0x0)' 'die_call+0x'
report divide 'SIGFPE (arithmetic error)' 'integer division by zero' '(FPE_INTDIV)' 'die_divide+0x'
report abort 'SIGABRT (abort)' 'because    die_abort called abort()' 'die_abort+0x'
report readonly 'does not allow that access (SEGV_ACCERR)' "in $PWD/deaths, offset 0x" 'read-only' 'die_readonly+0x'
report guard 'no access allowed' 'die_beyond+0x'
report wild 'non-canonical' 'die_wild+0x'
report trap 'SIGILL (illegal instruction)' 'ud2' 'die_trap+0x'
report handled 'SIGABRT' 'handle_fault+0x' 'a signal came here' 'die_handled+0x'
report overflow 'stack overflow, likely' 'overflow_stack+0x' 'frames are left out' 'main+0x'

# Beside its frame each call says when it began, and they are open in that order.
grep -E '^  #[0-9]+ +(die_null|choose|main)\+' report.null >frames
[ "$(grep -c 'called .* before the end' frames)" -eq 3 ] || { say "frames without calls:"; cat frames; }
[ "$(awk '{ sub(/\+.*/, "", $2); printf "%s ", $2 }' frames)" = 'die_null choose main ' ] || { say "order:"; cat frames; }
# Also through a signal frame.
[ "$(grep -cE '(handle_fault|die_handled|choose|main)\+.*called .* before the end' report.handled)" -eq 4 ] ||
	{ say 'a handled signal'; cat report.handled; }
# The history is whole, so nothing was before it; what returned is told as such.
hasnt report.null 'does not reach back'
[ "$(grep -c 'warm_up();' report.null)" -eq 3 ] || say "warm_up was called three times"
grep -q 'die_null() { /\* did not return \*/' report.null || say "die_null did not return"

# A second thread dies while main waits for it: each is told as what it is.
crash core.second "$PWD/deaths" null thread
gives 0 "$EPITAPH" report --threads=16 core.second
# (A line of what it did may lie between, where scheduling events had begun.)
grep -E -A2 '^thread [0-9]+ second died' out | grep -q '#0 *die_null+0x' || { say 'second is not told as the dead one'; cat out; }
has out 'second_thread+0x'
grep -A4 -E '^thread [0-9]+ deaths:' out | grep -qE 'open calls +join_it \[.*\] < main \[' || { say 'main waits in join_it'; cat out; }
grep -A4 -E '^thread [0-9]+ deaths:' out | grep -qE 'lock +waits for the end of thread [0-9]+ second$' || say 'main waits for the end of second'

# Killed from outside: by whom, and no blame on an address. A live process: no death, its open calls.
rm -rf crash.dir && mkdir crash.dir && mkfifo ready
(cd crash.dir && exec ../deaths wait) >ready &
victim=$!
read -r _ <ready
gives 0 "$EPITAPH" report --threads=16 "$victim"
has out 'is running'
grep -qE 'open calls +die_waiting \[.*\] < choose \[.*\] < main' out || { say 'open calls of a live process'; cat out; }
bash -c 'echo $$; kill -QUIT '"$victim" >killer
wait "$victim" 2>/dev/null || true
gives 0 "$EPITAPH" report --threads=16 crash.dir/core*
has out 'SIGQUIT'
has out "sent by pid $(cat killer) of uid $(id -u)"
hasnt out 'address 0x'

# A snapshot tells the same death. Of the core file's own time, which bounds the end, it knows nothing.
touch -d @0 core.second
gives 0 "$EPITAPH" extract -o snapshot core.second
gives 0 "$EPITAPH" report --threads=16 core.second
mv out whole
gives 0 "$EPITAPH" report --threads=16 snapshot
diff whole out || say 'the snapshot tells another story than its core'

# A ring that does not reach back: the stack has main, and the line above it says why the trace does not.
crash core.short env EPITAPH_RING=4K "$PWD/deaths" overflow
gives 0 "$EPITAPH" report --all core.short
has out 'the trace does not reach back to the calls below'
grep -qE '#[0-9]+ +overflow_stack.*\[called' out || say 'the innermost calls are in the trace'
awk '/does not reach back/ { below = 1 } / main\+0x/ { exit !below }' out || say 'main stands above the edge of the history'
hasnt out 'main() {'

# Of a core that ends behind the arena no stack is left: the trace is the only backtrace, from main to the last call.
crash core.deep env EPITAPH_RING=64K "$PWD/deaths" overflow
end=$(readelf -lW core.deep | awk '$1 == "LOAD" { print $2 " + " $5; exit }')
head -c $((end + 4096)) core.deep >core.cut
gives 1 "$EPITAPH" report --threads=16 core.cut
has out 'SIGSEGV'
has out 'could not be followed further'
awk '/from here on by the trace alone/ { on = 1 } on && /^ +overflow_stack +\[called/ { n++ } on && /^ +choose +\[called/ { c = n }
	on && /^ +main +\[called/ { m = c } END { exit !(m > 3) }' out || { say 'the open calls of a cut core'; cat out; }
hasnt out 'overwritten from here'
has out 'truncated'

# A core without a trace: the death and the stacks, with status 1; for a command that needs the trace, 2.
gcc -g -O1 "$TOP/tests/programs/deaths.c" -lpthread -o plain
crash core.plain "$PWD/plain" null
gives 1 "$EPITAPH" report --threads=16 core.plain
has out 'null pointer dereference, likely: address 0x18'
has out 'die_null+0x'
has out "program    $PWD/plain"
has out "command    $PWD/plain null"
has out 'no trace'
for command in info replay 'export -f viztracer' 'extract -o nothing'; do
	gives 2 "$EPITAPH" $command core.plain
	has err core.plain
	[ ! -s out ] || say "$command printed something of a core without a trace"
done
[ ! -e nothing ] || say 'extract left a file'
exit $((failures != 0))
