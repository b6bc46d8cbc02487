# SPDX-License-Identifier: BSD-2-Clause
"""programs.py: programs that nobody here wrote, each built several times from the
distribution's source package and given a measured amount of work. What a run costs is
the CPU time, user and system, of the program (of a server with all of its children) as
wait4 has it, never that of who gives it work: start, work and end.

What holds the runtime is linked anew when the runtime is another; all else stays in the
folder of builds, so that rounds can be repeated."""

import contextlib
import ctypes
import fcntl
import glob
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from measure import Failure

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
HERE = os.path.join(TOP, "tests", "bench")
BIN = os.path.join(TOP, "build", "bin")
LIB = os.path.join(TOP, "build", "lib")
EPITAPH = os.path.join(BIN, "epitaph")
XRAY = "-fxray-instrument -fxray-instruction-threshold=1"
COMPILERS = {"plain": "gcc", "epitaph": f"{BIN}/epitaph-cc", "pg": "gcc -pg", "clang": "clang",
             "xray": f"clang {XRAY}"}
PTRACE_CONT, PTRACE_SEIZE, PTRACE_O_TRACEEXIT = 7, 0x4206, 0x40


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def quiet(log, *command, **options):
    """Runs it into the log, of which a failure shows the end."""
    with open(log, "ab") as out:
        status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out,
                                stderr=subprocess.STDOUT, check=False, **options).returncode
    if status:
        with open(log, errors="replace", encoding="utf-8") as text:
            sys.stderr.write("".join(text.readlines()[-30:]))
        raise Failure(f"{os.path.basename(command[0])} ended with {status}, log {log}")


