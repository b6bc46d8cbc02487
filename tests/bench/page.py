# SPDX-License-Identifier: BSD-2-Clause
"""page.py BROWSER PAGE...: how long pages of `export -f html` take to open, and a frame while panning, in chromium or firefox without a
screen. Beside each the calls in it; of frames the median and the worst of 60, of everything in view and of a hundredth of it."""
import os
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../cli/lib"))
from browser import Browser  # noqa: E402
from firefox import Firefox  # noqa: E402

ROUNDS = 3
FRAMES = """(async () => {
    const {picture} = epitaph, times = [];
    [picture.from, picture.length] = [picture.first + picture.all * 0.2, picture.all * %s];
    for (let i = 0; i < 60; i++) {
        await new Promise((done) => requestAnimationFrame(done));
        picture.from += picture.length * 0.01;
        const begun = performance.now();
        picture.draw();
        times.push(performance.now() - begun);
    }
    return times; })()"""


def measure(browser, path):
    opened, frames = [], {1: [], 0.01: []}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder, browser(folder) as page:
            begun = time.monotonic()
            page.open(path)
            opened.append(time.monotonic() - begun)
            calls = page.value("epitaph.trace.calls")
            for zoom, list_ in frames.items():
                list_ += page.value(FRAMES % zoom)
    return opened, frames, calls


for name in sys.argv[2:]:
    opened, frames, calls = measure({"chromium": Browser, "firefox": Firefox}[sys.argv[1]], name)
    print(f"{sys.argv[1]} {name}: {os.path.getsize(name) / 1e6:.1f} MB, {calls:,} calls, opens in {statistics.median(opened):.2f} s "
          f"({max(opened):.2f})", *[f"a frame of {zoom:.0%}: {statistics.median(list_):.1f} ms ({max(list_):.1f})"
                                    for zoom, list_ in frames.items()], sep=", ", flush=True)
