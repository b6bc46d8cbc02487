# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_wishes.py: which pages a snapshot should hold: the arena, the tops of
the stacks, and those by which a debugger finds out what was loaded where. The
same pages as coredump/snapshot/extract_stacks.c and extract_modules.c choose."""

import struct

import epitaph_format as fmt
import epitaph_lastwords
from epitaph_root import unpack
from epitaph_source import (AT_PHDR, AT_PHENT, AT_PHNUM, AT_SYSINFO_EHDR, PAGE,
                            PT_LOAD)

MASK = (1 << 64) - 1
RED_ZONE = 256  # bytes below the stack pointer; the psABI's is 128
RED_ZONE_FIRST = 20 << 10  # of the first thread: coredump/snapshot/extract_stacks.c
STACK_BYTES = 64 << 10  # of each thread
STACKS_BYTES = 64 << 20  # of all threads
GUARD = 1 << 20  # a stack that has overflowed ends this far above its pointer
PT_DYNAMIC, PT_PHDR, DT_NULL, DT_DEBUG = 2, 6, 0, 21
HEADERS = 64
DYNAMIC_BYTES = VDSO_BYTES = 64 << 10
KEPT_BYTES = 64 << 10  # of the table of kept snapshots: more than there are
LINK_MAPS = 65536  # a list that goes round ends here


def page_down(address):
    return address - address % PAGE


def page_up(address):
    return address + -address % PAGE


def joined(ranges):
    """Ranges sorted; what overlaps or touches becomes one."""
    out = []
    for start, end in sorted(ranges):
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out


class ThreadWish:
    """What one thread's stack should give, and what it gives, in bytes."""

    def __init__(self, tid, sp):
        self.tid = tid
        self.sp = sp
        self.wanted = 0
        self.saved = 0


