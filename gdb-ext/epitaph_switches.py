# SPDX-License-Identifier: BSD-2-Clause
"""epitaph_switches.py: how much was switched off when the process was stopped: what is not in the
trace was perhaps not looked at. Names, rates and times are the program epitaph's to tell."""

import epitaph_format as fmt
from epitaph_arena import entries, unpack

OFF = fmt.EP_SWITCH_NAME | fmt.EP_SWITCH_BUDGET | fmt.EP_SWITCH_CONTROL
ENTRIES_MOST = 1 << 18  # what a section may say: many times what the runtime writes
ENTRY_MOST = 1024


def off_text(process, arena):
    """In words that follow others; empty where nothing is off, or where it is not known."""
    head = unpack(fmt.ARENA, process.read_exactly(arena.address, fmt.ARENA[0]) or b"")
    if head["gate"] and head["gate"] & fmt.EP_GATE_OFF:
        return "; everything was switched off"
    count = off_count(process, arena)
    return "; %d function%s switched off" % (count, " was" if count == 1 else "s were") if count \
        else ""


def off_count(process, arena):
    section = arena.section(fmt.EP_SECTION_SWITCHES)
    if not section or not fmt.SWITCHED[0] <= section["entry_size"] <= ENTRY_MOST:
        return 0
    start, step = arena.address + section["offset"], section["entry_size"]
    head = unpack(fmt.SWITCHES, process.read_exactly(start, fmt.SWITCHES[0]) or b"")
    if head["count"] is None or head["capacity"] + head["control_capacity"] > ENTRIES_MOST:
        return 0
    start += fmt.SWITCHES[0]
    own = count_at(process, start, step, min(head["count"], head["capacity"]))
    return own + count_at(process, start + head["capacity"] * step, step,
                          min(head["control_count"], head["control_capacity"]))


def count_at(process, address, step, count):
    data = process.read(address, count * step)
    return sum(1 for entry in entries(fmt.SWITCHED, data, step)
               if entry["start"] and entry["reasons"] and entry["reasons"] & OFF)
