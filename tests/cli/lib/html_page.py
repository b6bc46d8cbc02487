# SPDX-License-Identifier: BSD-2-Clause
"""html_page.py BROWSER PAGE JSONL SCENARIO...: what `export -f html` made, in chromium or firefox without a screen, beside `export -f
jsonl` of the same core. Prints what is not as it should be."""
import json
import os
import sys
import tempfile

from browser import Browser
from firefox import Firefox

ALL_CALLS = """epitaph.trace.threads.flatMap((thread) => Array.from(thread.begin, (begin, i) => [thread.serial,
    epitaph.trace.functions[thread.func[i]][0], begin, thread.end[i], thread.flags[i],
    thread.parent[i] < 0 ? null : epitaph.trace.functions[thread.func[thread.parent[i]]][0]]))"""
POINTS = """epitaph.trace.threads.flatMap((thread) => thread.points.map((point) => [thread.serial, point.t, point.text]))"""
BEFORE, OPEN, SUSPENDED, RESUMED = 1, 64, 1024, 512
BROWSERS = {"chromium": Browser, "firefox": Firefox}
failures = []


def check(holds, *words):
    if not holds:
        failures.append(" ".join(str(word) for word in words)[:600])


class Facts:
    """What jsonl says."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as lines:
            self.lines = [json.loads(line) for line in lines]
        self.calls = [one for one in self.lines if one["type"] == "call"]
        self.points = [one for one in self.lines if one["type"] == "point"]
        self.by_key = {(one["thread"], one["call"]): one for one in self.calls}

    def of(self, function):
        return [one for one in self.calls if one["function"] == function]


def same_calls(page, facts):
    """Each call with its times, and the one that made it."""
    theirs = sorted((c["thread"], c["function"], c["begin_ns"], c["end_ns"],
                     facts.by_key[c["thread"], c["parent"]]["function"] if c["parent"] is not None else None)
                    for c in facts.calls if None not in (c["begin_ns"], c["end_ns"]))
    calls = page.value(ALL_CALLS)
    ours = sorted((t, f, b, e, p) for t, f, b, e, flags, p in calls if not flags & (BEFORE | OPEN | SUSPENDED | RESUMED))
    suspended = {(c[0], c[1]) for c in calls if c[4] & (SUSPENDED | RESUMED)}
    key = [one for one in theirs if (one[0], one[1]) not in suspended]
    mine = [one for one in ours if (one[0], one[1]) not in suspended]
    check(len(key) > 0 and [one[:2] for one in key] == [one[:2] for one in mine], len(mine), "calls, not", len(key))
    # Times of nested calls never go back: each lies where jsonl has it, or just behind what came before.
    bad = [(a, b) for a, b in zip(key, mine) if a != b]
    check(len(bad) * 50 <= len(key), "calls that differ:", len(bad), bad[:3])
    opened = sum("did-not-return" in c.get("flags", []) for c in facts.calls)
    check(sum(bool(c[4] & OPEN) for c in calls) == opened, "calls that did not return, not", opened)


def same_points(page, facts):
    theirs = sorted((p["thread"], p.get("text", "")) for p in facts.points
                    if not p["point"].startswith("span") or (p["point"] == "span-end" and p["begin_ns"] is None))
    check(sorted((t, text) for t, _, text in page.value(POINTS)) == theirs, "points are not jsonl's")
    names = sorted(p["text"] for p in facts.points if p["point"] == "span-begin")
    check(sorted(page.value("epitaph.trace.threads.flatMap((one) => one.spans.map((span) => span.name))")) == names,
          "spans are not jsonl's")
    ends = page.value("epitaph.trace.threads.flatMap((one) => one.spans.filter((span) => span.end !== null)).length")
    check(ends == sum(p["point"] == "span-end" and p["begin_ns"] is not None for p in facts.points), ends, "spans ended")


def fibers(page, facts):
    """The bars of a call that was suspended are one call of jsonl's, from its begin to its end."""
    theirs = sorted((c["thread"], c["function"], c["begin_ns"], c["end_ns"]) for c in facts.calls
                    if None not in (c["begin_ns"], c["end_ns"]))
    ours = page.value("""epitaph.trace.threads.flatMap((thread) => [...thread.begin.keys()].filter((i) => !(thread.flags[i] & 513))
        .map((i) => [thread, partsOf(thread, i)]).filter(([thread, parts]) => !(thread.flags[parts[parts.length - 1]] & (64 | 1024)))
        .map(([thread, parts]) => [thread.serial, epitaph.trace.functions[thread.func[parts[0]]][0], thread.begin[parts[0]],
            thread.end[parts[parts.length - 1]]]))""")
    bad = [(a, b) for a, b in zip(theirs, sorted(map(tuple, ours))) if a != b]
    check(len(ours) == len(theirs) and len(bad) * 50 <= len(theirs), len(ours), "calls, not", len(theirs), len(bad), bad[:2])
    mixed = page.value("""epitaph.trace.threads.reduce((sum, thread) => sum + [...thread.partAfter].filter(([a, b]) =>
        thread.func[a] !== thread.func[b] || thread.end[a] > thread.begin[b]).length, 0)""")
    check(mixed == 0, "parts of different calls are one:", mixed)
    several = page.value("""(() => { const thread = epitaph.trace.threads.find((one) => one.partAfter.size);
        epitaph.select({thread, call: [...thread.partAfter.keys()][0]}, true); return thread.partAfter.size; })()""")
    check(several > 50 and "goes on at" in page.text("#page-details"), several, "parts:", page.text("#page-details")[:200])


