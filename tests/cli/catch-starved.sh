#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Memory runs out in epitaph catch, in each of its processes and at each allocation: the core goes on whole, to the last byte; the
# snapshot is whole or there is none, and the log says why. (tests/programs/starved.c is preloaded.)
# alone
set -euo pipefail
. "$TOP/tests/cli/lib/catch.bash"
trap 'touch "$room/go"; put_back' EXIT
gcc -O1 -shared -fPIC -fno-builtin "$TOP/tests/programs/starved.c" -o starved.so -ldl

printf '#!/bin/bash\nexec cat >%s/saved\n' "$room" >saver
chmod +x saver
installed "|$room/saver"
cp -r "$store" by_hand
hold_crashes
held "$room/deaths" null
core_size=$(stat -c %s a.core)
# handled PROCESS N: the crash that is held, by a handler whose memory runs out
handled() {
	rm -f by_hand/*.core by_hand/log saved
	STARVED="$1 $2" LD_PRELOAD="$room/starved.so" "$catch" catch "$room/by_hand" \
		$pid $pid 11 "$(date +%s)" 1 18446744073709551615 0 0 0 <a.core 2>said || true
	snapshot=$(compgen -G 'by_hand/*.core' || true)
}
core_is_whole() { # WHERE
	cmp -s a.core saved || { cat said by_hand/log || true; fail "$1: of $core_size bytes $(stat -c %s saved || true)"; }
}
without_times() { # FILE: two snapshots of the same core were taken at different times
	without_end "$1" | tail -c +4097
}

for limit in 0 64; do # the parser comes before the forwarder, and after it
	echo $limit >$limit_file
	parser=$((limit ? 2 : 1))
	handled 0 0
	core_is_whole "with all memory"
	[ -n "$snapshot" ] || { cat by_hand/log; fail "no snapshot with all memory"; }
	cp "$snapshot" whole
	for process in 0 1 2; do
		runs=0 without=0
		for ((n = 1; ; n += 1 + n / 2)); do
			handled $process $n
			runs=$((runs + 1))
			where="process $process, allocation $n, limit $limit"
			core_is_whole "$where"
			if [ -n "$snapshot" ]; then
				cmp <(without_times whole) <(without_times "$snapshot") || fail "$where: another snapshot"
				# There is nothing more of it that could run out.
				[ $process -eq $parser ] || [ $n -gt 20 ] || continue
				break
			fi
			without=$((without + 1))
			grep -q 'memory' by_hand/log || { cat by_hand/log said || true; fail "$where: it does not say why there is none"; }
			[ "$(ls by_hand | grep -vcx -e log -e settings -e places)" = 0 ] || fail "$where: left behind: $(ls by_hand)"
		done
		[ $process -ne $parser ] || [ $without -gt 5 ] || fail "limit $limit: the parser's memory ran out $without times only"
		echo "limit $limit, process $process: $runs runs, $without without a snapshot" >&2
	done
done
touch go
wait || true
