# SPDX-License-Identifier: BSD-2-Clause
"""pager.py STATUS STEP… -- COMMAND…: the command on a terminal of its own, of 20 lines. Steps:
sees=TEXT (soon the terminal was given that since the last step), types=KEYS (^C too), runs (the command has not ended),
kills=SIGNAL (of its child, the pager), asks=KEY TEXT and quits (until it is heard). Then it ends with STATUS, -2 for SIGINT."""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time


class Terminal:
    def __init__(self, command):
        self.shown = b""
        self.quitting = False
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 100, 0, 0))
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execvp(command[0], command)

    def read(self, seconds):
        """False: nothing came, or all have closed it."""
        if not select.select([self.file], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self.file, 65536)
        except OSError:
            return False
        self.shown += piece
        return bool(piece)

    def sees(self, text):
        until = time.monotonic() + 60
        while text.encode() not in self.shown and time.monotonic() < until:
            self.read(0.1)
        assert text.encode() in self.shown, f"no {text!r} in {self.shown[-2000:]!r}"
        self.shown = b""

    def asks(self, value):
        """KEY TEXT: types the key until the text comes: less throws away what is typed while it is interrupted."""
        key, text = value.split(" ", 1)
        until = time.monotonic() + 30
        while text.encode() not in self.shown and time.monotonic() < until:
            self.types(key)
            self.read(0.5)
        self.sees(text)

    def quits(self):
        self.quitting = True

    def types(self, keys):
        os.write(self.file, keys.replace("^C", "\x03").encode())

    def runs(self):
        assert os.waitpid(self.pid, os.WNOHANG) == (0, 0), "it has ended"

    def kills(self, name):
        with open(f"/proc/{self.pid}/task/{self.pid}/children") as file:
            children = [int(child) for child in file.read().split()]
        assert len(children) == 1, f"children: {children}"
        os.kill(children[0], getattr(signal, name))

    def ends(self, status):
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if self.quitting:
                self.types("q")
            self.read(0.2)
            pid, got = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.read(0.05):
                    pass
                assert os.waitstatus_to_exitcode(got) == status, f"status {os.waitstatus_to_exitcode(got)}, not {status}"
                return
        os.kill(self.pid, signal.SIGKILL)
        raise AssertionError(f"it did not end; the terminal has {self.shown[-500:]!r}")


def main():
    at = sys.argv.index("--")
    terminal = Terminal(sys.argv[at + 1:])
    for step in sys.argv[2:at]:
        name, _, value = step.partition("=")
        getattr(terminal, name)(*([value] if value else []))
    terminal.ends(int(sys.argv[1]))
    sys.stdout.buffer.write(terminal.shown.replace(b"\r", b""))


try:
    main()
except AssertionError as error:
    sys.exit(f"{error}")