def strangers(page, name, tid):
    """Another process has its place on a CPU, by its name."""
    found = page.value(f"""(() => {{ const {{trace, picture}} = epitaph, cpu = trace.cpus.find((one) => one.tid.includes({tid}));
        if (!cpu) return null;
        const at = cpu.tid.indexOf({tid}), row = trace.cpus.indexOf(cpu); picture.top = 0;
        picture.show(cpu.begin[at], cpu.end[at]); picture.draw();
        const box = picture.canvas.getBoundingClientRect();
        return [picture.xOf((cpu.begin[at] + cpu.end[at]) / 2) + box.left, 30 + 20 + row * 14 + 5 + box.top]; }})()""")
    if not found:
        check(False, "no CPU ran", name, tid)
        return
    check(pixel(page, *found) != [255, 255, 255], "nothing is drawn where it ran")
    page.click(*found)
    check(f"{name} {tid}" in page.text("#page-details"), "a click says", page.text("#page-details"))


def place_of(page, function, nth=0):
    """Middle of the nth call of a function, made to be seen: x, y of the window."""
    return page.value(f"""(() => {{
        const picture = epitaph.picture, func = epitaph.trace.functions.findIndex((one) => one[0] === {json.dumps(function)});
        for (const thread of epitaph.trace.threads) {{
            const calls = [...thread.func.keys()].filter((i) => thread.func[i] === func);
            if (calls.length <= {nth})
                continue;
            picture.reveal(thread, calls[{nth}]);
            picture.show(thread.begin[calls[{nth}]], thread.end[calls[{nth}]]);
            picture.draw();
            const [x, y, width] = picture.placeOf(thread, calls[{nth}]), box = picture.canvas.getBoundingClientRect();
            return [box.left + x + width / 2, box.top + y + 6];
        }} return null; }})()""")


def pixel(page, x, y):
    return page.value(f"""(() => {{ const canvas = epitaph.picture.canvas, box = canvas.getBoundingClientRect();
        return [...canvas.getContext('2d').getImageData({x} - box.left, {y} - box.top, 1, 1).data].slice(0, 3); }})()""")


def view(page):
    return page.value("[epitaph.picture.from, epitaph.picture.length]")


