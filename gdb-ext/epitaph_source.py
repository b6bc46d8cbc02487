# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_source.py: memory and facts of the process that gdb looks at: a core
or a live process, with one interface.

A core is read from its file, never through gdb: for memory that a core does not
hold gdb hands back zeroes without an error. What read() returns is there."""

import bisect
import itertools
import mmap
import os
import re
import struct

import gdb

import epitaph_format as fmt

PAGE = 4096
PT_LOAD, PT_NOTE = 1, 4
NT_PRSTATUS, NT_PRPSINFO, NT_AUXV = 1, 3, 6
NT_FILE, NT_SIGINFO = 0x46494C45, 0x53494749
AT_PHDR, AT_PHENT, AT_PHNUM, AT_ENTRY, AT_SYSINFO_EHDR = 3, 4, 5, 9, 33

# struct elf_prstatus of x86-64 (<sys/procfs.h>): where its fields lie.
PRSTATUS_SIZE = 336
PRSTATUS_TID, PRSTATUS_REGISTERS = 32, 112
# struct user_regs_struct (<sys/user.h>), in gdb's words.
REGISTERS = (
    "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs"
    " eflags rsp ss fs_base gs_base ds es fs gs").split()


class Segment:
    """A piece of the address space. All sizes in bytes."""

    def __init__(self, address, memory_size, saved_size, present_size, offset,
                 flags, fd=None):
        self.address = address
        self.memory_size = memory_size
        self.saved_size = saved_size  # that the headers say can be read
        self.present_size = present_size  # that the file really holds
        self.offset = offset
        self.flags = flags  # PF_R PF_W PF_X
        self.fd = fd  # of another file than the core, that holds it


class Note:
    """An ELF note; `raw` is all of it, padding included."""

    def __init__(self, name, kind, desc):
        self.name = name
        self.kind = kind
        self.desc = desc

    def is_snapshot(self):
        return (self.name == fmt.EP_NOTE_NAME and self.kind in
                (fmt.EP_NOTE_SNAPSHOT, fmt.EP_NOTE_SNAPSHOT_1_5))

    def raw(self):
        name = self.name + b"\0" if self.name else b""
        return (struct.pack("<III", len(name), len(self.desc), self.kind)
                + padded(name) + padded(self.desc))


class Thread:
    """A thread; `sp` is its stack pointer."""

    def __init__(self, tid, sp, has_registers=True):
        self.tid = tid
        self.sp = sp
        self.has_registers = has_registers


def padded(data):
    return data + bytes(-len(data) % 4)


class Piece:
    """Bytes of the process, and where they lie."""

    def __init__(self, address, data, flags):
        self.address = address
        self.data = data
        self.flags = flags  # PF_R PF_W PF_X


def text(data):
    """Bytes from outside as a string that can be printed anywhere."""
    return "".join(c if c.isprintable() else "\ufffd"
                   for c in data.decode("utf-8", "replace"))


class Source:
    """What both kinds have in common. `segments` ascend and are disjoint."""

    live = False
    name = ""
    pid = 0
    segments = ()
    warnings = ()

    def start(self):
        self._starts = [s.address for s in self.segments]

    def segment_at(self, address):
        at = bisect.bisect_right(self._starts, address) - 1
        if at < 0:
            return None
        segment = self.segments[at]
        if address - segment.address >= segment.memory_size:
            return None
        return segment

    def segments_from(self, address):
        """Those that begin above `address`, ascending."""
        at = bisect.bisect_right(self._starts, address)
        return itertools.islice(self.segments, at, None)

    def segments_within(self, start, end):
        """Those that have something of [start, end), ascending; perhaps one
        more before them."""
        low = max(0, bisect.bisect_right(self._starts, start) - 1)
        high = bisect.bisect_left(self._starts, end)
        return itertools.islice(self.segments, low, high)

    def present(self, start, end):
        """Bytes of [start, end) that should be readable."""
        size = 0
        for segment in self.segments_within(start, end):
            low = max(start, segment.address)
            high = min(end, segment.address + segment.present_size)
            size += max(0, high - low)
        return size

    def read(self, address, size):
        """The bytes from `address` on that can be read, at most `size`; across
        segments that follow each other."""
        parts = []
        while size:
            segment = self.segment_at(address)
            if segment is None:
                break
            within = address - segment.address
            want = min(size, segment.present_size - within)
            if want <= 0:
                break
            part = self.read_segment(segment, within, want)
            parts.append(part)
            address += len(part)
            size -= len(part)
            if len(part) < want:
                break
        return b"".join(parts)

    def salvage(self, start, end):
        """What can be read of [start, end), as ascending pieces, one a segment
        at least. A page that cannot be read ends a piece."""
        for segment in self.segments_within(start, end):
            low = max(start, segment.address)
            high = min(end, segment.address + segment.present_size)
            while low < high:
                data = self.read_segment(
                    segment, low - segment.address, high - low)
                if data:
                    yield Piece(low, data, segment.flags)
                low += len(data)
                if low < high:
                    low += PAGE - low % PAGE

    def read_exactly(self, address, size):
        """`size` bytes, or None."""
        data = self.read(address, size)
        return data if len(data) == size else None

    def read_string(self, address, limit=4096):
        """Bytes up to a NUL, that included; None when there is none."""
        data = self.read(address, limit)
        end = data.find(b"\0")
        return data[:end + 1] if end >= 0 else None

    def why(self, address):
        """Why the byte at `address` cannot be read."""
        segment = self.segment_at(address)
        if segment is None:
            return "not mapped in the process"
        within = address - segment.address
        if within < segment.present_size:
            return "cannot be read"
        if within < segment.saved_size:
            return "cut off: the core is truncated"
        return "mapped, but not saved in the core"

    def auxv(self, kind):
        """Value of an auxv entry, or None."""
        data = self.auxv_bytes()
        for at in range(0, len(data) - 15, 16):
            key, value = struct.unpack_from("<QQ", data, at)
            if key == kind:
                return value
            if key == 0:
                break
        return None


# ---- a core ----------------------------------------------------------------


class Core(Source):
    """A core file (a snapshot is one, too), by its own headers."""

    def __init__(self, path):
        self.name = path
        try:
            with open(path, "rb") as file:
                self._file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise gdb.GdbError(
                "epitaph: %s: cannot read the core again (%s). If it was moved,"
                " open it where it is now with `core-file`."
                % (path, getattr(error, "strerror", None) or error))
        self._size = len(self._file)
        self.warnings = []
        self.notes = []
        self.segments = []
        self._read_headers()
        self.start()
        self.threads = [
            Thread(*self._prstatus(note)) for note in self.notes
            if note.kind == NT_PRSTATUS and note.name == b"CORE"
            and len(note.desc) >= PRSTATUS_SIZE]
        self.pid = self._pid()
        self.mappings = self._mappings()

    def _prstatus(self, note):
        tid, = struct.unpack_from("<I", note.desc, PRSTATUS_TID)
        registers = struct.unpack_from("<%dQ" % len(REGISTERS), note.desc,
                                       PRSTATUS_REGISTERS)
        sp = registers[REGISTERS.index("rsp")]
        # A snapshot of a process that was not stopped has zeroes there.
        return tid, sp, bool(sp or registers[REGISTERS.index("rip")])

    def _pid(self):
        for note in self.notes:
            if note.kind == NT_PRPSINFO and len(note.desc) >= 28:
                return struct.unpack_from("<I", note.desc, 24)[0]
        return self.threads[0].tid if self.threads else 0

    def _mappings(self):
        """(start, end, offset in the file, path) by NT_FILE, as the kernel's
        fs/binfmt_elf.c lays it out."""
        note = next((n for n in self.notes if n.kind == NT_FILE
                     and n.name == b"CORE" and len(n.desc) >= 16), None)
        if note is None:
            return []
        count, unit = struct.unpack_from("<QQ", note.desc)
        if count > (len(note.desc) - 16) // 24:
            return []
        names = note.desc[16 + 24 * count:].split(b"\0")
        found = []
        for at in range(min(count, len(names))):
            start, end, offset = struct.unpack_from("<QQQ", note.desc,
                                                    16 + 24 * at)
            found.append((start, end, offset * unit, names[at]))
        return found

    def own_pid(self):
        return self.pid

    def executable(self):
        """Base name of the program's file, as far as a core knows it."""
        for note in self.notes:
            if note.kind == NT_PRPSINFO and len(note.desc) >= 56:
                return text(note.desc[40:56].split(b"\0")[0]) or "unknown"
        return "unknown"

    def _read_headers(self):
        if self._size < 64 or self._file[:6] != b"\x7fELF\x02\x01":
            raise gdb.GdbError("epitaph: %s: not a 64-bit little-endian ELF"
                               " core" % self.name)
        kind, machine = struct.unpack_from("<HH", self._file, 16)
        if kind != 4 or machine != 62:
            raise gdb.GdbError("epitaph: %s: not a core of an x86-64 process"
                               % self.name)
        offset, section_offset = struct.unpack_from("<QQ", self._file, 32)
        entry_size, count = struct.unpack_from("<HH", self._file, 54)
        if count == 0xffff:  # PN_XNUM: the number is in section 0's sh_info
            if section_offset + 64 > self._size:
                raise gdb.GdbError("epitaph: %s: cut off before the number of"
                                   " its segments" % self.name)
            count, = struct.unpack_from("<I", self._file, section_offset + 44)
        if entry_size < 56:
            raise gdb.GdbError("epitaph: %s: program headers of %d bytes make"
                               " no sense" % (self.name, entry_size))
        there = max(0, min(count, (self._size - offset) // entry_size))
        if there < count:
            self.warnings.append("cut off: %d of %d segments are described"
                                 % (there, count))
        for at in range(there):
            self._read_header(offset + at * entry_size)
        self.segments.sort(key=lambda s: s.address)
        cut = sum(s.present_size < s.saved_size for s in self.segments)
        if cut:
            self.warnings.append("core truncated: %d of %d segments are not all"
                                 " there" % (cut, len(self.segments)))

    def _read_header(self, at):
        kind, flags, offset, address, _, saved, memory, _ = struct.unpack_from(
            "<IIQQQQQQ", self._file, at)
        present = max(0, min(saved, self._size - offset))
        if kind == PT_NOTE:
            self._read_notes(self._file[offset:offset + present])
        elif kind == PT_LOAD:
            memory = max(memory, saved)
            if memory and address + memory <= 1 << 64:
                self.segments.append(
                    Segment(address, memory, saved, present, offset, flags))

    def _read_notes(self, data):
        at = 0
        while at + 12 <= len(data):
            name_size, desc_size, kind = struct.unpack_from("<III", data, at)
            desc = at + 12 + name_size + -name_size % 4
            after = desc + desc_size
            if after > len(data):
                self.warnings.append("cut off inside its notes")
                break
            name = data[at + 12:at + 12 + name_size].rstrip(b"\0")
            self.notes.append(Note(name, kind, data[desc:after]))
            at = after + -desc_size % 4

    def lay_file(self, address, memory_size, size, fd):
        """Memory at `address` is in a file from its first byte on. The core's
        own segments there hold nothing."""
        self.segments = sorted(
            [s for s in self.segments if s.address + s.memory_size <= address
             or s.address >= address + memory_size]
            + [Segment(address, size, size, size, 0, 6, fd)],
            key=lambda s: s.address)
        self.start()

    def read_segment(self, segment, within, size):
        at = segment.offset + within
        if segment.fd is not None:
            return self._read_file(segment.fd, at, size)
        return self._file[at:at + size]

    @staticmethod
    def _read_file(fd, at, size):
        """Not mapped: its process may run, and whoever cuts it off would kill
        gdb."""
        parts = []
        while size:
            try:
                part = os.pread(fd, size, at)
            except OSError:
                break
            if not part:
                break
            parts.append(part)
            at += len(part)
            size -= len(part)
        return b"".join(parts)

    def find(self, segment, needle):
        """Addresses in a segment where `needle` lies, 8-aligned."""
        if not segment.present_size or segment.fd is not None:
            return  # its offset may be any number
        begin = segment.offset
        end = begin + segment.present_size
        at = self._file.find(needle, begin, end)
        while at >= 0:
            if (at - begin + segment.address) % 8 == 0:
                yield at - begin + segment.address
            at = self._file.find(needle, at + 1, end)

    def auxv_bytes(self):
        for note in self.notes:
            if note.kind == NT_AUXV:
                return note.desc
        return b""

    def snapshot_note(self):
        for note in self.notes:
            if note.is_snapshot():
                return note.desc
        return None


# ---- a live process --------------------------------------------------------


class Live(Source):
    """The process that gdb has stopped, on this machine."""

    live = True
    READ_AT_ONCE = 1 << 20

    def __init__(self, inferior):
        self._inferior = inferior
        self.pid = inferior.pid
        self.name = "process %d" % self.pid
        running = [t for t in inferior.threads() if t.is_running()]
        if running:
            raise gdb.GdbError(
                "epitaph: %s is running: stop it with `interrupt` (or Ctrl-C)"
                " first" % self.name)
        self.warnings = []
        self.mappings = []
        self.segments = []
        for line in self.proc("maps").split(b"\n"):
            if line:
                self._read_mapping(line)
        self.start()
        self._selected = gdb.selected_thread()
        self._registers = self._read_registers()
        self.threads = [Thread(self.own_id(tid), registers["rsp"])
                        for tid, registers, _ in self._registers]

    def proc(self, name):
        """The bytes of /proc/PID/`name`."""
        try:
            with open("/proc/%d/%s" % (self.pid, name), "rb") as file:
                return file.read()
        except OSError as error:
            raise gdb.GdbError("epitaph: %s: %s" % (self.name, error))

    def executable(self):
        try:
            path = os.readlink("/proc/%d/exe" % self.pid)
        except OSError:
            return "unknown"
        return os.path.basename(path.rpartition(" (deleted)")[0] or path)

    def _read_mapping(self, line):
        words = line.split(None, 5)
        start, end = (int(word, 16) for word in words[0].split(b"-"))
        if start >= 1 << 63:  # [vsyscall] belongs to the kernel
            return
        flags = (4 * (words[1][0:1] == b"r") + 2 * (words[1][1:2] == b"w")
                 + (words[1][2:3] == b"x"))
        # ptrace reads what the process itself may not: keep to what it may.
        size = end - start if flags & 4 else 0
        self.segments.append(
            Segment(start, end - start, size, size, 0, flags))
        if len(words) > 5 and words[5].startswith(b"/"):
            self.mappings.append((start, end, int(words[2], 16), words[5]))

    def _read_registers(self):
        """(tid, registers, siginfo) of each thread, the selected one first."""
        selected, frame = gdb.selected_thread(), selected_frame()
        threads = sorted(self._inferior.threads(), key=lambda t: t.ptid[1])
        threads.sort(key=lambda t: not (selected and t.ptid == selected.ptid))
        found = []
        try:
            for thread in threads:
                thread.switch()
                newest = gdb.newest_frame()
                found.append((thread.ptid[1], {
                    name: int(newest.read_register(name)) & (1 << 64) - 1
                    for name in REGISTERS}, read_siginfo()))
        finally:
            if selected and selected.is_valid():
                selected.switch()
            if frame and frame.is_valid():
                frame.select()
        return found

    def read_segment(self, segment, within, size):
        parts = []
        address, end = segment.address + within, segment.address + within + size
        while address < end:
            part = self._read_some(address, min(end - address,
                                                self.READ_AT_ONCE))
            if not part:
                break
            parts.append(part)
            address += len(part)
        return b"".join(parts)

    def _read_some(self, address, size):
        """At most `size` bytes, at least a page where it can be read."""
        try:
            return bytes(self._inferior.read_memory(address, size))
        except gdb.MemoryError:
            size = min(size, PAGE - address % PAGE)
        try:
            return bytes(self._inferior.read_memory(address, size))
        except gdb.MemoryError:
            return b""

    def find(self, segment, needle):
        data = self.read_segment(segment, 0, segment.present_size)
        at = data.find(needle)
        while at >= 0:
            if (at + segment.address) % 8 == 0:
                yield at + segment.address
            at = data.find(needle, at + 1)

    def auxv_bytes(self):
        return self.proc("auxv")

    def snapshot_note(self):
        return None

    @property
    def notes(self):
        """What the kernel would have put into a core, as far as needed."""
        notes = []
        for tid, registers, siginfo in self._registers:
            notes.append(Note(b"CORE", NT_PRSTATUS,
                              self._prstatus(tid, registers, siginfo)))
            if len(notes) == 1:
                notes.append(Note(b"CORE", NT_PRPSINFO, self._prpsinfo()))
                if siginfo and deadly(siginfo):
                    notes.append(Note(b"CORE", NT_SIGINFO, siginfo))
                notes.append(Note(b"CORE", NT_AUXV, self.auxv_bytes()))
                notes.append(Note(b"CORE", NT_FILE, self._files()))
        return notes

    def _status(self, tid):
        status = {}
        for line in self.proc("task/%d/status" % tid).split(b"\n"):
            key, _, value = line.partition(b":")
            status[key] = value.split()
        return status

    def own_pid(self):
        return self.own_id(self.pid)

    def own_id(self, tid):
        """A thread's id as the process itself knows it (pid namespaces)."""
        return int(self._status(tid).get(b"NSpid", [b"%d" % tid])[-1])

    def _prstatus(self, tid, registers, siginfo):
        data = bytearray(PRSTATUS_SIZE)
        if siginfo and deadly(siginfo):
            signal, error, code = struct.unpack_from("<iii", siginfo)
            struct.pack_into("<iiih", data, 0, signal, code, error, signal)
        struct.pack_into("<I", data, PRSTATUS_TID, self.own_id(tid))
        struct.pack_into("<%dQ" % len(REGISTERS), data, PRSTATUS_REGISTERS,
                         *(registers[name] for name in REGISTERS))
        return bytes(data)

    def _prpsinfo(self):
        """struct elf_prpsinfo of x86-64 (<sys/procfs.h>)."""
        status = self._status(self.pid)
        words = self.proc("cmdline").rstrip(b"\0").replace(b"\0", b" ")
        return struct.pack(
            "<bcbb4xQIIIIII16s80s", 0, b"t", 0, 0, 0,
            int(status.get(b"Uid", [b"0"])[0]) & 0xffffffff,
            int(status.get(b"Gid", [b"0"])[0]) & 0xffffffff,
            self.own_id(self.pid), int(status.get(b"PPid", [b"0"])[0]), 0, 0,
            self.proc("comm").rstrip(b"\n")[:15], words[:79])

    def _files(self):
        """NT_FILE, as the kernel's fs/binfmt_elf.c lays it out."""
        head = struct.pack("<QQ", len(self.mappings), PAGE)
        ranges = b"".join(struct.pack("<QQQ", start, end, offset // PAGE)
                          for start, end, offset, _ in self.mappings)
        return head + ranges + b"".join(m[3] + b"\0" for m in self.mappings)


def selected_frame():
    try:
        return gdb.selected_frame()
    except gdb.error:
        return None


def read_siginfo():
    """siginfo_t of the selected thread as bytes, or None."""
    try:
        value = gdb.parse_and_eval("$_siginfo")
        head = [int(value[name])
                for name in ("si_signo", "si_errno", "si_code")]
        pad = value["_sifields"]["_pad"]
        low, high = pad.type.range()
        words = [int(pad[at]) for at in range(low, high + 1)]
        return struct.pack("<iii4x%di" % len(words), *head, *words)
    except (gdb.error, struct.error):
        return None


def deadly(siginfo):
    """Whether the thread stopped for a signal of its own, not for gdb: SIGSTOP
    (attach), SIGTRAP by the kernel (breakpoints), SIGINT (Ctrl-C)."""
    signal, _, code = struct.unpack_from("<iii", siginfo)
    return signal not in (0, 2, 19) and not (signal == 5 and code > 0)


# ---- which of them ---------------------------------------------------------


# `info target` of gdb 12 to 16 says "\t`PATH', file type elf64-x86-64.". The
# words are translated, quotes differ by version, and a path may hold all that.
PATH_BEGIN = re.compile("\n\t[`'\u2018]")
PATH_END = re.compile("['\u2019], [^\n]* elf64-x86-64\\.\n")
ENDS = 16  # tried for each beginning: a path may look like the end of one


def core_path():
    """The core that gdb has open, or None."""
    core = getattr(gdb.selected_inferior(), "corefile", None)
    if core is not None:  # gdb 17
        return core.filename
    # Before, no attribute tells. The executable is listed in the same form.
    text = gdb.execute("info target", to_string=True)
    paths = list(quoted_paths(text))
    for path in paths:
        if is_core(path):
            return path
    return paths[0] if paths else None


def quoted_paths(text):
    for begin in PATH_BEGIN.finditer(text):
        at = begin.end()
        for _ in range(ENDS):
            end = PATH_END.search(text, at)
            if end is None:
                break
            yield text[begin.end():end.start()]
            at = end.start() + 1


def is_core(path):
    try:
        with open(path, "rb") as file:
            return file.read(18)[16:] == b"\x04\0"
    except OSError:
        return False


def open_source():
    """The core or live process of the selected inferior."""
    inferior = gdb.selected_inferior()
    connection = inferior.connection
    if connection is None or not inferior.pid:
        raise gdb.GdbError(
            "epitaph: there is nothing to look at: open a core with"
            " `core-file FILE` or a process with `attach PID`")
    if connection.type == "core":
        path = core_path()
        if not path:
            raise gdb.GdbError("epitaph: this gdb does not tell which core it"
                               " has open; use `epitaph extract CORE`")
        return Core(path)
    if connection.type == "native":
        return Live(inferior)
    raise gdb.GdbError(
        "epitaph: the process is not on this machine (target %s): use `epitaph"
        " extract` there, or `gcore` and open its core" % connection.type)
