# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_live.py: a live process that gdb has stopped, as a core of it would be; and which core or
process it is that gdb has open."""

import re
import struct

import gdb

from epitaph_process import (NT_AUXV, NT_FILE, NT_PRPSINFO, NT_PRSTATUS, NT_SIGINFO, PAGE,
                             PRSTATUS_REGISTERS, PRSTATUS_SIZE, PRSTATUS_TID, REGISTERS, Note,
                             Process, Segment, open_core)


def folder_of(inferior):
    """/proc/PID, or where the main thread has ended, and its memory's files with it, that of one
    that has not."""
    for tid in [inferior.pid] + [thread.ptid[1] for thread in inferior.threads()]:
        try:
            with open("/proc/%d/statm" % tid, "rb") as file:
                if int(file.read().split()[0]) > 0:
                    return "/proc/%d" % tid
        except (OSError, ValueError, IndexError):
            pass
    return "/proc/%d" % inferior.pid


def open_proc(inferior, name):
    path = "%s/%s" % (folder_of(inferior), name)
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise gdb.GdbError("epitaph: process %d: %s: %s" % (inferior.pid, path, error.strerror))


def read_proc(inferior, name):
    with open_proc(inferior, name) as file:
        return file.read()


def read_status(inferior, tid):
    lines = (line.partition(b":") for line in
             read_proc(inferior, "task/%d/status" % tid).split(b"\n"))
    return {key: value.split() for key, _, value in lines}


def own_id(inferior, tid):
    """A thread's id as the process itself knows it (pid namespaces)."""
    return int(read_status(inferior, tid).get(b"NSpid", [b"%d" % tid])[-1])


# ---- memory --------------------------------------------------------------------------------------


def read_maps(inferior):
    """The segments, and of what was mapped from files (start, end, offset, path). In
    /proc/PID/mem a segment's offset is its address."""
    segments, mappings = [], []
    for line in read_proc(inferior, "maps").splitlines():
        words = line.split(None, 5)
        start, end = (int(word, 16) for word in words[0].split(b"-"))
        if start >= 1 << 63:  # [vsyscall] belongs to the kernel
            continue
        flags = (4 * (words[1][0:1] == b"r") + 2 * (words[1][1:2] == b"w")
                 + (words[1][2:3] == b"x"))
        # ptrace reads what the process itself may not: keep to what it may.
        size = end - start if flags & 4 else 0
        segments.append(Segment(start, end - start, size, size, start, flags))
        if len(words) > 5 and words[5].startswith(b"/"):
            mappings.append((start, end, int(words[2], 16), words[5]))
    return segments, mappings


# ---- notes ---------------------------------------------------------------------------------------


def thread_states(inferior):
    """(tid, registers, siginfo) of each thread, the selected one first."""
    selected, frame = gdb.selected_thread(), selected_frame()
    threads = sorted(inferior.threads(), key=lambda t: t.ptid[1])
    threads.sort(key=lambda t: not (selected and t.ptid == selected.ptid))
    found = []
    try:
        for thread in threads:
            thread.switch()
            newest = gdb.newest_frame()
            found.append((thread.ptid[1], [int(newest.read_register(name)) & (1 << 64) - 1
                                           for name in REGISTERS], read_siginfo()))
    finally:
        if selected and selected.is_valid():
            selected.switch()
        if frame and frame.is_valid():
            frame.select()
    return found


def selected_frame():
    try:
        return gdb.selected_frame()
    except gdb.error:
        return None


def read_siginfo():
    """siginfo_t of the selected thread, if it stopped for a signal of its own and not for gdb:
    SIGSTOP (attach), SIGTRAP by the kernel (breakpoints), SIGINT (Ctrl-C). Else None."""
    try:
        value = gdb.parse_and_eval("$_siginfo")
        head = [int(value[name]) for name in ("si_signo", "si_errno", "si_code")]
        pad = value["_sifields"]["_pad"]
        low, high = pad.type.range()
        words = [int(pad[at]) for at in range(low, high + 1)]
        data = struct.pack("<iii4x%di" % len(words), *head, *words)
    except (gdb.error, struct.error):
        return None
    signal, _, code = head
    return None if signal in (0, 2, 19) or signal == 5 and code > 0 else data