def moves(page, facts):
    """Keys, wheel, drag and fingers."""
    del facts
    page.value("document.activeElement.blur()")
    page.key("0")
    start, length = view(page)
    page.key("w")
    check(view(page)[1] < length * 0.8, "w does not zoom in")
    page.key("d")
    check(view(page)[0] > start, "d does not go on")
    at = view(page)
    page.drag(500, 400, 400, 400)
    check(view(page)[0] > at[0] and view(page)[1] == at[1], "dragging does not pan")
    page.wheel(500, 400, 0, -300, ctrl=True)
    check(view(page)[1] < at[1], "Ctrl and the wheel do not zoom")
    at = view(page)
    page.fingers([(500 - 20 * i, 400) for i in range(6)])
    check(view(page)[0] > at[0] and view(page)[1] == at[1], "a finger does not pan")
    at = view(page)
    page.fingers([(400 - 20 * i, 400) for i in range(6)], [(500 + 20 * i, 400) for i in range(6)])
    check(view(page)[1] < at[1] * 0.7, "two fingers do not zoom")
    page.key("0")
    check(view(page) == [start, length], "0 is not everything")


def clicks(page, facts, function, source):
    """A click's details are jsonl's; the source's line is the file's."""
    call = facts.of(function)[0]
    x, y = place_of(page, function)
    check(pixel(page, x, y + 5) != [255, 255, 255], "nothing is drawn where a call is")
    page.click(x, y)
    check(page.text("#call-name") == function, "a click shows", page.text("#call-name"))
    check(f"{os.path.basename(source)}:{call['line']}" in page.text("#page-details"), "no line:", page.text("#page-details"))
    with open(source, encoding="utf-8") as text:
        line = text.read().split("\n")[call["line"] - 1]
    check(page.text("#source .at") == f"{call['line']:5d}  {line}", "the source's line is", page.text("#source .at"))
    parent = facts.by_key[call["thread"], call["parent"]]["function"]
    check(page.text("#callers button") == parent, "called by", page.text("#callers a"))
    page.key("u")
    check(page.text("#call-name") == parent, "u shows", page.text("#call-name"))


def searches(page, facts, function):
    calls = len(facts.of(function))
    page.key("0")
    page.key("Escape")
    page.key("/")
    page.type(function)
    hits = page.text("#hits")
    check(hits.startswith(f"{calls:,} calls of 1 functions"), "hits:", hits)
    begins = []
    for _ in range(min(calls, 3)):
        page.key("Enter")
        check(page.text("#call-name") == function, "a hit is", page.text("#call-name"))
        begins.append(page.value("epitaph.picture.selected.thread.begin[epitaph.picture.selected.call]"))
    check(begins == sorted(call["begin_ns"] for call in facts.of(function))[:3], "hits begin at", begins)
    page.key("/")
    page.value("epitaph.search.set('')")
    check(page.text("#hits") == "", "hits of nothing")


