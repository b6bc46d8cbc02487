# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_reader.py: the one decoder, from inside gdb: a temporary snapshot is
saved, and the program `epitaph` reads it. Words are made in one place only."""

import os
import shutil
import subprocess
import tempfile

import gdb

from epitaph_root import find
from epitaph_snapshot import save
from epitaph_source import open_source

MISSING = """epitaph: the program `epitaph`, which explains the trace, is not \
here (looked beside this script and in PATH). Where it is:
  (gdb) epitaph save crash.core
  $ epitaph %s crash.core"""


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


def read(command, words):
    """Prints what `epitaph COMMAND WORDS SNAPSHOT` prints."""
    path = program()
    if not path:
        raise gdb.GdbError(MISSING % command)
    source = open_source()
    with tempfile.TemporaryDirectory(prefix="epitaph-gdb.") as folder:
        snapshot = os.path.join(folder, "snapshot.core")
        save(source, find(source), snapshot)
        done = subprocess.run(
            [path, command, *executable(), *words, snapshot],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    # Which snapshot it was is nobody's business.
    gdb.write(done.stdout)
    gdb.write(done.stderr.replace(snapshot, source.name), gdb.STDERR)
    if done.returncode > 1:
        raise gdb.GdbError("epitaph %s ended with status %d"
                           % (command, done.returncode))


class Reader(gdb.Command):
    """A command of the program as one of gdb's."""

    def __init__(self, name, command, before, words):
        self.__doc__ = words
        self.command = command
        self.before = before
        super().__init__("epitaph " + name, gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        read(self.command, self.before + gdb.string_to_argv(argument or ""))


def register():
    Reader("report", "report", [], """The crash on one page.

epitaph report [OPTIONS]

What died and of what, the stack of the thread that died beside its calls in the
trace, its last calls, and the same in short for the other threads. OPTIONS are
those of `epitaph report --help`.""")
    Reader("replay", "replay", [], """The calls as a tree, newest last.

epitaph replay [OPTIONS]

OPTIONS are those of `epitaph replay --help`: --last=50, --thread=worker …""")
    Reader("stats", "stats", [], """A table of functions: how often, how long.

epitaph stats [OPTIONS]

OPTIONS are those of `epitaph stats --help`.""")
    Reader("stack", "report", ["--last=0", "--threads=0"],
           """The stack of the thread that died, beside its calls in the trace.

epitaph stack [OPTIONS]

Each frame with its call in the trace, and where the two part. OPTIONS are those
of `epitaph report --help`.""")
