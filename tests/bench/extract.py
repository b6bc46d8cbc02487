# SPDX-License-Identifier: BSD-2-Clause
"""extract.py: what extraction costs: cores of a process with 25 threads
(bulk.c), made here and deleted again. Time against cp of the bytes that were
extracted, round by round; memory by the size of the core."""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from measure import ratios, spread

SIZES = [  # MiB touched, MiB of a hole
    ("0.3 GB", 300, 0), ("1.3 GB", 1300, 0), ("3 GB, sparse", 300, 2700),
    ("6 GB, sparse", 300, 5700)]
LARGEST = 4 << 30  # bytes of disk that the cores may take in all


def make_core(program, folder, touched, hole):
    """The core of a crash; None where the system writes none here."""
    status = subprocess.run(
        [program, str(touched), str(hole)], cwd=folder, check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)).returncode
    if status != -6:
        sys.exit(f"extract: the program ended with {status}")
    cores = [name for name in os.listdir(folder) if name.startswith("core")]
    if not cores:
        sys.exit("extract: no core: see /proc/sys/kernel/core_pattern")
    path = os.path.join(folder, f"{touched}-{hole}")
    os.rename(os.path.join(folder, cores[0]), path)
    return path


def timed(command, output, cold, allowed=(0,)):
    """Seconds. `cold`: this file is read from disk. `allowed`: statuses."""
    if os.path.exists(output):
        os.remove(output)
    if cold:
        fd = os.open(cold, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    status = child.wait()
    wall = time.monotonic() - start
    if status not in allowed:
        sys.exit(f"{command}: status {status}")
    return wall


def peak_memory(command, folder, allowed=(0,)):
    """KiB, by GNU time: a child of this process would be charged with its
    parent's pages."""
    report = os.path.join(folder, "time")
    status = subprocess.run(
        ["/usr/bin/time", "-f", "%M", "-o", report, *command], check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    if status not in allowed:
        sys.exit(f"{command}: status {status}")
    with open(report, encoding="ascii") as said:
        return int(said.read().split()[-1])  # a status stands before it


def one_size(epitaph, core, folder, rounds, cold):
    snapshot, copy = os.path.join(folder, "s"), os.path.join(folder, "c")
    command = [epitaph, "extract", "-q", "-o", snapshot, core]
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(timed(command, snapshot, core if cold else None))
        theirs.append(timed(["cp", "--reflink=never", snapshot, copy], copy,
                            snapshot if cold else None))
    size = os.path.getsize(snapshot)
    os.remove(snapshot)
    os.remove(copy)
    peak = peak_memory(command, folder)
    os.remove(snapshot)
    return ours, theirs, peak, size


def extraction(program, epitaph, rounds, say):
    """Rows of a table."""
    rows = []
    folder = tempfile.mkdtemp(prefix="epitaph-bench.")
    try:
        if shutil.disk_usage(folder).free < LARGEST:
            sys.exit(f"extract: {folder}: less than 4 GB free")
        for name, touched, hole in SIZES:
            say(f"extraction from a core of {name}")
            core = make_core(program, folder, touched, hole)
            for cold in (False, True):
                ours, theirs, peak, size = one_size(
                    epitaph, core, folder, rounds, cold)
                rows.append([
                    name, "disk" if cold else "page cache",
                    f"{size / 1e6:.1f}",
                    spread([1e3 * t for t in ours]),
                    spread(ratios(ours, theirs)),
                    f"{peak / 1024:.1f}"])
            os.remove(core)
    finally:
        shutil.rmtree(folder)
    return rows
