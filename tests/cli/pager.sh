# SPDX-License-Identifier: BSD-2-Clause
# The pager, as git's: it is quit, interrupted, killed, missing, not wanted. Whoever has ended it gets the command's own status,
# and nobody's terminal is given back while the pager still reads from it.
set -euo pipefail
source "$TOP/tests/cli/lib/traced.bash"

gcc -g -O1 -w "$TOP/tests/programs/groups.c" -o plain -lpthread
crash core.plain "$PWD/plain"
unset PAGER EPITAPH_PAGER LESS COLUMNS NO_COLOR
export TERM=xterm
report=("$EPITAPH" report --all --color=never core.plain)
"${report[@]}" >whole || true
[ "$(wc -l <whole)" -gt 100 ] || say "the report is too short for this test"
first=$(head -n 1 whole) last=$(grep . whole | tail -n 1 | cut -c1-60)
page() { python3 "$TOP/tests/cli/lib/pager.py" "$@" -- "${report[@]}" >shown 2>error || say "pager $*: $(cat error)"; }

# Quit at once, and after reading to the end: the status is the report's.
page 1 "sees=$first" types=q
page 1 "sees=$first" types=G "sees=$last" types=q
[ ! -s error ] || say "says: $(cat error)"

# Ctrl-C is the pager's: it goes on, and so does the command, until the pager is quit; then it has died of the signal. What is not
# written yet then never is, as of any command that is interrupted.
page -2 "sees=$first" types=G "sees=$last" types=^C $'sees=\a' runs "asks=g $first" runs quits
page -2 "sees=$first" types=^C $'sees=\a' runs quits
# Somebody has killed the pager: the status is the report's.
page 1 "sees=$first" kills=SIGKILL

# Who reads: EPITAPH_PAGER before PAGER, with options, by the shell; less with FRX unless LESS says otherwise.
PAGER="sed 's/^/P /'" page 1
diff <(sed 's/^/P /' <(COLUMNS=100 "${report[@]}")) shown >difference || { say 'PAGER'; head -n 4 difference; }
EPITAPH_PAGER="sed 's/^/E /'" PAGER="sed 's/^/P /'" page 1
grep -q '^E ' shown && ! grep -q '^P ' shown || say 'EPITAPH_PAGER'
PAGER='cat >/dev/null; echo "LESS=$LESS"' page 1
[ "$(cat shown)" = LESS=FRX ] || say "LESS: $(cat shown)"
LESS=M PAGER='cat >/dev/null; echo "LESS=$LESS"' page 1
[ "$(cat shown)" = LESS=M ] || say "LESS=M: $(cat shown)"

# None: not wanted, or not there. Nothing of the page is lost.
COLUMNS=100 "${report[@]}" >wide || true
none() { # WORDS
	diff wide shown >difference || { say "no pager, $1:"; head -n 4 difference; }
}
PAGER=cat page 1
none cat
PAGER= page 1
none "''"
EPITAPH_PAGER= PAGER=false page 1
none "EPITAPH_PAGER=''"
PAGER=false
export PAGER
report=("$EPITAPH" report --all --color=never --no-pager core.plain)
page 1
none --no-pager
unset PAGER
report=("$EPITAPH" report --all --color=never core.plain)
TERM=dumb page 1
none TERM=dumb
mkdir empty
PATH=$PWD/empty /usr/bin/env -u PAGER /usr/bin/python3 "$TOP/tests/cli/lib/pager.py" 1 -- "${report[@]}" >shown || say 'no less'
none 'no less'
for missing in no-such-pager '/no/such/pager -R'; do
	PAGER=$missing page 1
	has shown "no pager: there is no program \"$missing\""
	grep -vF 'no pager: there is no program' shown >rest && mv rest shown
	none "$missing"
done
# A terminal on stdin and stderr is none on stdout.
PAGER=false "${report[@]}" >shown || true
diff whole shown >difference || say 'stdout is a file'
exit $((failures != 0))