def notes_of(inferior, mappings):
    """What the kernel would have put into a core, as far as needed."""
    notes = []
    for tid, registers, siginfo in thread_states(inferior):
        notes.append(Note(b"CORE", NT_PRSTATUS, prstatus(inferior, tid, registers, siginfo)))
        if len(notes) == 1:
            notes.append(Note(b"CORE", NT_PRPSINFO, prpsinfo(inferior)))
            if siginfo:
                notes.append(Note(b"CORE", NT_SIGINFO, siginfo))
            notes.append(Note(b"CORE", NT_AUXV, read_proc(inferior, "auxv")))
            notes.append(Note(b"CORE", NT_FILE, file_list(mappings)))
    return notes


def prstatus(inferior, tid, registers, siginfo):
    data = bytearray(PRSTATUS_SIZE)
    if siginfo:
        signal, error, code = struct.unpack_from("<iii", siginfo)
        struct.pack_into("<iiih", data, 0, signal, code, error, signal)
    struct.pack_into("<I", data, PRSTATUS_TID, own_id(inferior, tid))
    struct.pack_into("<%dQ" % len(REGISTERS), data, PRSTATUS_REGISTERS, *registers)
    return bytes(data)


def prpsinfo(inferior):
    """struct elf_prpsinfo of x86-64 (<sys/procfs.h>)."""
    status = read_status(inferior, inferior.pid)  # it has one as long as the process is there
    uid, gid, parent = (int(status.get(name, [b"0"])[0]) for name in (b"Uid", b"Gid", b"PPid"))
    words = read_proc(inferior, "cmdline").rstrip(b"\0").replace(b"\0", b" ")
    return struct.pack(
        "<bcbb4xQIIIIII16s80s", 0, b"t", 0, 0, 0, uid & 0xffffffff, gid & 0xffffffff,
        own_id(inferior, inferior.pid), parent, 0, 0,
        read_proc(inferior, "comm").rstrip(b"\n")[:15], words[:79])


def file_list(mappings):
    """NT_FILE, as the kernel's fs/binfmt_elf.c lays it out."""
    return (struct.pack("<QQ", len(mappings), PAGE)
            + b"".join(struct.pack("<QQQ", start, end, offset // PAGE)
                       for start, end, offset, _ in mappings)
            + b"".join(mapping[3] + b"\0" for mapping in mappings))


def open_live(inferior):
    name = "process %d" % inferior.pid
    if any(thread.is_running() for thread in inferior.threads()):
        raise gdb.GdbError("epitaph: %s is running: stop it with `interrupt` (or Ctrl-C) first"
                           % name)
    segments, mappings = read_maps(inferior)
    process = Process(name, open_proc(inferior, "mem"), segments, notes_of(inferior, mappings))
    process.live = True
    process.pid = inferior.pid
    return process


# ---- which one -----------------------------------------------------------------------------------


# `info target` of gdb 12 to 16 says "\t`PATH', file type elf64-x86-64.". The words are translated,
# quotes differ by version, and a path may hold all that.
PATH_BEGIN = re.compile("\n\t[`'\u2018]")
PATH_END = re.compile("['\u2019](?=, [^\n]* elf64-x86-64\\.\n)")


def core_path():
    """The core that gdb has open, or None."""
    core = getattr(gdb.selected_inferior(), "corefile", None)
    if core is not None:  # gdb 17
        return core.filename
    # Before, no attribute tells. The executable is listed in the same form.
    text = gdb.execute("info target", to_string=True)
    paths = [text[begin.end():end.start()] for begin in PATH_BEGIN.finditer(text)
             for end in PATH_END.finditer(text, begin.end())]
    return next(filter(is_core, paths), paths[0] if paths else None)


def is_core(path):
    try:
        with open(path, "rb") as file:
            return file.read(18)[16:] == b"\x04\0"
    except OSError:
        return False


def open_process():
    """The core or live process of the selected inferior."""
    inferior = gdb.selected_inferior()
    connection = inferior.connection
    if connection is None or not inferior.pid:
        raise gdb.GdbError("epitaph: there is nothing to look at: open a core with"
                           " `core-file FILE` or a process with `attach PID`")
    if connection.type == "core":
        path = core_path()
        if not path:
            raise gdb.GdbError("epitaph: this gdb does not tell which core it has open; use"
                               " `epitaph extract CORE`")
        return open_core(path)
    if connection.type == "native":
        return open_live(inferior)
    raise gdb.GdbError(
        "epitaph: the process is not on this machine (target %s): use `epitaph extract` there, or"
        " `gcore` and open its core" % connection.type)
