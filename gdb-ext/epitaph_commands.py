# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_commands.py: the commands, and the words that they print."""

import datetime

import gdb

import epitaph_format as fmt
import epitaph_reader
from epitaph_root import FOUND_TEXT, OFF_TEXT, find, unpack
from epitaph_snapshot import Before, save
from epitaph_source import open_source
from epitaph_trace import Trace

STATES = {fmt.EP_THREAD_LIVE: "live", fmt.EP_THREAD_DEAD: "ended"}
GATES = (
    (fmt.EP_GATE_STOPPED, "stopped for good"),
    (fmt.EP_GATE_OFF | fmt.EP_GATE_OLD_OFF,
     "paused: started with EPITAPH=off"),
    (fmt.EP_GATE_API, "paused by epitaph_pause()"),
    (fmt.EP_GATE_CONTROL, "paused by epitaph control"),
)


# ---- words -----------------------------------------------------------------


def size_text(size):
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            break
        size /= 1024
    else:
        unit = "GiB"
    number = "%d" % size if size == int(size) else "%.1f" % size
    return "%s %s" % (number, unit)


def time_text(ns):
    if ns is None:
        return "unknown"
    for limit, unit, scale in ((1e3, "ns", 1), (1e6, "us", 1e3),
                               (1e9, "ms", 1e6)):
        if ns < limit:
            return "%.3g %s" % (ns / scale, unit)
    return "%.2f s" % (ns / 1e9)


def date_text(ns):
    if not ns:
        return "unknown"
    try:
        when = datetime.datetime.fromtimestamp(ns / 1e9, datetime.timezone.utc)
    except (ValueError, OverflowError, OSError):
        return "unknown"
    return when.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + " UTC"


def plural(count, word):
    return "%d %s%s" % (count, word, "" if count == 1 else "s")


def show(rows):
    """Rows of (label, text), aligned."""
    for label, words in rows:
        gdb.write("%-9s %s\n" % (label, words))


# ---- info ------------------------------------------------------------------


def info_rows(source, found):
    trace = Trace(source, found)
    trace.read_threads()
    yield "source", source.name
    for warning in source.warnings:
        yield "", warning
    saved = sum(len(piece.data) for piece in source.salvage(
        found.arena_address, found.arena_address + found.committed))
    yield from arena_rows(source, found, saved)
    yield from snapshot_rows(source)
    yield from process_rows(trace)
    yield from thread_rows(trace)
    yield from history_rows(trace, saved == found.committed)
    yield "settings", settings_text(trace)
    yield "tracing", state_text(trace.arena, trace.found.off_reason)


def arena_rows(source, found, saved):
    yield "arena", "0x%x, %s in use of %s reserved; %s of that %s" % (
        found.arena_address, size_text(found.committed),
        size_text(found.root["arena_size"]),
        "all" if saved == found.committed else size_text(saved),
        "can be read" if source.live else "was saved")
    yield "found by", "%s (%s)" % (FOUND_TEXT[found.how], found.where)


def snapshot_rows(source):
    """What the snapshot's own note says of how it was taken."""
    data = source.snapshot_note()
    note = unpack(fmt.SNAPSHOT_NOTE, data or b"")
    if note["thread_count"] is None:
        return
    threads = Before(source).threads
    whole = sum(t["stack_saved"] >= t["stack_wanted"] for t in threads)
    yield "snapshot", "%s of %s of the arena, %d of %s, %d of %s" % (
        size_text(note["arena_saved"]), size_text(note["arena_size"]), whole,
        plural(len(threads), "stack"), note["pages_saved"],
        plural(note["pages_wanted"], "module page"))


def process_rows(trace):
    if trace.process["start_realtime"] is None:
        yield "program", "unknown: its facts were not saved"
        return
    generation = trace.found.root["generation"]
    yield "program", "%s, pid %d on %s%s" % (
        trace.string("executable") or "unknown", trace.found.root["pid"],
        trace.string("host") or "an unknown host",
        ", forked %s deep" % generation if generation else "")
    yield "command", trace.string("command_line") or "unknown"
    yield "started", date_text(trace.process["start_realtime"])
    yield "runtime", "%s, format %d.%d" % (
        trace.string("runtime") or "unknown version", trace.found.root["major"],
        trace.found.root["minor"])


