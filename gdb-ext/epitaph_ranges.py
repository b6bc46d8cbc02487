# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_ranges.py: which pages a snapshot should hold: the arena, the tops of the stacks, and
those by which a debugger finds out what was loaded where (docs/format.md, section 4)."""

import struct

import gdb

from epitaph_arena import MASK
from epitaph_process import PAGE

RED_ZONE = 256  # bytes below the stack pointer; the psABI's is 128
RED_ZONE_FIRST = 20 << 10  # of the first thread, which may have raised its signal in a handler
STACK_BYTES = 64 << 10  # of each thread
STACKS_BYTES = 64 << 20  # of all threads
GUARD = 1 << 20  # a stack that has overflowed ends this far above its pointer
AT_PHDR, AT_PHNUM, AT_SYSINFO_EHDR = 3, 5, 33
PT_DYNAMIC, PT_PHDR, DT_DEBUG = 2, 6, 21
HEADERS = 64  # program headers that are looked at
TABLE_BYTES = 64 << 10  # of .dynamic, of the vDSO
MESSAGE_BYTES = 1 << 20
LINK_MAPS = 65536  # a list that goes round ends here


def page_down(address):
    return address - address % PAGE


def pages_of(address, size):
    """[first page, end) of these bytes; empty where there are none."""
    end = min(page_down(address + size + PAGE - 1), page_down(MASK))
    return page_down(address), end if size else 0


class Stack:
    """What one thread's stack should give, and what it gives, in bytes."""

    def __init__(self, thread):
        self.tid = thread.tid
        self.sp = thread.sp or 0
        self.wanted = 0
        self.saved = 0


class Ranges:
    """All of them, gathered before anything is written."""

    def __init__(self, process, arena):
        self.process = process
        self.ranges = []
        self.module_pages = set()
        self.stacks = [Stack(thread) for thread in process.threads]
        self._add(arena.address, arena.size)
        self._add_stacks()
        self._add_modules()
        self._add_executable()
        self._add_abort_message()
        self._add_pages(arena.root_address, 128 if arena.root_address else 0)

    def joined(self):
        """Sorted; what overlaps or touches becomes one."""
        out = []
        for start, end in sorted(self.ranges + [(p, p + PAGE) for p in self.module_pages]):
            if out and start <= out[-1][1]:
                out[-1][1] = max(out[-1][1], end)
            else:
                out.append([start, end])
        return out

    def _add(self, address, size):
        start, end = pages_of(address, size)
        if start < end:
            self.ranges.append((start, end))

    def _add_pages(self, address, size):
        self.module_pages.update(range(*pages_of(address, size), PAGE))

    # ---- stacks ----

    def _add_stacks(self):
        left = STACKS_BYTES
        each = max(PAGE, page_down(STACKS_BYTES // max(1, len(self.stacks))))
        for stack in self.stacks:
            size = STACK_BYTES if stack is self.stacks[0] else min(STACK_BYTES, each)
            if size > left or not stack.sp:
                stack.wanted = STACK_BYTES
                continue
            second = interrupted_sp(*self._add_stack(stack, stack.sp, size))
            if second:
                self._add_stack(stack, second, size)
            left -= min(left, stack.saved)

    def _add_stack(self, stack, sp, size):
        """From the red zone up, within the stack's mapping; (its bytes, their address)."""
        below = RED_ZONE_FIRST if stack is self.stacks[0] else RED_ZONE
        segment = self._stack_segment(sp)
        if segment is None:
            stack.wanted += STACK_BYTES
            return b"", 0
        low = page_down(max(sp - below, segment.address))
        top, more = page_down(segment.address + segment.memory), PAGE + page_down(below)
        data = self.process.read(low, min(top - low, size + more))
        stack.wanted += min(top - low, STACK_BYTES + more)
        stack.saved += len(data)
        self._add(low, len(data))
        return data, low

    def _stack_segment(self, sp):
        """After an overflow it is the one above the guard."""
        for segment in self.process.segments_from(sp):
            is_near = segment.address - sp <= GUARD
            if sp < segment.address + segment.memory and (segment.present or segment.flags & 2):
                return segment if is_near else None
        return None

    # ---- modules ----

    def _add_modules(self):
        """First pages with build-ids; and all of the vDSO, for no file of it exists."""
        vdso = self.process.auxv(AT_SYSINFO_EHDR)
        for segment in self.process.segments:
            if self.process.read(segment.address, 4) == b"\x7fELF":
                self._add_pages(segment.address, min(segment.memory, TABLE_BYTES)
                                if segment.address == vdso else PAGE)

    def _add_executable(self):
        """Its program headers and .dynamic, by which the dynamic linker's list is found."""
        address, count = self.process.auxv(AT_PHDR), self.process.auxv(AT_PHNUM)
        if not address or not count:
            return
        self._add_pages(address, 56)
        table = self.process.read_exactly(address, 56 * min(count, HEADERS)) or b""
        headers = {header[0]: header for header in struct.iter_unpack("<IIQQQQQQ", table)}
        if PT_PHDR in headers and PT_DYNAMIC in headers:
            dynamic = address - headers[PT_PHDR][3] + headers[PT_DYNAMIC][3] & MASK
            size = min(headers[PT_DYNAMIC][6], TABLE_BYTES)
            self._add_pages(dynamic, size)
            data = self.process.read(dynamic, size)
            tags = dict(struct.iter_unpack("<QQ", data[:len(data) // 16 * 16]))
            self._add_link_maps(tags.get(DT_DEBUG, 0))

    def _add_link_maps(self, debug):
        """<link.h>'s r_debug, the link maps, and their names."""
        self._add_pages(debug, 40 if debug else 0)
        node, = struct.unpack("<8xQ", self.process.read_exactly(debug, 16) or bytes(16))
        seen = set()  # a damaged list may lead in a circle
        while node and len(seen) < LINK_MAPS and node not in seen:
            seen.add(node)
            self._add_pages(node, 40)
            name, node = struct.unpack("<8xQ8xQ8x",
                                       self.process.read_exactly(node, 40) or bytes(40))
            if name:
                self._add_pages(name, len(self.process.read(name, 4095).split(b"\0")[0]) + 1)

    def _add_abort_message(self):
        """What glibc said before it aborted: a pointer, and the pages of { uint32_t size; text }.
        gdb knows where it is, if it knows the C library's symbols."""
        try:
            pointer = int(gdb.parse_and_eval("&__abort_msg")) & MASK
        except (gdb.error, ValueError):
            return
        address, = struct.unpack("<Q", self.process.read_exactly(pointer, 8) or bytes(8))
        size, = struct.unpack("<I", self.process.read_exactly(address, 4) or bytes(4))
        if size and not (address | size) % PAGE and size <= MESSAGE_BYTES:
            self._add_pages(pointer, 8)
            self._add_pages(address, size)


def interrupted_sp(stack, address):
    """A handler on an alternate stack: the interrupted stack is a second one; its pointer stands in
    the ucontext that the kernel pushed (Linux arch/x86/include/uapi/asm/ucontext.h). 0: none."""
    for at in range(0, len(stack) - 191, 8):
        flags, link, low, _, size = struct.unpack_from("<5Q", stack, at)
        if flags > 0xf or link:
            continue
        sp, segment = struct.unpack_from("<160xQ16xH", stack, at)
        if (segment == 0x33 and 0 <= address + at - low < size
                and (sp - low & MASK) >= size):
            return sp
    return 0
