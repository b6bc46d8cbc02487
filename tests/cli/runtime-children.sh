#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Children made in every way, by processes that have scheduling events and such that have none, root's and an ordinary user's: they
# live as long as they want, their parents lose nothing by them, and each has a trace and events of its own.
set -euo pipefail
source "$TOP/tests/cli/lib/sched.bash"

all="fork thread raw raw-files _Fork clone clone-vm clone-vfork vfork vfork-exec spawn exec exec-untraced double orphan daemon storm young"
some="fork thread raw vfork exec exec-untraced daemon"
user="$(id -un)"
nobody=()
alone=(unshare --pid --fork --kill-child --mount-proc) # as pid 1

# Where an ordinary user may write, and nobody else's core_pattern or umask is in the way.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
"$BIN/epitaph-cc" -O1 -pthread "$TOP/tests/programs/children.c" -o "$place/children"
if [ "$(id -u)" -eq 0 ]; then
	user=nobody
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi

# try SOURCE WHO KIND...: all of them at once.
try() {
	local source=$1 who=$2 kind events=$1 as=()
	shift 2
	[ "$source" != off ] || events=
	case $who in
	root) ;;
	init) as=("${alone[@]}") ;;
	*) as=("${nobody[@]}") ;;
	esac
	for kind; do
		mkdir -m 777 "$place/$source.$who.$kind"
		(
			cd "$place/$source.$who.$kind"
			# The words of a shell that reports a death are not the program's.
			export EPITAPH_SCHED=$source EVENTS=$events EPITAPH_MEMORY=1M
			timeout -s KILL 60 "${as[@]}" ../children $kind 200 >out 2>&1 ||
				echo "status $?" >>out
		) &
	done
}

# The drain says itself whether this user may have perf's events here.
probe() {
	(cd "$place" && mkdir -m 777 probe && cd probe && EPITAPH_SCHED=perf EPITAPH_MEMORY=1M "${nobody[@]}" ../children child 0 || true) \
		>/dev/null 2>"$place/said"
	[ ! -s "$place/said" ]
}
may_perf=off
! probe || may_perf=perf

try $may_perf "$user" $all
try off "$user" raw thread double
EPITAPH_FILE=arena.%p try off root raw-files fork _Fork
if [ "$(id -u)" -eq 0 ]; then
	try perf root $some
	[ ! -w $tracing/instances ] || try ftrace root $some young
	! "${alone[@]}" true 2>/dev/null || try perf init init
fi
wait

python3 - "$BIN/epitaph" "$place" "$tracing" <<'END'
import glob, json, os, subprocess, sys, time
epitaph, place, tracing = sys.argv[1:]
shares = {"vfork", "clone-vm", "clone-vfork"}
bad, switches = 0, {}

def say(*words):
    global bad
    bad += 1
    print(*words)

def ask(*words):
    done = subprocess.run([epitaph, *words], capture_output=True, text=True)
    if done.returncode or done.stderr:
        say(*words, done.returncode, done.stderr)
    return done.stdout

def look(run, who, pids, calls, others):
    source = run.split(".")[0]
    path = f"{place}/{run}/{who}"
    info = json.loads(ask("info", "--json", path) or "{}")
    stats = ask("stats", path)
    if info.get("pid") not in pids or (calls not in stats) or any(other in stats for other in others):
        say(run, who, "is of", info.get("pid"), "with", stats[:300])
    events = info.get("scheduling") or {}
    told = events.get("source") if source != "off" else "off"
    # It wrote its snapshot when the drain had begun, perhaps just so.
    if told != source and events.get("state") != "starting":
        say(run, who, "has events by", events)
    if events.get("threads", 0) > len(info["threads"]):
        say(run, who, "has events of others:", events)
    switches[source, who] = switches.get((source, who), 0) + events.get("switches", 0)
    return info.get("pid")

pids = set()
for folder in sorted(glob.glob(place + "/*.*.*")):
    run = os.path.basename(folder)
    kind = run.split(".")[2]
    out = open(folder + "/out").read()
    if out:
        say(run + ":", out)
        continue
    own = [int(line) for line in open(folder + "/pids")]
    pids.update(own)
    look(run, "parent", own[:1], "in_parent", [] if kind in shares else ["in_child"])
    if kind not in shares | {"exec-untraced"}:
        look(run, "child", own[1:], "in_child", ["in_parent"])
for (source, who), count in switches.items():
    if source != "off" and not count:
        say(source, who, "no event in all of them")

def left():
    return [name for name in glob.glob(tracing + "/instances/epitaph.*") if int(name.split("epitaph.")[1].split(".")[0]) in pids]

for i in range(100):
    if not left():
        break
    time.sleep(0.1)
else:
    say("left:", left())
sys.exit(bad > 0)
END
