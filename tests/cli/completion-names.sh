#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# bash's completion beside files that somebody else has named, by a real TAB: with blanks, globs, quotes, `$(…)` and ends of lines a name
# comes to the command as it is, as one argument, and nothing of it is run or expanded.
# nothing crashes
set -euo pipefail
"$EPITAPH" help --completion bash >completion
cat >press.py <<'PYTHON'
import os, pty, select, sys, time

def press(name, typed):
    """The argument that a fake epitaph gets, when TAB follows what was typed in a folder with that file."""
    folder = os.path.join(os.getcwd(), "in")
    os.makedirs(folder, exist_ok=True)
    for old in os.listdir(folder):
        os.unlink(os.path.join(folder, old))
    open(os.path.join(folder, name), "w").close()
    open(os.path.join(folder, "zzz other"), "w").close()
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(TERM="dumb", PS1="> ", HISTFILE="", LC_ALL="C.UTF-8", INPUTRC="/dev/null")
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    seen = b""

    def send(text, wanted):
        nonlocal seen
        seen = b""
        os.write(master, text.encode())
        end = time.time() + 20
        while time.time() < end and wanted not in seen:
            if select.select([master], [], [], 0.2)[0]:
                seen += os.read(master, 4096)
        return wanted in seen

    out = os.path.join(os.getcwd(), "arguments")
    if os.path.exists(out):
        os.unlink(out)
    send("source ../completion; epitaph() { printf '%s\\0' \"$@\" >../arguments; }; echo rea''dy\n", b"ready")
    os.write(master, ("epitaph report " + typed + "\t").encode())
    time.sleep(1)
    send("\necho do''ne\n", b"done")
    os.write(master, b"exit\n")
    os.close(master)
    os.waitpid(pid, 0)
    return open(out, "rb").read().decode().split("\0")[:-1] if os.path.exists(out) else None

bad = 0
for name, typed in [("a b.core", "a"), ("a*", "a"), ("a?[b]", "a"), ("a'\"b", "a"), ("a$(touch made)", "a"), ("a`touch made`", "a"),
                    ("a;touch made", "a"), ("a\nb", "a"), ("a b", "a\\ "), ("plain", "pl")]:
    got = press(name, typed)
    if got != ["report", name] or os.path.exists("in/made"):
        print(f"{name!r}: the command got {got!r}", "and a file was made" if os.path.exists("in/made") else "")
        bad = 1
sys.exit(bad)
PYTHON
python3 press.py