class Wishes:
    """All pages that are wanted, gathered before anything is written."""

    def __init__(self, source, found, told=None):
        self.source = source
        self.found = found
        self.told = told or {}  # tid: bytes wanted, by an earlier snapshot
        self.all = []
        self.modules = set()
        self.threads = []
        self._add(self.all, found.arena_address, found.committed)
        self._kept()
        self._stacks()
        self._first_pages()
        self._vdso()
        self._executable()
        for address, size in epitaph_lastwords.pages(source):
            self._page(address, size)
        if found.root_address:
            self._page(found.root_address, 128)
        self.all += [(page, page + PAGE) for page in self.modules]

    @staticmethod
    def _add(ranges, address, size):
        start, end = page_down(address), min(page_up(address + size),
                                             page_down(MASK))
        if size and start < end:
            ranges.append((start, end))

    def _page(self, address, size):
        ranges = []
        self._add(ranges, address, size)
        for start, end in ranges:
            self.modules.update(range(start, end, PAGE))

    # ---- snapshots that the process keeps in memory ----

    def _kept(self):
        sections = (self.found.arena or {}).get("sections") or b""
        for at in range(0, len(sections), fmt.SECTION[0]):
            section = unpack(fmt.SECTION, sections, at)
            if section["type"] == fmt.EP_SECTION_KEPT:
                self._kept_of(section)

    def _kept_of(self, section):
        step = section["entry_size"]
        if step < fmt.KEPT[0]:
            return
        table = self.source.read(self.found.arena_address + section["offset"],
                                 min(section["size"], KEPT_BYTES))
        for at in range(0, len(table) - step + 1, step):
            kept = unpack(fmt.KEPT, table, at)
            address, size = kept["address"], kept["size"]
            if (kept["state"] == fmt.EP_KEPT_VALID and address and size
                    and not address % PAGE and not size % PAGE
                    and self.source.segment_at(address)):
                self._add(self.all, address, size)

    # ---- stacks ----

    def _stacks(self):
        left = STACKS_BYTES
        count = len(self.source.threads)
        each = max(PAGE, page_down(STACKS_BYTES // count)) if count else 0
        for at, thread in enumerate(self.source.threads):
            size = STACK_BYTES if at == 0 else min(STACK_BYTES, each)
            wish = ThreadWish(thread.tid, thread.sp)
            self.threads.append(wish)
            if size > left or not thread.has_registers:
                wish.wanted = STACK_BYTES
            else:
                self._stack(wish, thread.sp, size)
                left -= min(left, wish.saved)
            wish.wanted = self.told.get(thread.tid, wish.wanted)

    def _stack(self, wish, sp, size):
        start, end = self._stack_add(wish, sp, size)
        second = interrupted_sp(self.source.read(start, end - start), start)
        if second:
            self._stack_add(wish, second, size)

    def _stack_add(self, wish, sp, size):
        below = RED_ZONE_FIRST if wish is self.threads[0] else RED_ZONE
        low, high = self._stack_range(sp, STACK_BYTES, below)
        wish.wanted += high - low or STACK_BYTES
        low, high = self._stack_range(sp, size, below)
        wish.saved += self.source.present(low, high)
        self._add(self.all, low, high - low)
        return low, high

    def _stack_range(self, sp, size, below):
        """The pages from the red zone up, within the stack's mapping."""
        segment = self._stack_segment(sp)
        low = max(0, sp - below)
        if segment is None:
            return page_down(low), page_down(low)
        low = page_down(max(low, segment.address))
        end = segment.address + segment.memory_size
        return low, page_down(min(end, low + size + PAGE + page_down(below)))

    def _stack_segment(self, sp):
        """After an overflow it is the one above the guard."""
        segment = self.source.segment_at(sp)
        if segment and (segment.present_size or segment.flags & 2):
            return segment
        for above in self.source.segments_from(sp):
            if above.present_size or above.flags & 2:
                near = above.address - sp <= GUARD
                return above if near else None
        return None

    # ---- modules ----

    def _is_elf(self, address):
        return self.source.read(address, 4) == b"\x7fELF"

    def _is_code(self, address):
        segment = self.source.segment_at(address)
        return bool(segment and segment.flags & 1)

    def _first_pages(self):
        """An object whose first page was not saved is told by its code: by a
        mapping of the same file that follows it."""
        path, code = None, False
        for start, _, offset, name in reversed(self.source.mappings):
            code = self._is_code(start) or (code and name == path)
            path = name
            if offset == 0 and (code or self._is_elf(start)):
                self._page(start, PAGE)
        if self.source.mappings:
            return
        for segment in self.source.segments:
            if self._is_elf(segment.address):
                self._page(segment.address, PAGE)

    def _vdso(self):
        """All of it: no file of it exists that a debugger could read."""
        segment = self.source.segment_at(
            self.source.auxv(AT_SYSINFO_EHDR) or 0)
        if segment and segment.memory_size <= VDSO_BYTES:
            self._page(segment.address, segment.memory_size)

    def _executable(self):
        address = self.source.auxv(AT_PHDR)
        if address is None:
            return
        self._page(address, 56)
        count = min(self.source.auxv(AT_PHNUM) or 0, HEADERS)
        table = self.source.read_exactly(address, 56 * count)
        if not table:
            return
        headers = list(struct.iter_unpack("<IIQQQQQQ", table))
        bias, start = executable_place(headers, address)
        if bias is None:
            return
        if start:
            self._page(start, PAGE)
        for kind, _, _, dynamic, _, _, size, _ in headers:
            if kind == PT_DYNAMIC:
                size = min(size, DYNAMIC_BYTES)
                dynamic = dynamic + bias & MASK
                self._page(dynamic, size)
                self._linker_lists(self._debug(dynamic, size))
                break

    def _debug(self, dynamic, size):
        """Where r_debug lies; 0: a static program."""
        table = self.source.read(dynamic, size)
        for at in range(0, len(table) - 15, 16):
            tag, value = struct.unpack_from("<QQ", table, at)
            if tag == DT_DEBUG:
                return value
            if tag == DT_NULL:
                break
        return 0

    def _linker_lists(self, debug):
        """<link.h>'s r_debug, and those of dlmopen: r_next, since version 2."""
        left = LINK_MAPS
        seen = set()  # a damaged list may lead in a circle
        while debug and left and debug not in seen:
            seen.add(debug)
            self._page(debug, 48)
            data = self.source.read_exactly(debug, 40)
            if data is None:
                return
            version, node = struct.unpack_from("<i4xQ", data)
            left = self._link_maps(node, left - 1, seen)
            more = self.source.read_exactly(debug + 40, 8)
            if version < 2 or more is None:
                return
            debug, = struct.unpack("<Q", more)

    def _link_maps(self, node, left, seen):
        while node and left and node not in seen:
            seen.add(node)
            left -= 1
            self._page(node, 40)
            data = self.source.read_exactly(node, 40)
            if data is None:
                return left
            name, node = struct.unpack_from("<8xQ8xQ", data)
            if name:
                text = self.source.read(name, 4095).split(b"\0")[0]
                self._page(name, len(text) + 1)
        return left


def executable_place(headers, address):
    """(bias, where its ELF header lies, 0 unknown) of the program whose program
    headers lie at `address`. Static programs have no PT_PHDR."""
    own = next((h for h in headers if h[0] == PT_PHDR), None)
    load = next((h for h in headers if h[0] == PT_LOAD), None)
    if own:
        bias = address - own[3]
    elif load:
        bias = address - 64 - load[3]
    else:
        return None, 0
    bias &= MASK
    return bias, bias + load[3] & MASK if load and load[2] == 0 else 0


def interrupted_sp(stack, address):
    """A handler on an alternate stack: the interrupted stack is a second one;
    its pointer stands in the ucontext that the kernel pushed (Linux
    arch/x86/include/uapi/asm/ucontext.h). 0: none."""
    for at in range(0, len(stack) - 191, 8):
        flags, link, low, _, size = struct.unpack_from("<5Q", stack, at)
        if flags > 0xf or link:
            continue
        sp, segment = struct.unpack_from("<160xQ16xH", stack, at)
        if (segment == 0x33 and 0 <= address + at - low < size
                and (sp - low & MASK) >= size):
            return sp
    return 0
