# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_commands.py: gdb's commands. `epitaph save` is ours; the others show what the program
epitaph prints: of a core itself, of a live process by a temporary snapshot with gdb's registers."""

import os
import shutil
import subprocess
import tempfile

import gdb

from epitaph_live import open_process, own_id
from epitaph_snapshot import save

MISSING = """epitaph: the program `epitaph`, which explains the trace, is not here (looked beside \
this script and in PATH). Where it is:
  (gdb) epitaph save crash.core
  $ epitaph %s crash.core"""


class Prefix(gdb.Command):
    """The program's last moments as epitaph recorded them.

epitaph save [FILE]       write a snapshot: a small core with trace, registers, stacks
by the program `epitaph`, whose options they take:
epitaph report [OPTIONS]  the crash on one page
epitaph stack             its stack, beside the calls in the trace
epitaph replay [OPTIONS]  the calls as a tree, newest last
epitaph stats [OPTIONS]   per function: calls, total, self, min to max
epitaph info              what is in the trace, how complete, how far back
epitaph threads           its threads, with gdb's numbers"""

    def __init__(self):
        super().__init__("epitaph", gdb.COMMAND_DATA, prefix=True)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError("epitaph: `%s` is no subcommand; there are save, report, stack,"
                               " replay, stats, info and threads" % argument)
        gdb.execute("help epitaph")


class Save(gdb.Command):
    """Write a snapshot of the trace to FILE.

epitaph save [FILE]

The snapshot is a small core: the trace, the registers and stacks of all threads.
`epitaph report FILE` reads it, on any machine; gdb opens it too. Without FILE it is
epitaph.PID.N.core, with an N that makes it new. Quote a name with spaces. An existing
FILE is replaced, but never the core itself."""

    def __init__(self):
        super().__init__("epitaph save", gdb.COMMAND_DATA, gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        path = self.parse(gdb.string_to_argv(argument or ""))
        gdb.write(save(open_process(), path) + "\n")

    @staticmethod
    def parse(words):
        if words[:1] == ["--"]:
            words = words[1:]
        elif words and words[0].startswith("-"):
            raise gdb.GdbError("epitaph save: no option %s; usage: epitaph save [FILE]" % words[0])
        if len(words) > 1:
            raise gdb.GdbError("epitaph save: one FILE, not %d: put a name with spaces into quotes"
                               % len(words))
        if words == [""]:
            raise gdb.GdbError("epitaph save: FILE is empty")
        return words[0] if words else None


# ---- by the program ------------------------------------------------------------------------------


def program():
    """Beside the script, built or installed; else in PATH. None: nowhere."""
    here = os.path.dirname(os.path.realpath(__file__))
    for path in (os.path.join(here, "..", "bin", "epitaph"),
                 os.path.join(here, "..", "..", "..", "bin", "epitaph")):
        if os.access(path, os.X_OK):
            return os.path.normpath(path)
    return shutil.which("epitaph")


def executable():
    """gdb knows the program's file where the core's own name leads nowhere."""
    name = gdb.current_progspace().filename
    return ["--executable=" + name] if name and os.path.isfile(name) else []


def printed(process, command, words):
    """What `epitaph COMMAND WORDS` prints of the process."""
    path = program()
    if not path:
        raise gdb.GdbError(MISSING % command)
    with tempfile.TemporaryDirectory(prefix="epitaph-gdb.") as folder:
        core = process.name
        if process.live:
            core = os.path.join(folder, "snapshot.core")
            save(process, core)
        done = subprocess.run([path, command, *executable(), *words, core],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    complaint = done.stderr.replace(core, process.name)
    if done.returncode > 1:
        raise gdb.GdbError(complaint.strip() or "epitaph %s ended with status %d"
                           % (command, done.returncode))
    gdb.write(complaint, gdb.STDERR)
    return done.stdout


class Reader(gdb.Command):
    """A command of the program as one of gdb's."""

    def __init__(self, name, words, command=None, before=()):
        self.__doc__ = words
        self.command = command or name
        self.before = before
        super().__init__("epitaph " + name, gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        words = [*self.before, *gdb.string_to_argv(argument or "")]
        gdb.write(self.shown(open_process(), words))

    def shown(self, process, words):
        return printed(process, self.command, words)


class Threads(Reader):
    """The table of threads of `epitaph info`, with gdb's number of each."""

    def shown(self, process, words):
        lines = printed(process, self.command, words).splitlines()
        start = next((at for at, line in enumerate(lines) if line.startswith("tid ")), len(lines))
        numbers = self.numbers(process)
        return "".join("%-4s %s\n" % ("gdb" if at == start else numbers.get(
            lines[at].split(" ")[0], "") if " live " in lines[at] else "", lines[at])
                       for at in range(start, len(lines)))

    @staticmethod
    def numbers(process):
        """`*` is the selected one. An ended thread's tid may be another's by now."""
        inferior, current = gdb.selected_inferior(), gdb.selected_thread()
        found = {}
        for thread in inferior.threads():
            tid = thread.ptid[1] or thread.ptid[0]
            mark = "*" if current and thread.num == current.num else " "
            found[str(own_id(inferior, tid) if process.live else tid)] = mark + str(thread.num)
        return found


def register():
    """Once or again: gdb replaces a command of the same name."""
    Prefix()
    Save()
    Reader("report", "The crash on one page: what died and of what, its stack beside its calls in"
           " the\ntrace, its last calls, and the other threads in short.\n\nepitaph report"
           " [OPTIONS]\n\nOPTIONS are those of `epitaph report --help`.")
    Reader("stack", "The stack of the thread that died, each frame beside its call in the trace."
           "\n\nepitaph stack [OPTIONS]\n\nOPTIONS are those of `epitaph report --help`.",
           "report", ["--last=0", "--threads=0"])
    Reader("replay", "The calls as a tree, newest last.\n\nepitaph replay [OPTIONS]\n\nOPTIONS are"
           " those of `epitaph replay --help`: --last=50, --thread=worker …")
    Reader("stats", "A table of functions: how often, how long.\n\nepitaph stats [OPTIONS]\n\n"
           "OPTIONS are those of `epitaph stats --help`.")
    Reader("info", "What is in the trace, how complete, how far back.\n\nepitaph info")
    Threads("threads", Threads.__doc__ + "\n\nepitaph threads", "info")