def selects(page, facts, function):
    """Functions of a time, from numbers of jsonl alone."""
    page.key("Escape")
    page.key("0")
    page.drag(450, 60, 760, 60)
    if page.value("epitaph.picture.area") is None:
        check(False, "the ruler selects nothing")
        return
    low, high = page.value("epitaph.picture.area")
    inside = [c for c in facts.of(function) if c["end_ns"] is not None and c["end_ns"] > low and c["begin_ns"] < high]
    rows = page.value("[...document.querySelectorAll('#functions tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    row = next((one for one in rows if one[0] == function), None)
    check(row and row[1] == f"{len(inside):,}", "the table has", row, "of", len(inside))
    page.value(f"epitaph.setArea(-1, {max(c['end_ns'] or 0 for c in facts.calls) + 1})")
    sums = page.value("sumUp(epitaph.trace, ...epitaph.picture.area).sums.map((one) => [epitaph.trace.functions[one.func][0], one.self])")
    for name, self_ns in sums:
        calls = facts.of(name)
        if all(c.get("self_ns") is not None for c in calls):
            want = sum(c["self_ns"] for c in calls)
            check(abs(self_ns - want) <= 2 * len(calls) + want * 0.01, name, "took", self_ns, "itself, not", want)


def links(page, path):
    page.key("Escape")
    page.value("([epitaph.picture.from, epitaph.picture.length] = [1000, 50000], epitaph.changed())")
    page.until("location.hash.includes('t=1000,50000')", 5)
    place = page.value("location.hash")
    page.open(path, place)
    check(view(page) == [1000, 50000], "the link leads to", view(page))
    page.open(path, "#t=nonsense&call=9999,-1&area=1,0&y=x&q=%00")
    check(page.value("document.documentElement.dataset.state") == "ready", "a link of nonsense")


def death(page, signal, report, one_screen):
    """The page comes first, as at a terminal of 80 columns; all of the report can be unfolded below."""
    with open(one_screen, encoding="utf-8") as text:
        check(page.text("#report") == text.read(), "the page is", page.text("#report")[:300])
    with open(report, encoding="utf-8") as text:
        lines = [line for line in text.read().split("\n") if line.startswith(("died of", "because"))]
    for line in lines:
        check(line in page.text("#report-all"), "the report has not:", line)
    check(not page.value("document.querySelector('#report-all').checkVisibility()"), "the report is not folded")
    page.value("document.querySelector('#more summary').focus()")
    page.key("Enter")
    check(page.value("document.querySelector('#report-all').checkVisibility()"), "the report does not unfold")
    check(signal in page.value("document.title"), "the title is", page.value("document.title"))
    page.open(page.path)
    x = page.value("epitaph.picture.xOf(epitaph.trace.facts.end) + epitaph.picture.canvas.getBoundingClientRect().left")
    check(pixel(page, int(x) + 1, 850) == [214, 20, 40], "no line where it died:", pixel(page, int(x) + 1, 850))


def dies_later(page, at_least):
    """It may have died later than the red line: hatched up to there, which can be seen, and words. AT_LEAST: ns; "for_ever"."""
    earliest, latest = page.value("(({end, end_latest}) => [end, end_latest])(epitaph.trace.facts)")
    if at_least == "for_ever":
        check(latest is None, "the latest end is", latest)
        latest, words = earliest * 3, "SIGABRT, here or later"
    else:
        check(latest and latest - earliest >= int(at_least), "it may have died from", earliest, "to", latest)
        words = f"SIGABRT, here or up to {page.value(f'timeText({latest - earliest})')} later"
    read = page.value("""(() => { const {picture} = epitaph, {put} = picture, said = []; picture.put = (text, ...more) => {
        said.push(text); put.call(picture, text, ...more); }; picture.draw(); picture.put = put; return said; })()""")
    check(words in read, "no words", repr(words), "in", read)
    hatched = """(() => { const {picture} = epitaph; picture.show(...%s); picture.draw(); const data = picture.context.getImageData(
        %s, picture.canvas.height - 40, 30, 30).data; let red = 0; for (let i = 0; i < data.length; i += 4) red += data[i] === 176 &&
        data[i + 1] === 126; return red; })()"""
    seen = page.value(hatched % ([earliest, latest], "picture.device(%d) - 40" % latest))
    check(seen > 40, "its latest end is not hatched:", seen)
    if at_least != "for_ever":
        seen = page.value(hatched % ([earliest, latest], "picture.device(%d) + 2" % latest))
        check(seen == 0, "hatched behind its latest end:", seen)


def asks_nobody(page):
    """What the page would ask for is refused by its own policy."""
    check(page.value("fetch('data:text/plain,1').then(() => 'given', () => 'refused')") == "refused", "fetch is allowed")
    check(page.value("""new Promise((done) => { const image = new Image(); image.onload = () => done('given'); image.onerror = () =>
        done('refused'); image.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA='; })""") == "refused", "images are")


SHARP = """(() => {{ const picture = epitaph.picture, {{canvas, ratio}} = picture, bad = [];
    const thread = epitaph.trace.threads.find((one) => one.count > 100), starts = thread.starts;
    const row = starts.findIndex((start, i) => starts[i + 1] - start > 50), last = starts[row + 1] - 1;
    let first = starts[row], least = 2; // the evenest 21 calls: where the processor was lost the others have no width
    for (let k = first; k + 20 <= last; k += 20) {{
        let longest = thread.end[k + 20] - thread.begin[k + 20];
        for (let i = k; i < k + 20; i++) longest = Math.max(longest, thread.begin[i + 1] - thread.begin[i]);
        const share = longest / (thread.end[k + 20] - thread.begin[k]);
        if (share < least) [first, least] = [k, share];
    }}
    picture.selected = picture.area = null; thread.limit = 64; thread.folded = false; picture.layout(); picture.top = 0;
    picture.show(thread.begin[first], thread.end[first + 20]); picture.draw();
    const data = (x, y) => [...picture.context.getImageData(x, y, 1, 1).data].slice(0, 3).join();
    const box = canvas.getBoundingClientRect();
    if (canvas.width !== Math.round(box.right * ratio) - Math.round(box.left * ratio)) bad.push('width ' + canvas.width);
    const edge = Math.round(190 * ratio), y = Math.floor((canvas.height - 4));
    if (data(edge - 1, y) === data(edge - 2, y) || data(edge - 2, y) !== data(edge - 9, y)) bad.push('names are blurred');
    let bars = 0;
    for (let call = first; call <= last && bars < 20; call++) {{
        const x0 = picture.device(thread.begin[call]), x1 = picture.device(thread.end[call]);
        const place = picture.placeOf(thread, call), y = Math.round((place[1] + 3) * ratio);
        if (x1 - x0 < 4 || x0 < edge || x1 >= canvas.width) continue;
        bars++;
        const colour = picture.shown[thread.func[call]], want = [colour & 255, colour >> 8 & 255, colour >> 16 & 255].join();
        if (data(x0, y) !== want || data(x1 - 2, y) !== want) bad.push('ends of ' + call);
        for (const x of [x0 + 1, (x0 + x1) >> 1, x1 - 2]) {{
            const hit = picture.pick((x + 0.5) / ratio, place[1] + 3);
            if (!hit || hit.call !== call) bad.push('pixel ' + x + ' is not ' + call);
        }}
    }}
    return [bars, picture.ratio, bad.slice(0, 5)]; }})()"""


def sharp(page, *ratios):
    """A pixel of the canvas is one of the screen; what is drawn at one is what a click there finds."""
    for i, ratio in enumerate(map(float, ratios)):
        page.window(701 + 2 * i, 503, ratio)  # of the ratio alone Chromium's emulation tells the page nothing
        page.until(f"epitaph.picture.ratio === {ratio}", 10)
        page.drawn()
        bars, found, bad = page.value(SHARP.format())
        check(bars > 5 and found == ratio and not bad, "at", ratio, found, ":", bars, bad)
    page.window(*page.size)
    page.drawn()


FOCUS = """(() => { const one = document.activeElement; return one.id || one.className || one.tagName; })()"""


def keyboard(page):
    """Everything by keys alone."""
    page.value("document.activeElement.blur()")
    seen = []
    for _ in range(9):  # behind the last is the browser itself
        page.key("Tab")
        seen.append(page.value(FOCUS))
    order = ["search", "previous", "next", "whole", "end", "side", "canvas", "tab-search", "page-search"]
    at = seen.index("search") if "search" in seen else 0
    check(seen[at:at + len(order)] == order[:len(seen) - at], "Tab goes to", seen)
    page.value("document.querySelector('#side').focus()")
    page.key("Enter")
    check(page.value("document.body.classList.contains('narrow')"), "Enter on a button does not press it")
    page.key("Enter")
    page.value("(epitaph.panel.open('report'), document.querySelector('#tab-report').focus())")
    page.key("ArrowRight")
    check(page.value(FOCUS) == "tab-details", "the arrow leads to", page.value(FOCUS))
    check(page.value("document.querySelector('#tab-details').getAttribute('aria-selected')") == "true", "and does not open it")
    page.value("document.querySelector('#end').focus()")
    page.key("Tab")
    page.key("Tab")
    check(page.value("getComputedStyle(document.querySelector('#view'), '::after').borderTopWidth") == "2px", "the canvas' focus is not seen")
    page.key("Escape")
    page.key("]")
    first = page.text("#call-name")
    check(first != "", "] selects nothing")
    check(first in page.text("#said"), "it says", page.text("#said"))
    page.key("i")
    check(page.text("#callers button") == first, "i leads from", first, "to one of", page.text("#callers button"))
    page.key("u")
    check(page.text("#call-name") == first, "u leads to", page.text("#call-name"))
    rows = page.value("epitaph.picture.blocks.find((one) => one.thread === epitaph.picture.selected.thread).rows")
    page.key("o")
    check(page.value("epitaph.picture.blocks.find((one) => one.thread === epitaph.picture.selected.thread).rows") != rows, "o folds nothing")
    unnamed = page.value("""[...document.querySelectorAll('button, input, [tabindex="0"]')].filter((one) =>
        !(one.getAttribute('aria-label') || one.ariaLabel || one.textContent.trim())).map((one) => one.id)""")
    check(not unnamed, "without a name:", unnamed)


def narrow(page):
    """600 pixels: the panel is below, and nothing sticks out."""
    page.window(600, 700)
    page.drawn()
    out = page.value("""['#bar', ...['search', 'next', 'side'].map((id) => '#' + id), '#panel', '#status'].filter((one) => {
        const box = document.querySelector(one).getBoundingClientRect(); return box.left < 0 || box.right > 601 || !box.width; })""")
    check(not out and page.value("document.documentElement.scrollWidth") <= 600, "sticks out:", out)
    check(page.value("document.querySelector('#panel').getBoundingClientRect().top") >=
          page.value("document.querySelector('#view').getBoundingClientRect().bottom") - 1, "the panel is not below")
    page.window(*page.size)
    page.drawn()


def dressed(page):
    """In the dark, and on paper (in Chromium alone: BiDi has no words for it)."""
    if not hasattr(page, "media"):
        return
    paper = "[...epitaph.picture.context.getImageData(epitaph.picture.canvas.width - 3, epitaph.picture.canvas.height - 3, 1, 1).data].slice(0, 3)"
    page.media(prefers_color_scheme="dark")
    page.drawn()
    check(max(page.value(paper)) < 60, "dark paper is", page.value(paper))
    check(page.value("getComputedStyle(document.querySelector('#panel')).backgroundColor") == "rgb(24, 29, 36)", "the panel is light")
    page.value("epitaph.print(true)")
    check(page.value(paper) == [255, 255, 255], "what is printed is", page.value(paper))
    page.value("epitaph.print(false)")
    page.media("print", prefers_color_scheme="dark")
    page.drawn()
    check(page.value("getComputedStyle(document.querySelector('#bar')).display") == "none", "buttons are printed")
    check(page.value("getComputedStyle(document.querySelector('.page.on')).overflow") == "visible", "the report is cut off")
    page.media()
    page.drawn()
    check(page.value(paper) == [255, 255, 255], "light paper is", page.value(paper))


def odd_names(page, *names):
    """Names are found and shown with what cannot be seen in them as numbers."""
    labels = page.value("epitaph.trace.functions.map((one) => one[0])")
    for name in names:
        check(name in labels, "no function", ascii(name), ascii(labels))
        page.value(f"epitaph.search.set({json.dumps(name)})")
        check(page.text("#page-search td button") == name, "it is shown as", ascii(page.text("#page-search td button")))


def arcs(page):
    """Of too many wakings in view, those that ended the longest waits."""
    drawn = page.value("""(() => { const {picture, trace} = epitaph, there = picture.blocks.filter((one) => one.thread).map((one) => one.thread);
        const [one, other] = there, count = 5000, before = one.wakes;
        one.wakes = {t: Float64Array.from({length: count}, (_, i) => picture.first + picture.all * i / count),
                     ns: Float64Array.from({length: count}, (_, i) => i * 7919 % count), by: new Array(count).fill(other)};
        picture.top = 0; [picture.from, picture.length] = [picture.first, picture.all]; picture.draw(); epitaph.status();
        const all = picture.arcs.filter((arc) => arc.thread === one).map((arc) => arc.ns).sort((a, b) => a - b);
        one.wakes = before;
        return [all.length, all[0], picture.wakes - picture.arcs.length, document.querySelector('#status').textContent]; })()""")
    check(drawn[0] <= 400 and drawn[1] >= 5000 - 400, "drawn are", drawn)
    check(f"{drawn[2]:,} not drawn" in drawn[3], "the page says", drawn[3])


def wakes(page, source):
    """Who ran where, a wait's colour; ftrace tells who woke whom, perf does not."""
    count = page.value("epitaph.picture.arcs.length")
    own = page.value("epitaph.trace.threads.reduce((sum, one) => sum + (one.slices ? one.slices.waker.filter((tid) => tid).length : 0), 0)")
    check((count > 0 and own > 0) == (source == "ftrace"), count, "arcs of", own)
    check(page.value("epitaph.trace.cpus.length") > 0, "no CPU")
    spot = page.value("""(() => { const picture = epitaph.picture, thread = epitaph.trace.threads[0], {slices} = thread;
        const at = slices.state.indexOf(3), block = picture.blocks.find((one) => one.thread === thread);
        picture.show(slices.begin[at], slices.end[at]); picture.draw();
        return [picture.xOf((slices.begin[at] + slices.end[at]) / 2), block.y - picture.top + 45 + 38]; })()""")
    check(pixel(page, *spot) in ([240, 160, 40], [196, 62, 40]), "a wait's colour is", pixel(page, *spot))


def notes(page, text, span):
    """What the program says can be searched for, and gone to."""
    for words in (text, span):
        page.value(f"epitaph.search.set({json.dumps(words)})")
        page.key("Enter")
        check(words in page.text("#page-details h2"), "a note's details are", page.text("#page-details"))


def switched(page):
    """Functions whose hooks were off have rows, and are hatched there; a click says why."""
    spot = page.value("""(() => { const picture = epitaph.picture, block = picture.blocks.find((one) => one.kind === 'switched'),
        off = epitaph.trace.facts.switched[0].off[0], [from, to] = picture.offRange(off), y = block.y - picture.top + 30 + 20 + 5;
        picture.show(from, to); picture.draw(); const x = picture.xOf((from + to) / 2);
        const data = picture.context.getImageData(x, y - 3, 30, 6).data;
        let red = 0; for (let i = 0; i < data.length; i += 4) red += data[i] === 176 && data[i + 1] === 126; return [x, y + 38, red]; })()""")
    check(spot[2] > 5, "what was off is not hatched:", spot[2])
    page.click(*spot[:2])
    check("its hooks were switched off" in page.text("#page-details"), "what was off says", page.text("#page-details"))


def lost(page):
    gone = page.value("epitaph.trace.threads.filter((one) => one.facts.there && !one.facts.whole).length")
    check(gone > 0, "no thread's history is cut off")
    some = page.value("""(() => { const picture = epitaph.picture, block = picture.blocks.find((one) => one.thread &&
        !one.thread.facts.whole), {facts} = block.thread; picture.show(facts.start, facts.first); picture.draw();
        const data = picture.context.getImageData(picture.xOf((facts.start + facts.first) / 2), block.y - picture.top + 40, 40, 30).data;
        let red = 0; for (let i = 0; i < data.length; i += 4) red += data[i] === 176 && data[i + 1] === 126; return red; })()""")
    check(some > 40, "what is lost is not hatched:", some)


def main():
    browser, path, jsonl, *wanted = sys.argv[1:]
    facts = Facts(jsonl)
    with tempfile.TemporaryDirectory() as folder, BROWSERS[browser](folder) as page:
        page.path = path
        page.open(path)
        check(page.value("document.documentElement.dataset.state") == "ready", "the page says", page.text("#status"))
        if failures:
            return
        same_calls(page, facts)
        same_points(page, facts)
        for words in wanted:
            name, *values = words.split(":")
            globals()[name](page, *([facts] if name in ("fibers", "moves", "clicks", "searches", "selects") else []),
                            *([path] if name == "links" else []), *values)
        own = "file://" + os.path.abspath(path)
        # data: is no address: what asks_nobody tried, and fonts that Firefox has in itself.
        strange = [one for one in page.said if " data:" not in one and "'data:" not in one and
                   one != "asks for about:blank" and not one.startswith("asks for " + own)]
        check(not strange, "the page:", strange)
        check(page.value("document.scripts.length") == 1, "scripts in it:", page.value("document.scripts.length"))


main()
print("\n".join(failures), end="\n" if failures else "")
sys.exit(1 if failures else 0)