def thread_rows(trace):
    told = [t.fields for t in trace.threads if t.fields]
    live = sum(t["state"] == fmt.EP_THREAD_LIVE for t in told)
    words = "%d: %d live, %d ended" % (len(trace.threads), live,
                                       len(told) - live)
    if len(told) < len(trace.threads):
        words += ", %d not in the table" % (len(trace.threads) - len(told))
    yield "threads", words
    for name, what in (("threads_without_ring", "thread without a ring"),
                       ("threads_untold", "thread that the table had no room"
                        " for"), ("rings_reused", "ring taken over from an"
                                  " ended thread")):
        count = trace.arena[name] or 0
        if count:
            yield "", "%d × %s" % (count, what)


def history_rows(trace, whole):
    blocks = sum(thread.blocks for thread in trace.threads)
    if not blocks:
        entered = sum(t.fields["blocks"] for t in trace.threads if t.fields)
        yield "history", (
            "none of it was saved" if not whole else
            "none is left of the %s that threads say they filled"
            % plural(entered, "block") if entered else
            "none: no thread has recorded anything")
    else:
        first, last = trace.first_tsc(), trace.last_tsc()
        yield "history", "%s in %s; the last timed record at %s" % (
            time_text(trace.clock.ns(last - first)), plural(blocks, "block"),
            date_text(trace.clock.realtime(last)))
    if trace.torn:
        yield "", "%s being entered or overwritten, left out" % plural(
            trace.torn, "block")


def settings_text(trace):
    arena = trace.arena
    if arena["ring_size"] is None:
        return "unknown"
    every = arena["timestamp_every"]
    words = ["EPITAPH_RING=%s" % size_text(arena["ring_size"]),
             "EPITAPH_MEMORY=%s" % size_text(arena["memory_size"]),
             "EPITAPH_TIMESTAMP_EVERY=%s" % (every or "auto")]
    if not every:
        words.append("EPITAPH_CLOCK_BUDGET=%g%%"
                     % (arena["clock_budget"] / 1e4))
    if arena["min_duration"]:
        words.append("EPITAPH_MIN_DURATION=%s" % time_text(
            trace.clock.ns(arena["min_duration"])))
    refused = arena["settings_refused"]
    if refused:
        words.append("(%s refused)" % plural(refused, "bad value"))
    return ", ".join(words).replace(", (", " (")


def state_text(arena, off_reason):
    gate = arena["gate"]
    if gate is None:
        return "unknown"
    words = [text for bit, text in GATES if gate & bit]
    reason = off_reason or arena["off_reason"]
    if reason:
        words.append(OFF_TEXT.get(reason, "reason %d" % reason))
    return ", ".join(words) or "on"


# ---- threads ---------------------------------------------------------------


