# SPDX-License-Identifier: BSD-2-Clause
# The page of report without options is one screen, also of 100 threads: those with the same stack are one line, who waits for
# whose lock is said, and lines fit the terminal without a number being cut. --all has the rest. With a pager as git's.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

"$BIN/epitaph-cc" -g -O1 "$TOP/tests/programs/groups.c" -o groups -lpthread
gcc -g -O1 "$TOP/tests/programs/groups.c" -o plain -lpthread
crash core.groups "$PWD/groups" deadlock
EPITAPH_SCHED=off crash core.unscheduled "$PWD/groups" deadlock
crash core.plain "$PWD/plain"

# What the program does is known from its source.
gives 0 "$EPITAPH" report core.groups
mv out page
for words in '^  60 threads \(loop-\*\) in epoll_wait < wait_for_events < event_loop' \
	'^  24 threads \(worker-\*\) wait for condition 0x[0-9a-f]+ with mutex 0x[0-9a-f]+: pthread_cond_wait < take_work < worker' \
	'^  12 threads \(reader-\*\) wait for mutex 0x[0-9a-f]+, held by thread [0-9]+ writer: .*cache_get < reader' \
	'^  thread [0-9]+ writer holds a mutex that 12 threads wait for: in .*flush < writer' \
	'^  thread [0-9]+ spinner-1 runs in spinner' \
	'^  deadlock: thread ([0-9]+) (one|other)-way-1 waits for a lock of thread [0-9]+ (one|other)-way-1, which waits for a lock of thread \1 ' \
	'^100 other threads' '^died of    SIGSEGV' '^  #0    choose\+0x'; do
	grep -qE "$words" page || { say "no \"$words\""; cat page; }
done
# The lock's holder is the one that has it.
holder=$(sed -nE 's/.*reader.*held by thread ([0-9]+) writer.*/\1/p' page)
grep -q "^  thread $holder writer holds" page || say "$holder holds it"
# The stack is not repeated, nor is what begins the program; all of it is there with --all.
hasnt page 'did not return'
hasnt page '_start'
gives 0 "$EPITAPH" report --all core.groups
has out '_start'
has out 'choose() { /* did not return'
[ "$(grep -c '^thread ' out)" -eq 101 ] || say "--all has $(grep -c '^thread ' out) threads"

# Lines fit, numbers are whole: those of the page that nothing cuts.
grep -oE '0x[0-9a-f]{5,}|[0-9]+\.[0-9]+ [mun]?s' page | sort -u >numbers
for columns in 80 100 200; do
	COLUMNS=$columns "$EPITAPH" report core.groups >narrow
	sed 's/…/./g' narrow | awk -v most=$columns 'length > most { bad = 1; print length ": " $0 } END { exit bad }' >long ||
		{ say "$columns columns:"; cat long; }
	[ "$(wc -l <narrow)" -le 50 ] || say "$columns columns: $(wc -l <narrow) lines"
	grep -oE '0x[0-9a-f]{5,}|[0-9]+\.[0-9]+ [mun]?s' narrow | sort -u | comm -23 - numbers >other
	[ ! -s other ] || say "$columns columns: cut numbers: $(cat other)"
done
COLUMNS=7 "$EPITAPH" report core.groups | diff - <(COLUMNS=80 "$EPITAPH" report core.groups) >/dev/null || say '7 columns'
COLUMNS=x "$EPITAPH" report core.groups | diff - page >/dev/null || say 'x columns'

# The table of stats, too: on a narrow terminal it has fewer columns, of which none is cut.
stats() { # CORE COLUMNS HEAD WORDS...
	COLUMNS=$2 "$EPITAPH" stats "${@:4}" "$1" >narrow
	sed 's/…/./g' narrow | awk -v most="$2" 'length > most { print length ": " $0; bad = 1 } END { exit bad }' >long ||
		{ say "stats of $1 at $2 columns:"; cat long; }
	grep -qE "^ *${3// / +}" narrow || say "columns of stats of $1 at $2 columns, ${*:4}: $(head -1 narrow)"
}
stats core.unscheduled 80 'calls total self median max function'
stats core.unscheduled 80 'thread calls total self function' --by-thread
stats core.unscheduled 130 'calls timed total self min median p90 p99 max function'
"$EPITAPH" stats core.groups >wide
if grep -q 'waiting' wide; then
	stats core.groups 80 'calls total self on CPU waiting function'
	stats core.groups 80 'calls total self median waiting function' --sort=median
	stats core.groups 80 'thread calls self waiting function' --by-thread
	stats core.groups 110 'calls total self median max on CPU waiting function'
fi
COLUMNS=80 "$EPITAPH" stats core.unscheduled >narrow
[ "$(awk '$NF == "spinner" || / spinner / {print $1}' narrow)" = 1 ] || { say 'spinner in stats'; cat narrow; }

# Without a trace there are no names of threads, but the same groups.
gives 1 "$EPITAPH" report core.plain
for words in '^  60 threads in epoll_wait < wait_for_events < event_loop' '^  12 threads wait for mutex 0x[0-9a-f]+, held by thread'; do
	grep -qE "$words" out || { say "plain: no \"$words\""; cat out; }
done

# On a terminal: the pager gets the page, with its colours, as wide as the terminal; none for what has one line of its own.
cat >terminal.py <<'END'
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 90, 0, 0))
    for name in "COLUMNS", "NO_COLOR":
        os.environ.pop(name, None)
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    shown += piece
sys.stdout.buffer.write(shown.replace(b"\r", b""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
COLUMNS=90 "$EPITAPH" report --color=always core.groups >wide
PAGER="sed 's/^/PAGED /'" python3 terminal.py "$EPITAPH" report core.groups >shown || say "in a pager: $?"
diff <(sed 's/^/PAGED /' wide) shown >difference || { say 'what the pager shows'; head -n 5 difference; }
PAGER="sed 's/^/PAGED /'" python3 terminal.py "$EPITAPH" report --no-pager core.groups | diff wide - >/dev/null || say '--no-pager'
PAGER=cat python3 terminal.py "$EPITAPH" report core.groups | diff wide - >/dev/null || say 'PAGER=cat'
PAGER="sed 's/^/PAGED /'" "$EPITAPH" report core.groups | diff page - >/dev/null || say 'a pager where there is no terminal'
# A pager that is quit at once is no error; the status is the report's.
status=0
PAGER='head -n 1' python3 terminal.py "$EPITAPH" report core.plain >shown || status=$?
[ $status -eq 1 ] || say "status $status behind a pager that was quit"
[ "$(wc -l <shown)" -eq 1 ] || say "head -n 1 shows $(wc -l <shown) lines"
exit $((failures != 0))