def clean_environment(more):
    """Ours without what our makefile tells its sub-makes, nor settings of the runtime."""
    left = {key: value for key, value in os.environ.items()
            if not key.startswith("EPITAPH") and key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return {**left, **(more or {})}


def runtime_sum():
    total = hashlib.sha256()
    for path in f"{BIN}/epitaph-cc", f"{LIB}/libepitaph.a", *sorted(glob.glob(f"{LIB}/epitaph/*.o")):
        with open(path, "rb") as part:
            total.update(part.read())
    return total.hexdigest()


def own_figure(*pids):
    """What epitaph itself thinks that tracing costs these processes, as a part of their CPU time
    without it; None: it doesn't say."""
    cost = rest = 0
    for pid in pids:
        known = switching_of(pid)
        cost += known.get("cost_cycles", 0)
        rest += known.get("cpu_cycles", 0) - known.get("cost_cycles", 0)
    return cost / rest if rest > 0 else None


def switching_of(pid):
    out = subprocess.run([EPITAPH, "info", "-j", str(pid)], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False).stdout
    try:
        return json.loads(out).get("switching") or {}
    except ValueError:
        return {}


class Run:
    """What one run of a program cost, and what epitaph says it did."""

    def __init__(self):
        self.cpu, self.own = 0.0, None

    def finish(self, pid, what):
        _, status, usage = os.wait4(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if code not in (0, -signal.SIGTERM):
            raise Failure(f"{what}: exit status {code}")
        self.cpu = usage.ru_utime + usage.ru_stime
        return self


class Program:
    """A program: how it is built, and what a unit of its work is."""
    name = package = ""
    linked = ()      # what holds the runtime, below the build's folder
    probe = 1        # units that take some tenths of a second

    def __init__(self, folder):
        self.folder = os.path.join(folder, self.name.split("-")[0])
        self.source = os.path.join(folder, f"src-{self.package}")
        os.makedirs(self.folder, exist_ok=True)
        self.rate = 0.0

    # ---- builds

    def build(self, kind):
        """Leaves the program of this kind in a folder of its own; again where the runtime is
        another, and from the start where the compiler is another tree's: a configured folder
        names it."""
        folder, stamp = os.path.join(self.folder, kind), os.path.join(self.folder, f"{kind}.built")
        wanted = f"{COMPILERS[kind]} {runtime_sum()}" if kind == "epitaph" else "built"
        with open(f"{stamp}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            built = ""
            with contextlib.suppress(FileNotFoundError), open(stamp, encoding="ascii") as text:
                built = text.read()
            if built == wanted:
                return
            if built.partition(" ")[0] != wanted.partition(" ")[0]:
                shutil.rmtree(folder, ignore_errors=True)
            say(f"building {self.name}, {kind}")
            quiet(f"{self.source}.log", f"{TOP}/ci/fetch-source", self.package, self.source)
            for old in self.linked:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(os.path.join(folder, old))
            try:
                self.make(folder, COMPILERS[kind], f"{folder}.log")
            except Failure as why:
                raise Failure(f"{kind}: build failed: {why}") from why
            with open(stamp, "w", encoding="ascii") as out:
                out.write(wanted)

    def copy(self, folder):
        if not os.path.isdir(folder):
            shutil.copytree(f"{self.source}/src", folder, symlinks=True)

    def make(self, folder, compiler, log):
        raise NotImplementedError

    def path(self, kind, what=0):
        return os.path.join(self.folder, kind, self.linked[what])

    # ---- work

    def run(self, kind, units, env=None, prefix=()):
        raise NotImplementedError

    def units(self, seconds):
        """How many take the uninstrumented twin so many seconds of CPU time. Found once, and
        kept: figures of several runs are of the same work."""
        path = os.path.join(self.folder, f"{self.name}.rate")
        if not self.rate:
            with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as text:
                self.rate = float(text.read())
        if not self.rate:
            units, cpu = self.probe, 0
            while cpu < 0.5:
                cpu = self.run("plain", units).cpu
                self.rate, units = units / cpu, max(1, int(units * max(2, 0.7 / max(cpu, 0.01))))
            with open(path, "w", encoding="ascii") as out:
                out.write(str(self.rate))
        return max(1, round(self.rate * seconds))


# ---- programs that end by themselves ------------------------------------------------------

class Batch(Program):
    """It gets its work by its command line."""

    def command(self, kind, units):
        raise NotImplementedError

    def run(self, kind, units, env=None, prefix=()):
        run = Run()
        with tempfile.TemporaryDirectory(dir="/dev/shm") as room, open(os.devnull, "r+b") as null:
            child = subprocess.Popen([*prefix, *self.command(kind, units)], cwd=room, stdin=null,
                                     stdout=null, env=clean_environment(env))
            if kind == "epitaph" and not prefix:
                run.own = figure_at_exit(child.pid)
            run.finish(child.pid, f"{self.name}, {kind}")
            child.returncode = 0
        return run


def figure_at_exit(pid):
    """Waits until it ends, stops it there with its memory still whole, and asks."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    if libc.ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXIT):
        return None
    own = None
    while True:
        info = os.waitid(os.P_PID, pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)
        if info.si_code != os.CLD_TRAPPED:
            return own
        _, status = os.waitpid(pid, os.WUNTRACED)
        at_exit = status >> 16 == 6  # PTRACE_EVENT_EXIT
        if at_exit:
            own = own_figure(pid)
        libc.ptrace(PTRACE_CONT, pid, 0, 0 if status >> 16 else os.WSTOPSIG(status))


class Lua(Batch):
    name, package, linked, probe = "lua", "lua5.4", ("src/lua",), 2

    def make(self, folder, compiler, log):
        self.copy(folder)
        quiet(log, "make", "-s", "-C", folder + "/src", "-j2", "linux-noreadline",
              f"CC={compiler} -std=gnu99", env=clean_environment(None))

    def command(self, kind, units):
        return [self.path(kind), f"{HERE}/work.lua", str(units)]


class Sqlite(Batch):
    """Its own benchmark, as one program of two files."""
    name, package, linked, probe = "sqlite", "sqlite3", ("speedtest1",), 20

    def make(self, folder, compiler, log):
        source, one = f"{self.source}/src", f"{self.folder}/amalgamation"
        os.makedirs(folder, exist_ok=True)
        if not os.path.exists(f"{one}/sqlite3.c"):
            os.makedirs(one, exist_ok=True)
            quiet(log, f"{source}/configure", cwd=one, env=clean_environment(None))
            quiet(log, "make", "sqlite3.c", cwd=one, env=clean_environment(None))
        for name, path in ("sqlite3", one), ("speedtest1", f"{source}/test"):
            if not os.path.exists(f"{folder}/{name}.o"):
                quiet(log, *compiler.split(), "-O2", f"-I{one}", "-c", f"{path}/{name}.c", "-o",
                      f"{folder}/{name}.o")
        quiet(log, *compiler.split(), f"{folder}/speedtest1.o", f"{folder}/sqlite3.o", "-o",
              f"{folder}/speedtest1", "-lm", "-lpthread", "-ldl")

    def command(self, kind, units):
        return [self.path(kind), "--memdb", "--size", str(units)]


class Xz(Batch):
    """Two threads compress its own source; a unit is 64 KiB of it."""
    name, package, linked, probe = "xz", "xz-utils", ("src/xz/xz",), 16

    def make(self, folder, compiler, log):
        self.copy(folder)
        if not os.path.exists(f"{folder}/config.status"):
            quiet(log, "./configure", f"CC={compiler}", "CFLAGS=-O2", "--disable-nls",
                  "--disable-shared", "--disable-doc", cwd=folder, env=clean_environment(None))
        quiet(log, "make", "-j2", "-C", f"{folder}/src", env=clean_environment(None))

    def input(self, units):
        path, size = f"{self.folder}/input.{units}", units << 16
        if not os.path.exists(path):
            data = b""
            for name in sorted(glob.glob(f"{self.source}/src/src/**/*.[ch]", recursive=True)):
                with open(name, "rb") as part:
                    data += part.read()
            number, text = 0, bytearray()
            while len(text) < size:  # each time round under another alphabet
                number += 1
                text += data.translate(bytes((i ^ number % 256) for i in range(256)))
            with open(path, "wb") as out:
                out.write(text[:size])
        return path

    def command(self, kind, units):
        return [self.path(kind), "-T2", "--block-size=1MiB", "-6", "-k", "-c", self.input(units)]


# ---- servers ------------------------------------------------------------------------------

class Server(Program):
    """It is started, given its work by the untraced twin's client, and told to end."""

    def run(self, kind, units, env=None, prefix=()):
        run = Run()
        with tempfile.TemporaryDirectory(dir="/dev/shm") as room:
            os.chmod(room, 0o755)
            self.prepare(room)
            with open(f"{room}/log", "wb") as log:
                child = subprocess.Popen(
                    [*prefix, *self.command(kind, room)], cwd=room, stdin=subprocess.DEVNULL,
                    stdout=log, stderr=log, env=clean_environment({**self.more(kind), **(env or {})}))
            try:
                self.wait_for(child, room)
                self.work(room, units)
                if kind == "epitaph" and run.own is None and not prefix:
                    run.own = self.figure(child.pid)
                self.stop(child, room)
                run.finish(child.pid, f"{self.name}, {kind}")
                child.returncode = 0
            finally:
                if child.returncode is None:
                    child.kill()
                    child.wait()
        return run

    def wait_for(self, child, room):
        for _ in range(600):
            if self.ready(room):
                return
            if child.poll() is not None:
                break
            time.sleep(0.05)
        with open(f"{room}/log", encoding="utf-8", errors="replace") as log:
            raise Failure(f"{self.name} does not start: {log.read()[-2000:]}")

    def more(self, kind):
        return {}

    def prepare(self, room):
        pass

    def figure(self, pid):
        return own_figure(pid)

    def stop(self, child, room):
        child.terminate()

    def client(self, *command, **options):
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       env=clean_environment(None), **options)


class Redis(Server):
    """redis-benchmark's own tests with its own defaults: 50 clients, one request each at a
    time. A unit is ten requests of each test."""
    name, package, probe = "redis", "redis", 100
    linked = ("src/redis-server", "src/redis-benchmark", "src/redis-cli")
    depth = 1

    def make(self, folder, compiler, log):
        self.copy(folder)
        quiet(log, "make", "-j2", "-C", f"{folder}/src", "MALLOC=libc", f"CC={compiler}",
              "OPTIMIZATION=-O2", "redis-server", "redis-benchmark", "redis-cli",
              env=clean_environment(None))

    def command(self, kind, room):
        return [self.path(kind), "--port", "0", "--unixsocket", f"{room}/socket", "--save", "",
                "--logfile", f"{room}/log"]

    def ready(self, room):
        return subprocess.run([self.path("plain", 2), "-s", f"{room}/socket", "ping"], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def work(self, room, units):
        self.client(self.path("plain", 1), "-s", f"{room}/socket", "-q", "-n", str(10 * units),
                    "-P", str(self.depth))


class RedisPipelined(Redis):
    """The same, 16 requests at a time: little of it is the kernel's."""
    name, depth = "redis-pipelined", 16


class Memcached(Server):
    """Four clients store and fetch keys; a unit is 100 of both by each."""
    name, package, linked, probe = "memcached", "memcached", ("memcached",), 50

    def make(self, folder, compiler, log):
        self.copy(folder)
        if not os.path.exists(f"{folder}/config.status"):
            quiet(log, "./configure", f"CC={compiler}", "CFLAGS=-O2", "--disable-docs",
                  cwd=folder, env=clean_environment(None))
        quiet(log, "make", "-j2", "-C", folder, "memcached", env=clean_environment(None))

    def command(self, kind, room):
        return [self.path(kind), "-u", "root" if os.geteuid() == 0 else "nobody", "-t", "4", "-s",
                f"{room}/socket"]

    def ready(self, room):
        return os.path.exists(f"{room}/socket")

    def build(self, kind):
        super().build(kind)
        quiet(f"{self.folder}/keys.log", "gcc", "-O2", "-pthread", f"{HERE}/keys.c", "-o",
              f"{self.folder}/keys")

    def work(self, room, units):
        self.client(f"{self.folder}/keys", f"{room}/socket", str(units))


class Postgresql(Server):
    """pgbench's own test by four clients, without fsync; a unit is four transactions. The
    server with all of its processes; of these, the figures are those of the backends."""
    name, package, probe = "postgresql", "postgresql-15", 200
    linked = ("src/backend/postgres",)
    words = ("-t",)
    asked, known = False, None

    def make(self, folder, compiler, log):
        os.makedirs(folder, exist_ok=True)
        if not os.path.exists(f"{folder}/config.status"):
            quiet(log, os.path.relpath(f"{self.source}/src/configure", folder), f"CC={compiler}",
                  "CFLAGS=-O2", "--without-readline", "--without-zlib", "--prefix=/pgsql",
                  cwd=folder, env=clean_environment(None))
        make = ["make", "-s", "-j2", "-C", folder]
        if compiler == "gcc":  # all of it, with the client and a database for all
            quiet(log, *make, "install", f"DESTDIR={folder}/tree", env=clean_environment(None))
            self.fill(log)
        else:
            # Below the top headers that several folders need are made by each of them at once.
            backend = [*make[:-1], f"{folder}/src/backend"]
            quiet(log, *backend, "generated-headers", env=clean_environment(None))
            quiet(log, *backend, env=clean_environment(None))
            if not os.path.isdir(f"{folder}/tree"):
                shutil.copytree(f"{self.folder}/plain/tree", f"{folder}/tree", symlinks=True)
            shutil.copy2(self.path(os.path.basename(folder)), f"{folder}/tree/pgsql/bin/postgres")

    def tool(self, name, kind="plain"):
        return f"{self.folder}/{kind}/tree/pgsql/bin/{name}"

    def ordinary(self):
        """It refuses root."""
        if os.geteuid():
            return []
        return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

    def more(self, kind):
        return {"LD_LIBRARY_PATH": f"{self.folder}/plain/tree/pgsql/lib"}

    def client(self, *command, **options):
        subprocess.run([*self.ordinary(), *command], check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=clean_environment(self.more("plain")), **options)

    def fill(self, log):
        """A database for pgbench, which each run begins with."""
        shutil.rmtree(f"{self.folder}/data", ignore_errors=True)
        with tempfile.TemporaryDirectory(dir="/dev/shm") as room:
            os.chmod(room, 0o777)
            self.client(self.tool("initdb"), "-A", "trust", "-N", "-D", f"{room}/data")
            with open(log, "ab") as out:
                child = subprocess.Popen([*self.ordinary(), *self.server("plain", room)], cwd=room,
                                         stdout=out, stderr=out, env=clean_environment(self.more("")))
            self.wait_for(child, room)
            self.client(self.tool("pgbench"), "-h", room, "-i", "-s", "5", "postgres")
            self.stop(child, room)
            child.wait()
            quiet(log, "cp", "-a", f"{room}/data", f"{self.folder}/data")

    def server(self, kind, room):
        return [self.tool("postgres", kind), "-D", f"{room}/data", "-F", "-k", room,
                "-c", "listen_addresses=", "-c", "autovacuum=off"]

    def command(self, kind, room):
        self.asked = kind == "epitaph"
        return [*self.ordinary(), *self.server(kind, room)]

    def prepare(self, room):
        os.chmod(room, 0o777)
        subprocess.run(["cp", "-a", f"{self.folder}/data", room], check=True)

    def ready(self, room):
        return subprocess.run([self.tool("pg_isready"), "-h", room], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=clean_environment(self.more("plain"))).returncode == 0

    def work(self, room, units):
        with open(f"{room}/data/postmaster.pid", encoding="ascii") as text:
            server = text.readline().strip()
        self.known = None
        client = subprocess.Popen(
            [*self.ordinary(), self.tool("pgbench"), "-h", room, "-n", "-c", "4", *self.words,
             str(units), "postgres"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env=clean_environment(self.more("plain")))
        while True:  # its backends end with the client
            with contextlib.suppress(subprocess.TimeoutExpired):
                if client.wait(0.7):
                    raise Failure("pgbench fails")
                return
            if self.asked:
                with open(f"/proc/{server}/task/{server}/children", encoding="ascii") as pids:
                    self.known = own_figure(*pids.read().split()) or self.known

    def figure(self, pid):
        return self.known

    def stop(self, child, room):
        child.send_signal(signal.SIGINT)


class PostgresqlConnect(Postgresql):
    """pgbench -C -S: a process for each transaction."""
    name, probe, words = "postgresql-connect", 25, ("-C", "-S", "-t")


ALL = {one.name: one for one in (Lua, Redis, RedisPipelined, Postgresql, PostgresqlConnect, Sqlite,
                                 Memcached, Xz)}