def show_threads(source, found):
    trace = Trace(source, found)
    trace.read_threads()
    numbers, selected = gdb_numbers(source)
    rows = [("", "gdb", "tid", "name", "state", "blocks", "history",
             "last record")]
    end = trace.last_tsc()
    for thread in trace.threads:
        rows.append(thread_row(trace, thread, end, numbers, selected))
    # Only the left columns are padded, so that no line ends in blanks.
    widths = [max(len(row[at]) for row in rows) for at in range(8)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        gdb.write(" ".join(cells).rstrip() + "\n")
    if trace.torn:
        gdb.write("%s being entered or overwritten, left out\n"
                  % plural(trace.torn, "block"))


def gdb_numbers(source):
    """gdb's number of each thread by its tid, and the selected tid."""
    numbers, selected = {}, None
    current = gdb.selected_thread()
    for thread in gdb.selected_inferior().threads():
        tid = thread.ptid[1] or thread.ptid[0]
        if source.live:
            tid = source.own_id(tid)
        numbers[tid] = str(thread.num)
        if current and current.is_valid() and thread.num == current.num:
            selected = tid
    return numbers, selected


def thread_row(trace, thread, end, numbers, selected):
    fields = thread.fields
    if fields is None:
        return ("", "-", "-", "", "not in the table", blocks_text(thread),
                back_text(trace, thread), ago_text(trace, thread, end))
    # An ended thread's tid may be another's by now.
    live = fields["state"] == fmt.EP_THREAD_LIVE
    number = numbers.get(fields["tid"], "-") if live else "-"
    mark = "*" if live and fields["tid"] == selected else ""
    state = STATES.get(fields["state"], "state %d" % fields["state"])
    if fields["flags"] & fmt.EP_THREAD_WITHOUT_RING:
        state += ", no ring"
    if fields["flags"] & fmt.EP_THREAD_IGNORED:
        state += ", ignored"
    return (mark, number, str(fields["tid"]), thread.name, state,
            blocks_text(thread), back_text(trace, thread),
            ago_text(trace, thread, end))


def blocks_text(thread):
    if thread.fields is None:
        return str(thread.blocks)
    return "%d of %d" % (thread.blocks, thread.fields["blocks"])


def back_text(trace, thread):
    """How long the history is that is left of a thread."""
    if not thread.blocks:
        return "none"
    words = time_text(trace.clock.ns(thread.last_tsc - thread.first_tsc))
    return words + ", whole" if thread.from_start else words


def ago_text(trace, thread, end):
    """How long before the newest record of all."""
    if not thread.blocks:
        return ""
    if thread.last_tsc == end:
        return "the newest"
    return time_text(trace.clock.ns(end - thread.last_tsc)) + " earlier"


# ---- the commands ----------------------------------------------------------


class Prefix(gdb.Command):
    """The program's last moments as epitaph recorded them.

epitaph save [FILE]  write a snapshot: a small core with trace and stacks
epitaph info              where the trace is, how it was found, how complete
epitaph threads           the traced threads, and how far back each is known
epitaph report [OPTIONS]  the crash on one page (by the program `epitaph`)
epitaph stack             its stack, beside the calls in the trace
epitaph replay [OPTIONS]  the calls as a tree, newest last
epitaph stats [OPTIONS]   per function: calls, total, self, min to max"""

    def __init__(self):
        super().__init__("epitaph", gdb.COMMAND_DATA, prefix=True)

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError("epitaph: `%s` is no subcommand; there are save,"
                               " info, threads, report, stack, replay and"
                               " stats" % argument)
        gdb.execute("help epitaph")


class Save(gdb.Command):
    """Write a snapshot of the trace to FILE.

epitaph save [FILE]

The snapshot is a small core: the trace, the registers and stacks of all
threads. `epitaph report FILE` reads it, on any machine; gdb opens it too.
FILE may hold %p pid, %e executable, %h host, %t time and %n, a number that
makes it new; without FILE it is epitaph.%p.%n.core. Quote a name with spaces.
An existing FILE is replaced, but never the core itself."""

    def __init__(self):
        super().__init__("epitaph save", gdb.COMMAND_DATA,
                         gdb.COMPLETE_FILENAME)

    def invoke(self, argument, from_tty):
        path = self.parse(gdb.string_to_argv(argument or ""))
        source = open_source()
        result = save(source, find(source), path)
        self.tell(result)

    @staticmethod
    def parse(words):
        names, options = [], True
        for word in words:
            if options and word == "--":
                options = False
            elif options and word.startswith("-") and word != "-":
                raise gdb.GdbError("epitaph save: no option %s; usage: epitaph"
                                   " save [FILE]" % word)
            else:
                names.append(word)
        if len(names) > 1:
            raise gdb.GdbError("epitaph save: one FILE, not %d: put a name with"
                               " spaces into quotes" % len(names))
        if names and not names[0]:
            raise gdb.GdbError("epitaph save: FILE is empty")
        return names[0] if names else None

    @staticmethod
    def tell(result):
        whole = sum(t.saved >= t.wanted for t in result.threads)
        gdb.write("%s: %s, arena %s, %d of %s\n" % (
            result.path, size_text(result.size),
            "whole" if result.arena_saved == result.arena_wanted else
            "%s of %s" % (size_text(result.arena_saved),
                          size_text(result.arena_wanted)),
            whole, plural(len(result.threads), "stack")))


class Info(gdb.Command):
    """Where the trace is, how it was found, and how complete it is."""

    def __init__(self):
        super().__init__("epitaph info", gdb.COMMAND_DATA, gdb.COMPLETE_NONE)

    def invoke(self, argument, from_tty):
        refuse_arguments("info", argument)
        source = open_source()
        show(info_rows(source, find(source)))


class Threads(gdb.Command):
    """The traced threads, and how far back each is known."""

    def __init__(self):
        super().__init__("epitaph threads", gdb.COMMAND_DATA,
                         gdb.COMPLETE_NONE)

    def invoke(self, argument, from_tty):
        refuse_arguments("threads", argument)
        source = open_source()
        show_threads(source, find(source))


def refuse_arguments(name, argument):
    if argument:
        raise gdb.GdbError("epitaph %s takes no argument" % name)


def register():
    """Once or again: gdb replaces a command of the same name."""
    Prefix()
    Save()
    Info()
    Threads()
    epitaph_reader.register()
